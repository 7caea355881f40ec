/* SPDX-License-Identifier: MIT */
#include "workloads/common/plant.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MB 1000000
#define LINE 64 /* bytes of a cache line */

const char plant_help[] =
    "skew:RANK:FACTOR, sleep:RANK:MS, apply:MS, memory:RANK:MB or spin:RANK:MS, each with an "
    "optional @FROM-TO (0.4-0.6: shares of the iterations)";

static const struct {
    const char *name, *unit, *what;
    bool has_rank;
    double least, most;
} kinds[] = {
    [PLANT_SKEW] = {"skew", "times", "the work", true, 0.1, 100},
    [PLANT_SLEEP] = {"sleep", "ms", "of sleep an iteration", true, 0.001, 1e6},
    [PLANT_APPLY] = {"apply", "ms", "of arithmetic whenever the server applies", false, 0.001, 1e6},
    [PLANT_MEMORY] = {"memory", "MB", "read an iteration", true, 0.1, 1e6},
    [PLANT_SPIN] = {"spin", "ms", "of arithmetic an iteration", true, 0.001, 1e6},
};

/* ---- words ---- */

static bool take_number(const char **p, double least, double most, double *ret) {
    char *end;
    if (!isdigit((unsigned char)**p) && **p != '.')
        return false;
    *ret = strtod(*p, &end);
    if (end == *p || !isfinite(*ret) || *ret < least || *ret > most)
        return false;
    *p = end;
    return true;
}

static bool take_char(const char **p, char c) {
    if (**p != c)
        return false;
    ++*p;
    return true;
}

static bool take_rank(const char **p, int *ret) {
    double rank;
    if (!take_number(p, 0, 1e6, &rank) || rank != floor(rank))
        return false;
    *ret = (int)rank;
    return take_char(p, ':');
}

static bool take_window(const char **p, struct plant *plant) {
    if (!take_char(p, '@'))
        return true;
    return take_number(p, 0, 1, &plant->from) && take_char(p, '-') &&
           take_number(p, 0, 1, &plant->to) && plant->from < plant->to;
}

static bool take_kind(const char **p, enum plant_kind *ret) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n = strlen(kinds[k].name);
        if (strncmp(*p, kinds[k].name, n) == 0 && (*p)[n] == ':') {
            *p += n + 1;
            *ret = (enum plant_kind)k;
            return true;
        }
    }
    return false;
}

int plants_add(struct plants *plants, const char *text) {
    struct plant plant = {.to = 1};
    if (plants->n == PLANTS_MAX)
        return -E2BIG;
    if (!take_kind(&text, &plant.kind) ||
        (kinds[plant.kind].has_rank && !take_rank(&text, &plant.rank)) ||
        !take_number(&text, kinds[plant.kind].least, kinds[plant.kind].most, &plant.amount) ||
        !take_window(&text, &plant) || *text)
        return -EINVAL;
    plants->plant[plants->n++] = plant;
    return 0;
}

void plants_say(const struct plants *plants, const char *program) {
    for (size_t i = 0; i < plants->n; i++) {
        const struct plant *p = &plants->plant[i];
        fprintf(stderr, "%s: planted: rank %d: %g %s %s", program, p->rank, p->amount,
                kinds[p->kind].unit, kinds[p->kind].what);
        if (p->from > 0 || p->to < 1)
            fprintf(stderr, ", from %g to %g of the iterations", p->from, p->to);
        fputc('\n', stderr);
    }
}

bool plants_fit(const struct plants *plants, int n_ranks, int *ret_rank) {
    for (size_t i = 0; i < plants->n; i++) {
        if (plants->plant[i].rank >= n_ranks) {
            *ret_rank = plants->plant[i].rank;
            return false;
        }
    }
    return true;
}

/* ---- planted work ---- */

static bool is_on(const struct plant *p, int rank, double done) {
    return p->rank == rank && done >= p->from && (done < p->to || p->to == 1);
}

double plants_work(const struct plants *plants, int rank, double done) {
    double work = 1;
    for (size_t i = 0; i < plants->n; i++)
        if (plants->plant[i].kind == PLANT_SKEW && is_on(&plants->plant[i], rank, done))
            work *= plants->plant[i].amount;
    return work;
}

static double thread_cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void compute_for(double ms) {
    volatile double x = 1;
    for (double end = thread_cpu_ms() + ms; thread_cpu_ms() < end;)
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001 + 1e-9;
}

static void sleep_for(double ms) {
    struct timespec left = {(time_t)(ms * 1e-3), (long)(fmod(ms, 1e3) * 1e6)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

static int fill_file(int fd, size_t bytes) {
    char block[1 << 16];
    memset(block, 1, sizeof block);
    for (size_t left = bytes; left > 0;) {
        ssize_t n = write(fd, block, left < sizeof block ? left : sizeof block);
        if (n < 0 && errno != EINTR)
            return -errno;
        left -= n > 0 ? (size_t)n : 0;
    }
    return fdatasync(fd) < 0 ? -errno : 0;
}

/* An unlinked file: it vanishes with the process, however that ends. */
static int map_set(size_t bytes, unsigned char **ret) {
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/plant-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = n < (int)sizeof path ? mkstemp(path) : (errno = ENAMETOOLONG, -1);
    if (fd < 0)
        return -errno;
    unlink(path);
    int r = fill_file(fd, bytes);
    void *set = r < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (r == 0 && set == MAP_FAILED)
        r = -errno;
    close(fd);
    if (r == 0)
        *ret = set;
    return r;
}

static size_t set_bytes(const struct plant *p) {
    return (size_t)(p->amount * MB);
}

static int touch_set(struct plants *plants, size_t i) {
    size_t bytes = set_bytes(&plants->plant[i]);
    int r = plants->set[i] ? 0 : map_set(bytes, &plants->set[i]);
    const volatile unsigned char *set = plants->set[i];
    for (size_t at = 0; r == 0 && at < bytes; at += LINE)
        (void)set[at];
    return r;
}

static int do_one(struct plants *plants, size_t i) {
    const struct plant *p = &plants->plant[i];
    if (p->kind == PLANT_SLEEP)
        sleep_for(p->amount);
    else if (p->kind == PLANT_SPIN)
        compute_for(p->amount);
    else if (p->kind == PLANT_MEMORY)
        return touch_set(plants, i);
    return 0;
}

int plants_compute(struct plants *plants, int rank, double done) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < plants->n; i++)
        if (is_on(&plants->plant[i], rank, done))
            r = do_one(plants, i);
    return r;
}

void plants_apply(const struct plants *plants, double done) {
    for (size_t i = 0; i < plants->n; i++)
        if (plants->plant[i].kind == PLANT_APPLY && is_on(&plants->plant[i], 0, done))
            compute_for(plants->plant[i].amount);
}

void plants_release(struct plants *plants) {
    for (size_t i = 0; i < plants->n; i++)
        if (plants->set[i])
            munmap(plants->set[i], set_bytes(&plants->plant[i]));
    *plants = (struct plants){0};
}
