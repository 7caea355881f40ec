/* SPDX-License-Identifier: MIT */
/* The cores beneath the job: how fast those of a host are beside the others, and who had them while
 * a process of the job waited. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_CORES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_CORES_H

#include "analysis/run_model.h"

/* Evidence from operators for each host beside the others; NAN: nothing. */
struct operator_work {
    double byte_time; /* time for as much output, of the operator that is least behind */
    double amount;    /* output an iteration, of the operator that gives most */
    double more;      /* of the ranks' computing, what output takes beyond that elsewhere */
};
/* How fast the cores of a host are beside those of the other hosts of the job, by what sampling
 * takes there (core_speed.c), and the program's own operators (operator_speed.c). */
struct core_speed {
    double slower;      /* times the CPU time that the same work takes elsewhere; 1: no more, or not
                           known */
    double sampling;    /* CPU time of a sample over that of the others; NAN: not known */
    double calibration; /* of the same arithmetic on either, the same; NAN: not known */
    bool by_calibration; /* `slower` is told by that, unless by_operators is true as well */
    double operators;    /* their time for as much output, over that elsewhere; NAN: not known */
    bool by_operators;   /* `slower` is told by that */
    double at_best; /* CPU time of its fastest iterations, if that tells it, over theirs; NAN */
    double amount;  /* of the operators' output an iteration, over that elsewhere; NAN: not known */
    double more;    /* of the ranks' computing, what output takes beyond that elsewhere; NAN */
};
/* By host; the caller's to free. NULL: no memory. */
struct operator_work *operator_works_of(const struct run_model *model, size_t group);

/* The operators tell more work, by weight. */
bool core_has_more_to_do(const struct core_speed *core);

/* By host; the caller's to free. NULL: no memory. */
struct core_speed *core_speeds_of(const struct run_model *model, size_t group);

/* CPU time in ns of the agents' piece of arithmetic (agent/sampler/core_speed.h) on the host, mean
 * over the windows, without the run's own effect on the core; NAN: there are no recordings of it,
 * too few, or other hosts of the run were on that core as well. */
double core_calibration_ns(const struct run_model *model, int host, struct windows windows);

/* Where a host's processes had to wait, who had the core (core_holder.c)? */
enum holder {
    HELD_BY_FOREIGN, /* one process that is not of the job */
    HELD_BY_JOB,
    HELD_BY_MANY, /* processes that are not of the job, of which none stands out */
    HELD_OUTSIDE, /* nobody on this host */
    HELD_AT_TIMES /* nobody in particular */
};
/* CPU of the job's other processes there, in cores. */
double core_beside(const struct run_model *model, size_t group, int host,
                   const struct model_process *than);

/* CPU of all that is not of the job there, in cores, by the cores' own counters: programs that did
 * not live until the next sample as well. */
double core_outside_job(const struct run_model *model, size_t group, int host);
/* own: CPU of the job's other processes there, in cores; blocked: share of the time that a process
 * of the job waited. */
enum holder core_holder(const struct run_model *model, size_t group, int host, double own,
                        double blocked);

#endif
