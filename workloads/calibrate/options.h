/* SPDX-License-Identifier: MIT */
/* The command line of chokepoint-calibrate, which `chokepoint calibrate` writes. */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_OPTIONS_H

#include <stdbool.h>

struct options {
    const char *name; /* name of this host; default: gethostname */
    const char *disk;
    unsigned parts; /* PART_* */
    bool quick;
    bool help;
};

extern const char options_help[];

/* 0, or -1 with one line in why. */
int options_read(int argc, char **argv, struct options *ret_options, char *why, unsigned long size);

#endif
