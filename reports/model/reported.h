/* SPDX-License-Identifier: MIT */
/* A run that was read and judged: sections are functions of this. */
#ifndef CHOKEPOINT_REPORTS_REPORTED_H
#define CHOKEPOINT_REPORTS_REPORTED_H

#include "analysis/verdict/judgement.h"
#include "reports/model/input.h"

struct reported {
    struct report_input input;  /* facts that only the store has, and the recording */
    struct run_model model;     /* its recording is NULL after report_let_go() */
    struct judgement judgement; /* its model is NULL if the run was only measured */
};

void reported_free(struct reported *run); /* takes NULL */

#endif
