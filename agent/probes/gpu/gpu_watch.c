/* SPDX-License-Identifier: MIT */
/*
 * The thread that asks the drivers. It reads a little before the next frame, so that a frame has
 * figures of a few milliseconds ago, and drops all capabilities first: no figure needs one.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/base/privileges.h"
#include "agent/probes/gpu/gpu_private.h"
#include "common/clock.h"
#include "common/error.h"

#define START_NS (3 * NS_PER_S) /* a driver without persistence takes seconds for each card */
#define STOP_NS (2 * NS_PER_S)
#define FIRST_PERIOD_NS (NS_PER_S / 10)
#define PERIOD_MIN_NS NS_PER_MS
#define LEAD_NS (15 * NS_PER_MS) /* for eight cards and a slow answer */

/* Shares of a core for each card, of readings and of each kind of slow calls. A driver mostly waits
 * for the device, but some spin meanwhile. */
#define FAST_CPU_MOST .01
/* On one card, at ten readings a second and at one:
 *   each reading: memory .05, clock .03, power .003, reasons .04 ms:   1.3 and  .13 ms a second
 *   units, each fifth reading at most: utilization .23, a sample of GPM .28,
 *     its metrics 2.4, memory clock .03, temperature .05 ms:           1.8 and  .45
 *   counters 2.6, energy 4.0, shares of processes 3.0 ms:               .9 and  .2
 * That is less than 5 and 1 ms a second. */
#define UNITS_EVERY 5
#define UNITS_CPU_MOST .0018
#define UNITS_CPU_MOST_SELDOM .00045 /* at less than two readings a second */
#define SLOW_CPU_MOST .0003
#define SLOW_CPU_MOST_SELDOM .00006

/* ---- snapshots ---- */

void gpus_publish(struct gpus *gpus, int64_t now_ns) {
    struct gpu_snapshot *to = &gpus->snapshots[gpus->writing];
    to->taken_ns = now_ns;
    to->n_parts = gpus->n_parts;
    to->n_users = gpus->n_users;
    for (size_t i = 0; i < gpus->n_parts; i++)
        memcpy(to->values[i], gpus->parts[i].values, sizeof to->values[i]);
    memcpy(to->users, gpus->users, gpus->n_users * sizeof *gpus->users);
    gpus->writing = atomic_exchange(&gpus->waiting, gpus->writing | GPU_FRESH) & ~GPU_FRESH;
}

bool gpus_take(struct gpus *gpus) {
    bool fresh = atomic_load(&gpus->waiting) & GPU_FRESH;
    if (fresh)
        gpus->reading = atomic_exchange(&gpus->waiting, gpus->reading) & ~GPU_FRESH;
    return fresh;
}

/* ---- when to read ---- */

void gpus_frame(struct gpus *gpus, const struct probe_env *env) {
    int64_t period = env->mono_ns - env->previous_mono_ns;
    if (env->previous_mono_ns && period >= PERIOD_MIN_NS)
        atomic_store(&gpus->period_ns, period);
    atomic_store(&gpus->frame_ns, env->mono_ns);
}

/* The first instant after `now` that lies a lead before a frame. */
static int64_t next_read(int64_t frame_ns, int64_t period_ns, int64_t now_ns) {
    int64_t lead = period_ns / 4 < LEAD_NS ? period_ns / 4 : LEAD_NS;
    int64_t first = frame_ns - lead, past = now_ns - first;
    return past < 0 ? first : first + (past / period_ns + 1) * period_ns;
}

/* Frames for each reading: more than one only where the driver takes too much CPU time. */
static int64_t frames_a_reading(const struct gpus *gpus, int64_t period_ns) {
    double may = FAST_CPU_MOST * (double)gpus->n_parts * (double)period_ns;
    return 1 + (int64_t)((double)gpus->fast_cpu_ns / may);
}

/* Whether to go on. */
static bool wait_for_turn(struct gpus *gpus) {
    int64_t frame = atomic_load(&gpus->frame_ns), period = atomic_load(&gpus->period_ns);
    int64_t now = clock_monotonic_ns(), rest = next_read(frame ? frame : now, period, now) - now;
    rest += (frames_a_reading(gpus, period) - 1) * period;
    struct timespec pause = {rest / NS_PER_S, rest % NS_PER_S};
    struct pollfd stop = {.fd = gpus->stop_fd, .events = POLLIN};
    return ppoll(&stop, 1, &pause, NULL) <= 0;
}

/* ---- the thread ---- */

