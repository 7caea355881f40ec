/* SPDX-License-Identifier: MIT */
/* Runs the launcher as a child: one poll covers its streams, its end, and signals. */
#include "agent/relay/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/signals.h"

static void be_launcher(char *const *words, int in, int out, pid_t parent, const sigset_t *mask) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0) {
        signal(SIGPIPE, SIG_DFL);
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(words[0], words);
        fprintf(stderr, "cannot start %s: %s\n", words[0], strerror(errno));
    }
    _exit(127);
}

int relay_start(struct relay *relay, char *const *words) {
    int in[2], out[2];
    sigset_t mask;
    pid_t self = getpid();
    sigprocmask(SIG_SETMASK, NULL, &mask);
    relay->signal_fd = signals_open();
    signal(SIGPIPE, SIG_IGN);
    if (relay->signal_fd < 0 || pipe2(in, O_CLOEXEC) < 0)
        return negative_errno();
    if (pipe2(out, O_CLOEXEC) < 0)
        return negative_errno();
    relay->child = fork();
    if (relay->child == 0)
        be_launcher(words, in[0], out[1], self, &mask);
    close(in[0]);
    close(out[1]);
    relay->to = in[1];
    relay->from = out[0];
    fcntl(relay->to, F_SETFL, O_NONBLOCK);
    fcntl(relay->from, F_SETFL, O_NONBLOCK);
    return relay->child < 0 ? negative_errno() : 0;
}

void relay_signal(struct relay *relay, int signal) {
    if (relay->child > 0)
        kill(relay->child, signal);
}

static void take_signals(struct relay *relay) {
    struct signalfd_siginfo info;
    while (read(relay->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD)
            relay->told = true;
    if (relay->child > 0 && waitpid(relay->child, &relay->status, WNOHANG) == relay->child)
        relay->child = 0;
}

int relay_wait(struct relay *relay, int fd, short events, int timeout_ms) {
    struct pollfd fds[] = {{.fd = fd, .events = events},
                           {.fd = relay->signal_fd, .events = POLLIN}};
    if (poll(fds, 2, timeout_ms) <= 0)
        return 0;
    if (fds[1].revents)
        take_signals(relay);
    return fds[0].revents != 0;
}

/* When the launcher has ended, another process may still hold its streams: reads what is there and
 * waits no longer. */
int relay_read(struct relay *relay, size_t size) {
    if (buffer_reserve(&relay->in, size) < 0)
        return -EPIPE;
    for (;;) {
        ssize_t n = read(relay->from, relay->in.data + relay->in.size, size);
        if (n > 0)
            return relay->in.size += (size_t)n, 0;
        if (n == 0 || (errno != EAGAIN && errno != EINTR) || relay->child == 0)
            return -EPIPE;
        if (!relay_wait(relay, relay->from, POLLIN, -1) && relay->child)
            return -EINTR;
    }
}

int relay_write(struct relay *relay, const void *data, size_t size) {
    const char *from = data;
    while (size) {
        ssize_t n = write(relay->to, from, size);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -EPIPE;
        if (n > 0) {
            from += n;
            size -= (size_t)n;
            continue;
        }
        relay_wait(relay, relay->to, POLLOUT, -1);
        if (relay->told || relay->child == 0)
            return relay->told ? -EINTR : -EPIPE;
    }
    return 0;
}

void relay_close_input(struct relay *relay) {
    if (relay->to >= 0)
        close(relay->to);
    relay->to = -1;
}

int relay_pass(const void *data, size_t size) {
    struct pollfd writable = {.fd = STDERR_FILENO, .events = POLLOUT};
    const char *from = data;
    while (size) {
        ssize_t n = write(STDERR_FILENO, from, size);
        if (n < 0 && errno == EAGAIN)
            poll(&writable, 1, -1);
        else if (n < 0 && errno != EINTR)
            return -EPIPE;
        from += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

void relay_say(const char *format, ...) {
    char line[512];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (n > 0)
        relay_pass(line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

/* Reads on, even if nobody wants the output, so that the launcher can write. */
static void pass_on(struct relay *relay) {
    if (!relay->silent && relay_pass(relay->in.data, relay->in.size) < 0)
        relay->silent = true;
}

/* Passes the launcher's last words on standard output to standard error. */
int relay_finish(struct relay *relay) {
    int r = 0;
    while (relay->child > 0) {
        pass_on(relay);
        if (relay->told)
            relay_signal(relay, SIGTERM);
        relay->told = false;
        buffer_reset(&relay->in);
        if (r != -EPIPE)
            r = relay_read(relay, 4096);
        else
            relay_wait(relay, -1, 0, -1);
    }
    pass_on(relay);
    return WIFSIGNALED(relay->status) ? 128 + WTERMSIG(relay->status) : WEXITSTATUS(relay->status);
}
