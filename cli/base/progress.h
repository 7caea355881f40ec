/* SPDX-License-Identifier: MIT */
/* Progress of slow work: one line on a terminal, rewritten each second and removed at the end. */
#ifndef CHOKEPOINT_CLI_PROGRESS_H
#define CHOKEPOINT_CLI_PROGRESS_H

/* Writes the line on standard error over the previous one, cut to the terminal; "": removes it. */
void progress_line(const char *text);

/* A thread shows "WHAT, 3 s" from the first second on, if standard error is a terminal. NULL if it
 * is not, or without memory; progress_end takes NULL. what: borrowed until then. */
struct progress;
struct progress *progress_begin(const char *what);
void progress_end(struct progress *progress);

#endif
