/* SPDX-License-Identifier: MIT */
/*
 * `run --repeat N`: the command recorded N times, one run after the other, kept as one group. The
 * first failure ends it, as hyperfine(1) has it, unless failures are to be ignored; so does Ctrl-C.
 * Finished runs are kept either way.
 */
#ifndef CHOKEPOINT_CLI_RUN_REPEAT_H
#define CHOKEPOINT_CLI_RUN_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_label;
struct run_options;

struct run_turn {
    int repeat;    /* from 1; 0: the only run */
    int64_t group; /* the run of the first repeat; 0: this is it */
    int live_port; /* of the live view; 0: any */
    int64_t sweep; /* it is a run of this sweep, 0: of none, with these values */
    const struct run_label *labels;
    size_t n_labels;
    /* afterwards: */
    int64_t run; /* its id; 0: it was never begun */
    int exit_status;
    bool started, interrupted;
    int64_t duration_ns; /* of the command */
};

/* Records the command once; errors are said on standard error, the outcome is in the turn. */
void run_once(const struct run_options *options, struct run_turn *turn);

/* Calls once() for each repeat. Returns the exit status: of the first run that failed, else 0. */
int run_repeatedly(const struct run_options *options,
                   void (*once)(const struct run_options *options, struct run_turn *turn));

#endif
