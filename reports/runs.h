/* SPDX-License-Identifier: MIT */
/* The runs of a database as a list, for programs and spreadsheets (chokepoint.list/1). */
#ifndef CHOKEPOINT_REPORTS_RUNS_H
#define CHOKEPOINT_REPORTS_RUNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct format;

/* Texts are the caller's. */
struct listed_run {
    int64_t id, started_wall_ns;
    const char *name, *command;
    const char *state; /* done failed killed interrupted not-started unfinished */
    int exit_status;   /* -1: not known */
    double duration_s; /* NAN: it never ran */
    size_t n_hosts;
    int n_hosts_expected; /* -1: not known */
    int repeat, repeats;  /* 0: not a repeat */
    int64_t group;        /* the run of the first repeat; 0 */
    const char *file;     /* its database; NULL: the one that was asked for */
    const char *limit;    /* as it was said when the run had ended; NULL: not known */
    double confidence;    /* in it, 0 to 1; NAN */
    /* what all of its hosts had, and how much of that was used; NAN: not known */
    double cores, cores_used, memory_gb, memory_peak_gb, gpus, gpus_used;
    char **notes;
    size_t n_notes;
};

/* In json or csv. -ENOMEM, -EIO. */
int runs_write(const struct listed_run *runs, size_t n, const struct format *format, FILE *out);

#endif
