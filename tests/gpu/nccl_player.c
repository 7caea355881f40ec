/* SPDX-License-Identifier: MIT */
/*
 * nccl-player VERSION WHAT...: plays a rank of a program on GPUs, without a GPU. It loads the
 * plug-in that NCCL_PROFILER_PLUGIN names as NCCL does, takes its table of that version, and calls
 * it as NCCL does. RANK and WORLD_SIZE are those of torchrun.
 *
 *   step MEET LIBCUDA STEPS HOST_US GPU_US   in each step it computes for HOST_US, starts an
 *       AllReduce, waits through the calls of that libcuda while its GPU works for GPU_US, then
 *       until all ranks have come that far; MEET is a file that the ranks share. Every tenth step
 *       it sends to the next rank and receives from the one before.
 *   hostile    calls that NCCL would never make
 *   storm THREADS EVENTS    threads that start thousands of operations, then stop them in turn
 *   cost EVENTS             prints nanoseconds of CPU an operation, with the plug-in and without
 *
 * It ends with 0 and prints a line of what it did; 3: the plug-in asks for other events than it
 * should.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/gpu/nccl_layout.h"

#define COMM UINT64_C(0x1234567890abcdef)

struct player {
    int version, rank, world;
    struct table *table; /* NULL: no plug-in */
    void *context;
    int mask;
    uint64_t seq;
    void *api; /* of the group, from version 5 on */
};

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int number_in(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* ---- NCCL's part ---- */

static int64_t warned;
static void hear(int level, unsigned long flags, const char *file, int line, const char *format,
                 ...) {
    (void)level, (void)flags, (void)file, (void)line, (void)format;
    warned++;
}

static void load(struct player *p) {
    const char *name = getenv("NCCL_PROFILER_PLUGIN");
    char symbol[32];
    if (!name || strcasecmp(name, "none") == 0)
        return;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", p->version);
    if (!library)
        fprintf(stderr, "nccl-player: %s\n", dlerror());
    else
        p->table = dlsym(library, symbol);
}

static int init(struct player *p, int ranks, int rank, uint64_t hash) {
    if (!p->table)
        return 0;
    if (p->version <= 3)
        return ((init_v1 *)p->table->init)(&p->context, &p->mask);
    if (p->version == 4)
        return ((init_v4 *)p->table->init)(&p->context, &p->mask, "world", hash, 1, ranks, rank,
                                           hear);
    return ((init_v5 *)p->table->init)(&p->context, hash, &p->mask, "world", 1, ranks, rank, hear);
}

static const uint8_t funcs[] = {4, 6, 7}; /* of version 1 */
static const char *const func_names[] = {"AllReduce", "Send", "Recv"};
enum { ALL_REDUCE, SEND, RECV };

static void *start(struct player *p, void *event) {
    void *handle = NULL;
    if (p->table)
        p->table->start(p->context, &handle, event);
    return handle;
}

static void *start_group(struct player *p) {
    struct v4 narrow = {.type = GROUP, .rank = p->rank};
    struct v5 wide = {.type = GROUP_API, .rank = p->rank};
    if (p->version < 5)
        return start(p, &narrow);
    p->api = start(p, &wide);
    struct v5 group = {.type = GROUP, .parent = p->api, .rank = p->rank};
    return start(p, &group);
}

static void *start_coll(struct player *p, size_t count, void *group) {
    uint64_t seq = p->seq++;
    struct v1 a = {.type = COLL, .parent = group, .rank = p->rank};
    a.coll.comm = COMM, a.coll.seq = seq, a.coll.func = 4, a.coll.count = count,
    a.coll.datatype = 7;
    struct v2 b = {.type = COLL, .parent = group, .rank = p->rank};
    b.coll.name = "world", b.coll.comm = COMM, b.coll.seq = seq, b.coll.func = "AllReduce",
    b.coll.count = count, b.coll.datatype = "ncclFloat32";
    struct v4 c = {.type = COLL, .parent = group, .rank = p->rank};
    c.coll.seq = seq, c.coll.func = "AllReduce", c.coll.count = count,
    c.coll.datatype = "ncclFloat32", c.coll.channels = 8;
    struct v5 d = {.type = COLL, .rank = p->rank};
    d.coll.seq = seq, d.coll.func = "AllReduce", d.coll.count = count,
    d.coll.datatype = "ncclFloat32", d.coll.group = group;
    return start(p, p->version == 1   ? (void *)&a
                    : p->version <= 3 ? (void *)&b
                    : p->version == 4 ? (void *)&c
                                      : (void *)&d);
}

static void *start_message(struct player *p, int what, int peer, size_t count) {
    struct v1 a = {.type = P2P, .rank = p->rank};
    a.p2p.comm = COMM, a.p2p.func = funcs[what], a.p2p.count = count, a.p2p.datatype = 0,
    a.p2p.peer = peer;
    struct v2 b = {.type = P2P, .rank = p->rank};
    b.p2p.comm = COMM, b.p2p.func = func_names[what], b.p2p.count = count,
    b.p2p.datatype = "ncclInt8", b.p2p.peer = peer;
    struct v4 c = {.type = P2P, .rank = p->rank};
    c.p2p.func = func_names[what], c.p2p.count = count, c.p2p.datatype = "ncclInt8",
    c.p2p.peer = peer;
    struct v5 d = {.type = P2P, .rank = p->rank};
    d.p2p.func = func_names[what], d.p2p.count = count, d.p2p.datatype = "ncclInt8",
    d.p2p.peer = peer;
    return start(p, p->version == 1   ? (void *)&a
                    : p->version <= 3 ? (void *)&b
                    : p->version == 4 ? (void *)&c
                                      : (void *)&d);
}

/* NCCL stops only what it got a handle of. */
static void stop(struct player *p, void *handle) {
    if (handle)
        p->table->stop(handle);
}

static void stop_group(struct player *p, void *group) {
    stop(p, group);
    stop(p, p->api);
    p->api = NULL;
}

static void finalize(struct player *p) {
    if (p->table && p->context)
        p->table->finalize(p->context);
}

/* ---- steps ---- */

struct driver {
    void (*plant)(int, int64_t);
    void (*until)(const int64_t *, int64_t);
    int (*wait)(void);
};

static void compute(int64_t us) {
    for (int64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + 1000 * us;
         now_ns(CLOCK_THREAD_CPUTIME_ID) < until;)
        ;
}

static struct driver open_driver(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    struct driver d = {0};
    if (library) {
        *(void **)&d.plant = dlsym(library, "cuPlant");
        *(void **)&d.until = dlsym(library, "cuPlantUntil");
        *(void **)&d.wait = dlsym(library, "cuStreamSynchronize");
    }
    if (!d.plant || !d.until || !d.wait)
        exit(2);
    return d;
}

/* Operations of a group start together, and stop together. */
static void exchange(struct player *p) {
    void *group = start_group(p);
    void *send = start_message(p, SEND, (p->rank + 1) % p->world, 4096);
    void *recv = start_message(p, RECV, (p->rank + p->world - 1) % p->world, 4096);
    stop(p, send);
    stop(p, recv);
    stop_group(p, group);
}

static int play_steps(struct player *p, char **words) {
    int fd = open(words[0], O_RDWR | O_CREAT, 0600);
    struct driver driver = open_driver(words[1]);
    int64_t steps = atoll(words[2]), host_us = atoll(words[3]), gpu_us = atoll(words[4]);
    int64_t *come = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, 4096) == 0)
        come = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (come == MAP_FAILED)
        return 2;
    for (int64_t i = 1; i <= steps; i++) {
        compute(host_us);
        void *group = start_group(p), *coll = start_coll(p, 1 << 20, group);
        stop(p, coll);
        stop_group(p, group);
        driver.plant(getenv("NCCL_PLAYER_SLEEPS") != NULL, 1000 * gpu_us);
        driver.until(NULL, 0);
        driver.wait();
        driver.plant(getenv("NCCL_PLAYER_SLEEPS") != NULL, 0);
        __atomic_add_fetch(come, 1, __ATOMIC_ACQ_REL);
        driver.until(come, i * p->world);
        driver.wait();
        if (i % 10 == 0 && p->world > 1)
            exchange(p);
    }
    printf("rank %d steps %" PRId64 "\n", p->rank, steps);
    return 0;
}

