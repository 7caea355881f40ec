/* SPDX-License-Identifier: MIT */
/*
 * `run --progress`: one line on standard error, rewritten each second, with time, samples, hosts
 * and the fullest resource. Only on a terminal and on request: the screen is the command's.
 */
#ifndef CHOKEPOINT_CLI_RUN_PROGRESS_H
#define CHOKEPOINT_CLI_RUN_PROGRESS_H

#include <stdbool.h>

struct run_session;

/* Whether there is a terminal for it. */
bool run_progress_wanted(const struct run_session *session);

/* Writes the line over the previous one. */
void run_progress_show(const struct run_session *session);
void run_progress_end(void); /* removes it */

#endif
