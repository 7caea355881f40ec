/* SPDX-License-Identifier: MIT */
/*
 * bench_call_drain [ROUNDS [stencil]]: ns of CPU that the agent needs for an MPI event, from full
 * rings of two ranks to the bytes of a frame. Prints the minimum and the median over rounds of
 * 16,384 events a rank: rounds are short, so that the minimum is undisturbed. A/A: odd rounds over
 * even ones, by their medians. Under valgrind
 * --tool=callgrind it counts instructions, which nothing disturbs. The calls are those of a
 * ping-pong, or of a stencil: two receives and two sends that are posted, and a wait for all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/ring.h"
#include "agent/probes/call_watch.h"
#include "agent/probes/probes.h"
#include "agent/sampler/sampler.h"
#include "common/clock.h"
#include "tests/unit/planted_calls.h"

#define RANKS 2
#define ROUNDS_MAX 10000

struct bench {
    struct planted_rank ranks[RANKS];
    int pattern;
    size_t n, rounds;
    int64_t wall_ns, began_ns, took_ns[ROUNDS_MAX];
    size_t bytes;
};

static const struct {
    const char *name;
    int n;
    uint16_t functions[5];
} patterns[] = {
    {"pingpong", 2, {CALL_Send, CALL_Recv}},
    {"stencil", 5, {CALL_Irecv, CALL_Irecv, CALL_Isend, CALL_Isend, CALL_Waitall}},
};

static void fill_ring(struct planted_rank *rank, int pattern, int peer, int64_t at_ns) {
    for (int i = 0; i < CALL_FILE_CAPACITY; i++)
        planted_event(rank,
                      (struct call_record){
                          .function = patterns[pattern].functions[(i + peer) % patterns[pattern].n],
                          .peer = peer,
                          .tag = 1,
                          .bytes = 8,
                          .enter_ns = at_ns + 600 * i + 7 * (i % 11),
                          .exit_ns = at_ns + 600 * i + 300 + 5 * (i % 13),
                          .site_offset = 4096 + 16 * ((unsigned)(i ^ peer) & 1),
                          .site_module = 77,
                      });
}

static int64_t cpu_ns(void *ctx) {
    (void)ctx;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t now_ns(void *ctx) {
    return ((struct bench *)ctx)->wall_ns;
}

static int next_round(void *ctx, int64_t wall_ns) {
    struct bench *bench = ctx;
    if (bench->began_ns)
        bench->took_ns[bench->n++] = cpu_ns(NULL) - bench->began_ns;
    if (bench->n == bench->rounds)
        return SAMPLER_STOP;
    bench->wall_ns = wall_ns;
    for (int i = 0; i < RANKS; i++)
        fill_ring(&bench->ranks[i], bench->pattern, RANKS - 1 - i, wall_ns);
    bench->began_ns = cpu_ns(NULL);
    return 0;
}

static int take(void *ctx, const void *frame, size_t size, uint64_t seq) {
    (void)frame, (void)seq;
    ((struct bench *)ctx)->bytes += size;
    return 0;
}

static uint64_t none_lost(void *ctx) {
    (void)ctx;
    return 0;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The odd rounds' median over that of the even ones. */
static double alike(const struct bench *bench) {
    static int64_t halves[2][ROUNDS_MAX];
    for (size_t i = 0; i < bench->n; i++)
        halves[i % 2][i / 2] = bench->took_ns[i];
    for (int i = 0; i < 2; i++)
        qsort(halves[i], bench->n / 2, sizeof **halves, compare);
    return bench->n < 2 ? 0 : (double)halves[0][bench->n / 4] / (double)halves[1][bench->n / 4];
}

static int run(struct bench *bench, const char *stem, const char *directory) {
    static struct call_watch watch;
    static const struct probe *const probes[] = {&probe_mpi, &probe_call};
    struct probe_env env = {.proc = "/proc",
                            .sys = "/sys",
                            .marks = stem,
                            .calls = &watch,
                            .ticks_per_s = 100,
                            .page_size = 4096};
    struct sampler_config config = {.probes = probes,
                                    .n_probes = 2,
                                    .env = &env,
                                    .period_ns = NS_PER_S,
                                    .slow_period_ns = NS_PER_S,
                                    .clock = {bench, now_ns, now_ns, cpu_ns, next_round}};
    struct frame_sink samples = {&(struct bench){.n = 0}, take, none_lost};
    struct frame_sink bulk = {bench, take, none_lost};
    struct sampler *sampler;
    for (int i = 0; i < RANKS; i++)
        if (!planted_open(&bench->ranks[i], directory, 1 << 30 | i, i, RANKS, 1))
            return 1;
    for (int i = 0; i < RANKS; i++)
        bench->ranks[i].header->thread_level = 0;
    if (sampler_open(&config, &sampler) < 0)
        return 1;
    sampler_set_bulk(sampler, &bulk, NULL);
    int r = sampler_run(sampler, &samples);
    sampler_free(sampler);
    return r < 0;
}

int main(int argc, char **argv) {
    static struct bench bench;
    char stem[64], directory[512];
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    bench.pattern = argc > 2 && strcmp(argv[2], patterns[1].name) == 0;
    if (rounds < 1 || rounds > ROUNDS_MAX || (argc > 2 && !bench.pattern))
        return 2;
    bench.rounds = (size_t)rounds;
    bench.wall_ns = 1000 * NS_PER_S;
    snprintf(stem, sizeof stem, "/dev/shm/bench-call-drain-%d", getpid());
    if (mark_directory_path(stem, directory, sizeof directory) < 0 ||
        mark_directory_create(directory) < 0)
        return 1;
    int r = run(&bench, stem, directory);
    mark_directory_remove(directory);
    double same = alike(&bench);
    qsort(bench.took_ns, bench.n, sizeof *bench.took_ns, compare);
    double events = RANKS * CALL_FILE_CAPACITY;
    if (r == 0)
        printf("%.1f ns of CPU an event at least, %.1f in the median of %zu rounds; %.2f bytes; "
               "A/A %.2f\n",
               (double)bench.took_ns[0] / events, (double)bench.took_ns[bench.n / 2] / events,
               bench.n, (double)bench.bytes / events / (double)bench.n, same);
    return r;
}