/* ---- what NCCL would never do ---- */

static int play_hostile(struct player *p) {
    char garbage[512];
    void *handle = NULL, *coll = start_coll(p, 1000, NULL);
    struct player other = *p, broken = {.version = p->version, .table = p->table};
    memset(garbage, 0, sizeof garbage);
    p->table->stop(NULL);
    p->table->stop(garbage);
    p->table->stop((char *)coll + 1);
    p->table->stop(coll);
    p->table->stop(coll); /* twice */
    p->table->record(NULL, 3, NULL);
    p->table->record(coll, 1000, garbage);
    p->table->start(p->context, &handle, NULL);
    p->table->start(NULL, &handle, garbage);
    p->table->start(p->context, NULL, garbage);
    for (int type = 0; type < 256; type++) { /* null strings, unknown types */
        memset(garbage, 0, sizeof garbage);
        garbage[0] = (char)type;
        p->table->start(p->context, &handle, garbage);
        stop(p, handle);
        if (type & 1) /* of versions 5 and 6 alone */
            garbage[2] = garbage[6] = 0x55;
        p->table->start(p->context, &handle, garbage);
        stop(p, handle);
    }
    coll = start_coll(p, SIZE_MAX, NULL);
    stop(p, coll);
    init(&broken, -5, 77, 0);
    stop(p, start_coll(&broken, 1, NULL));
    finalize(&broken);
    other.context = NULL;
    init(&other, p->world, p->rank, COMM + 1);
    coll = start_coll(&other, 8, NULL); /* never stopped */
    finalize(&other);
    stop(p, coll);
    p->table->finalize(NULL);
    if (p->version <= 3)
        ((init_v1 *)p->table->init)(NULL, NULL);
    printf("hostile done\n");
    return 0;
}

