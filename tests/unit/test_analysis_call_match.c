/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/shim/calls.h"
#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/series.h"
#include "analysis/facts/series/stats.h"
#include "tests/unit/mpi_plant.h"

static struct call_matches matched(struct mpi_log *log) {
    struct call_matches m;
    assert_int_equal(mpi_log_finish(log), 0);
    assert_int_equal(call_match(log, NULL, &m), 0);
    return m;
}

static void done(struct mpi_log *log, struct call_matches *m) {
    call_matches_release(m);
    mpi_log_release(log);
}

/* The need of a rank's n-th event of that function. */
static const struct call_need *need(const struct mpi_log *log, const struct call_matches *m,
                                    size_t rank, const char *name, size_t n) {
    const struct mpi_rank *r = &log->ranks[rank];
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(log->names[r->events[i].function], name) == 0 && n-- == 0)
            return &m->needs[rank][i];
    fail_msg("no such event");
    return NULL;
}

/* ---- what functions do ---- */

static void every_function_is_of_the_kind_its_recorder_says(void **state) {
    (void)state;
    for (int f = 0; f < CALL_COUNT; f++)
        if (mpi_function_of(call_name(f)).kind != (enum mpi_kind)call_class(f))
            fail_msg("%s", call_name(f));
}

static void names_that_are_no_mpi_are_nothing_special(void **state) {
    (void)state;
    assert_int_equal(mpi_function_of("Send").kind, MPI_KIND_ADMIN);
    assert_int_equal(mpi_function_of("MPI_").kind, MPI_KIND_ADMIN);
    assert_int_equal(mpi_function_of("MPI_I").kind, MPI_KIND_ADMIN);
    assert_int_equal(mpi_function_of("").kind, MPI_KIND_ADMIN);
    assert_int_equal(mpi_function_of("MPI_Sendx").kind, MPI_KIND_ADMIN);
}

/* Collectives of GPUs are numbered in each communicator and function. */
static void a_lost_collective_of_a_gpu_disturbs_no_other(void **state) {
    (void)state;
    struct mpi_log log = {.n = 0};
    for (int rank = 0; rank < 3; rank++)
        for (int i = 0; i < 10; i++) {
            int64_t at = (100 * i + 10 * rank) * US;
            if (rank == 1 && i == 4)
                continue;
            PLANT(&log, rank, 0, "ncclAllReduce", -1, i, 64, at, at + 2 * US, .comm = 9,
                  .sequence = 2 * i + 1);
            PLANT(&log, rank, 0, "ncclAllGather", -1, i, 64, at + 3 * US, at + 4 * US, .comm = 9,
                  .sequence = 2 * i + 2);
        }
    struct call_matches m = matched(&log);
    for (size_t i = 5; i < 10; i++) {
        const struct call_need *late = need(&log, &m, 0, "ncclAllReduce", i);
        assert_int_equal(late->who, 2);
        assert_int_equal(late->ready_ns, (100 * (int64_t)i + 20) * US);
        assert_int_equal(need(&log, &m, 1, "ncclAllReduce", i - 1)->partner, late->partner);
        assert_true(late->may_leave); /* the call did not wait */
    }
    assert_int_equal(need(&log, &m, 0, "ncclAllReduce", 4)->who, -1);
    assert_int_equal(m.unmatched_groups, 4);
    done(&log, &m);
}

static void a_group_call_divides_its_bytes_as_its_name_says(void **state) {
    static const struct {
        const char *name;
        enum mpi_exchange exchange;
    } cases[] = {{"MPI_Bcast", MPI_EXCHANGE_WHOLE},
                 {"MPI_Reduce", MPI_EXCHANGE_WHOLE},
                 {"MPI_Gatherv", MPI_EXCHANGE_PARTS},
                 {"MPI_Iscatter", MPI_EXCHANGE_PARTS},
                 {"MPI_Ialltoallw", MPI_EXCHANGE_EACH_ITS_PART},
                 {"MPI_Allgatherv", MPI_EXCHANGE_EACH_ITS_PART},
                 {"MPI_Neighbor_alltoall", MPI_EXCHANGE_EACH_ITS_PART},
                 {"MPI_Reduce_scatter_block", MPI_EXCHANGE_EACH_ITS_PART},
                 {"MPI_Iallreduce", MPI_EXCHANGE_ALL_TO_ALL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(mpi_function_of(cases[i].name).exchange, cases[i].exchange);
}

/* ---- messages ---- */

static void messages_match_in_order_by_communicator_source_and_tag(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Send", 1, 7, 100, 10, 20);
    PLANT(&log, 0, 0, "MPI_Send", 1, 8, 100, 30, 40);
    PLANT(&log, 0, 0, "MPI_Send", 1, 7, 300, 50, 60);
    PLANT(&log, 0, 0, "MPI_Send", 1, 7, 100, 70, 80, .comm = 9);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 7, 100, 5, 100, .comm = 9);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 8, 100, 101, 110);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 7, 100, 111, 120, MPI_FLAG_WILDCARD);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 7, 300, 121, 130);
    struct call_matches m = matched(&log);
    assert_int_equal(m.messages, 4);
    assert_int_equal(m.unmatched_sends + m.unmatched_receives, 0);
    assert_int_equal(need(&log, &m, 1, "MPI_Recv", 0)->ready_ns, 70);
    assert_int_equal(need(&log, &m, 1, "MPI_Recv", 1)->ready_ns, 30);
    assert_int_equal(need(&log, &m, 1, "MPI_Recv", 2)->ready_ns, 10);
    assert_int_equal(need(&log, &m, 1, "MPI_Recv", 3)->ready_ns, 50);
    assert_int_equal(need(&log, &m, 0, "MPI_Send", 3)->ready_ns, 5);
    assert_int_equal(need(&log, &m, 0, "MPI_Send", 3)->who, 1);
    done(&log, &m);
}

