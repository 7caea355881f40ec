/* SPDX-License-Identifier: MIT */
/*
 * The collector as a child process of `run`, so that a fault in it costs a restart and not the run.
 * A line on its stdin asks it to stop; the end of its stdin, which also comes when `run` is killed,
 * ends it.
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
    int fd; /* listening socket of `run`, so that nobody else gets the port between restarts */
    unsigned port; /* 0 until collect_child_listen */
    bool listens;  /* it has reported so */
};

struct collect_child {
    const char *program, *database; /* borrowed; program: the command chokepoint */
    const char *token, *key;        /* borrowed: the run's secret and its private key */
    struct store_file file;         /* the database that was opened by that name */
    const char *pack_after;         /* borrowed: seconds, as a text; NULL: samples stay rows */
    const char *run_id;             /* borrowed; the names for agents and the command */
    const sigset_t *mask;
    int64_t run;
    struct collect_endpoint endpoints[COLLECT_ADDRESSES_MAX];
    size_t n_endpoints;
    pid_t pid; /* 0: not running */
    int stdin_fd;
    struct line_reader events, errors;
    bool told_to_stop;
};

/* Events that it reports, as calls to its owner. */
struct collect_listener {
    void (*host)(void *ctx, const char *name);  /* the first frame of a host is committed */
    void (*final)(void *ctx, const char *name); /* the last frame of a host is committed */
    void (*events)(void *ctx, const char *name, uint64_t n); /* more single events committed */
    void (*trouble)(void *ctx, const char *text);
    void (*unwritable)(void *ctx, const char *why); /* it cannot store anything now */
    void *ctx;
};

/* Adds an address; set the borrowed members first. -E2BIG. Adding one twice is fine. */
int collect_child_add_address(struct collect_child *child, const char *address);

/* Takes a port of each address: from then on agents may be started, and wait until the collector
 * runs. Negative errno with one line in why. */
int collect_child_listen(struct collect_child *child, char *why, size_t why_size);

/* Starts it, or restarts it. Negative errno. */
int collect_child_start(struct collect_child *child);
bool collect_child_listens(const struct collect_child *child); /* it listens on all its addresses */
/* "https://ADDRESS:PORT" for one of its addresses. */
void collect_child_url(const struct collect_child *child, const char *address, char *to,
                       size_t size);

/* Passes on its reports since the last call. */
void collect_child_read(struct collect_child *child, const struct collect_listener *listener);
/* 0 when it was just found ended (it is then closed: pid is 0), otherwise -EAGAIN. */
int collect_child_check(struct collect_child *child, const struct collect_listener *listener,
                        int *ret_status);

void collect_child_stop(struct collect_child *child);  /* asks agents for their last push */
void collect_child_close(struct collect_child *child); /* asks it to commit and end */
/* Closes the pipes of an ended process. */
void collect_child_release(struct collect_child *child);
void collect_child_leave(struct collect_child *child); /* closes the ports */

#endif