/* ---- many at once ---- */

struct crowd {
    struct player player;
    size_t n;
};

static void *crowd_run(void *argument) {
    struct crowd *crowd = argument;
    void **handles = calloc(crowd->n, sizeof *handles);
    for (size_t i = 0; i < crowd->n; i++)
        handles[i] = start_coll(&crowd->player, 1, NULL);
    for (size_t i = 0; i < crowd->n; i++)
        stop(&crowd->player, handles[crowd->n - 1 - i]);
    for (size_t i = 0; i < crowd->n; i++)
        stop(&crowd->player, start_coll(&crowd->player, 1, NULL));
    free(handles);
    return NULL;
}

static int play_storm(struct player *p, char **words) {
    enum { MOST = 64 };
    int n = atoi(words[0]) < MOST ? atoi(words[0]) : MOST;
    pthread_t threads[MOST];
    struct crowd crowds[MOST];
    for (int i = 0; i < n; i++) {
        crowds[i] = (struct crowd){*p, (size_t)atoll(words[1])};
        pthread_create(&threads[i], NULL, crowd_run, &crowds[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("storm done\n");
    return 0;
}

/* ---- cost ---- */

static double cost_of(struct player *p, int64_t n) {
    int64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t i = 0; i < n; i++) {
        void *group = start_group(p);
        stop(p, start_coll(p, 1024, group));
        stop_group(p, group);
    }
    return (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - before) / (double)n;
}

static int play_cost(struct player *p, char **words) {
    struct player alone = {.version = p->version};
    double best[2] = {1e9, 1e9};
    for (int round = 0; round < 9; round++) {
        double with = cost_of(p, atoll(words[0])), without = cost_of(&alone, atoll(words[0]));
        best[0] = with < best[0] ? with : best[0];
        best[1] = without < best[1] ? without : best[1];
    }
    printf("v%d %.1f %.1f\n", p->version, best[0], best[1]);
    return 0;
}

static int play(struct player *p, int n, char **words) {
    if (n == 6 && strcmp(words[0], "step") == 0)
        return play_steps(p, words + 1);
    if (n == 1 && strcmp(words[0], "hostile") == 0)
        return play_hostile(p);
    if (n == 3 && strcmp(words[0], "storm") == 0)
        return play_storm(p, words + 1);
    if (n == 2 && strcmp(words[0], "cost") == 0)
        return play_cost(p, words + 1);
    return 2;
}

int main(int argc, char **argv) {
    struct player p = {.version = argc > 2 ? atoi(argv[1]) : 0,
                       .rank = number_in("RANK", 0),
                       .world = number_in("WORLD_SIZE", 1)};
    load(&p);
    if (init(&p, p.world, p.rank, COMM) != 0)
        return 3;
    if (p.table && !getenv("NCCL_PLAYER_ANY_MASK") && p.mask != (GROUP | COLL | P2P)) {
        fprintf(stderr, "nccl-player: mask %#x\n", (unsigned)p.mask);
        return 3;
    }
    int status = argc > 2 ? play(&p, argc - 2, argv + 2) : 2;
    finalize(&p);
    return status;
}
