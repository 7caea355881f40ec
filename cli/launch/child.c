/* SPDX-License-Identifier: MIT */
#include "cli/launch/child.h"
#include "common/error.h"
#include "common/text.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int redirect(int from, int to) {
    return from < 0 || dup2(from, to) >= 0 ? 0 : negative_errno();
}

static int become(const struct child_plan *plan, pid_t parent) {
    if (plan->own_group && setpgid(0, 0) < 0)
        return negative_errno();
    if (plan->dies_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            return -ECANCELED;
    }
    int r = redirect(plan->stdin_fd, STDIN_FILENO);
    if (r == 0)
        r = redirect(plan->stdout_fd, STDOUT_FILENO);
    if (r == 0)
        r = redirect(plan->stderr_fd, STDERR_FILENO);
    if (r < 0)
        return r;
    for (const int *fd = plan->kept; fd && *fd >= 0; fd++)
        if (fcntl(*fd, F_SETFD, 0) < 0)
            return negative_errno();
    for (const struct child_variable *v = plan->variables; v && v->name; v++)
        if ((v->value ? setenv(v->name, v->value, 1) : unsetenv(v->name)) < 0)
            return negative_errno();
    if (plan->mask)
        sigprocmask(SIG_SETMASK, plan->mask, NULL);
    if (plan->limits)
        limits_restore(plan->limits);
    execvp(plan->words[0], (char *const *)plan->words);
    return negative_errno();
}

/* The child's error, or 0 after exec has closed the pipe. */
static int read_error(int fd) {
    int32_t error = 0;
    ssize_t n;
    while ((n = read(fd, &error, sizeof error)) < 0 && errno == EINTR)
        ;
    return n == sizeof error ? error : 0;
}

int child_start(const struct child_plan *plan, pid_t *ret_pid) {
    int report[2];
    pid_t parent = getpid();
    if (pipe2(report, O_CLOEXEC) < 0)
        return negative_errno();
    pid_t pid = fork();
    if (pid == 0) {
        int32_t error = become(plan, parent);
        (void)!write(report[1], &error, sizeof error);
        _exit(127);
    }
    int r = pid < 0 ? negative_errno() : 0;
    close(report[1]);
    if (r == 0)
        r = read_error(report[0]);
    close(report[0]);
    if (r < 0 && pid > 0)
        waitpid(pid, NULL, 0);
    if (r == 0)
        *ret_pid = pid;
    return r;
}

int child_ended_with(pid_t pid, int *ret_status, struct rusage *ret_usage) {
    pid_t r;
    while ((r = wait4(pid, ret_status, WNOHANG, ret_usage)) < 0 && errno == EINTR)
        ;
    return r == pid ? 0 : r == 0 ? -EAGAIN : negative_errno();
}

int child_ended(pid_t pid, int *ret_status) {
    return child_ended_with(pid, ret_status, NULL);
}

int child_exit_status(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

void child_describe_end(int wait_status, char *to, size_t size) {
    if (WIFSIGNALED(wait_status))
        snprintf(to, size, "killed by SIG%s", sigabbrev_np(WTERMSIG(wait_status)) ?: "?");
    else
        snprintf(to, size, "exit status %d", WEXITSTATUS(wait_status));
}

/* --- lines from a pipe --- */

void line_reader_init(struct line_reader *reader, int fd) {
    *reader = (struct line_reader){.fd = fd};
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void line_reader_close(struct line_reader *reader) {
    if (reader->fd >= 0)
        close(reader->fd);
    reader->fd = -1;
}

static void pass_line(struct line_reader *reader, size_t size, void (*fn)(void *, const char *),
                      void *ctx) {
    char line[sizeof reader->text + 1];
    size_t end = size && reader->text[size - 1] == '\r' ? size - 1 : size;
    text_sanitize(line, sizeof line, reader->text, end);
    if (!reader->skipping)
        fn(ctx, line);
    reader->skipping = false;
}

static void pass_lines(struct line_reader *reader, void (*fn)(void *, const char *), void *ctx) {
    char *newline;
    while ((newline = memchr(reader->text, '\n', reader->size))) {
        size_t size = (size_t)(newline - reader->text);
        pass_line(reader, size, fn, ctx);
        reader->size -= size + 1;
        memmove(reader->text, newline + 1, reader->size);
    }
    if (reader->size == sizeof reader->text) {
        pass_line(reader, reader->size, fn, ctx);
        reader->skipping = true;
        reader->size = 0;
    }
}

void line_reader_read(struct line_reader *reader, void (*fn)(void *ctx, const char *line),
                      void *ctx) {
    while (reader->fd >= 0) {
        ssize_t n =
            read(reader->fd, reader->text + reader->size, sizeof reader->text - reader->size);
        if (n > 0) {
            reader->size += (size_t)n;
            pass_lines(reader, fn, ctx);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (reader->size)
            pass_line(reader, reader->size, fn, ctx);
        line_reader_close(reader);
    }
}
