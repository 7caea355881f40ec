/* SPDX-License-Identifier: MIT */
/* Waits on descriptors only: one poll covers signals and the parent's death. */
#include "agent/supervise/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/signals.h"

#define QUICK_NS (10 * NS_PER_S)
#define PAUSES_MAX 10  /* reports of programs wait meanwhile in memory of this size */
#define TOLD_EACH 5    /* so many deaths in a row are reported one by one, */
#define TOLD_EVERY 100 /* then one in so many */

struct supervisor {
    const struct supervisor_config *config;
    struct pollfd fds[2]; /* signals; the parent, -1 once it is gone or cannot be watched */
    pid_t parent, child;
    int64_t started_ns;
    int quick_deaths;
    bool stopping;
};

/* A descriptor that becomes readable when the parent ends; -1 if the kernel has none. */
static int open_parent(pid_t parent) {
    return parent > 1 ? (int)syscall(SYS_pidfd_open, parent, 0) : -1;
}

static void say(const struct supervisor *supervisor, const char *text) {
    supervisor->config->say(supervisor->config->ctx, text);
}

_Noreturn static void be_child(struct supervisor *supervisor, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    close(supervisor->fds[0].fd);
    if (supervisor->fds[1].fd >= 0)
        close(supervisor->fds[1].fd);
    int status = 0;
    if (parent == getppid())
        status = supervisor->config->child(supervisor->config->ctx);
    if (parent != getppid())
        supervisor->config->tidy(supervisor->config->ctx);
    exit(status);
}

static int start_child(struct supervisor *supervisor) {
    fflush(NULL);
    pid_t self = getpid(), child = fork();
    if (child == 0)
        be_child(supervisor, self);
    if (child < 0)
        return negative_errno();
    bool first = !supervisor->started_ns;
    supervisor->child = child;
    supervisor->started_ns = clock_monotonic_ns();
    if (first && supervisor->config->settle)
        supervisor->config->settle(supervisor->config->ctx);
    return 0;
}

static void stop(struct supervisor *supervisor) {
    supervisor->stopping = true;
    if (supervisor->child > 0)
        kill(supervisor->child, SIGTERM);
}

/* Sleeps until something happens, at most timeout_ms (-1: for ever), and handles it. */
static void wait_event(struct supervisor *supervisor, int timeout_ms) {
    struct signalfd_siginfo info;
    if (poll(supervisor->fds, 2, timeout_ms) <= 0)
        return;
    while (read(supervisor->fds[0].fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD)
            stop(supervisor);
    if (supervisor->fds[1].revents) {
        close(supervisor->fds[1].fd);
        supervisor->fds[1].fd = -1;
        stop(supervisor);
    }
}

static int await_child(struct supervisor *supervisor) {
    int status;
    pid_t r;
    while ((r = waitpid(supervisor->child, &status, WNOHANG)) == 0)
        wait_event(supervisor, -1);
    supervisor->child = 0;
    return r < 0 ? 1 << 8 : status;
}

static void pause_ms(struct supervisor *supervisor, int ms) {
    int64_t until = clock_monotonic_ns() + ms * NS_PER_MS;
    for (int64_t left; !supervisor->stopping && (left = until - clock_monotonic_ns()) > 0;)
        wait_event(supervisor, (int)(left / NS_PER_MS) + 1);
}

/* Pause before the next start: 0 after a long life, doubling after short ones. */
static int pause_before_start(const struct supervisor *supervisor) {
    if (supervisor->quick_deaths < 2)
        return 0;
    int pauses = 1;
    for (int i = 2; i < supervisor->quick_deaths && pauses < PAUSES_MAX; i++)
        pauses *= 2;
    return supervisor->config->pause_ms * (pauses < PAUSES_MAX ? pauses : PAUSES_MAX);
}

static bool is_told(const struct supervisor *supervisor) {
    return supervisor->quick_deaths <= TOLD_EACH || supervisor->quick_deaths % TOLD_EVERY == 0;
}

/* It never gives up: the cause of the deaths (the host's memory, a limit) may end at any time. */
static void mourn(struct supervisor *supervisor, int signal) {
    char text[160];
    bool quick = clock_monotonic_ns() - supervisor->started_ns < QUICK_NS;
    supervisor->quick_deaths = quick ? supervisor->quick_deaths + 1 : 0;
    snprintf(text, sizeof text, "the sampling process died of signal %d (%s)%s", signal,
             strsignal(signal),
             supervisor->stopping       ? " while stopping"
             : supervisor->config->once ? "; what it had spooled is kept"
                                        : "; starting it again, what it had spooled is kept");
    if (is_told(supervisor) || supervisor->stopping)
        say(supervisor, text);
}

static void tell_no_start(struct supervisor *supervisor, int error) {
    char text[160];
    supervisor->quick_deaths++;
    snprintf(text, sizeof text, "the sampling process cannot be started yet: %s", strerror(-error));
    if (is_told(supervisor))
        say(supervisor, text);
}

static int keep_alive(struct supervisor *supervisor) {
    for (;;) {
        if (supervisor->stopping)
            return 1;
        pause_ms(supervisor, pause_before_start(supervisor));
        int r = start_child(supervisor);
        if (r < 0) {
            tell_no_start(supervisor, r);
            continue;
        }
        if (supervisor->stopping) /* during the pause: takes the programs' reports, and ends */
            kill(supervisor->child, SIGTERM);
        int status = await_child(supervisor);
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        mourn(supervisor, WTERMSIG(status));
        if (supervisor->config->once)
            return 1;
    }
}

int supervise(const struct supervisor_config *config) {
    struct supervisor supervisor = {.config = config, .parent = getppid()};
    supervisor.fds[0] = (struct pollfd){.fd = signals_open(), .events = POLLIN};
    supervisor.fds[1] = (struct pollfd){.fd = config->stays ? -1 : open_parent(supervisor.parent),
                                        .events = POLLIN};
    if (supervisor.fds[0].fd < 0) {
        say(&supervisor, "cannot wait for signals");
        return 1;
    }
    if (supervisor.fds[1].fd < 0 && !config->stays)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != supervisor.parent && !config->stays)
        return 1;
    int status = keep_alive(&supervisor);
    config->tidy(config->ctx);
    return status;
}
