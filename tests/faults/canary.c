/* SPDX-License-Identifier: MIT */
/*
 * fault-canary CPU...: how fast those cores are just now. Each does the same work at the same time
 * as the others, since cores that share a physical one slow each other down; the median thread CPU
 * time of a few repeats is printed as JSON, milliseconds: {"0": {"compute": x, "memory": y}, ...}.
 *
 * CPU time, not time: what else runs on a core may come between, and is none of the core's speed.
 * What the machine below takes without saying so (it gives a virtual core less, or its neighbour
 * the same physical one) is in it, and that is what the runs beside it suffer, too.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CORES_MAX 64
#define REPEATS 7
#define STEPS 2000000         /* of eight sums each: about 8 ms */
#define AREA_BYTES (8u << 20) /* more than a second-level cache */
#define PASSES 6

struct canary {
    pthread_t thread;
    int core;
    pthread_barrier_t *together;
    unsigned char *from, *to;
    double compute_ms[REPEATS], memory_ms[REPEATS];
    volatile double sum; /* so that the work is done at all */
};

static void die(const char *what) {
    fprintf(stderr, "fault-canary: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void compute(struct canary *c) {
    double sums[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 8; k++)
            sums[k] = sums[k] * .999999 + 1e-6;
    for (int k = 0; k < 8; k++)
        c->sum += sums[k];
}

static void copy(struct canary *c) {
    for (int i = 0; i < PASSES; i++) {
        memcpy(c->to, c->from, AREA_BYTES);
        c->from[i] ^= c->to[AREA_BYTES - 1];
    }
}

static void *work(void *argument) {
    struct canary *c = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)c->core, &set);
    errno = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    c->from = malloc(AREA_BYTES);
    c->to = malloc(AREA_BYTES);
    if (errno || !c->from || !c->to)
        die("a core's thread");
    memset(c->from, 1, AREA_BYTES);
    memset(c->to, 2, AREA_BYTES);
    pthread_barrier_wait(c->together);
    for (int i = 0; i < REPEATS; i++) {
        double begin = cpu_ms();
        compute(c);
        double between = cpu_ms();
        copy(c);
        c->compute_ms[i] = between - begin;
        c->memory_ms[i] = cpu_ms() - between;
    }
    return NULL;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values) {
    qsort(values, REPEATS, sizeof *values, ascending);
    return values[REPEATS / 2];
}

static void run_all(struct canary *canaries, int n) {
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        canaries[i].together = &together;
        errno = pthread_create(&canaries[i].thread, NULL, work, &canaries[i]);
        if (errno)
            die("thread");
    }
    for (int i = 0; i < n; i++)
        pthread_join(canaries[i].thread, NULL);
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
        fprintf(stderr, "usage: fault-canary CPU...\n");
        return 2;
    }
    run_all(canaries, n);
    for (int i = 0; i < n; i++)
        printf("%s\"%d\": {\"compute\": %.3f, \"memory\": %.3f}", i ? ", " : "{", canaries[i].core,
               median(canaries[i].compute_ms), median(canaries[i].memory_ms));
    printf("}\n");
    return 0;
}
