/* SPDX-License-Identifier: MIT */
/* The command line of chokepoint-calibrate, which `chokepoint calibrate` writes. */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_OPTIONS_H

#include <stdbool.h>

#include "workloads/common/words.h"

struct calibrate_options {
    const char *name; /* name of this host; default: gethostname */
    const char *disk;
    unsigned parts; /* PART_* */
    bool quick;
};

/* 0, OPTIONS_HELP after the help was printed, or -EINVAL with ret_error filled. */
int calibrate_options_read(int argc, char **argv, struct calibrate_options *ret_options,
                           struct words_error *ret_error);

#endif
