/* SPDX-License-Identifier: MIT */
/* The part of a run during which the command, or an attached job, runs. */
#ifndef CHOKEPOINT_CLI_RUN_AWAIT_H
#define CHOKEPOINT_CLI_RUN_AWAIT_H

struct run_session;

/* Begins a run without a command. Always 0. */
int run_attach(struct run_session *s);

/* Waits until the command has ended; without a command until its time is over or the user
 * interrupts it, which is the normal end of such a run. */
void run_await(struct run_session *s);

#endif
