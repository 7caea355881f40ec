/* SPDX-License-Identifier: MIT */
/*
 * Agents for a view: `chokepoint run` in a child process, with a command that does nothing until
 * the view ends. It ends when a pipe of the view is closed, so also when the view is killed, and
 * then removes what it put on the hosts, and the temporary database.
 */
#ifndef CHOKEPOINT_CLI_TOP_AGENTS_H
#define CHOKEPOINT_CLI_TOP_AGENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct top_agents {
    unsigned turn;       /* databases before this one */
    pid_t pid;           /* 0: none */
    int hold_fd, say_fd; /* -1 */
    int held_fd;         /* kept open, so that a write after the child's end is no SIGPIPE; -1 */
    int directory_fd;    /* locked by this process and the child; -1 */
    char database[PATH_MAX];   /* the database that they record into */
    char directory[PATH_MAX];  /* directory of a temporary database; "" */
    char line[256], said[256]; /* the line being read; the last one about trouble */
    size_t n_line;
    int64_t said_ns; /* time of that line (monotonic) */
};

/* hosts as for `run --hosts`, NULL: this one. flows: they capture packets. database NULL: a
 * temporary one. The child waits for top_agents_go. It is forked and never executes another
 * program, so call this before any thread starts: a lock that a thread holds at that moment is
 * never released in the child. Negative errno with one line in `why`. */
int top_agents_start(struct top_agents *agents, const char *hosts, bool flows, const char *database,
                     char *why, size_t why_size);
/* Lets them begin to record. */
void top_agents_go(struct top_agents *agents);
/* If the temporary database has become that large, they begin another one, and `database` is then
 * its name. False: nothing changed. */
bool top_agents_turn(struct top_agents *agents, uint64_t bytes);
/* Reads their output. False: they have ended. */
bool top_agents_run(struct top_agents *agents);
/* Their last message about trouble, recent or at all; NULL. */
const char *top_agents_said(const struct top_agents *agents, bool ever);
/* Ends them and waits at most a quarter of a minute; then they are killed. */
void top_agents_stop(struct top_agents *agents);

#endif
