/* SPDX-License-Identifier: MIT */
/*
 * Making the runs of a sweep: each is a run as `chokepoint run` makes it, told apart by the values
 * it was given. Runs of that sweep that the database has are not made again, so that an interrupted
 * sweep goes on where it was; a failed run is a result, too.
 */
#ifndef CHOKEPOINT_CLI_SWEEP_MAKE_H
#define CHOKEPOINT_CLI_SWEEP_MAKE_H

#include <stdbool.h>

#include "cli/launch/run_options.h"
#include "cli/sweep/parameters.h"

struct sweep_request {
    const char *name;
    struct run_options options; /* of each run; its command has the placeholders */
    const struct sweep_parameters *parameters;
    bool stop_on_failure; /* end at the first run that fails */
    bool retry_failed;    /* runs that failed are made again */
    bool quiet;           /* no progress */
};

/* Returns the exit status: 0 all runs ended well, 1 some failed, 2 it could not begin, 128 +
 * signal when interrupted. */
int sweep_make(const struct sweep_request *request);

#endif
