/* SPDX-License-Identifier: MIT */
/*
 * Makes the runs of a sweep: each is a run as `chokepoint run` makes it, with the values that it
 * was given. Runs of the sweep that are in the database are not repeated, so that an interrupted
 * sweep continues; a failed run is a result, too.
 */
#ifndef CHOKEPOINT_CLI_SWEEP_MAKE_H
#define CHOKEPOINT_CLI_SWEEP_MAKE_H

#include <stdbool.h>

#include "cli/launch/run_options.h"
#include "cli/sweep/parameters.h"

struct sweep_request {
    const char *name;
    struct run_options options; /* options of each run; the command has placeholders */
    const struct sweep_parameters *parameters;
    bool stop_on_failure; /* ends at the first run that fails */
    bool retry_failed;    /* repeats failed runs */
    bool quiet;           /* prints no progress */
};

/* Returns the exit status: 0 all runs succeeded, 1 some failed, 2 it could not begin, 128 + signal
 * when interrupted. */
int sweep_make(const struct sweep_request *request);

#endif
