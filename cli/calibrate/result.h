/* SPDX-License-Identifier: MIT */
/*
 * The output of chokepoint-calibrate so far. It comes from other hosts, and mpirun mixes its lines,
 * so every line is checked: only requested hosts, known metrics and units, plausible values, each
 * once.
 */
#ifndef CHOKEPOINT_CLI_CALIBRATE_RESULT_H
#define CHOKEPOINT_CLI_CALIBRATE_RESULT_H

#include "cli/launch/hosts.h"
#include "collector/store.h"

#define CALIBRATION_TROUBLES_MAX 64
#define CALIBRATION_LINE_MAX 1024

struct calibration {
    const struct hosts *hosts;     /* borrowed: the requested hosts */
    struct store_ceiling *figures; /* owned, with all texts */
    size_t n, capacity;
    char *troubles[CALIBRATION_TROUBLES_MAX]; /* owned: "vm2: disk: ..." */
    size_t n_troubles;
    size_t n_refused;    /* lines */
    char refused[160];   /* why the first one was refused */
    double done, left_s; /* last progress; done: 0 to 1 */
    char what[100];
};

void calibration_release(struct calibration *c);

/* Adds a figure; texts are copied. -EINVAL with one line in why; -ENOMEM. */
int calibration_add(struct calibration *c, const struct store_ceiling *figure, char *why,
                    size_t why_size);
int calibration_add_trouble(struct calibration *c, const char *host, const char *text);

/* Takes any line of output, and counts foreign lines. -ENOMEM. */
int calibration_take_line(struct calibration *c, const char *line);

#endif
