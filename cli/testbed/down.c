/* SPDX-License-Identifier: MIT */
/*
 * Removes a testbed. Its own cgroups alone tell which processes belong to it. Each is ended through
 * a process descriptor that was opened before its membership was checked: if its id is reused in
 * between, the other process is not hit.
 */
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TERM_WAIT_MS 3000
#define KILL_WAIT_MS 5000
#define KILL_ROUNDS 20

struct processes {
    pid_t *pids;
    struct pollfd *handles; /* pidfd; -1: gone */
    size_t n;
};

static void processes_close(struct processes *p) {
    for (size_t i = 0; p->handles && i < p->n; i++)
        if (p->handles[i].fd >= 0)
            close(p->handles[i].fd);
    free(p->handles);
    free(p->pids);
    *p = (struct processes){0};
}

static bool is_member(const pid_t *pids, size_t n, pid_t pid) {
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (pids[middle] == pid)
            return true;
        if (pids[middle] < pid)
            low = middle + 1;
        else
            n = middle;
    }
    return false;
}

static int open_handles(const struct testbed *t, struct processes *p) {
    pid_t *now = NULL;
    size_t n_now;
    p->handles = calloc(p->n ? p->n : 1, sizeof *p->handles);
    if (!p->handles)
        return -ENOMEM;
    for (size_t i = 0; i < p->n; i++)
        p->handles[i] = (struct pollfd){(int)syscall(SYS_pidfd_open, p->pids[i], 0), POLLIN, 0};
    int r = testbed_cgroup_pids(t, 0, &now, &n_now);
    for (size_t i = 0; r == 0 && i < p->n; i++)
        if (p->handles[i].fd >= 0 && !is_member(now, n_now, p->pids[i])) {
            close(p->handles[i].fd);
            p->handles[i].fd = -1;
        }
    if (r == 0)
        free(now);
    return r;
}

static int processes_open(const struct testbed *t, struct processes *ret) {
    *ret = (struct processes){0};
    int r = testbed_cgroup_pids(t, 0, &ret->pids, &ret->n);
    return r < 0 ? r : open_handles(t, ret);
}

static void processes_signal(const struct processes *p, int signal_number) {
    for (size_t i = 0; i < p->n; i++)
        if (p->handles[i].fd >= 0)
            syscall(SYS_pidfd_send_signal, p->handles[i].fd, signal_number, NULL, 0);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns when all have ended or the time is over. */
static void processes_wait(struct processes *p, int wait_ms) {
    int64_t deadline = now_ms() + wait_ms;
    for (;;) {
        size_t alive = 0;
        for (size_t i = 0; i < p->n; i++)
            alive += p->handles[i].fd >= 0;
        int64_t left = deadline - now_ms();
        if (!alive || left <= 0 || (poll(p->handles, p->n, (int)left) < 0 && errno != EINTR))
            return;
        for (size_t i = 0; i < p->n; i++)
            if (p->handles[i].fd >= 0 && p->handles[i].revents) {
                close(p->handles[i].fd);
                p->handles[i].fd = -1;
            }
    }
}

/* Signals every process of the testbed to end; *ret_n is their number. */
static int end_round(struct testbed *t, int signal_number, int wait_ms, size_t *ret_n) {
    struct processes p;
    int r = processes_open(t, &p);
    if (r == 0 && is_member(p.pids, p.n, getpid()))
        r = -EDEADLK;
    if (r == 0) {
        processes_signal(&p, signal_number);
        processes_signal(&p, SIGCONT);
        processes_wait(&p, wait_ms);
        *ret_n = p.n;
    }
    processes_close(&p);
    return r;
}

static int end_processes(struct testbed *t) {
    size_t n = 1;
    testbed_cgroup_thaw(t);
    int r = end_round(t, SIGTERM, TERM_WAIT_MS, &n);
    for (int round = 0; r == 0 && n && round < KILL_ROUNDS; round++)
        r = end_round(t, SIGKILL, KILL_WAIT_MS, &n);
    if (r == -EDEADLK)
        return testbed_trouble(t, TESTBED_USAGE, "this is inside the testbed '%s'; run it outside",
                               t->name);
    if (r < 0)
        return testbed_trouble(t, TESTBED_FAILED, "cannot end the processes of '%s': %s", t->name,
                               strerror(-r));
    return n ? testbed_trouble(t, TESTBED_FAILED, "%zu processes of '%s' do not end", n, t->name)
             : 0;
}

int testbed_remove(struct testbed *t) {
    int r = end_processes(t);
    if (r == 0)
        r = testbed_network_remove(t);
    if (r == 0)
        r = testbed_cgroup_remove(t);
    return r ? r : testbed_remove_state(t);
}

static int down_locked(struct testbed *t) {
    if (!testbed_exists(t)) {
        printf("no testbed '%s' is up\n", t->name);
        return 0;
    }
    int r = testbed_load(t);
    if (r == 0)
        r = testbed_remove(t);
    if (r == 0)
        printf("testbed '%s' is down\n", t->name);
    return r;
}

int testbed_down(struct testbed *t) {
    if (!testbed_exists(t))
        return down_locked(t);
    int lock = testbed_lock();
    if (lock < 0)
        return testbed_trouble(t, TESTBED_UNABLE, "cannot lock %s.lock: %s", TESTBED_ROOT,
                               strerror(-lock));
    int r = down_locked(t);
    close(lock);
    return r;
}