static void a_wait_needs_what_its_latest_request_needs(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Irecv", 1, 1, 64, 10, 11, MPI_FLAG_AT_MOST);
    PLANT(&log, 0, 0, "MPI_Irecv", 2, 1, 64, 12, 13, MPI_FLAG_AT_MOST);
    PLANT(&log, 0, 0, "MPI_Isend", 1, 2, 64, 14, 15);
    PLANT(&log, 0, 0, "MPI_Irecv", 1, 1, 8, 10, 90, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Irecv", 2, 1, 8, 12, 90, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Isend", 1, 2, 64, 14, 90, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Waitall", -1, -1, 80, 20, 90);
    PLANT(&log, 1, 0, "MPI_Send", 0, 1, 8, 30, 40);
    PLANT(&log, 1, 0, "MPI_Recv", 0, 2, 64, 95, 99); /* buffered: no rank waited for this */
    PLANT(&log, 2, 0, "MPI_Send", 0, 1, 8, 60, 70);
    struct call_matches m = matched(&log);
    const struct call_need *wait = need(&log, &m, 0, "MPI_Waitall", 0);
    assert_int_equal(m.messages, 3);
    assert_int_equal(wait->ready_ns, 60);
    assert_int_equal(wait->who, 2);
    assert_int_equal(wait->since_ns, 10);
    done(&log, &m);
}

static void a_wait_of_which_one_message_is_unknown_is_unknown(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Irecv", 1, 1, 8, 10, 90, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Irecv", 5, 1, 8, 12, 90, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Waitall", -1, -1, 80, 20, 90);
    PLANT(&log, 1, 0, "MPI_Send", 0, 1, 8, 30, 40);
    struct call_matches m = matched(&log);
    assert_true(need(&log, &m, 0, "MPI_Waitall", 0)->asked);
    assert_int_equal(need(&log, &m, 0, "MPI_Waitall", 0)->ready_ns, VALUE_ABSENT);
    assert_int_equal(m.unmatched_receives, 1);
    done(&log, &m);
}

static void persistent_requests_match_each_time_they_are_started(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Send_init", 1, 3, 0, 1, 2);
    PLANT(&log, 1, 0, "MPI_Recv_init", 0, 3, 0, 1, 2, MPI_FLAG_AT_MOST);
    for (int i = 0; i < 3; i++) {
        int64_t t = 100 * (i + 1);
        PLANT(&log, 0, 0, "MPI_Start", -1, -1, 0, t, t + 1);
        PLANT(&log, 0, 0, "MPI_Send_init", 1, 3, 8, t, t + 1, MPI_FLAG_PART);
        PLANT(&log, 0, 0, "MPI_Send_init", 1, 3, 8, t, t + 30, MPI_FLAG_REQUEST);
        PLANT(&log, 0, 0, "MPI_Wait", 1, 3, 8, t + 2, t + 30);
        PLANT(&log, 1, 0, "MPI_Recv_init", 0, 3, 8, t + 20, t + 21,
              MPI_FLAG_PART | MPI_FLAG_AT_MOST);
        PLANT(&log, 1, 0, "MPI_Recv_init", 0, 3, 8, t + 20, t + 40, MPI_FLAG_REQUEST);
        PLANT(&log, 1, 0, "MPI_Wait", 0, 3, 8, t + 22, t + 40);
    }
    struct call_matches m = matched(&log);
    assert_int_equal(m.messages, 3);
    assert_int_equal(need(&log, &m, 1, "MPI_Wait", 2)->ready_ns, 300);
    assert_int_equal(need(&log, &m, 0, "MPI_Wait", 2)->ready_ns, 320);
    done(&log, &m);
}

static void a_sendrecv_needs_both_its_partners(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 8, 10, 100);
    PLANT(&log, 0, 0, "MPI_Sendrecv", 2, 1, 8, 10, 100, MPI_FLAG_PART);
    PLANT(&log, 1, 0, "MPI_Recv", 0, 1, 8, 40, 101);
    PLANT(&log, 2, 0, "MPI_Send", 0, 1, 8, 70, 80);
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Sendrecv", 0)->ready_ns, 70);
    assert_int_equal(need(&log, &m, 0, "MPI_Sendrecv", 0)->who, 2);
    done(&log, &m);
}

static void what_a_sendrecv_sent_and_received_have_sizes_of_their_own(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 8, 10, 100);
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 24, 10, 100, MPI_FLAG_PART);
    PLANT(&log, 1, 0, "MPI_Sendrecv", 0, 1, 24, 40, 110);
    PLANT(&log, 1, 0, "MPI_Sendrecv", 0, 1, 8, 40, 110, MPI_FLAG_PART);
    /* the larger of both sizes, as in older recordings */
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 24, 210, 300);
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 24, 210, 300, MPI_FLAG_PART);
    PLANT(&log, 1, 0, "MPI_Sendrecv", 0, 1, 24, 240, 310);
    PLANT(&log, 1, 0, "MPI_Sendrecv", 0, 1, 8, 240, 310, MPI_FLAG_PART);
    struct call_matches m = matched(&log);
    assert_int_equal(m.messages, 4);
    assert_int_equal(m.unmatched_sends + m.unmatched_receives, 0);
    assert_int_equal(need(&log, &m, 0, "MPI_Sendrecv", 2)->ready_ns, 240);
    done(&log, &m);
}

static void a_receive_of_less_than_a_sendrecv_sent_is_another_message_s(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 24, 10, 100);
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 8, 10, 100, MPI_FLAG_PART);
    PLANT(&log, 1, 0, "MPI_Recv", 0, 1, 16, 40, 110);
    struct call_matches m = matched(&log);
    assert_int_equal(m.messages, 0);
    done(&log, &m);
}

static void more_than_a_sendrecv_sent_is_not_its_message(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Sendrecv", 1, 1, 8, 10, 100);
    PLANT(&log, 1, 0, "MPI_Recv", 0, 1, 24, 40, 110);
    struct call_matches m = matched(&log);
    assert_int_equal(m.messages, 0);
    done(&log, &m);
}

static void a_receive_from_nobody_is_not_unmatched(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Recv", -1, -1, 0, 10, 11, MPI_FLAG_UNKNOWN_PEER);
    PLANT(&log, 0, 0, "MPI_Send", -1, 5, 0, 12, 13, MPI_FLAG_UNKNOWN_PEER);
    struct call_matches m = matched(&log);
    assert_int_equal(m.unmatched_sends + m.unmatched_receives, 0);
    assert_false(need(&log, &m, 0, "MPI_Recv", 0)->asked);
    done(&log, &m);
}

static void a_probe_waits_for_the_message_received_next(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Probe", 1, 4, 8, 10, 60, MPI_FLAG_WILDCARD);
    PLANT(&log, 0, 0, "MPI_Recv", 1, 4, 8, 61, 62);
    PLANT(&log, 0, 0, "MPI_Iprobe", 1, 4, 0, 70, 71, MPI_FLAG_FOLDED, .inside_ns = 1);
    PLANT(&log, 0, 0, "MPI_Iprobe", 1, 4, 8, 72, 73);
    PLANT(&log, 0, 0, "MPI_Recv", 1, 4, 8, 80, 81);
    PLANT(&log, 1, 0, "MPI_Send", 0, 4, 8, 55, 58);
    PLANT(&log, 1, 0, "MPI_Send", 0, 4, 8, 69, 70);
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Probe", 0)->ready_ns, 55);
    assert_int_equal(need(&log, &m, 0, "MPI_Iprobe", 0)->since_ns, VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 0, "MPI_Iprobe", 1)->ready_ns, 69);
    done(&log, &m);
}

/* ---- groups ---- */

static void collectives_match_by_their_order_in_a_communicator(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int r = 0; r < 3; r++) {
        PLANT(&log, r, r, "MPI_Barrier", -1, -1, 0, 10 + r, 20);
        PLANT(&log, r, r, "MPI_Allreduce", -1, -1, 8, 30 - r, 50, .comm = 77);
        PLANT(&log, r, r, "MPI_Barrier", -1, -1, 0, 60 + r, 70);
    }
    struct call_matches m = matched(&log);
    assert_int_equal(m.groups, 9);
    assert_int_equal(m.unmatched_groups, 0);
    assert_int_equal(need(&log, &m, 0, "MPI_Barrier", 0)->ready_ns, 12);
    assert_int_equal(need(&log, &m, 2, "MPI_Barrier", 1)->ready_ns, 62);
    assert_int_equal(need(&log, &m, 2, "MPI_Allreduce", 0)->ready_ns, 30);
    assert_int_equal(need(&log, &m, 2, "MPI_Allreduce", 0)->who, 0);
    done(&log, &m);
}

static void only_a_root_is_certain_to_be_waited_for_in_a_broadcast(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int r = 0; r < 3; r++) {
        PLANT(&log, r, 0, "MPI_Bcast", 1, -1, 8, 10 * (r + 1), 50);
        PLANT(&log, r, 0, "MPI_Reduce", 0, -1, 8, 100 + 10 * r, 150);
        PLANT(&log, r, 0, "MPI_Scan", -1, -1, 8, 200 + (r == 1 ? 30 : 10 * r), 250);
    }
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Bcast", 0)->ready_ns, 20);
    assert_int_equal(need(&log, &m, 1, "MPI_Bcast", 0)->ready_ns, 20); /* itself */
    assert_int_equal(need(&log, &m, 2, "MPI_Bcast", 0)->ready_ns, 20);
    assert_int_equal(need(&log, &m, 0, "MPI_Reduce", 0)->ready_ns, 120);
    assert_int_equal(need(&log, &m, 2, "MPI_Reduce", 0)->ready_ns, 100);
    assert_true(need(&log, &m, 2, "MPI_Reduce", 0)->may_leave);
    assert_int_equal(need(&log, &m, 0, "MPI_Scan", 0)->ready_ns, 200);
    assert_int_equal(need(&log, &m, 2, "MPI_Scan", 0)->ready_ns, 230);
    done(&log, &m);
}

