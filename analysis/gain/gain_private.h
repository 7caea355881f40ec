/* SPDX-License-Identifier: MIT */
/* Shared by the files of gains by counters. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_PRIVATE_H

#include <math.h>
#include <stdint.h>

#include "analysis/evidence/processes.h"
#include "analysis/gain/gain_counted.h"
#include "analysis/run_model.h"
#include "analysis/threshold.h"

#define LIVES 0.5        /* of the time, recorded */
#define GAIN_HARDLY 0.05 /* of its time: a rank that waits less is on the path */
#define BIT(term) (1u << (term))
#define COUNTED_NOTHING ((struct counted){NAN, NAN, NAN, NAN, NAN, NAN})

/* Which of the processes is meant: of several the one that lost most; SIZE_MAX: none. */
size_t gain_process(const struct run_model *model, const struct counted_loss *loss);
/* Values of process r of the budgets. */
const struct budget *gain_budget(const struct run_model *model, size_t r, size_t group);
/* It waits for others so long, as far as that is known of it. */
double gain_waiting_s(const struct budget *budget);
/* It is no wrapper of another process. */
bool gain_works(const struct run_model *model, size_t r, size_t group);
/* The recorded part of the group's time. */
double gain_covered(const struct run_model *model, size_t r, size_t group);

/* Until when the program was being loaded (rules/program_start.c); 0. */
int64_t gain_start(const struct run_model *model);
/* Whether the slice's middle lies in the group. */
bool gain_slice_in(const struct run_model *model, size_t slice, size_t group);
/* Values of process r in the group, without the counters of the time until then. */
double gain_later(const struct run_model *model, size_t r, size_t group, int64_t start_ns,
                  double (*of)(const struct budget *));
/* So long it waits for others, the program's start apart. */
double gain_waits_s(const struct run_model *model, size_t who, size_t group);
/* It was recorded for most of the group, and no other process for longer. */
bool gain_ends_last(const struct run_model *model, size_t who, size_t group);
/* The run's end waits for it, which waits hardly, or no longer than that. */
bool gain_is_awaited(const struct run_model *model, size_t who, size_t group, double little_s);

#endif
