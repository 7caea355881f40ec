/* SPDX-License-Identifier: MIT */
/*
 * `ip -n` first makes a mount namespace, which fails in a chroot; so the child here enters the
 * network namespace itself.
 */
#include "cli/base/spawn.h"
#include "cli/base/file.h"
#include "common/error.h"
#include "common/text.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NO_SUCH_PROGRAM 127 /* as in shells */

static void enter_netns(const char *netns) {
    int fd = open(netns, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && setns(fd, CLONE_NEWNET) == 0)
        return;
    dprintf(STDERR_FILENO, "%s: %s\n", netns, strerror(errno));
    _exit(1);
}

/* The PATH of a shell from `su` lacks the sbin directories. */
static void execute_anywhere(const char *const argv[]) {
    static const char *const places[] = {"/usr/sbin", "/sbin"};
    char *const *words = (char *const *)argv;
    execvp(argv[0], words);
    for (size_t i = 0; i < ARRAY_SIZE(places) && errno == ENOENT; i++) {
        char path[PATH_MAX];
        if (path_format(path, sizeof path, "%s/%s", places[i], argv[0]) == 0)
            execv(path, words);
    }
}

static void run_child(const char *netns, const char *const argv[], int stderr_fd) {
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0 ||
        dup2(stderr_fd, STDERR_FILENO) < 0)
        _exit(1);
    if (netns)
        enter_netns(netns);
    execute_anywhere(argv);
    int error = errno;
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(error));
    _exit(error == ENOENT ? EXIT_NO_SUCH_PROGRAM : 1);
}

/* Keeps the first line and drains the rest, so that the tool never blocks. */
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

/* The child's end as a result of spawn_tool. */
static int wait_child(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return negative_errno();
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_SUCH_PROGRAM)
        return -ENOENT;
    return status == 0 ? 0 : SPAWN_FAILED;
}

int spawn_tool(const char *netns, const char *const argv[], char *ret_complaint, size_t capacity) {
    int pipe_fds[2];
    char line[256] = "";
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return negative_errno();
    pid_t pid = fork();
    int r = pid < 0 ? negative_errno() : 0;
    if (pid == 0)
        run_child(netns, argv, pipe_fds[1]);
    close(pipe_fds[1]);
    if (pid > 0) {
        read_first_line(pipe_fds[0], line, sizeof line);
        r = wait_child(pid);
    }
    close(pipe_fds[0]);
    if (r)
        snprintf(ret_complaint, capacity, "%s",
                 line[0] ? line
                 : r < 0 ? strerror(-r)
                         : "it failed without a word");
    return r;
}