static void a_started_collective_is_waited_for_in_its_wait(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int r = 0; r < 2; r++) {
        PLANT(&log, r, 0, "MPI_Iallreduce", -1, -1, 8, 10 + 30 * r, 11 + 30 * r);
        PLANT(&log, r, 0, "MPI_Iallreduce", -1, -1, 8, 10 + 30 * r, 60, MPI_FLAG_REQUEST);
        PLANT(&log, r, 0, "MPI_Wait", -1, -1, 8, 20 + 30 * r, 60);
    }
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Wait", 0)->ready_ns, 40);
    assert_int_equal(need(&log, &m, 0, "MPI_Wait", 0)->who, 1);
    done(&log, &m);
}

static void each_rank_is_alone_in_its_self_communicator(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Barrier", -1, -1, 0, 10, 11, .comm = CALL_COMM_SELF);
    PLANT(&log, 1, 0, "MPI_Barrier", -1, -1, 0, 90, 91, .comm = CALL_COMM_SELF);
    struct call_matches m = matched(&log);
    assert_false(need(&log, &m, 0, "MPI_Barrier", 0)->asked);
    done(&log, &m);
}

static void members_that_disagree_are_left_unmatched_from_there_on(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int r = 0; r < 2; r++) {
        PLANT(&log, r, 0, "MPI_Barrier", -1, -1, 0, 10, 11);
        PLANT(&log, r, 0, r ? "MPI_Allreduce" : "MPI_Barrier", -1, -1, 0, 20, 21);
        PLANT(&log, r, 0, "MPI_Alltoall", -1, -1, 0, 30, 31);
        PLANT(&log, r, 0, "MPI_Alltoall", -1, -1, 0, 30, 31, .comm = 5);
    }
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Barrier", 0)->ready_ns, 10);
    assert_int_equal(need(&log, &m, 0, "MPI_Barrier", 1)->ready_ns, VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 0, "MPI_Alltoall", 0)->ready_ns, VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 0, "MPI_Alltoall", 1)->ready_ns, 30);
    assert_int_equal(m.unmatched_groups, 4);
    done(&log, &m);
}

static void two_programs_one_after_the_other_do_not_mix(void **state) {
    struct mpi_log log = {0};
    int error;
    (void)state;
    for (int program = 0; program < 2; program++)
        for (int rank = 0; rank < (program ? 3 : 2); rank++) {
            struct mpi_rank *r = mpi_log_rank(&log, rank, 0, 100 * program + rank, &error);
            int f = mpi_log_function(&log, "MPI_Barrier");
            struct mpi_event e = {.function = (uint16_t)f,
                                  .peer = -1,
                                  .enter_ns = 1000 * program + 10 * rank,
                                  .exit_ns = 1000 * program + 50};
            assert_int_equal(mpi_log_add(&log, r, &e, 0), 0);
        }
    struct call_matches m = matched(&log);
    assert_int_equal(m.unmatched_groups, 0);
    assert_int_equal(m.needs[0][0].ready_ns, 10);   /* rank 0 of the first */
    assert_int_equal(m.needs[1][0].ready_ns, 1020); /* rank 0 of the second */
    done(&log, &m);
}

/* ---- what does not fit ---- */

static void after_lost_events_nothing_is_matched_with_that_rank(void **state) {
    struct mpi_log log = {0};
    int error;
    (void)state;
    for (int i = 0; i < 4; i++) {
        PLANT(&log, 0, 0, "MPI_Send", 1, 1, 8, 100 * i, 100 * i + 5);
        PLANT(&log, 0, 0, "MPI_Send", 2, 1, 8, 100 * i + 6, 100 * i + 9);
        PLANT(&log, 2, 0, "MPI_Recv", 0, 1, 8, 100 * i + 6, 100 * i + 9);
        if (i != 2)
            PLANT(&log, 1, 0, "MPI_Recv", 0, 1, 8, 100 * i, 100 * i + 5);
        for (int r = 0; r < 3; r++)
            if (r != 1 || i != 2)
                PLANT(&log, r, 0, "MPI_Barrier", -1, -1, 0, 100 * i + 10 + r, 100 * i + 20);
    }
    mpi_log_rank(&log, 1, 0, 1001, &error)->lost_ns = 200;
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 1, "MPI_Recv", 1)->ready_ns, 100);
    assert_int_equal(need(&log, &m, 1, "MPI_Recv", 2)->ready_ns, VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 0, "MPI_Send", 4)->ready_ns, VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 2, "MPI_Recv", 3)->ready_ns, 306); /* others continue */
    assert_int_equal(need(&log, &m, 0, "MPI_Barrier", 1)->ready_ns, 112);
    assert_int_equal(need(&log, &m, 0, "MPI_Barrier", 2)->ready_ns, VALUE_ABSENT);
    done(&log, &m);
}

static void what_cannot_be_one_message_ends_its_channel_only(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Send", 1, 1, 100, 10, 11);
    PLANT(&log, 0, 0, "MPI_Send", 1, 1, 200, 20, 21);
    PLANT(&log, 0, 0, "MPI_Send", 1, 1, 300, 30, 31);
    PLANT(&log, 1, 0, "MPI_Recv", 0, 1, 100, 10, 12);
    PLANT(&log, 1, 0, "MPI_Recv", 0, 1, 300, 13, 32);
    PLANT(&log, 0, 0, "MPI_Send", 1, 2, 8, 50, 51); /* received before it was sent */
    PLANT(&log, 1, 0, "MPI_Recv", 0, 2, 8, 40, 45);
    struct call_matches m = matched(&log);
    assert_int_equal(m.messages, 1);
    assert_int_equal(m.unmatched_sends, 3);
    assert_int_equal(m.unmatched_receives, 2);
    done(&log, &m);
}

static void events_that_make_no_sense_are_refused_and_counted(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Send", 1, 1, 8, 20, 10);
    PLANT(&log, 0, 0, "MPI_Send", 1, 1, -8, 10, 20);
    PLANT(&log, 0, 0, "MPI_Send", 1, 1, 8, 0, TIME_SANE_NS + 1);
    assert_int_equal(log.refused, 3);
    assert_int_equal(log.ranks[0].n, 0);
    mpi_log_release(&log);
}

