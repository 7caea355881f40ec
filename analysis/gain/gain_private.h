/* SPDX-License-Identifier: MIT */
/* Shared by the files that estimate gains from counters. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_PRIVATE_H

#include <math.h>
#include <stdint.h>

#include "analysis/evidence/processes.h"
#include "analysis/gain/gain_counted.h"
#include "analysis/number.h"
#include "analysis/run_model.h"

#define LIVES 0.5        /* of the group's time: recorded at least so long */
#define GAIN_HARDLY 0.05 /* of its time: a rank that waits less is on the critical path */
#define BIT(term) (1u << (term))
/* Terms of a process's own that do not depend on other processes. Short memory is left out: while a
 * process waits anyway, that costs nothing more.
 */
#define GAIN_OWN                                                                                   \
    (BIT(BUDGET_CPU) | BIT(BUDGET_RUN_QUEUE) | BIT(BUDGET_QUOTA) | BIT(BUDGET_STEAL) |             \
     BIT(BUDGET_DISK))

#define COUNTED_NOTHING ((struct counted){NAN, NAN, NAN, NAN, NAN, NAN})

/* The process that the loss means: of several, the one that lost most; SIZE_MAX if there is none.
 */
size_t gain_process(const struct run_model *model, const struct counted_loss *loss);
/* The budget of process r in the group. */
const struct budget *gain_budget(const struct run_model *model, size_t r, size_t group);
/* How long it waits for others, if known. */
double gain_waiting_s(const struct budget *budget);
/* Whether it works itself, rather than wrap another process. */
bool gain_works(const struct run_model *model, size_t r, size_t group);
/* The recorded share of the group's time. */
double gain_covered(const struct run_model *model, size_t r, size_t group);

/* When the program had been loaded (rules/program_start.c); 0 if not known. */
int64_t gain_start(const struct run_model *model);
/* Whether the middle of the slice lies in the group. */
bool gain_slice_in(const struct run_model *model, size_t slice, size_t group);
/* A value of process r in the group, without what it counted until `start`. */
double gain_later(const struct run_model *model, size_t r, size_t group, int64_t start_ns,
                  double (*of)(const struct budget *));
/* How long it waits for others after the program's start. */
double gain_waits_s(const struct run_model *model, size_t who, size_t group);
/* Whether it was recorded for most of the group, and no other process longer. */
bool gain_ends_last(const struct run_model *model, size_t who, size_t group);
/* Whether the run's end waits for it: it hardly waits, or at most that long. */
bool gain_is_awaited(const struct run_model *model, size_t who, size_t group, double little_s);

/* Whether there are ranks: these may spin while they wait, so that they compute less when they wait
 * less. */
bool gain_may_spin(const struct run_model *model);

#endif
