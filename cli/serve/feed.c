/* SPDX-License-Identifier: MIT */
#include "cli/serve/feed.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "cli/serve/said.h"
#include "common/clock.h"
#include "common/error.h"

#define LINE_MAX_BYTES (8u << 20)
#define AGAIN_NS (2 * NS_PER_S)

struct feed_line *feed_line_keep(struct feed_line *line) {
    if (line)
        line->users++;
    return line;
}

void feed_line_drop(struct feed_line *line) {
    if (line && --line->users == 0)
        free(line);
}

/* ---- the child ---- */

static int start_top(struct feed *feed, const char *program, const char *database, int null_fd,
                     int to_fd) {
    const char *const words[] = {program,    "top",  feed->run, "--db", database, "--batch",
                                 "--format", "json", "--delay", "1",    NULL};
    sigset_t none;
    sigemptyset(&none);
    const struct child_plan plan = {.words = words,
                                    .stdin_fd = null_fd,
                                    .stdout_fd = to_fd,
                                    .stderr_fd = feed->said_fd,
                                    .own_group = true,
                                    .dies_with_parent = true,
                                    .mask = &none};
    return child_start(&plan, &feed->pid);
}

int feed_start(struct feed *feed, const char *program, const char *database) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return negative_errno();
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    feed->said_fd = memfd_create("said", MFD_CLOEXEC);
    int r = null_fd < 0 || feed->said_fd < 0 ? negative_errno() : 0;
    if (r == 0)
        r = start_top(feed, program, database, null_fd, fds[1]);
    close(fds[1]);
    if (null_fd >= 0)
        close(null_fd);
    feed->fd = fds[0];
    fcntl(feed->fd, F_SETFL, O_NONBLOCK);
    feed->again_ns = 0;
    if (r < 0) {
        close(feed->fd);
        close(feed->said_fd);
    }
    return r;
}

static void close_child(struct feed *feed) {
    close(feed->fd);
    close(feed->said_fd);
    feed->pid = 0;
    buffer_reset(&feed->partial);
    feed->too_long = false;
}

void feed_stop(struct feed *feed) {
    if (feed->pid) {
        kill(-feed->pid, SIGKILL);
        waitpid(feed->pid, NULL, 0);
        close_child(feed);
    }
    buffer_release(&feed->partial);
    feed_line_drop(feed->line);
    *feed = (struct feed){0};
}

/* ---- what it prints ---- */

static void take_line(struct feed *feed) {
    size_t size = feed->partial.size;
    struct feed_line *line = feed->partial.error ? NULL : malloc(sizeof *line + size);
    if (line && !feed->too_long) {
        line->users = 1;
        line->id = ++feed->last_id;
        line->size = size;
        memcpy(line->text, feed->partial.data, size);
        feed_line_drop(feed->line);
        feed->line = line;
        feed->why[0] = '\0';
    } else {
        free(line);
    }
    feed->too_long = false;
    buffer_reset(&feed->partial);
}

/* A carriage return would end a line of the event. */
static void take_bytes(struct feed *feed, const char *bytes, size_t size) {
    for (const char *end = bytes + size; bytes < end;) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t n = (size_t)((newline ? newline : end) - bytes);
        feed->too_long |= feed->partial.size + n > LINE_MAX_BYTES || memchr(bytes, '\r', n);
        if (!feed->too_long)
            buffer_put(&feed->partial, bytes, n);
        if (newline)
            take_line(feed);
        bytes += n + (newline != NULL);
    }
}

static void read_lines(struct feed *feed) {
    char bytes[16384];
    ssize_t n;
    while ((n = read(feed->fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            take_bytes(feed, bytes, (size_t)n);
}

bool feed_read(struct feed *feed) {
    uint64_t id = feed->last_id;
    int status;
    if (!feed->pid)
        return false;
    int r = child_ended(feed->pid, &status);
    read_lines(feed);
    if (r == -EAGAIN)
        return feed->last_id != id;
    if (r == 0 && child_exit_status(status) == 0) {
        feed->ended = true;
    } else {
        char end[64];
        child_describe_end(status, end, sizeof end);
        said_last_line(feed->said_fd, end, feed->why, sizeof feed->why);
        feed->again_ns = clock_monotonic_ns() + AGAIN_NS;
    }
    close_child(feed);
    return true;
}