/* For any events the result is finite and refers to existing events. */
static void random_events_never_lead_astray(void **state) {
    static const char *const names[] = {"MPI_Send",
                                        "MPI_Isend",
                                        "MPI_Recv",
                                        "MPI_Irecv",
                                        "MPI_Waitall",
                                        "MPI_Test",
                                        "MPI_Barrier",
                                        "MPI_Bcast",
                                        "MPI_Reduce",
                                        "MPI_Scan",
                                        "MPI_Iprobe",
                                        "MPI_Start",
                                        "MPI_Sendrecv",
                                        "MPI_Send_init",
                                        "MPI_Finalize",
                                        "nonsense",
                                        "MPI_Win_post",
                                        "MPI_Win_start",
                                        "MPI_Win_complete",
                                        "MPI_Win_wait",
                                        "MPI_Win_test",
                                        "MPI_Win_lock",
                                        "MPI_Win_unlock",
                                        "MPI_Win_flush",
                                        "MPI_Get",
                                        "MPI_Cart_create",
                                        "MPI_Neighbor_alltoall",
                                        "MPI_Ineighbor_allgather"};
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct mpi_log log = {0};
        for (int i = 0; i < 400; i++) {
            int64_t enter = (int64_t)stats_random_below(&seed, 500);
            PLANT(&log, (int)stats_random_below(&seed, 5), (int)stats_random_below(&seed, 3) - 1,
                  names[stats_random_below(&seed, sizeof names / sizeof *names)],
                  (int)stats_random_below(&seed, 8) - 2, (int)stats_random_below(&seed, 3) - 1,
                  (int64_t)stats_random_below(&seed, 3), enter,
                  enter + (int64_t)stats_random_below(&seed, 50),
                  (unsigned)stats_random_below(&seed, 4096),
                  .thread = (unsigned)stats_random_below(&seed, 3),
                  .comm = (uint32_t)stats_random_below(&seed, 4));
        }
        struct call_matches m = matched(&log);
        for (size_t r = 0; r < log.n; r++)
            for (size_t i = 0; i < log.ranks[r].n; i++) {
                const struct call_need *n = &m.needs[r][i];
                assert_true(n->who >= -1 && n->who < (int32_t)log.n);
                assert_true(n->ready_ns == VALUE_ABSENT || (n->ready_ns >= 0 && n->ready_ns < 550));
            }
        for (size_t i = 0; i < m.n_signals; i++) {
            assert_true(m.signals[i].sent < log.ranks[m.signals[i].from].n);
            assert_true(m.signals[i].received < log.ranks[m.signals[i].to].n);
        }
        done(&log, &m);
    }
}

/* A ring of ranks that send to random others in random order, with a planted partner for each. */
static void planted_programs_are_matched_exactly(void **state) {
    enum { RANKS = 6, MESSAGES = 3000 };
    uint64_t seed = 11;
    (void)state;
    struct mpi_log log = {0};
    int64_t clock[RANKS] = {0};
    for (int i = 0; i < MESSAGES; i++) {
        int from = (int)stats_random_below(&seed, RANKS),
            to = (int)stats_random_below(&seed, RANKS);
        int tag = (int)stats_random_below(&seed, 3);
        if (from == to)
            continue;
        int64_t sent = clock[from] += 1 + (int64_t)stats_random_below(&seed, 100);
        int64_t posted = clock[to] += 1 + (int64_t)stats_random_below(&seed, 100);
        int64_t came = (sent > posted ? sent : posted) + 10;
        /* the CPU time of the event stores the partner's time */
        PLANT(&log, from, from, "MPI_Send", to, tag, i, sent, sent + 5, .cpu_ns = posted);
        PLANT(&log, to, to, "MPI_Recv", from, tag, i, posted, came, .cpu_ns = sent);
        clock[from] = sent + 5;
        clock[to] = came;
    }
    struct call_matches m = matched(&log);
    assert_int_equal(m.unmatched_sends + m.unmatched_receives, 0);
    for (size_t r = 0; r < log.n; r++)
        for (size_t i = 0; i < log.ranks[r].n; i++)
            assert_int_equal(m.needs[r][i].ready_ns, log.ranks[r].events[i].cpu_ns);
    done(&log, &m);
}

/* ---- senders that are away ---- */

#define MS INT64_C(1000000)

/* Rank 0 begins a message at 1 ms, polls without success, is outside MPI until 20 ms, and its
 * second poll after that completes the message.
 */
static void plant_sender(struct mpi_log *log, int64_t done_ms, bool polled) {
    PLANT(log, 0, 0, "MPI_Isend", 1, 5, 200000, 1 * MS, 1 * MS + 10);
    PLANT(log, 0, 0, "MPI_Isend", 1, 5, 200000, 1 * MS, done_ms * MS, MPI_FLAG_REQUEST);
    if (polled)
        PLANT(log, 0, 0, "MPI_Test", -1, -1, 0, 1 * MS + 20, 1 * MS + 30);
    PLANT(log, 0, 0, "MPI_Test", -1, -1, 0, 20 * MS, 20 * MS + 10);
    PLANT(log, 0, 0, "MPI_Test", 1, 5, 200000, done_ms * MS - 10, done_ms * MS);
}

/* Rank 1 waits for it from `since_ms` and has it at `had_ms`. */
static int64_t ready_of_received(int64_t since_ms, int64_t had_ms, int64_t done_ms, bool polled) {
    struct mpi_log log = {0};
    plant_sender(&log, done_ms, polled);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 5, 200000, since_ms * MS, had_ms * MS);
    struct call_matches m = matched(&log);
    int64_t ready = need(&log, &m, 1, "MPI_Recv", 0)->ready_ns;
    done(&log, &m);
    return ready;
}

static int64_t ready_of_held(int64_t had_ms, int64_t done_ms, bool polled) {
    return ready_of_received(2, had_ms, done_ms, polled);
}

/* Rank 1 waits with a request begun at 2 ms; `polling`: it polls for it repeatedly since then. */
static int64_t ready_of_request(int64_t since_ms, bool polling) {
    struct mpi_log log = {0};
    plant_sender(&log, 21, true);
    PLANT(&log, 1, 1, "MPI_Irecv", 0, 5, 200000, 2 * MS, 2 * MS + 10);
    PLANT(&log, 1, 1, "MPI_Irecv", 0, 5, 200000, 2 * MS, 22 * MS, MPI_FLAG_REQUEST);
    if (polling)
        PLANT(&log, 1, 1, "MPI_Test", -1, -1, 0, 2 * MS + 20, since_ms * MS - 10, MPI_FLAG_FOLDED);
    PLANT(&log, 1, 1, polling ? "MPI_Test" : "MPI_Wait", 0, 5, 200000, since_ms * MS, 22 * MS);
    struct call_matches m = matched(&log);
    int64_t ready = VALUE_ABSENT;
    for (size_t i = 0; i < log.ranks[1].n; i++)
        if (log.ranks[1].events[i].flags & MPI_FLAG_REQUEST)
            ready = m.needs[1][i].ready_ns;
    done(&log, &m);
    return ready;
}

static void a_message_whose_sender_was_away_waits_for_it(void **state) {
    (void)state;
    assert_int_equal(ready_of_held(22, 21, true), 20 * MS);
}

static void a_message_that_goes_on_by_itself_waits_for_nobody(void **state) {
    (void)state;
    assert_int_equal(ready_of_held(19, 21, true), 1 * MS);  /* received while the sender was away */
    assert_int_equal(ready_of_held(40, 21, true), 1 * MS);  /* much later: the link is slow */
    assert_int_equal(ready_of_held(22, 21, false), 1 * MS); /* it may have left at once */
}

/* It leaves right after it has begun the message, and completes it `took_us` after its return at 20
 * ms, all inside MPI, of which cpu_us on the CPU.
 */
