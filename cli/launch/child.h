/* SPDX-License-Identifier: MIT */
/*
 * Child processes of `run`: they get only the listed descriptors and variables, are ended by their
 * id, and read line by line.
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
    /* -1: inherited. The caller keeps its descriptors. */
    int stdin_fd, stdout_fd, stderr_fd;
    const int *kept; /* NULL, or descriptors that it keeps under the same numbers; the last is -1 */
    bool own_group;  /* not in the terminal's foreground group: Ctrl-C does not reach it */
    bool dies_with_parent;       /* SIGTERM when this process dies, however that happens */
    const sigset_t *mask;        /* its initial signal mask */
    const struct limits *limits; /* NULL: as this process */
};

/* Starts it. Returns 0, or the negative errno of fork, exec (-ENOENT, -EACCES: as execvp) or a
 * redirection; then no child is left. The caller must have one thread: the child changes its
 * environment. */
int child_start(const struct child_plan *plan, pid_t *ret_pid);

/* 0 when it has ended (*ret_status as from waitpid), -EAGAIN while it runs, or a negative errno. */
int child_ended(pid_t pid, int *ret_status);

/* As child_has_ended; *ret_usage gets what it used, with all processes that it waited for. */
struct rusage;
int child_ended_with(pid_t pid, int *ret_status, struct rusage *ret_usage);

/* The exit status as in a shell: 128 + signal for a killed child. */
int child_exit_status(int wait_status);

/* "exit status 3", "killed by SIGKILL". */
void child_describe_end(int wait_status, char *to, size_t size);

/* --- lines from a pipe --- */

struct line_reader {
    int fd; /* owned; -1 when closed */
    size_t size;
    bool skipping; /* skipping the rest of a line that was too long */
    char text[1024];
};

void line_reader_init(struct line_reader *reader, int fd); /* makes fd non-blocking */
void line_reader_close(struct line_reader *reader);

/* Reads the available text and calls fn with each whole line (printable, without its end, cut when
 * too long; at the end of the text also with an incomplete last line). Closes itself at the end of
 * the text and on errors. */
void line_reader_read(struct line_reader *reader, void (*fn)(void *ctx, const char *line),
                      void *ctx);

#endif
