/* SPDX-License-Identifier: MIT */
/* Shared by the sections of evidence. */
#ifndef CHOKEPOINT_REPORTS_SECTIONS_PROOFS_H
#define CHOKEPOINT_REPORTS_SECTIONS_PROOFS_H

#include "reports/facts/figure.h"
#include "reports/model/model.h"

/* The run that queries about a report's figures ask. */
struct figure_run proofs_run(const struct report *report);

#endif
