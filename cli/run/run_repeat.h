/* SPDX-License-Identifier: MIT */
/*
 * `run --repeat N`: records the command N times, one run after the other, as one group. The first
 * failure ends it, as in hyperfine(1), unless failures are to be ignored; Ctrl-C ends it, too.
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
    int64_t group; /* id of the first repeat; 0: this is the first */
    int live_port; /* port of the live view; 0: any */
    int64_t sweep; /* the sweep of the run with its values; 0: none */
    const struct run_label *labels;
    size_t n_labels;
    /* filled in afterwards: */
    int64_t run; /* the run's id; 0: it never began */
    int exit_status;
    bool started, interrupted;
    int64_t duration_ns; /* of the command */
};

/* Records the command once; errors are reported on standard error, and the turn has the outcome. */
void run_once(const struct run_options *options, struct run_turn *turn);

/* Calls once() for each repeat. Returns the exit status of the first run that failed, else 0. */
int run_repeatedly(const struct run_options *options,
                   void (*once)(const struct run_options *options, struct run_turn *turn));

#endif
