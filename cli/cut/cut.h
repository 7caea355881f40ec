/* SPDX-License-Identifier: MIT */
/* A run made of what rings have kept. */
#ifndef CHOKEPOINT_CLI_CUT_H
#define CHOKEPOINT_CLI_CUT_H

#include <stdint.h>

#include "cli/launch/run_options.h"

struct cut {
    struct run_options options;
    const char *ring;
    int64_t from_ns, to_ns; /* wall times */
    int64_t step_ns;        /* one sample for those of so long; 0: each agent chooses */
    int64_t now_ns;
};

/* Fetches the rings' blocks from all hosts into the database, and shows the verdict. Returns the
 * exit status. */
int cut_make(const struct cut *cut);

#endif
