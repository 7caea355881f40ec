/* SPDX-License-Identifier: MIT */
/*
 * bench_canary_moves [SAMPLES]: whether two fixed pieces of work of about 100 us, done now and then
 * on a core, tell by their thread CPU time that the core is slow or memory is crowded. Core 0 has
 * the canary, and beside it, in turn, what an innocent job does and what should be noticed:
 *
 *     nothing                        innocent
 *     arithmetic here                innocent: a rank computes
 *     arithmetic on all cores        innocent
 *     copying here                   innocent: a rank that needs memory, alone
 *     copying elsewhere              to be noticed: others crowd the memory
 *     copying on all cores           to be noticed
 *
 * The yardstick is a copying program on core 0 itself: CPU time it takes for the same bytes with
 * and without others that copy. A canary moves when the median of a state to be noticed lies
 * beyond all medians of ten samples (ten seconds at 1 Hz) of the innocent states.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AREA_BYTES (128u << 20) /* four times the last-level cache of most */
#define PIECE_BYTES (1u << 20)
#define PERIOD_MS 50
#define WINDOW 10
#define CORES_MAX 64

enum work { NOTHING, ARITHMETIC, COPYING };
enum kernel { KERNEL_ARITHMETIC, KERNEL_COPY, KERNELS };

static const struct state {
    const char *name;
    enum work here, elsewhere;
    bool innocent;
} states[] = {
    {"nothing", NOTHING, NOTHING, true},
    {"arithmetic here", ARITHMETIC, NOTHING, true},
    {"arithmetic on all cores", ARITHMETIC, ARITHMETIC, true},
    {"copying here", COPYING, NOTHING, true},
    {"copying elsewhere", NOTHING, COPYING, false},
    {"copying on all cores", COPYING, COPYING, false},
};
#define STATES (sizeof states / sizeof *states)

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* ---- work ---- */

static volatile double sink;

static void compute(int rounds) {
    double x = 1;
    for (int i = 0; i < rounds; i++)
        x = x * 0.999 + i;
    sink = x;
}

static char *new_area(void) {
    char *area = aligned_alloc(4096, AREA_BYTES);
    if (!area || madvise(area, AREA_BYTES, MADV_DONTFORK) < 0)
        exit(1); /* forked children would copy its pages when they write */
    memset(area, 1, AREA_BYTES);
    return area;
}

/* Copies the next piece of the first half to the second: no cache has it. */
static void copy_piece(char *area, size_t *at) {
    memcpy(area + AREA_BYTES / 2 + *at, area + *at, PIECE_BYTES);
    *at = (*at + PIECE_BYTES) % (AREA_BYTES / 2);
}

/* ---- others ---- */

static pid_t start(enum work work, int core) {
    pid_t pid = work == NOTHING ? 0 : fork();
    if (work == NOTHING || pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(core);
    size_t at = 0;
    for (char *area = work == COPYING ? new_area() : NULL;;)
        if (area)
            copy_piece(area, &at);
        else
            compute(100000);
}

static int start_all(const struct state *s, bool here, pid_t *pids) {
    int n = 0, cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int core = here ? 0 : 1; core < cores && core < CORES_MAX; core++) {
        pid_t pid = start(core ? s->elsewhere : s->here, core);
        if (pid > 0)
            pids[n++] = pid;
    }
    usleep(300000); /* by then they have touched their memory */
    return n;
}

static void end_all(const pid_t *pids, int n) {
    for (int i = 0; i < n; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
}

/* ---- figures ---- */

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double quantile(const double *values, int n, double q) {
    double *sorted = malloc((size_t)n * sizeof *sorted);
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    double value = sorted[(int)(q * (n - 1) + 0.5)];
    free(sorted);
    return value;
}

struct canary {
    double median, low, high; /* of all samples; least and largest median of WINDOW samples */
};

static struct canary canary_of(const double *us, int n) {
    struct canary c = {quantile(us, n, 0.5), 1e9, 0};
    for (int i = 0; i + WINDOW <= n; i += WINDOW) {
        double median = quantile(us + i, WINDOW, 0.5);
        c.low = median < c.low ? median : c.low;
        c.high = median > c.high ? median : c.high;
    }
    return c;
}

static void sing(const struct state *s, char *area, int n, struct canary ret[KERNELS]) {
    static size_t at;
    double *us[KERNELS] = {calloc((size_t)n, sizeof(double)), calloc((size_t)n, sizeof(double))};
    pid_t pids[CORES_MAX];
    int others = start_all(s, true, pids);
    for (int i = 0; i < n; i++) {
        int64_t begin = cpu_ns();
        compute(60000);
        int64_t middle = cpu_ns();
        copy_piece(area, &at);
        us[KERNEL_ARITHMETIC][i] = (double)(middle - begin) / 1e3;
        us[KERNEL_COPY][i] = (double)(cpu_ns() - middle) / 1e3;
        usleep(PERIOD_MS * 1000);
    }
    end_all(pids, others);
    for (int k = 0; k < KERNELS; k++) {
        ret[k] = canary_of(us[k], n);
        free(us[k]);
    }
}

/* CPU time of a program on core 0 that copies, in us for each piece. */
static double job_us(const struct state *s, char *area) {
    enum { PIECES = 4000 };
    size_t at = 0;
    pid_t pids[CORES_MAX];
    int others = start_all(s, false, pids);
    int64_t begin = cpu_ns();
    for (int i = 0; i < PIECES; i++)
        copy_piece(area, &at);
    int64_t end = cpu_ns();
    end_all(pids, others);
    return (double)(end - begin) / 1e3 / PIECES;
}

int main(int argc, char **argv) {
    static const char *const names[KERNELS] = {"arithmetic", "copying"};
    int n = argc > 1 ? atoi(argv[1]) : 100;
    double innocent[KERNELS] = {0}, noticed[KERNELS] = {1e9, 1e9};
    char *area = new_area();
    if (n < WINDOW)
        return 2;
    pin(0);
    double alone = job_us(&states[0], area), crowded = job_us(&states[4], area);
    printf(
        "yardstick: a copying program takes %+.0f %% CPU time while others copy (%.0f, %.0f us)\n",
        100 * (crowded / alone - 1), alone, crowded);
    for (size_t s = 0; s < STATES; s++) {
        struct canary c[KERNELS];
        sing(&states[s], area, n, c);
        printf("%-24s", states[s].name);
        for (int k = 0; k < KERNELS; k++) {
            printf("  %s %6.1f us (medians of %d: %.1f to %.1f)", names[k], c[k].median, WINDOW,
                   c[k].low, c[k].high);
            if (states[s].innocent && c[k].high > innocent[k])
                innocent[k] = c[k].high;
            if (!states[s].innocent && c[k].median < noticed[k])
                noticed[k] = c[k].median;
        }
        printf("%s\n", states[s].innocent ? "  innocent" : "  to be noticed");
    }
    bool moves = noticed[KERNEL_COPY] > innocent[KERNEL_COPY];
    printf("the copying canary %s: %.1f us where something is to be noticed, up to %.1f us where "
           "not\n",
           moves ? "moves" : "does not move", noticed[KERNEL_COPY], innocent[KERNEL_COPY]);
    free(area);
    return !moves;
}
