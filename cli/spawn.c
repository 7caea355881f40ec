/* SPDX-License-Identifier: MIT */
#include "cli/spawn.h"
#include "cli/file.h"
#include "common/error.h"
#include "common/text.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A shell started with `su` has no sbin in its PATH. */
static int start_anywhere(const char *const argv[], const posix_spawn_file_actions_t *actions,
                          pid_t *ret_pid) {
    static const char *const places[] = {"/usr/sbin", "/sbin"};
    char *const *words = (char *const *)argv;
    int error = posix_spawnp(ret_pid, argv[0], actions, NULL, words, environ);
    for (size_t i = 0; i < ARRAY_SIZE(places) && error == ENOENT; i++) {
        char path[PATH_MAX];
        if (path_format(path, sizeof path, "%s/%s", places[i], argv[0]) == 0)
            error = posix_spawn(ret_pid, path, actions, NULL, words, environ);
    }
    return -error;
}

static int start(const char *const argv[], int stderr_fd, pid_t *ret_pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return -error;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, stderr_fd, STDERR_FILENO);
    int r = start_anywhere(argv, &actions, ret_pid);
    posix_spawn_file_actions_destroy(&actions);
    return r;
}

/* Keeps the first line, drains the rest so that the tool never blocks. */
static void read_first_line(int fd, char *ret_line, size_t capacity) {
    char text[512], rest[512];
    size_t size = 0;
    ssize_t n;
    while (size < sizeof text && (n = read(fd, text + size, sizeof text - size)) != 0)
        if (n > 0)
            size += (size_t)n;
        else if (errno != EINTR)
            break;
    while ((n = read(fd, rest, sizeof rest)) > 0 || (n < 0 && errno == EINTR))
        ;
    const char *newline = memchr(text, '\n', size);
    text_sanitize(ret_line, capacity, text, newline ? (size_t)(newline - text) : size);
}

static int wait_status(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return negative_errno();
    return status;
}

int spawn_tool(const char *const argv[], char *ret_complaint, size_t capacity) {
    int pipe_fds[2];
    pid_t pid;
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return negative_errno();
    int r = start(argv, pipe_fds[1], &pid);
    close(pipe_fds[1]);
    if (r == 0) {
        char line[256];
        read_first_line(pipe_fds[0], line, sizeof line);
        int status = wait_status(pid);
        if (status < 0)
            r = status;
        else if (status != 0)
            r = SPAWN_FAILED;
        if (r == SPAWN_FAILED)
            snprintf(ret_complaint, capacity, "%s", line[0] ? line : "it failed without a word");
    }
    if (r < 0)
        snprintf(ret_complaint, capacity, "%s", strerror(-r));
    close(pipe_fds[0]);
    return r;
}