static int64_t ready_of_begun(int64_t bytes, int64_t took_us, int64_t cpu_us) {
    struct mpi_log log = {0};
    int64_t end = 20 * MS + took_us * 1000;
    PLANT(&log, 0, 0, "MPI_Isend", 1, 5, bytes, 1 * MS, 1 * MS + 10);
    PLANT(&log, 0, 0, "MPI_Isend", 1, 5, bytes, 1 * MS, end, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Test", 1, 5, bytes, 20 * MS, end, MPI_FLAG_HAS_CPU, cpu_us * 1000);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 5, bytes, 2 * MS, 22 * MS);
    struct call_matches m = matched(&log);
    int64_t ready = need(&log, &m, 1, "MPI_Recv", 0)->ready_ns;
    done(&log, &m);
    return ready;
}

static void a_message_that_is_copied_when_its_sender_is_back_waited_for_it(void **state) {
    (void)state;
    assert_int_equal(ready_of_begun(200000, 80, 80), 20 * MS);
    assert_int_equal(ready_of_begun(200000, 2, 2), 1 * MS);    /* it had left */
    assert_int_equal(ready_of_begun(10000, 80, 80), 1 * MS);   /* as short ones do */
    assert_int_equal(ready_of_begun(200000, 1000, 5), 1 * MS); /* it waits for the link */
}

/* The sender begins a message and completes an earlier one. Then it computes until 10 ms, and
 * begins the next message, which it needs until 20 ms for, with its core for cpu_ms of that.
 */
static int64_t ready_of_pipelined(int64_t cpu_ms) {
    struct mpi_log log = {0};
    PLANT(&log, 0, 0, "MPI_Isend", 1, 5, 200000, 1 * MS, 1 * MS + 10);
    PLANT(&log, 0, 0, "MPI_Isend", 1, 5, 200000, 1 * MS, 20 * MS + 80 * US, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Wait", -1, -1, 0, 1 * MS + 20, 1 * MS + 30);
    PLANT(&log, 0, 0, "MPI_Isend", 1, 6, 200000, 10 * MS, 20 * MS, MPI_FLAG_HAS_CPU, cpu_ms * MS);
    PLANT(&log, 0, 0, "MPI_Wait", 1, 5, 200000, 20 * MS, 20 * MS + 80 * US);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 5, 200000, 2 * MS, 20 * MS + 90 * US);
    struct call_matches m = matched(&log);
    int64_t ready = need(&log, &m, 1, "MPI_Recv", 0)->ready_ns;
    done(&log, &m);
    return ready;
}

static void a_sender_without_a_core_is_away_inside_a_call_that_waits_for_nobody(void **state) {
    (void)state;
    assert_int_equal(ready_of_pipelined(1), 20 * MS); /* throttled meanwhile */
    assert_int_equal(ready_of_pipelined(10), 1 * MS); /* it copied all the time */
}

/* It completes another message after it has begun this one, and computes until 20 ms. */
static void a_message_waits_for_its_sender_whatever_call_that_left_last(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Isend", 1, 5, 200000, 1 * MS, 1 * MS + 10);
    PLANT(&log, 0, 0, "MPI_Isend", 1, 5, 200000, 1 * MS, 20 * MS + 80 * US, MPI_FLAG_REQUEST);
    PLANT(&log, 0, 0, "MPI_Wait", -1, -1, 0, 1 * MS + 20, 1 * MS + 30);
    PLANT(&log, 0, 0, "MPI_Wait", 1, 5, 200000, 20 * MS, 20 * MS + 80 * US);
    PLANT(&log, 1, 1, "MPI_Recv", 0, 5, 200000, 2 * MS, 20 * MS + 90 * US);
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 1, "MPI_Recv", 0)->ready_ns, 20 * MS);
    done(&log, &m);
}

static void a_receiver_that_was_not_there_yet_waited_for_nobody(void **state) {
    (void)state;
    assert_int_equal(ready_of_received(21, 22, 21, true), 1 * MS);
    assert_int_equal(ready_of_request(5, false), 20 * MS);
    assert_int_equal(ready_of_request(21, false), 1 * MS);
    assert_int_equal(ready_of_request(21, true), 20 * MS);
}

/* ---- one-sided ---- */

/* A flush of rank 0 from 10 to 20 ms; the target is back inside MPI at back_ms. */
static struct call_need need_of_flush(int64_t back_ms, int32_t target, bool unknown) {
    struct mpi_log log = {0};
    PLANT(&log, 0, 0, "MPI_Get", target, -1, 800, 9 * MS, 9 * MS + 100);
    if (unknown)
        PLANT(&log, 0, 0, "MPI_Put", -1, -1, 8, 9 * MS + 200, 9 * MS + 300);
    PLANT(&log, 0, 0, "MPI_Win_flush_all", -1, -1, 0, 10 * MS, 20 * MS);
    PLANT(&log, 1, 1, "MPI_Win_sync", -1, -1, 0, 5 * MS, 6 * MS);
    PLANT(&log, 1, 1, "MPI_Barrier", -1, -1, 0, back_ms * MS, 30 * MS);
    struct call_matches m = matched(&log);
    struct call_need n = *need(&log, &m, 0, "MPI_Win_flush_all", 0);
    done(&log, &m);
    return n;
}

static void who_completes_accesses_waits_until_the_target_is_inside_mpi(void **state) {
    (void)state;
    struct call_need n = need_of_flush(17, 1, false);
    assert_true(n.asked && n.may_leave && !n.outgoing);
    assert_int_equal(n.who, 1);
    assert_int_equal(n.ready_ns, 17 * MS);
    assert_int_equal(n.partner, CALL_NO_PARTNER);
    assert_int_equal(need_of_flush(8, 1, false).ready_ns, 10 * MS); /* the target was there */
}

/* The target leaves MPI at left_us, after the flush of 10 to 20 ms began, and is back at 19 ms.
 */
static int64_t ready_of_unanswered(int64_t left_us) {
    struct mpi_log log = {0};
    PLANT(&log, 0, 0, "MPI_Accumulate", 1, -1, 800, 9 * MS, 9 * MS + 100);
    PLANT(&log, 0, 0, "MPI_Win_flush", 1, -1, 0, 10 * MS, 20 * MS);
    PLANT(&log, 1, 1, "MPI_Win_flush", 0, -1, 0, 5 * MS, left_us * US);
    PLANT(&log, 1, 1, "MPI_Accumulate", 0, -1, 800, 19 * MS, 30 * MS);
    struct call_matches m = matched(&log);
    int64_t ready = need(&log, &m, 0, "MPI_Win_flush", 0)->ready_ns;
    done(&log, &m);
    return ready;
}

static void a_target_that_leaves_mpi_without_an_answer_is_waited_for_again(void **state) {
    (void)state;
    assert_int_equal(ready_of_unanswered(10200), 19 * MS);
    assert_int_equal(ready_of_unanswered(15000), 10 * MS); /* it moved data for half of the time */
}

/* A megabyte goes to rank 1, then a word is fetched from there; the second flush completes only the
 * fetch.
 */
static void what_is_complete_says_nothing_of_the_next_access(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Put", 1, -1, INT64_MAX, 7 * MS, 7 * MS + 100);
    PLANT(&log, 0, 0, "MPI_Put", -1, -1, 0, 7 * MS + 200, 7 * MS + 300); /* MPI_PROC_NULL */
    PLANT(&log, 0, 0, "MPI_Put", 1, -1, INT64_MAX, 7 * MS + 400, 7 * MS + 500);
    PLANT(&log, 0, 0, "MPI_Win_flush", 1, -1, 0, 8 * MS, 9 * MS);
    PLANT(&log, 0, 0, "MPI_Get", 1, -1, 8, 9 * MS, 9 * MS + 100);
    PLANT(&log, 0, 0, "MPI_Win_flush", 1, -1, 0, 10 * MS, 11 * MS);
    PLANT(&log, 0, 0, "MPI_Win_flush_all", -1, -1, 0, 12 * MS, 20 * MS);
    PLANT(&log, 1, 1, "MPI_Barrier", -1, -1, 0, 17 * MS, 30 * MS);
    struct call_matches m = matched(&log);
    assert_true(need(&log, &m, 0, "MPI_Win_flush", 0)->outgoing);
    assert_false(need(&log, &m, 0, "MPI_Win_flush", 1)->outgoing);
    assert_int_equal(need(&log, &m, 0, "MPI_Win_flush_all", 0)->ready_ns, 17 * MS);
    done(&log, &m);
}

/* Flushes all accesses to a target that is in a call from 8 ms to out_ms, with its core for cpu_ms
 * of that.
 */
