/* SPDX-License-Identifier: MIT */
/*
 * fault-canary CPU...: how fast those cores are while something else runs on them. Twenty times a
 * second all of them do the same short work at the same time, until standard input ends; then the
 * thread CPU time that each beat took is printed as JSON, milliseconds:
 * {"start_ns": CLOCK_MONOTONIC, "period_ns": 50000000, "cores": {"0": [x, ...], "1": [y, ...]},
 *  "caches": {"0": [x, ...], "1": [y, ...]}}.
 *
 * CPU time, not time: other programs on a core may come between, which says nothing of the core's
 * speed. It includes the hidden share that the machine below takes (it gives a virtual core less,
 * or its neighbour the same physical one), and the runs beside it suffer that, too. At the same
 * time, so that cores which share a physical one are always seen with the other busy: else a
 * program that waits on one core would seem to run on a faster other one.
 *
 * Sums of integers that depend on nothing but themselves, as many a cycle as a core has room for: a
 * neighbour on the same physical core takes from those what it takes from a program. A chain of
 * products, each waiting for the one before, hardly notices a neighbour: over windows of a second
 * programs of six kinds slow down 1.5 to 2.7 times as much as it (in logarithms), and .8 to 1.4
 * times as much as these sums, correlation .92 to .99.
 *
 * A neighbour that fills the caches of a physical core hardly holds up sums, and a program that
 * lives in them by half: so there is a second piece of work, "caches", a walk from line to line of
 * some hundred kilobytes that it has just walked through. It takes up to six times as long for
 * seconds, while the sums take a tenth longer.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CORES_MAX 64
#define BEATS_MAX 20000 /* 1000 s */
#define PERIOD_NS 50000000
#define WARM_STEPS 30000  /* not measured: they load the work's instructions and data */
#define WORK_STEPS 100000 /* .15 to .3 ms: half a percent of a core, including the warming */
#define LINE 64
#define LINES                                                                                      \
    4096 /* 256 KiB: more than the nearest cache holds, less than a core's own caches              \
            together */
#define NS_PER_S 1000000000

struct canary {
    pthread_t thread;
    int core, beats;
    struct timespec first; /* CLOCK_MONOTONIC */
    float ms[BEATS_MAX], caches_ms[BEATS_MAX];
    char *lines;  /* each line begins with the number of the next: all lines in a circle */
    uint64_t sum; /* so that the compiler keeps the work */
};

static atomic_bool ended;

static void die(const char *what) {
    fprintf(stderr, "fault-canary: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint64_t work(uint64_t seed, int steps) {
    uint64_t a = seed, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (int i = 0; i < steps; i++) {
        uint64_t step = (uint64_t)i;
        a = a * 5 + step;
        b ^= b << 7;
        c += c >> 3;
        d ^= step;
        e += step ^ d;
        f = f * 3 + 1;
        b ^= b >> 9;
        c ^= step;
        __asm__ volatile(""
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e),
                           "+r"(f)); /* keeps each step */
    }
    return a + b + c + d + e + f;
}

/* In an order that no prefetcher foresees. */
static char *circle(void) {
    static uint32_t order[LINES];
    char *lines = aligned_alloc(LINE, (size_t)LINES * LINE);
    uint64_t random = 1;
    if (!lines)
        die("memory");
    for (uint32_t i = 0; i < LINES; i++) {
        random =
            random * 6364136223846793005u + 1442695040888963407u; /* Knuth's generator, of MMIX */
        uint32_t at = (uint32_t)(random >> 33) % (i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < LINES; i++)
        memcpy(lines + (size_t)order[i] * LINE, &order[(i + 1) % LINES], sizeof *order);
    return lines;
}

/* Goes round once, from any line back to it. */
static uint64_t walk(const char *lines) {
    uint32_t at = 0;
    for (int i = 0; i < LINES; i++)
        memcpy(&at, lines + (size_t)at * LINE, sizeof at);
    return at;
}

/* Runs on that core alone, and before all others there, so that all beat at the same time. If the
 * system does not allow that, a beat may be late; its CPU time is still right.
 */
static void settle(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    errno = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (errno)
        die("a core of its own");
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
}

static void *beat(void *argument) {
    struct canary *c = argument;
    struct timespec at = c->first;
    settle(c->core);
    while (!ended && c->beats < BEATS_MAX) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        c->sum += work(c->sum, WARM_STEPS);
        double begin = cpu_ms();
        c->sum += work(c->sum, WORK_STEPS);
        c->ms[c->beats] = (float)(cpu_ms() - begin);
        c->sum += walk(c->lines);
        begin = cpu_ms();
        c->sum += walk(c->lines);
        c->caches_ms[c->beats++] = (float)(cpu_ms() - begin);
        long ns = at.tv_nsec + PERIOD_NS;
        at.tv_sec += ns / NS_PER_S;
        at.tv_nsec = ns % NS_PER_S;
    }
    return NULL;
}

static void run_all(struct canary *canaries, int n) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < n; i++) {
        canaries[i].first = now;
        canaries[i].lines = circle();
        errno = pthread_create(&canaries[i].thread, NULL, beat, &canaries[i]);
        if (errno)
            die("thread");
    }
    char none[64];
    while (read(STDIN_FILENO, none, sizeof none) > 0)
        ;
    ended = true;
    for (int i = 0; i < n; i++)
        pthread_join(canaries[i].thread, NULL);
    for (int i = 0; i < n; i++)
        free(canaries[i].lines);
}

static void print_beats(const char *name, const struct canary *canaries, int n, size_t times) {
    printf("\"%s\": {", name);
    for (int i = 0; i < n; i++) {
        const float *ms = (const float *)((const char *)&canaries[i] + times);
        printf("%s\"%d\": [", i ? ", " : "", canaries[i].core);
        for (int b = 0; b < canaries[i].beats; b++)
            printf("%s%.4f", b ? ", " : "", (double)ms[b]);
        printf("]");
    }
    printf("}");
}

static int core_of(const char *word) {
    char *end;
    long n = strtol(word, &end, 10);
    return end == word || *end || n < 0 || n >= CPU_SETSIZE ? -1 : (int)n;
}

int main(int argc, char **argv) {
    static struct canary canaries[CORES_MAX];
    int n = argc - 1;
    for (int i = 0; i < n && n <= CORES_MAX; i++)
        canaries[i].core = core_of(argv[i + 1]);
    for (int i = 0; i < n && n <= CORES_MAX; i++)
        if (canaries[i].core < 0)
            n = 0;
    if (n < 1 || n > CORES_MAX) {
        fprintf(stderr, "usage: fault-canary CPU... (until standard input ends)\n");
        return 2;
    }
    run_all(canaries, n);
    printf("{\"start_ns\": %lld, \"period_ns\": %d, ",
           (long long)canaries->first.tv_sec * NS_PER_S + canaries->first.tv_nsec, PERIOD_NS);
    print_beats("cores", canaries, n, offsetof(struct canary, ms));
    printf(", ");
    print_beats("caches", canaries, n, offsetof(struct canary, caches_ms));
    printf("}\n");
    return 0;
}
