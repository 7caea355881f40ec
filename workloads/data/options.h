/* SPDX-License-Identifier: MIT */
/* The command line of chokepoint-data. */
#ifndef CHOKEPOINT_WORKLOADS_DATA_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_DATA_OPTIONS_H

#include <stdbool.h>

#include "workloads/common/words.h"
#include "workloads/data/generate.h"

enum data_verb { DATA_HELP, DATA_GENERATE, DATA_CHECK, DATA_FETCH };

struct data_options {
    enum data_verb verb;
    const char *what; /* digits, textures; a directory; mnist, cifar10 or a URL */
    const char *out, *from, *sha256;
    bool quiet;
    struct generate_options generate;
};

/* The strings of ret_options point into argv. 0, OPTIONS_HELP after the help was printed, or
 * -EINVAL with ret_error filled. */
int data_options_read(int argc, char **argv, struct data_options *ret_options,
                      struct words_error *ret_error);

#endif