static int64_t ready_of_flush(const char *name, int64_t out_ms, int64_t cpu_ms) {
    struct mpi_log log = {0};
    PLANT(&log, 0, 0, "MPI_Get", 1, -1, 800, 9 * MS, 9 * MS + 100);
    PLANT(&log, 0, 0, "MPI_Win_flush_all", -1, -1, 0, 10 * MS, 20 * MS);
    PLANT(&log, 0, 0, "MPI_Barrier", -1, -1, 0, 20 * MS + 100, 20 * MS + 200);
    PLANT(&log, 1, 1, name, -1, -1, 0, 8 * MS, out_ms * MS, MPI_FLAG_HAS_CPU,
          .cpu_ns = cpu_ms * MS);
    struct call_matches m = matched(&log);
    int64_t ready = need(&log, &m, 0, "MPI_Win_flush_all", 0)->ready_ns;
    done(&log, &m);
    return ready;
}

static void a_target_without_a_core_is_not_there(void **state) {
    (void)state;
    assert_int_equal(ready_of_flush("MPI_Win_sync", 19, 1), 19 * MS);
    assert_int_equal(ready_of_flush("MPI_Win_sync", 21, 1), 20 * MS - 1);
    assert_int_equal(ready_of_flush("MPI_Win_sync", 19, 11), 10 * MS); /* it had its core */
    assert_int_equal(ready_of_flush("MPI_Win_sync", 19, 5), 10 * MS);  /* for a good part */
    assert_int_equal(ready_of_flush("MPI_Win_sync", 40, 1),
                     10 * MS);                                       /* the flush did not need it */
    assert_int_equal(ready_of_flush("MPI_Barrier", 21, 1), 10 * MS); /* it slept until this came */
}

/* A put to rank 1, which is away until 17 ms, and one to rank 2, which is there; then all accesses
 * to the second window are completed.
 */
static struct call_need need_of_flush_of(uint32_t window) {
    struct mpi_log log = {0};
    PLANT(&log, 0, 0, "MPI_Put", 1, -1, 800, 8 * MS, 8 * MS + 100, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Put", 2, -1, 800, 9 * MS, 9 * MS + 100, .comm = window);
    PLANT(&log, 0, 0, "MPI_Win_flush_all", -1, -1, 0, 10 * MS, 20 * MS, .comm = 8);
    PLANT(&log, 1, 1, "MPI_Barrier", -1, -1, 0, 17 * MS, 30 * MS);
    PLANT(&log, 2, 2, "MPI_Barrier", -1, -1, 0, 9 * MS, 30 * MS);
    struct call_matches m = matched(&log);
    struct call_need n = *need(&log, &m, 0, "MPI_Win_flush_all", 0);
    done(&log, &m);
    return n;
}

static void a_window_is_complete_without_another_ones_targets(void **state) {
    (void)state;
    assert_int_equal(need_of_flush_of(8).who, 2);
    assert_int_equal(need_of_flush_of(8).ready_ns, 10 * MS);
    /* small puts to several windows were recorded as one: the window is not known */
    assert_int_equal(need_of_flush_of(MPI_COMM_NONE).who, 1);
    assert_int_equal(need_of_flush_of(MPI_COMM_NONE).ready_ns, 17 * MS);
}

static void accesses_to_itself_need_nobody_and_unknown_ones_are_not_known(void **state) {
    (void)state;
    struct call_need n = need_of_flush(17, 0, false);
    assert_int_equal(n.who, -1);
    assert_int_equal(n.ready_ns, 10 * MS);
    assert_true(need_of_flush(17, 1, true).ready_ns == VALUE_ABSENT);
    assert_true(need_of_flush(17, 7, false).ready_ns == VALUE_ABSENT);
}

/* ---- group calls: neighbours, and roots elsewhere ---- */

/* Three ranks in a chain on communicator 7: 0 - 1 - 2. Their neighbours are recorded when it is
 * made.
 */
static void plant_chain(struct mpi_log *log, int64_t t) {
    static const int neighbours[4][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}};
    for (int r = 0; r < 3; r++)
        PLANT(log, r, 0, "MPI_Cart_create", -1, -1, 0, t, t + 1);
    for (int i = 0; i < 4; i++)
        PLANT(log, neighbours[i][0], 0, "MPI_Cart_create", neighbours[i][1], -1, 0, t, t + 1,
              MPI_FLAG_PART, .comm = 7);
}

static void a_neighbourhood_collective_needs_neighbours_and_no_others(void **state) {
    struct mpi_log log = {0};
    (void)state;
    plant_chain(&log, 1);
    PLANT(&log, 0, 0, "MPI_Neighbor_alltoall", -1, -1, 8, 10, 60, .comm = 7);
    PLANT(&log, 1, 0, "MPI_Neighbor_alltoall", -1, -1, 16, 50, 91, .comm = 7);
    PLANT(&log, 2, 0, "MPI_Neighbor_alltoall", -1, -1, 8, 90, 92, .comm = 7);
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Neighbor_alltoall", 0)->ready_ns, 50);
    assert_int_equal(need(&log, &m, 0, "MPI_Neighbor_alltoall", 0)->who, 1);
    assert_int_equal(need(&log, &m, 1, "MPI_Neighbor_alltoall", 0)->ready_ns, 90);
    assert_int_equal(need(&log, &m, 1, "MPI_Neighbor_alltoall", 0)->who, 2);
    assert_int_equal(need(&log, &m, 2, "MPI_Neighbor_alltoall", 0)->ready_ns, 50);
    assert_int_equal(m.n_signals, 4);
    assert_int_equal(m.signals[0].to, 0);
    assert_int_equal(m.signals[0].from, 1);
    assert_int_equal(m.signals[0].bytes, 8);
    assert_int_equal(m.signals[1].bytes, 8); /* 16 bytes, of which each of two sent half */
    done(&log, &m);
}

static void neighbours_that_nobody_told_are_not_known(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int r = 0; r < 2; r++)
        PLANT(&log, r, 0, "MPI_Neighbor_allgather", -1, -1, 8, 10 + 40 * r, 60, .comm = 7);
    struct call_matches m = matched(&log);
    assert_true(need(&log, &m, 0, "MPI_Neighbor_allgather", 0)->asked);
    assert_true(need(&log, &m, 0, "MPI_Neighbor_allgather", 0)->ready_ns == VALUE_ABSENT);
    assert_int_equal(m.n_signals, 0);
    done(&log, &m);
}

/* Rank 0 names rank 5, which is not in the recording, rank 1 itself and rank 0 twice. */
static void neighbours_that_make_no_sense_spoil_their_own_rank_only(void **state) {
    struct mpi_log log = {0};
    static const int named[5][2] = {{0, 5}, {0, 1}, {1, 1}, {1, 0}, {1, 0}};
    (void)state;
    for (int i = 0; i < 5; i++)
        PLANT(&log, named[i][0], 0, "MPI_Graph_create", named[i][1], -1, 0, 1, 2, MPI_FLAG_PART,
              .comm = 7);
    PLANT(&log, 0, 0, "MPI_Neighbor_alltoall", -1, -1, 16, 40, 61, .comm = 7);
    PLANT(&log, 1, 0, "MPI_Neighbor_alltoall", -1, -1, 24, 10, 60, .comm = 7);
    struct call_matches m = matched(&log);
    assert_true(need(&log, &m, 0, "MPI_Neighbor_alltoall", 0)->ready_ns == VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 1, "MPI_Neighbor_alltoall", 0)->ready_ns, 40);
    assert_int_equal(m.n_signals, 2);
    assert_int_equal(m.signals[1].bytes, 16); /* of two links to the same rank */
    done(&log, &m);
}

