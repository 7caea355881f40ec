/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-messages: the cost of a message by transport and size (R5's table). Two ranks send one
 * message back and forth; the result is half of a round trip.
 *
 * The expected analysis: latency limits small messages, on any transport; the link limits large
 * ones, or copying memory if both ranks are on one host.
 *
 * Round trips are timed in batches of at least a millisecond, so that reading the clock costs
 * nothing. The figure is the median over batches, so that a moment in which the machine did
 * something else spoils only one batch.
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/mark/chokepoint.h"
#include "common/error.h"
#include "workloads/common/rank_group.h"
#include "workloads/common/words.h"
#include "workloads/messages/summary.h"

#define PROGRAM "chokepoint-messages"
#define BATCH_NS 1000000
#define BATCHES_MAX 100000
#define BYTES_MOST ((uint64_t)1 << 30)

enum { TAG_GO = 1, TAG_STOP };

struct options {
    uint64_t bytes;
    double seconds;
    const char *json;
};

struct job {
    struct options options;
    struct rank_group *group;
    char *message;
    double *way_s; /* one way, the mean of each batch; sorted at the end */
    size_t n;
    double median_s;
    uint64_t round_trips;
    char other[256]; /* host of rank 1 */
};

static const char usage[] =
    "usage: mpirun -np 2 chokepoint-messages [--bytes N] [--seconds S] [--json FILE]\n"
    "\n"
    "Two ranks send a message back and forth: how long it takes one way, and how many MB/s\n"
    "that is. mpirun picks the transport: --mca btl self,tcp, for example.\n"
    "\n";

static int read_options(int argc, char **argv, struct options *o, struct words_error *error) {
    const struct option_row rows[] = {
        {"--bytes N", "of a message (8)", .count = &o->bytes, .low = 1, .high = BYTES_MOST},
        {"--seconds S", "how long (2)", .number = &o->seconds},
        {"--json FILE", "write the summary as JSON", .text = &o->json},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 15, false};
    int r = words_read(&table, argc, argv, error);
    if (r == OPTIONS_HELP)
        options_print_help(&table, stdout);
    return r;
}

static int begin(void *ctx, struct rank_group *group) {
    struct job *j = ctx;
    j->group = group;
    if (group->n_ranks != 2) {
        if (group->rank == 0)
            rank_group_say(group, "two ranks send messages to each other, there are %d",
                           group->n_ranks);
        return -EINVAL;
    }
    j->message = calloc(1, j->options.bytes);
    j->way_s = malloc(BATCHES_MAX * sizeof *j->way_s);
    if (j->message && j->way_s)
        return 0;
    rank_group_say(group, "not enough memory for a message");
    return -ENOMEM;
}

static void send(struct job *j, int peer, int tag) {
    MPI_Send(j->message, (int)j->options.bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

static int receive(struct job *j, int peer) {
    MPI_Status status;
    MPI_Recv(j->message, (int)j->options.bytes, MPI_BYTE, peer, MPI_ANY_TAG, MPI_COMM_WORLD,
             &status);
    return status.MPI_TAG;
}

static void echo(struct job *j) {
    int tag;
    do {
        tag = receive(j, 0);
        send(j, 0, tag);
    } while (tag == TAG_GO);
}

/* Makes so many round trips; returns their time. */
static int64_t batch(struct job *j, uint64_t n) {
    int64_t start = chokepoint_now_ns();
    for (uint64_t i = 0; i < n; i++) {
        send(j, 1, TAG_GO);
        receive(j, 1);
    }
    j->round_trips += n;
    return chokepoint_now_ns() - start;
}

/* The first messages include the cost of connecting. */
static uint64_t warm_up(struct job *j) {
    uint64_t n = 1;
    batch(j, 10);
    while (batch(j, n) < BATCH_NS)
        n *= 2;
    return n;
}

static void measure(struct job *j) {
    uint64_t n = warm_up(j);
    int64_t end = chokepoint_now_ns() + (int64_t)(j->options.seconds * 1e9);
    j->round_trips = 0;
    chokepoint_phase("messages");
    for (uint64_t i = 0; j->n < BATCHES_MAX && (i == 0 || chokepoint_now_ns() < end); i++) {
        int64_t took_ns = batch(j, n);
        j->way_s[j->n++] = (double)took_ns * 1e-9 / (double)(2 * n);
        chokepoint_iteration(i);
        if (took_ns < BATCH_NS) /* without a core for a moment, the warm-up had ended too early */
            n *= 2;
    }
    chokepoint_phase(NULL);
    send(j, 1, TAG_STOP);
    receive(j, 1);
}

static int run(void *ctx) {
    struct job *j = ctx;
    MPI_Status status;
    if (j->group->rank == 1) {
        MPI_Send(j->group->host, sizeof j->group->host, MPI_CHAR, 0, TAG_GO, MPI_COMM_WORLD);
        echo(j);
        return 0;
    }
    MPI_Recv(j->other, sizeof j->other, MPI_CHAR, 1, TAG_GO, MPI_COMM_WORLD, &status);
    measure(j);
    j->median_s = median(j->way_s, j->n);
    chokepoint_value("latency (us)", 1e6 * j->median_s);
    chokepoint_value("bandwidth (MB/s)", (double)j->options.bytes * 1e-6 / j->median_s);
    return 0;
}

static int finish(void *ctx, const void *accounts) {
    const struct job *j = ctx;
    (void)accounts;
    const struct summary s = {.bytes = j->options.bytes,
                              .here = j->group->host,
                              .there = j->other,
                              .round_trips = j->round_trips,
                              .latency_s = j->median_s,
                              .least_latency_s = j->way_s[0],
                              .mb_s = (double)j->options.bytes * 1e-6 / j->median_s};
    printf(PROGRAM ": %llu bytes between %s and %s, %llu round trips\n"
                   "  one way %.3f us (at least %.3f), %.1f MB/s\n",
           (unsigned long long)s.bytes, s.here, s.there, (unsigned long long)s.round_trips,
           1e6 * s.latency_s, 1e6 * s.least_latency_s, s.mb_s);
    const char *json = j->options.json;
    return json ? rank_group_wrote(j->group, json, summary_write_json(&s, json)) : 0;
}

static void release(void *ctx) {
    struct job *j = ctx;
    free(j->message);
    free(j->way_s);
}

int main(int argc, char **argv) {
    struct job j = {.options = {.bytes = 8, .seconds = 2}};
    struct words_error error;
    int r = read_options(argc, argv, &j.options, &error);
    if (r)
        return r < 0 ? rank_group_usage_error(PROGRAM, error.text) : EXIT_SUCCESS;
    return rank_group_run(&argc, &argv,
                          &(struct rank_group_job){.program = PROGRAM,
                                                   .begin = begin,
                                                   .run = run,
                                                   .account = &j.round_trips,
                                                   .account_size = sizeof j.round_trips,
                                                   .finish = finish,
                                                   .release = release,
                                                   .ctx = &j});
}
