/* SPDX-License-Identifier: MIT */
/*
 * `run --progress`: one line on standard error that is written anew each second, with time,
 * samples, hosts and the fullest resource. Only on a terminal, and only when asked for: the screen
 * is the command's.
 */
#ifndef CHOKEPOINT_CLI_RUN_PROGRESS_H
#define CHOKEPOINT_CLI_RUN_PROGRESS_H

#include <stdbool.h>

struct run_session;

/* Whether there is a terminal to show it on. */
bool run_progress_wanted(const struct run_session *session);

/* Writes the line, in the place of the one before. */
void run_progress_show(const struct run_session *session);
void run_progress_end(void); /* takes it away */

#endif