static void a_neighbourhood_collective_that_is_started_is_waited_for_in_its_wait(void **state) {
    struct mpi_log log = {0};
    (void)state;
    plant_chain(&log, 1);
    for (int r = 0; r < 3; r++) {
        PLANT(&log, r, 0, "MPI_Ineighbor_alltoall", -1, -1, 8, 10 + 10 * r, 11 + 10 * r, .comm = 7);
        PLANT(&log, r, 0, "MPI_Ineighbor_alltoall", -1, -1, 8, 10 + 10 * r, 90, MPI_FLAG_REQUEST,
              .comm = 7);
        PLANT(&log, r, 0, "MPI_Wait", -1, -1, 8, 12 + 10 * r, 90);
    }
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Wait", 0)->ready_ns, 20);
    assert_int_equal(need(&log, &m, 1, "MPI_Wait", 0)->ready_ns, 30);
    assert_int_equal(need(&log, &m, 1, "MPI_Wait", 0)->who, 2);
    for (size_t i = 0; i < m.n_signals; i++)
        assert_true(log.ranks[m.signals[i].to].events[m.signals[i].received].flags &
                    MPI_FLAG_REQUEST);
    assert_int_equal(m.n_signals, 4);
    done(&log, &m);
}

static void who_left_a_collective_before_the_last_came_did_not_wait_for_it(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Comm_free", -1, -1, 0, 10, 12, .comm = 7);
    PLANT(&log, 1, 0, "MPI_Comm_free", -1, -1, 0, 50, 52, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Barrier", -1, -1, 0, 60, 82);
    PLANT(&log, 1, 0, "MPI_Barrier", -1, -1, 0, 80, 82);
    struct call_matches m = matched(&log);
    assert_true(need(&log, &m, 0, "MPI_Comm_free", 0)->may_leave);
    assert_false(need(&log, &m, 1, "MPI_Comm_free", 0)->may_leave);
    assert_false(need(&log, &m, 0, "MPI_Barrier", 0)->may_leave);
    done(&log, &m);
}

/* Ranks 0 (the root) and 1 on one side, and rank 2 on the other. */
static void the_root_of_a_call_between_groups_is_named_by_the_other_side(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int r = 0; r < 3; r++)
        PLANT(&log, r, 0, "MPI_Init", -1, -1, 0, 0, 5);
    PLANT(&log, 0, 0, "MPI_Bcast", -1, -1, 8, 50, 51, MPI_FLAG_UNKNOWN_PEER, .comm = 7);
    PLANT(&log, 1, 0, "MPI_Bcast", -1, -1, 0, 10, 11, MPI_FLAG_UNKNOWN_PEER, .comm = 7);
    PLANT(&log, 2, 0, "MPI_Bcast", 0, -1, 8, 20, 52, .comm = 7);
    PLANT(&log, 1, 0, "MPI_Recv", 2, 1, 0, 12, 55);
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 2, "MPI_Bcast", 0)->ready_ns, 50);
    assert_int_equal(need(&log, &m, 2, "MPI_Bcast", 0)->who, 0);
    assert_int_equal(need(&log, &m, 1, "MPI_Bcast", 0)->ready_ns, 10); /* it needs nobody */
    done(&log, &m);
}

static void a_receive_that_was_taken_back_is_no_message(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Irecv", 1, 1, 0, 10, 12, MPI_FLAG_REQUEST | MPI_FLAG_CANCELLED);
    PLANT(&log, 0, 0, "MPI_Recv", 1, 1, 8, 20, 60);
    PLANT(&log, 1, 0, "MPI_Send", 0, 1, 8, 50, 51);
    struct call_matches m = matched(&log);
    assert_int_equal(m.messages, 1);
    assert_int_equal(m.unmatched_receives, 0);
    assert_int_equal(need(&log, &m, 0, "MPI_Recv", 0)->ready_ns, 50);
    done(&log, &m);
}

/* ---- epochs ---- */

/* Rank 1 exposes its window to rank 0 from post_ns to wait_ns; rank 0 accesses it from 20, and its
 * start ends at start_ns. */
static void plant_epoch(struct mpi_log *log, int64_t post, int64_t start_end, int64_t complete,
                        int64_t complete_end, int64_t wait, int64_t wait_end) {
    PLANT(log, 1, 1, "MPI_Win_post", 0, -1, 0, post, post + 1, MPI_FLAG_PART, .comm = 7);
    PLANT(log, 1, 1, "MPI_Win_post", -1, -1, 0, post, post + 1, .comm = 7);
    PLANT(log, 1, 1, "MPI_Win_wait", -1, -1, 0, wait, wait_end, .comm = 7);
    PLANT(log, 0, 0, "MPI_Win_start", 1, -1, 0, 20, start_end, MPI_FLAG_PART, .comm = 7);
    PLANT(log, 0, 0, "MPI_Win_start", -1, -1, 0, 20, start_end, .comm = 7);
    PLANT(log, 0, 0, "MPI_Win_complete", -1, -1, 0, complete, complete_end, .comm = 7);
}

static void a_start_waits_for_the_post_and_the_wait_for_the_complete(void **state) {
    struct mpi_log log = {0};
    (void)state;
    plant_epoch(&log, 40, 42, 70, 71, 50, 72);
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 0, "MPI_Win_start", 1)->ready_ns, 40);
    assert_int_equal(need(&log, &m, 0, "MPI_Win_start", 1)->who, 1);
    assert_int_equal(need(&log, &m, 1, "MPI_Win_wait", 0)->ready_ns, 70);
    assert_int_equal(need(&log, &m, 1, "MPI_Win_wait", 0)->who, 0);
    assert_false(need(&log, &m, 1, "MPI_Win_wait", 0)->may_leave);
    assert_int_equal(m.n_signals, 2);
    done(&log, &m);
}

static void where_the_start_does_not_wait_the_complete_does(void **state) {
    struct mpi_log log = {0};
    (void)state;
    plant_epoch(&log, 40, 21, 22, 43, 41, 44);
    struct call_matches m = matched(&log);
    assert_true(need(&log, &m, 0, "MPI_Win_start", 1)->ready_ns == VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 0, "MPI_Win_complete", 0)->ready_ns, 40);
    assert_int_equal(need(&log, &m, 0, "MPI_Win_complete", 0)->who, 1);
    done(&log, &m);
}

/* The first of two tests found nothing. */
static void the_test_that_ends_an_epoch_is_a_wait_that_began_with_it(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 1, 1, "MPI_Win_post", 0, -1, 0, 10, 11, MPI_FLAG_PART, .comm = 7);
    PLANT(&log, 1, 1, "MPI_Win_post", -1, -1, 0, 10, 11, .comm = 7);
    PLANT(&log, 1, 1, "MPI_Win_test", -1, -1, 0, 30, 31, .comm = 7);
    PLANT(&log, 1, 1, "MPI_Win_test", -1, 0, 0, 70, 72, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Win_start", 1, -1, 0, 20, 21, MPI_FLAG_PART, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Win_start", -1, -1, 0, 20, 21, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Win_complete", -1, -1, 0, 60, 61, .comm = 7);
    struct call_matches m = matched(&log);
    assert_true(need(&log, &m, 1, "MPI_Win_test", 0)->since_ns == VALUE_ABSENT);
    assert_int_equal(need(&log, &m, 1, "MPI_Win_test", 1)->ready_ns, 60);
    assert_int_equal(need(&log, &m, 1, "MPI_Win_test", 1)->since_ns, 10);
    done(&log, &m);
}

/* Each window has its own epochs, even if those of a rank overlap. */
static void epochs_of_two_windows_are_not_mixed_up(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int w = 0; w < 2; w++) {
        PLANT(&log, 1, 1, "MPI_Win_post", 0, -1, 0, 10 + w, 11 + w, MPI_FLAG_PART, .comm = 7 + w);
        PLANT(&log, 1, 1, "MPI_Win_post", -1, -1, 0, 10 + w, 11 + w, .comm = 7 + w);
        PLANT(&log, 0, 0, "MPI_Win_start", 1, -1, 0, 20 + w, 21 + w, MPI_FLAG_PART, .comm = 7 + w);
        PLANT(&log, 0, 0, "MPI_Win_start", -1, -1, 0, 20 + w, 21 + w, .comm = 7 + w);
    }
    for (int w = 0; w < 2; w++) {
        PLANT(&log, 0, 0, "MPI_Win_complete", -1, -1, 0, 60 + 10 * w, 61 + 10 * w, .comm = 7 + w);
        PLANT(&log, 1, 1, "MPI_Win_wait", -1, -1, 0, 50 + 10 * w, 72 + 10 * w, .comm = 7 + w);
    }
    struct call_matches m = matched(&log);
    assert_int_equal(need(&log, &m, 1, "MPI_Win_wait", 0)->ready_ns, 60);
    assert_int_equal(need(&log, &m, 1, "MPI_Win_wait", 1)->ready_ns, 70);
    done(&log, &m);
}

