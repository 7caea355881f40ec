/* SPDX-License-Identifier: MIT */
/*
 * Work before a recording: `--prepare` before every run of the command, and unrecorded `--warmup`
 * runs, as in hyperfine(1). Neither gets the standard input.
 */
#ifndef CHOKEPOINT_CLI_RUN_PREPARE_H
#define CHOKEPOINT_CLI_RUN_PREPARE_H

struct run_options;

/* Runs the command of --prepare, if any, by sh. 0, or the exit status for the caller after one line
 * on standard error. */
int run_prepare(const struct run_options *options);

/* Makes all warm-ups, each prepared. 0, or an exit status after one line on standard error. */
int run_warm_up(const struct run_options *options);

#endif
