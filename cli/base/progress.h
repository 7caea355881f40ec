/* SPDX-License-Identifier: MIT */
/* Progress of slow work: one line on a terminal, written anew each second, and gone at the end.
 */
#ifndef CHOKEPOINT_CLI_PROGRESS_H
#define CHOKEPOINT_CLI_PROGRESS_H

/* Writes it on standard error, in the place of the one before; "": nothing. Cut to the terminal. */
void progress_line(const char *text);

/* From one second on shows "WHAT, 3 s", where standard error is a terminal, by a thread. NULL where
 * it is none, or there is no memory; progress_end takes NULL. what: borrowed until then. */
struct progress;
struct progress *progress_begin(const char *what);
void progress_end(struct progress *progress);

#endif
