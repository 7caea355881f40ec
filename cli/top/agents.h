/* SPDX-License-Identifier: MIT */
/*
 * Agents of our own: `chokepoint run` in a child process, of a command that does nothing until we
 * end. It ends with a pipe that we hold, so also when we are killed, and then takes away what it
 * put on the hosts and the database that nobody asked for.
 */
#ifndef CHOKEPOINT_CLI_TOP_AGENTS_H
#define CHOKEPOINT_CLI_TOP_AGENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct top_agents {
    unsigned turn;            /* databases that were begun before this one */
    pid_t pid;                /* 0: none */
    int hold_fd, say_fd;      /* -1 */
    int held_fd;              /* the child's end, so that a write after its end is no SIGPIPE; -1 */
    int directory_fd;         /* locked by us and the child; -1 */
    char database[PATH_MAX];  /* what they record into */
    char directory[PATH_MAX]; /* of a database that does not stay; "" */
    char line[256], said[256]; /* being read; the last one that tells of trouble */
    size_t n_line;
    int64_t said_ns; /* when (monotonic) */
};

/* hosts as of `run --hosts`, NULL: this one. flows: they capture packets. database NULL: one that
 * does not stay. The child waits for top_agents_go. It is forked and never executes another
 * program: before any thread is started, since a lock that a thread holds at that moment is never
 * given back in the child. Negative errno with one line in `why`. */
int top_agents_start(struct top_agents *agents, const char *hosts, bool flows, const char *database,
                     char *why, size_t why_size);
/* Now they begin to record. */
void top_agents_go(struct top_agents *agents);
/* If the database does not stay and has become that large, they begin another one, and `database`
 * is then its name. False: it has not. */
bool top_agents_turn(struct top_agents *agents, uint64_t bytes);
/* Hears what they say. False: they have ended. */
bool top_agents_run(struct top_agents *agents);
/* Their last message about trouble, lately or ever; NULL. */
const char *top_agents_said(const struct top_agents *agents, bool ever);
/* Ends them and waits for that, a quarter of a minute at most; then they are killed. */
void top_agents_stop(struct top_agents *agents);

#endif