static void say_news(const struct gpus *gpus) {
    uint64_t one = 1;
    while (write(gpus->news_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* The period is known with the second frame: pauses from before become those of that period. */
static void set_pace(struct gpus *gpus) {
    bool seldom = atomic_load(&gpus->period_ns) > NS_PER_S / 2;
    double most = seldom ? SLOW_CPU_MOST_SELDOM : SLOW_CPU_MOST;
    for (size_t i = 0; i < GPU_SLOW_KINDS; i++)
        gpus->turns[i].pause_ns =
            (int64_t)((double)gpus->turns[i].pause_ns * gpus->slow_cpu_most / most);
    gpus->slow_cpu_most = most;
    gpus->units_cpu_most = seldom ? UNITS_CPU_MOST_SELDOM : UNITS_CPU_MOST;
}

/* Slow calls are made once the frame has its figures. */
static void read_all(struct gpus *gpus) {
    int64_t now = clock_monotonic_ns(), before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    gpus_read_fast(gpus, now);
    gpus_publish(gpus, now);
    int64_t between = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    set_pace(gpus);
    gpus_read_slow(gpus, clock_monotonic_ns());
    gpus->fast_cpu_ns = (3 * gpus->fast_cpu_ns + between - before) / 4;
    atomic_store(&gpus->cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void *read_on(void *ctx) {
    struct gpus *gpus = ctx;
    bool any = gpus_find(gpus) > 0;
    privileges_drop(&(struct privileges_kept){0});
    atomic_store(&gpus->is_open, any);
    atomic_store(&gpus->looked, true);
    say_news(gpus);
    while (any) {
        read_all(gpus);
        any = wait_for_turn(gpus);
    }
    gpus_release(gpus);
    atomic_store(&gpus->ended, true);
    say_news(gpus);
    return NULL;
}

/* Waits until the thread has set the flag; false after that time. */
static bool wait_for_flag(const struct gpus *gpus, _Atomic bool *flag, int64_t most_ns) {
    struct pollfd news = {.fd = gpus->news_fd, .events = POLLIN};
    int64_t until = clock_monotonic_ns() + most_ns, now;
    uint64_t n;
    while (!atomic_load(flag) && (now = clock_monotonic_ns()) < until)
        if (poll(&news, 1, (int)((until - now) / NS_PER_MS) + 1) > 0 &&
            read(gpus->news_fd, &n, sizeof n) < 0)
            return false;
    return atomic_load(flag);
}

static void gpus_free(struct gpus *gpus) {
    if (gpus->news_fd >= 0)
        close(gpus->news_fd);
    if (gpus->stop_fd >= 0)
        close(gpus->stop_fd);
    free(gpus);
}

static struct gpus *gpus_new(const struct probe_env *env) {
    struct gpus *gpus = calloc(1, sizeof *gpus);
    if (!gpus)
        return NULL;
    snprintf(gpus->sys, sizeof gpus->sys, "%s", env->sys);
    gpus->news_fd = eventfd(0, EFD_CLOEXEC);
    gpus->stop_fd = eventfd(0, EFD_CLOEXEC);
    atomic_store(&gpus->period_ns, FIRST_PERIOD_NS);
    atomic_store(&gpus->waiting, 1);
    gpus->reading = 2;
    gpus->units_every = UNITS_EVERY;
    gpus->units_cpu_most = UNITS_CPU_MOST;
    return gpus;
}

int gpus_start(struct gpus **ret_gpus, const struct probe_env *env, char *why, size_t why_size) {
    struct gpus *gpus = gpus_new(env);
    if (!gpus || gpus->news_fd < 0 || gpus->stop_fd < 0) {
        if (gpus)
            gpus_free(gpus);
        return -ENOMEM;
    }
    int r = pthread_create(&gpus->thread, NULL, read_on, gpus);
    if (r != 0) {
        gpus_free(gpus);
        return -r;
    }
    pthread_setname_np(gpus->thread, "gpu");
    if (!wait_for_flag(gpus, &gpus->looked, START_NS)) {
        snprintf(why, why_size,
                 "the driver of GPUs takes long to start: their first seconds are "
                 "missing");
    } else if (!atomic_load(&gpus->is_open)) {
        snprintf(why, why_size, "%s", gpus->why);
        gpus_stop(gpus);
        return PROBE_ABSENT;
    }
    *ret_gpus = gpus;
    return 0;
}

void gpus_stop(struct gpus *gpus) {
    uint64_t one = 1;
    if (!gpus)
        return;
    while (write(gpus->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    if (wait_for_flag(gpus, &gpus->ended, STOP_NS) && pthread_join(gpus->thread, NULL) == 0)
        gpus_free(gpus);
}
