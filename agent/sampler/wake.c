/* SPDX-License-Identifier: MIT */
#include "agent/sampler/wake.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"

#define CHECK_AGAIN_MS 10000

int wake_open(struct wake *wake, const int *stop_fds, size_t n_stop_fds) {
    if (n_stop_fds > WAKE_STOPS_MAX)
        return -EINVAL;
    int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    wake->fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    for (size_t i = 0; i < n_stop_fds; i++)
        wake->fds[1 + i] = (struct pollfd){.fd = stop_fds[i], .events = POLLIN};
    wake->n = 1 + n_stop_fds;
    wake->called_fd = wake->idle_fd = -1;
    wake->called_ns = wake->deaf_till_ns = 0;
    return 0;
}

void wake_listen(struct wake *wake, int called_fd) {
    wake->called_fd = called_fd;
}

void wake_listen_for_idle(struct wake *wake, int idle_fd) {
    wake->idle_fd = idle_fd;
}

void wake_close(struct wake *wake) {
    close(wake->fds[0].fd);
}

static int arm(const struct wake *wake, int64_t wall_ns) {
    struct itimerspec when = {
        .it_value = {.tv_sec = wall_ns / NS_PER_S, .tv_nsec = wall_ns % NS_PER_S}};
    if (timerfd_settime(wake->fds[0].fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when,
                        NULL) == 0)
        return 0;
    return errno == ECANCELED ? SAMPLER_AGAIN : negative_errno();
}

/* The result of poll(); shortly after a call the next one is ignored. */
static int wait_for_any(struct wake *wake) {
    struct pollfd *called = &wake->fds[wake->n];
    bool deaf = wake->called_fd >= 0 && clock_monotonic_ns() < wake->deaf_till_ns;
    called[0] = (struct pollfd){.fd = deaf ? -1 : wake->called_fd, .events = POLLIN};
    called[1] = (struct pollfd){.fd = wake->idle_fd, .events = POLLIN};
    int ready = poll(wake->fds, wake->n + 2, deaf ? WAKE_DEAF_MS : CHECK_AGAIN_MS);
    return ready || !deaf ? ready : wait_for_any(wake);
}

static int take_call(struct wake *wake) {
    char calls[4096];
    int64_t now_ns = clock_monotonic_ns();
    bool soon = now_ns - wake->called_ns < WAKE_SOON_MS * NS_PER_MS;
    wake->deaf_till_ns = soon ? now_ns + WAKE_DEAF_MS * NS_PER_MS : 0;
    wake->called_ns = now_ns;
    if (read(wake->called_fd, calls, sizeof calls) < 0 && errno != EAGAIN && errno != EINTR)
        wake->called_fd = -1;
    return SAMPLER_CALLED;
}

static int take_idle(struct wake *wake) {
    uint64_t times;
    if (read(wake->idle_fd, &times, sizeof times) < 0 && errno != EAGAIN && errno != EINTR)
        wake->idle_fd = -1;
    return SAMPLER_IDLE;
}

int wake_wait(void *ctx, int64_t wall_ns) {
    struct wake *wake = ctx;
    uint64_t expirations;
    int r = arm(wake, wall_ns);
    if (r != 0)
        return r;
    int ready = wait_for_any(wake);
    if (ready < 0)
        return errno == EINTR ? SAMPLER_AGAIN : negative_errno();
    for (nfds_t i = 1; i < wake->n; i++)
        if (wake->fds[i].revents)
            return SAMPLER_STOP;
    if (wake->fds[wake->n].revents && !wake->fds[0].revents)
        return take_call(wake);
    if (wake->fds[wake->n + 1].revents && !wake->fds[0].revents)
        return take_idle(wake);
    if (ready == 0 || read(wake->fds[0].fd, &expirations, sizeof expirations) < 0)
        return SAMPLER_AGAIN; /* ECANCELED: the clock was set */
    return 0;
}

int64_t wake_wall_ns(void *ctx) {
    (void)ctx;
    return clock_wall_ns();
}

int64_t wake_mono_ns(void *ctx) {
    (void)ctx;
    return clock_monotonic_ns();
}

int64_t wake_cpu_ns(void *ctx) {
    (void)ctx;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
