/* SPDX-License-Identifier: MIT */
/*
 * Keeping a process alive: the parent only waits, and starts its child again when a signal killed
 * it. A profiler must not vanish because the kernel ran out of memory and chose it.
 */
#ifndef CHOKEPOINT_AGENT_SUPERVISE_H
#define CHOKEPOINT_AGENT_SUPERVISE_H

#include <stdbool.h>

struct supervisor_config {
    /* Runs in the child, with SIGTERM, SIGINT and SIGHUP blocked (it waits for them itself); its
     * result is the child's exit status. */
    int (*child)(void *ctx);
    /* Runs in the parent when its child has been started for the first time; may be NULL. */
    void (*settle)(void *ctx);
    /* Runs once all is over: in the parent, or in the child if it outlived its parent. */
    void (*tidy)(void *ctx);
    /* One line for the user: the child died and is started again. */
    void (*say)(void *ctx, const char *text);
    void *ctx;
    bool once;    /* a child that dies is the end: whoever started this process starts another */
    int pause_ms; /* before the third start in a row of deaths; doubles up to 300 times that; 100 */
};

/*
 * Returns the exit status for the caller to end with: the child's; 1 if it was told to end while no
 * child lived. A child that dies is started again however often it does. A SIGTERM, SIGINT or
 * SIGHUP, or the death of whoever started this process, becomes a SIGTERM to the child, whose end
 * is then awaited. The child gets SIGTERM when this process dies. Does not return in the child.
 */
int supervise(const struct supervisor_config *config);

#endif
