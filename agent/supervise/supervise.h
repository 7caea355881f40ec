/* SPDX-License-Identifier: MIT */
/*
 * Keeps a process alive: the parent only waits, and starts its child again when a signal killed it.
 * A profiler must not vanish because the kernel ran out of memory and chose it.
 */
#ifndef CHOKEPOINT_AGENT_SUPERVISE_H
#define CHOKEPOINT_AGENT_SUPERVISE_H

#include <stdbool.h>

struct supervisor_config {
    /* Runs in the child, with SIGTERM, SIGINT and SIGHUP blocked (it awaits them itself); returns
     * the child's exit status. */
    int (*child)(void *ctx);
    /* Runs in the parent after the child's first start; may be NULL. */
    void (*settle)(void *ctx);
    /* Runs at the end: in the parent, or in the child if it outlived its parent. */
    void (*tidy)(void *ctx);
    /* Reports one line to the user: the child died and is started again. */
    void (*say)(void *ctx, const char *text);
    void *ctx;
    bool once;    /* the child's death is the end: the parent of this process starts another one */
    bool stays;   /* the death of the parent is nothing to it: an agent that always runs */
    int pause_ms; /* before the third start in a row; doubles up to 300 times that; 100 */
};

/*
 * Returns the exit status for the caller: the child's; 1 if told to end while no child lived. A
 * child that dies is started again, without a limit. A SIGTERM, SIGINT or SIGHUP, or the death of
 * the parent, becomes a SIGTERM to the child, whose end is then awaited. The child gets SIGTERM
 * when this process dies. Does not return in the child.
 */
int supervise(const struct supervisor_config *config);

#endif
