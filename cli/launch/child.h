/* SPDX-License-Identifier: MIT */
/*
 * Child processes of `run`: started with what they shall have and nothing else, ended by the id
 * they were started with, read line by line.
 */
#ifndef CHOKEPOINT_CLI_CHILD_H
#define CHOKEPOINT_CLI_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/limits.h"

struct child_variable {
    const char *name, *value; /* value NULL: unset */
};

struct child_plan {
    const char *const *words;               /* NULL-terminated; words[0] is searched in PATH */
    const struct child_variable *variables; /* NULL, or ended by a NULL name */
    /* -1: inherit. Descriptors of the caller, which keeps them. */
    int stdin_fd, stdout_fd, stderr_fd;
    const int *kept; /* NULL, or descriptors that it gets under the same numbers, ended by -1 */
    bool own_group;  /* out of reach of the terminal's Ctrl-C */
    bool dies_with_parent;       /* SIGTERM when we are gone, however that came */
    const sigset_t *mask;        /* the signal mask it begins with */
    const struct limits *limits; /* NULL: ours */
};

/* Returns 0, or the negative errno of fork, exec (-ENOENT, -EACCES: as execvp) or a redirection;
 * then no child is left. For a caller with one thread: the child changes its environment. */
int child_start(const struct child_plan *plan, pid_t *ret_pid);

/* 0 when it has ended (*ret_status as of waitpid), -EAGAIN while it runs, or a negative errno. */
int child_ended(pid_t pid, int *ret_status);

/* The same; *ret_usage gets what it used, and all that it waited for. */
struct rusage;
int child_ended_with(pid_t pid, int *ret_status, struct rusage *ret_usage);

/* Exit status as a shell gives it: 128 + signal for a child that was killed. */
int child_exit_status(int wait_status);

/* "exit status 3", "killed by SIGKILL". */
void child_describe_end(int wait_status, char *to, size_t size);

/* --- lines from a pipe --- */

struct line_reader {
    int fd; /* owned; -1 when closed */
    size_t size;
    bool skipping; /* the rest of a line that was too long */
    char text[1024];
};

void line_reader_init(struct line_reader *reader, int fd); /* makes fd non-blocking */
void line_reader_close(struct line_reader *reader);

/* Reads what is there and calls fn with each whole line (printable, without its end, cut when too
 * long; at the end of the text also the last line without an end). Closes itself at the end of the
 * text and on errors. */
void line_reader_read(struct line_reader *reader, void (*fn)(void *ctx, const char *line),
                      void *ctx);

#endif