/* A start that ended before its post, as did its complete: their order is unknown. */
static void epochs_that_cannot_belong_together_end_their_pair(void **state) {
    struct mpi_log log = {0};
    (void)state;
    plant_epoch(&log, 400, 21, 22, 23, 410, 420);
    PLANT(&log, 1, 1, "MPI_Win_post", 9, -1, 0, 500, 501, MPI_FLAG_PART, .comm = 7);
    PLANT(&log, 1, 1, "MPI_Win_post", -1, -1, 0, 500, 501, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Win_start", 1, -1, 0, 600, 601, MPI_FLAG_PART, .comm = 7);
    struct call_matches m = matched(&log);
    assert_int_equal(m.n_signals, 0);
    assert_true(need(&log, &m, 1, "MPI_Win_wait", 0)->asked);
    assert_true(need(&log, &m, 1, "MPI_Win_wait", 0)->ready_ns == VALUE_ABSENT);
    done(&log, &m);
}

/* ---- locks ---- */

/* Rank 1 holds a lock of rank 0's window from 1 to 60 ms; rank 0 asks for it at 10 ms. */
static struct call_need need_of_lock(unsigned held, unsigned asked, int64_t got_ms) {
    struct mpi_log log = {0};
    PLANT(&log, 1, 1, "MPI_Win_lock", 0, -1, 0, 1 * MS, 1 * MS + 100, held, .comm = 7);
    PLANT(&log, 1, 1, "MPI_Win_unlock", 0, -1, 0, 60 * MS, 60 * MS + 100, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Win_lock", 0, -1, 0, 10 * MS, got_ms * MS, asked, .comm = 7);
    PLANT(&log, 0, 0, "MPI_Win_unlock", 0, -1, 0, 70 * MS, 70 * MS + 100, .comm = 7);
    struct call_matches m = matched(&log);
    struct call_need n = *need(&log, &m, 0, "MPI_Win_lock", 0);
    assert_int_equal(m.n_signals, n.who == 1);
    done(&log, &m);
    return n;
}

static void who_asks_for_a_lock_waits_for_its_holder(void **state) {
    (void)state;
    struct call_need n = need_of_lock(MPI_FLAG_EXCLUSIVE, 0, 61);
    assert_int_equal(n.who, 1);
    assert_int_equal(n.ready_ns, 60 * MS);
    assert_int_equal(need_of_lock(0, MPI_FLAG_EXCLUSIVE, 61).ready_ns, 60 * MS);
    assert_int_equal(need_of_lock(0, 0, 61).who, -1);                  /* both share the lock */
    assert_int_equal(need_of_lock(MPI_FLAG_EXCLUSIVE, 0, 11).who, -1); /* it had the lock before
                                                                          that */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_of_the_kind_its_recorder_says),
        cmocka_unit_test(names_that_are_no_mpi_are_nothing_special),
        cmocka_unit_test(a_lost_collective_of_a_gpu_disturbs_no_other),
        cmocka_unit_test(a_group_call_divides_its_bytes_as_its_name_says),
        cmocka_unit_test(messages_match_in_order_by_communicator_source_and_tag),
        cmocka_unit_test(a_wait_needs_what_its_latest_request_needs),
        cmocka_unit_test(a_wait_of_which_one_message_is_unknown_is_unknown),
        cmocka_unit_test(persistent_requests_match_each_time_they_are_started),
        cmocka_unit_test(a_sendrecv_needs_both_its_partners),
        cmocka_unit_test(what_a_sendrecv_sent_and_received_have_sizes_of_their_own),
        cmocka_unit_test(a_receive_of_less_than_a_sendrecv_sent_is_another_message_s),
        cmocka_unit_test(more_than_a_sendrecv_sent_is_not_its_message),
        cmocka_unit_test(a_receive_from_nobody_is_not_unmatched),
        cmocka_unit_test(a_probe_waits_for_the_message_received_next),
        cmocka_unit_test(collectives_match_by_their_order_in_a_communicator),
        cmocka_unit_test(only_a_root_is_certain_to_be_waited_for_in_a_broadcast),
        cmocka_unit_test(a_started_collective_is_waited_for_in_its_wait),
        cmocka_unit_test(each_rank_is_alone_in_its_self_communicator),
        cmocka_unit_test(members_that_disagree_are_left_unmatched_from_there_on),
        cmocka_unit_test(two_programs_one_after_the_other_do_not_mix),
        cmocka_unit_test(after_lost_events_nothing_is_matched_with_that_rank),
        cmocka_unit_test(what_cannot_be_one_message_ends_its_channel_only),
        cmocka_unit_test(events_that_make_no_sense_are_refused_and_counted),
        cmocka_unit_test(random_events_never_lead_astray),
        cmocka_unit_test(planted_programs_are_matched_exactly),
        cmocka_unit_test(a_message_whose_sender_was_away_waits_for_it),
        cmocka_unit_test(a_message_that_is_copied_when_its_sender_is_back_waited_for_it),
        cmocka_unit_test(a_message_that_goes_on_by_itself_waits_for_nobody),
        cmocka_unit_test(a_sender_without_a_core_is_away_inside_a_call_that_waits_for_nobody),
        cmocka_unit_test(a_message_waits_for_its_sender_whatever_call_that_left_last),
        cmocka_unit_test(a_receiver_that_was_not_there_yet_waited_for_nobody),
        cmocka_unit_test(a_target_that_leaves_mpi_without_an_answer_is_waited_for_again),
        cmocka_unit_test(what_is_complete_says_nothing_of_the_next_access),
        cmocka_unit_test(who_completes_accesses_waits_until_the_target_is_inside_mpi),
        cmocka_unit_test(a_target_without_a_core_is_not_there),
        cmocka_unit_test(a_window_is_complete_without_another_ones_targets),
        cmocka_unit_test(accesses_to_itself_need_nobody_and_unknown_ones_are_not_known),
        cmocka_unit_test(a_neighbourhood_collective_needs_neighbours_and_no_others),
        cmocka_unit_test(neighbours_that_nobody_told_are_not_known),
        cmocka_unit_test(neighbours_that_make_no_sense_spoil_their_own_rank_only),
        cmocka_unit_test(a_neighbourhood_collective_that_is_started_is_waited_for_in_its_wait),
        cmocka_unit_test(who_left_a_collective_before_the_last_came_did_not_wait_for_it),
        cmocka_unit_test(the_root_of_a_call_between_groups_is_named_by_the_other_side),
        cmocka_unit_test(a_receive_that_was_taken_back_is_no_message),
        cmocka_unit_test(a_start_waits_for_the_post_and_the_wait_for_the_complete),
        cmocka_unit_test(where_the_start_does_not_wait_the_complete_does),
        cmocka_unit_test(the_test_that_ends_an_epoch_is_a_wait_that_began_with_it),
        cmocka_unit_test(epochs_of_two_windows_are_not_mixed_up),
        cmocka_unit_test(epochs_that_cannot_belong_together_end_their_pair),
        cmocka_unit_test(who_asks_for_a_lock_waits_for_its_holder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
