/* SPDX-License-Identifier: MIT */
/*
 * Prints what ranks under the shim have left in a directory, one line an event or a total:
 *   event RANK FUNCTION CLASS FLAGS COMM PEER TAG BYTES POLLS ENTER_NS INSIDE_NS CPU_NS GAP_CPU_NS
 * THREAD SITE total RANK FUNCTION CALLS TIME_NS MEASURED_NS CPU_NS SENT RECEIVED UNSIZED FAILED
 *   rank RANK WORLD LEVEL EVENTS LOST MALFORMED LOST_REQUESTS LOST_COMMS FINALIZED GAP_NS
 * GAP_CPU_NS NOW NOW is the function the first thread is in, or "-". Times are relative to
 * MPI_Init's return.
 */
#include <inttypes.h>
#include <stdio.h>

#include "agent/shim/calls.h"

static const char *const classes[CALL_CLASSES] = {
    [CALL_ADMIN] = "admin",
    [CALL_SEND] = "send",
    [CALL_SEND_START] = "send-start",
    [CALL_RECV] = "recv",
    [CALL_RECV_START] = "recv-start",
    [CALL_SENDRECV] = "sendrecv",
    [CALL_START] = "start",
    [CALL_WAIT] = "wait",
    [CALL_TEST] = "test",
    [CALL_PROBE] = "probe",
    [CALL_COLLECTIVE] = "collective",
    [CALL_COLLECTIVE_START] = "collective-start",
    [CALL_RMA] = "rma",
    [CALL_RMA_SYNC] = "rma-sync",
    [CALL_COMM] = "comm",
    [CALL_IO] = "io",
    [CALL_IO_START] = "io-start",
};

static const char *flags_text(unsigned flags, char text[12]) {
    const char letters[] = "wfprmecgFu"; /* in the order of enum call_flag */
    size_t n = 0;
    for (size_t i = 0; i < sizeof letters - 1; i++)
        if (flags & 1U << i)
            text[n++] = letters[i];
    text[n] = 0;
    return n ? text : "-";
}

static int print_event(void *ctx, const struct call_rank *rank, const struct call_event *e) {
    char flags[12];
    (void)ctx;
    printf("event %d %s %s %s %u %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
           " %" PRId64 " %u %x:%x\n",
           rank->rank, call_name(e->function), classes[call_class(e->function)],
           flags_text(e->flags, flags), e->comm, e->peer, e->tag, e->bytes, e->polls,
           e->enter_ns - rank->initialized_ns, e->inside_ns, e->cpu_ns, e->gap_cpu_ns, e->thread,
           e->site_module, e->site_offset);
    return 0;
}

static void print_totals(const struct call_rank *rank, const struct call_totals *totals) {
    for (int i = 0; i < CALL_COUNT; i++) {
        const struct call_total *t = &totals->function[i];
        if (t->calls || t->sent_bytes || t->received_bytes)
            printf("total %d %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                   " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                   rank->rank, call_name((enum call_function)i), t->calls, t->time_ns,
                   t->measured_ns, t->cpu_ns, t->sent_bytes, t->received_bytes, t->unsized,
                   t->failed);
    }
}

static int print_rank(struct call_rank *rank) {
    static struct call_totals totals;
    int events = call_rank_drain(rank, SIZE_MAX, 0, print_event, NULL);
    if (events < 0 || call_rank_totals(rank, INT64_MAX, &totals) < 0)
        return -1;
    print_totals(rank, &totals);
    printf("rank %d %d %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64
           " %" PRIu64 " %s\n",
           rank->rank, rank->world_size, rank->thread_level, events, rank->lost, rank->malformed,
           rank->lost_requests, rank->lost_comms, rank->finalized_ns > 0, rank->gap_ns,
           rank->gap_cpu_ns,
           totals.now[0].enter_ns ? call_name((enum call_function)totals.now[0].function) : "-");
    return 0;
}

int main(int argc, char **argv) {
    struct call_reader reader;
    int bad = 0;
    if (argc != 2 || call_reader_open(&reader, argv[1]) < 0) {
        fprintf(stderr, "calls_dump: expected a directory of rings\n");
        return 2;
    }
    bad = call_reader_scan(&reader) < 0;
    for (size_t i = 0; i < reader.n_ranks; i++)
        bad |= print_rank(&reader.ranks[i]) < 0;
    call_reader_release(&reader);
    return bad;
}
