/* SPDX-License-Identifier: MIT */
/* The command line of `chokepoint calibrate`. */
#ifndef CHOKEPOINT_CLI_CALIBRATE_OPTIONS_H
#define CHOKEPOINT_CLI_CALIBRATE_OPTIONS_H

#include <stdbool.h>

struct calibrate_options {
    const char *hosts;    /* file or list; NULL */
    const char *hostfile; /* for mpirun; NULL */
    const char *database;
    const char *disk, *only; /* NULL: not given */
    bool quick, quiet, json;
};

/* 0, OPTIONS_HELP, or -EINVAL after one line on stderr. Points into argv. */
int calibrate_options_read(int argc, char **argv, struct calibrate_options *ret_options);

#endif
