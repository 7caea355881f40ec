/* SPDX-License-Identifier: MIT */
/* Traces for SMPI of planned calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "reports/export/export_smpi.h"

#define MS NS_PER_MS

struct planned {
    struct mpi_log log;
    int64_t now_ns;
};

static int setup(void **state) {
    struct planned *plan = calloc(1, sizeof *plan);
    int error;
    assert_non_null(plan);
    assert_non_null(mpi_log_rank(&plan->log, 3, 0, 10, &error));
    *state = plan;
    return 0;
}

static int teardown(void **state) {
    struct planned *plan = *state;
    mpi_log_release(&plan->log);
    free(plan);
    return 0;
}

/* Rank 3 calls after a pause of 2 ms, and stays 1 ms, or until the flags' event ends. */
static struct mpi_event *add(struct planned *plan, const char *name, struct mpi_event event) {
    int function = mpi_log_function(&plan->log, name);
    assert_true(function >= 0);
    event.function = (uint16_t)function;
    if (mpi_event_is_call(&event))
        plan->now_ns += 2 * MS;
    event.enter_ns += plan->now_ns;
    event.exit_ns = event.exit_ns ? event.exit_ns : plan->now_ns + MS;
    assert_int_equal(mpi_log_add(&plan->log, &plan->log.ranks[0], &event, 0), 0);
    if (mpi_event_is_call(&event))
        plan->now_ns += MS;
    return &plan->log.ranks[0].events[plan->log.ranks[0].n - 1];
}

static void expect_trace(struct planned *plan, double flop_s, const char *expected,
                         struct smpi_told *ret_told) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(mpi_log_finish(&plan->log), 0);
    assert_int_equal(smpi_write_trace(&plan->log, &plan->log.ranks[0], flop_s, out, ret_told), 0);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

#define CALLED(peer_, tag_, bytes_, cpu_ms)                                                        \
    ((struct mpi_event){.peer = (peer_),                                                           \
                        .tag = (tag_),                                                             \
                        .bytes = (bytes_),                                                         \
                        .flags = (cpu_ms) < 0 ? 0 : MPI_FLAG_HAS_GAP_CPU,                          \
                        .gap_cpu_ns = (cpu_ms) < 0 ? 0 : (cpu_ms)*MS})
#define UNTIMED(peer_, tag_, bytes_) CALLED(peer_, tag_, bytes_, -1)
#define OF_NOBODY(bytes_) UNTIMED(MPI_NO_PEER, -1, bytes_)

/* The host's cores are half as fast: a millisecond there is half as much computing. */
static void time_off_the_core_is_slept(void **state) {
    struct planned *plan = *state;
    struct smpi_told told;
    add(plan, "MPI_Init", OF_NOBODY(0));
    add(plan, "MPI_Send", CALLED(1, 7, 4096, 1));
    add(plan, "MPI_Recv", CALLED(1, -1, 8, 5));
    expect_trace(plan, SMPI_FLOP_S / 2,
                 "3 init\n"
                 "3 compute 500000\n3 sleep 0.001000000\n3 send 1 7 4096 6\n"
                 "3 compute 1000000\n3 recv 1 0 8 6\n"
                 "3 finalize\n",
                 &told);
    assert_float_equal(told.lived_s, .007, 1e-6);
    assert_float_equal(told.untold_s, 0, 1e-9);
}

/* The second request ends first, within the first wait. */
static void a_wait_names_the_request_that_ended_within_it(void **state) {
    struct planned *plan = *state;
    struct smpi_told told;
    for (int i = 0; i < 2; i++) {
        struct mpi_event start = UNTIMED(i, i, 100);
        const char *name = i ? "MPI_Isend" : "MPI_Irecv";
        add(plan, name, start);
        start.flags = MPI_FLAG_REQUEST;
        start.enter_ns = -MS;
        start.exit_ns = i ? 9 * MS : 12 * MS;
        add(plan, name, start);
    }
    add(plan, "MPI_Wait", OF_NOBODY(0));
    add(plan, "MPI_Wait", OF_NOBODY(0));
    add(plan, "MPI_Waitall", OF_NOBODY(0)); /* nothing is pending */
    expect_trace(plan, SMPI_FLOP_S,
                 "3 init\n"
                 "3 irecv 0 0 100 6\n"
                 "3 compute 2000000\n3 isend 1 1 100 6\n"
                 "3 compute 2000000\n3 wait 3 1 1\n"
                 "3 compute 2000000\n3 wait 0 3 0\n"
                 "3 compute 2000000\n"
                 "3 finalize\n",
                 &told);
}

static void messages_both_ways_and_of_groups_are_actions(void **state) {
    struct planned *plan = *state;
    struct smpi_told told;
    struct mpi_event both = UNTIMED(1, -1, 10);
    add(plan, "MPI_Sendrecv", both);
    both.peer = 2;
    both.bytes = 20;
    both.flags = MPI_FLAG_PART;
    both.enter_ns = -MS;
    both.exit_ns = plan->now_ns;
    add(plan, "MPI_Sendrecv", both);
    add(plan, "MPI_Allreduce", OF_NOBODY(8));
    add(plan, "MPI_Reduce", UNTIMED(2, -1, 8));
    add(plan, "MPI_Gather", UNTIMED(2, -1, 8));
    add(plan, "MPI_Barrier", OF_NOBODY(0));
    expect_trace(plan, SMPI_FLOP_S,
                 "3 init\n"
                 "3 sendRecv 10 1 20 2 6 6\n"
                 "3 compute 2000000\n3 allreduce 8 0 6\n"
                 "3 compute 2000000\n3 reduce 8 0 2 6\n"
                 "3 compute 2000000\n3 gather 8 8 2 6 6\n"
                 "3 compute 2000000\n3 barrier\n"
                 "3 finalize\n",
                 &told);
}

static void calls_that_traces_do_not_know_are_counted(void **state) {
    struct planned *plan = *state;
    struct smpi_told told;
    add(plan, "MPI_Barrier", OF_NOBODY(0));
    add(plan, "MPI_Win_fence", OF_NOBODY(0));
    add(plan, "MPI_Send", OF_NOBODY(8)); /* to nobody known */
    add(plan, "MPI_Win_fence", OF_NOBODY(0));
    expect_trace(plan, SMPI_FLOP_S,
                 "3 init\n3 barrier\n"
                 "3 compute 2000000\n3 sleep 0.001000000\n"
                 "3 compute 2000000\n3 sleep 0.001000000\n"
                 "3 compute 2000000\n3 sleep 0.001000000\n"
                 "3 finalize\n",
                 &told);
    assert_float_equal(told.untold_s, .003, 1e-6);
    assert_string_equal(told.function, "MPI_Win_fence");
}

static void a_name_that_no_host_has_is_numbered(void **state) {
    (void)state;
    char id[SMPI_ID_SIZE];
    struct model_host hosts[] = {{.name = "node-1.x"}, {.name = "a\"/><b"}};
    struct run_model model = {.hosts = hosts, .n_hosts = 2};
    smpi_host_id(&model, 0, id);
    assert_string_equal(id, "node-1.x");
    smpi_host_id(&model, 1, id);
    assert_string_equal(id, "host-1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(time_off_the_core_is_slept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wait_names_the_request_that_ended_within_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(messages_both_ways_and_of_groups_are_actions, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(calls_that_traces_do_not_know_are_counted, setup, teardown),
        cmocka_unit_test(a_name_that_no_host_has_is_numbered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
