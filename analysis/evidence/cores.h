/* SPDX-License-Identifier: MIT */
/* The cores of the job's hosts: their speed beside other hosts', and who had them while a process
 * of the job waited.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_CORES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_CORES_H

#include "analysis/run_model.h"

/* Evidence from operators for each host beside the others; NAN if there is none. */
struct operator_work {
    double byte_time; /* ratio of the time for as much output, of the operator with the smallest */
    double amount;    /* ratio of the output in an iteration, of the operator with the largest */
    double more;      /* share of the ranks' computing that their additional output takes */
};
/* The speed of a host's cores beside those of the job's other hosts, by the cost of sampling
 * (core_speed.c) and by the program's own operators (operator_speed.c).
 */
struct core_speed {
    double slower;       /* ratio of CPU time for the same work; 1: no slower, or not known */
    double sampling;     /* ratio of CPU time of a sample; NAN: not known */
    double calibration;  /* ratio of CPU time of the calibration loop; NAN: not known */
    bool by_calibration; /* `slower` comes from calibration, unless by_operators is also true */
    double operators;    /* ratio of operators' time for as much output; NAN: not known */
    bool by_operators;   /* `slower` comes from the operators */
    double
        at_best;   /* ratio of CPU time of the fastest iterations, if `slower` comes from it; NAN */
    double amount; /* ratio of the operators' output in an iteration; NAN: not known */
    double more;   /* share of the ranks' computing that their additional output takes; NAN */
};
/* By host; the caller frees it. NULL without memory. */
struct operator_work *operator_works_of(const struct run_model *model, size_t group);

/* Whether the operators show more work, by its weight. */
bool core_has_more_to_do(const struct run_model *model, const struct core_speed *core);

/* By host; the caller frees it. NULL without memory. */
struct core_speed *core_speeds_of(const struct run_model *model, size_t group);

/* CPU time in ns of the agents' calibration loop (agent/sampler/core_speed.h) on the host: the mean
 * over the windows, without the run's own effect on the core. NAN if it was not recorded, or too
 * seldom, or if other hosts of the run used that core, too.
 */
double core_calibration_ns(const struct run_model *model, int host, struct windows windows);

/* The holder of the cores while a host's processes had to wait for one (core_holder.c). */
enum holder {
    HELD_BY_FOREIGN, /* one process outside the job */
    HELD_BY_JOB,
    HELD_BY_MANY, /* several processes outside the job, none of which stands out */
    HELD_OUTSIDE, /* something outside of this host */
    HELD_AT_TIMES /* no particular process */
};
/* CPU time of the job's other processes there, in cores. */
double core_beside(const struct run_model *model, size_t group, int host,
                   const struct model_process *than);

/* CPU time of everything outside the job there, in cores, by the cores' own counters: includes
 * programs that ended before the next sample.
 */
double core_outside_job(const struct run_model *model, size_t group, int host);
/* own: CPU time of the job's other processes there, in cores; blocked: share of time for which a
 * process of the job waited.
 */
enum holder core_holder(const struct run_model *model, size_t group, int host, double own,
                        double blocked);

#endif
