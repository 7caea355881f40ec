/* SPDX-License-Identifier: MIT */
/* A run that was read and judged: sections are functions of this. */
#ifndef CHOKEPOINT_REPORTS_REPORTED_H
#define CHOKEPOINT_REPORTS_REPORTED_H

#include "analysis/verdict/judgement.h"
#include "reports/model/input.h"

struct reported {
    struct report_input input;  /* what the store alone knows, and the recording */
    struct run_model model;     /* its recording is NULL where both were let go */
    struct judgement judgement; /* its model is NULL where the run was only measured */
};

void reported_free(struct reported *run); /* takes NULL */

#endif
