/* SPDX-License-Identifier: MIT */
/*
 * The collector as a child process of `run`, so that a fault in it costs a restart and not the
 * run. It is told to stop by a line on its stdin and to end by the end of its stdin, which also
 * comes when `run` is killed.
 */
#ifndef CHOKEPOINT_CLI_COLLECT_CHILD_H
#define CHOKEPOINT_CLI_COLLECT_CHILD_H

#include <stdint.h>

#include "cli/launch/address.h"
#include "cli/launch/child.h"
#include "collector/store.h"

#define COLLECT_ADDRESSES_MAX 16

struct collect_endpoint {
    char address[ADDRESS_SIZE];
    int fd;        /* listens; ours, so that nobody else gets the port while none runs */
    unsigned port; /* 0 until collect_child_listen */
    bool listens;  /* it has said so */
};

struct collect_child {
    const char *program, *database; /* borrowed; program: the command chokepoint */
    const char *token, *key;        /* borrowed: the run's secret, its private key */
    struct store_file file;         /* the database that was opened by that name */
    const char *run_id;             /* borrowed; as agents and the command know it */
    const sigset_t *mask;
    int64_t run;
    struct collect_endpoint endpoints[COLLECT_ADDRESSES_MAX];
    size_t n_endpoints;
    pid_t pid; /* 0: does not run */
    int stdin_fd;
    struct line_reader events, errors;
    bool told_to_stop;
};

/* Events that it reports, as calls to its owner. */
struct collect_listener {
    void (*host)(void *ctx, const char *name);  /* the first frame of a host is committed */
    void (*final)(void *ctx, const char *name); /* the last one is */
    void (*events)(void *ctx, const char *name, uint64_t n); /* so many more single events are */
    void (*trouble)(void *ctx, const char *text);
    void (*unwritable)(void *ctx, const char *why); /* nothing of any host can be kept, for now */
    void *ctx;
};

/* Sets what is borrowed before; endpoints grow by this. -E2BIG. Adding one again is fine. */
int collect_child_add_address(struct collect_child *child, const char *address);

/* Takes a port of each address: from then on agents may be started, and wait until it runs.
 * Negative errno with one line in why. */
int collect_child_listen(struct collect_child *child, char *why, size_t why_size);

/* Starts it, or starts it again. Negative errno. */
int collect_child_start(struct collect_child *child);
bool collect_child_listens(const struct collect_child *child); /* on all its addresses */
/* "https://ADDRESS:PORT" of one of its addresses. */
void collect_child_url(const struct collect_child *child, const char *address, char *to,
                       size_t size);

/* Passes on what it has said since the last call. */
void collect_child_read(struct collect_child *child, const struct collect_listener *listener);
/* 0 when it has just been found ended (it is then closed: pid is 0), -EAGAIN otherwise. */
int collect_child_check(struct collect_child *child, const struct collect_listener *listener,
                        int *ret_status);

void collect_child_stop(struct collect_child *child);  /* agents shall make their last push */
void collect_child_close(struct collect_child *child); /* it shall commit and end */
/* Forgets it: closes its pipes. The process must have ended. */
void collect_child_release(struct collect_child *child);
void collect_child_leave(struct collect_child *child); /* the ports */

#endif
