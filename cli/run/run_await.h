/* SPDX-License-Identifier: MIT */
/* The part of a run in which what is recorded goes on: the command, or what runs already. */
#ifndef CHOKEPOINT_CLI_RUN_AWAIT_H
#define CHOKEPOINT_CLI_RUN_AWAIT_H

struct run_session;

/* Begins a run without a command. Always 0. */
int run_attach(struct run_session *s);

/* Until the command has ended; of a run without one until its time is over or somebody interrupts
 * it, which is how such a run ends: it is then done. */
void run_await(struct run_session *s);

#endif
