/* SPDX-License-Identifier: MIT */
/* From the ranks' records of their MPI calls to rows: totals, single events, and the death of an
 * agent.
 */
#include "tests/unit/probe_test.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/mark/ring.h"
#include "agent/probes/call_watch.h"
#include "common/error.h"
#include "tests/unit/planted_calls.h"

/* A directory of marks, and the three probes that read it. */
struct place {
    struct tree tree;
    char stem[128], directory[512];
    struct call_watch watch;
    struct harness mpi, function, call;
};

static void place_make(struct place *place) {
    memset(place, 0, sizeof *place);
    tree_make(&place->tree, NULL);
    snprintf(place->stem, sizeof place->stem, "%s/marks", place->tree.path);
    assert_int_equal(mark_directory_path(place->stem, place->directory, sizeof place->directory),
                     0);
    assert_int_equal(mark_directory_create(place->directory), 0);
}

static int open_one(struct place *place, struct harness *h, const struct probe *probe) {
    assert_int_equal(harness_init(h, "", SCOPE_HOST), 0);
    h->env.marks = place->stem;
    h->env.calls = &place->watch;
    return harness_open(h, probe);
}

static void open_all(struct place *place) {
    assert_int_equal(open_one(place, &place->mpi, &probe_mpi), 0);
    assert_int_equal(open_one(place, &place->function, &probe_mpi_function), 0);
    assert_int_equal(open_one(place, &place->call, &probe_call), 0);
}

/* Samples all probes as the sampler does. */
static void sample_all(struct place *place, int64_t t_ns) {
    assert_int_equal(harness_sample_at(&place->mpi, t_ns), 0);
    assert_int_equal(harness_sample_at(&place->function, t_ns), 0);
    assert_int_equal(harness_sample_at(&place->call, t_ns), 0);
}

static void keep_all(struct place *place, uint64_t seq) {
    harness_keep(&place->mpi, seq);
    harness_keep(&place->call, seq);
}

static void close_all(struct place *place) {
    harness_close(&place->call);
    harness_close(&place->function);
    harness_close(&place->mpi);
}

static void place_remove(struct place *place) {
    close_all(place);
    assert_int_equal(mark_directory_remove(place->directory), 0);
    tree_remove(&place->tree);
}

static void plant(struct place *place, struct planted_rank *rank, int32_t pid, int32_t number) {
    assert_true(planted_open(rank, place->directory, pid, number, 4, 50 * S));
}

/* ---- totals ---- */

static void totals_are_what_the_rank_counted(void **state) {
    struct place place;
    struct planted_rank rank;
    (void)state;
    place_make(&place);
    open_all(&place);
    sample_all(&place, 49 * S);
    assert_int_equal(place.mpi.rows.n + place.function.rows.n, 0);
    plant(&place, &rank, 1234567, 3);
    rank.header->thread_level = 2;
    rank.header->initialized_ns = 51 * S;
    rank.header->gap_ns = 700;
    rank.header->gap_cpu_ns = 600;
    rank.header->lost_requests = 5;
    rank.header->lost_comms = 6;
    rank.totals[CALL_Send] = (struct call_total){10, 1000, 900, 800, 4096, 0, 0, 1};
    rank.totals[CALL_Allreduce] = (struct call_total){7, 2000, 0, 0, 56, 57, 2, 0};
    sample_all(&place, 60 * S);
    assert_int_equal(place.mpi.rows.n, 1);
    assert_int_equal(harness_row(&place.mpi, "rank 3")->flags, ROW_BORN);
    expect(&place.mpi, "rank 3", "rank", 3);
    expect(&place.mpi, "rank 3", "pid", 1234567);
    expect(&place.mpi, "rank 3", "world_size", 4);
    expect(&place.mpi, "rank 3", "thread_level", 2);
    expect(&place.mpi, "rank 3", "initialized_ns", 51 * S);
    expect_absent(&place.mpi, "rank 3", "finalized_ns");
    expect(&place.mpi, "rank 3", "threads_inside", 0);
    expect(&place.mpi, "rank 3", "calls", 17);
    expect(&place.mpi, "rank 3", "inside_ns", 3000);
    expect(&place.mpi, "rank 3", "measured_ns", 900);
    expect(&place.mpi, "rank 3", "cpu_ns", 800);
    expect(&place.mpi, "rank 3", "sent_bytes", 4152);
    expect(&place.mpi, "rank 3", "received_bytes", 57);
    expect(&place.mpi, "rank 3", "unsized", 2);
    expect(&place.mpi, "rank 3", "failed", 1);
    expect(&place.mpi, "rank 3", "gap_ns", 700);
    expect(&place.mpi, "rank 3", "gap_cpu_ns", 600);
    expect(&place.mpi, "rank 3", "events", 0);
    expect(&place.mpi, "rank 3", "lost_requests", 5);
    expect(&place.mpi, "rank 3", "lost_comms", 6);
    assert_int_equal(place.function.rows.n, 2); /* only functions that were called */
    assert_int_equal(harness_row(&place.function, "rank 3 MPI_Send")->flags, ROW_BORN);
    expect(&place.function, "rank 3 MPI_Send", "rank", 3);
    expect(&place.function, "rank 3 MPI_Send", "pid", 1234567);
    expect(&place.function, "rank 3 MPI_Send", "calls", 10);
    expect(&place.function, "rank 3 MPI_Send", "inside_ns", 1000);
    expect(&place.function, "rank 3 MPI_Send", "measured_ns", 900);
    expect(&place.function, "rank 3 MPI_Send", "cpu_ns", 800);
    expect(&place.function, "rank 3 MPI_Send", "sent_bytes", 4096);
    expect(&place.function, "rank 3 MPI_Send", "failed", 1);
    expect(&place.function, "rank 3 MPI_Allreduce", "received_bytes", 57);
    expect(&place.function, "rank 3 MPI_Allreduce", "unsized", 2);
    rank.totals[CALL_Recv].calls = 1;
    sample_all(&place, 61 * S);
    assert_int_equal(harness_row(&place.mpi, "rank 3")->flags, 0);
    assert_int_equal(harness_row(&place.function, "rank 3 MPI_Send")->flags, 0);
    assert_int_equal(harness_row(&place.function, "rank 3 MPI_Recv")->flags, ROW_BORN);
    planted_close(&rank);
    place_remove(&place);
}

/* The rank clears `now` before it adds to its totals, and the sample may fall between the two. */
static void a_call_that_has_not_returned_counts_up_to_now_and_never_steps_back(void **state) {
    struct place place;
    struct planted_rank rank;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &rank, 1234567, 0);
    rank.header->now[2] = (struct call_now){.enter_ns = 60 * S, .function = CALL_Barrier};
    sample_all(&place, 90 * S);
    expect(&place.mpi, "rank 0", "inside_ns", 30 * S);
    expect(&place.mpi, "rank 0", "threads_inside", 1);
    expect(&place.mpi, "rank 0", "calls", 0);
    expect(&place.function, "rank 0 MPI_Barrier", "inside_ns", 30 * S);
    rank.header->now[2].enter_ns = 0;
    sample_all(&place, 91 * S);
    expect(&place.mpi, "rank 0", "inside_ns", 30 * S);
    expect(&place.mpi, "rank 0", "threads_inside", 0);
    expect(&place.function, "rank 0 MPI_Barrier", "inside_ns", 30 * S);
    rank.totals[CALL_Barrier] = (struct call_total){.calls = 1, .time_ns = 31 * S};
    sample_all(&place, 92 * S);
    expect(&place.mpi, "rank 0", "inside_ns", 31 * S);
    expect(&place.function, "rank 0 MPI_Barrier", "inside_ns", 31 * S);
    planted_close(&rank);
    place_remove(&place);
}

static void a_second_process_of_a_rank_is_told_apart(void **state) {
    struct place place;
    struct planted_rank first, second;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &first, 1234567, 1);
    first.totals[CALL_Send].calls = 1;
    sample_all(&place, 60 * S);
    plant(&place, &second, 1234568, 1);
    second.totals[CALL_Send].calls = 2;
    sample_all(&place, 61 * S);
    expect(&place.mpi, "rank 1", "calls", 1);
    expect(&place.mpi, "rank 1 [1234568]", "calls", 2);
    expect(&place.function, "rank 1 [1234568] MPI_Send", "calls", 2);
    planted_close(&first);
    planted_close(&second);
    place_remove(&place);
}

/* Before MPI_Init has returned, only the launcher's environment tells the rank, here of this test's
 * process.
 */
static void a_rank_is_known_by_its_environment_before_mpi_knows_it(void **state) {
    struct place place;
    struct planted_rank rank;
    int ready[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ready[0]);
        setenv("OMPI_COMM_WORLD_RANK", "2", 1);
        dup2(ready[1], 1);
        /* No further exec: during one, a process has no environment to read. */
        execlp("sh", "sh", "-c", "echo; kill -STOP $$", NULL);
        _exit(127);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    place_make(&place);
    open_all(&place);
    assert_true(planted_open(&rank, place.directory, pid, -1, -1, 50 * S));
    rank.header->now[0] = (struct call_now){.enter_ns = 59 * S, .function = CALL_Init};
    sample_all(&place, 60 * S);
    expect(&place.mpi, "rank 2", "inside_ns", S);
    expect(&place.mpi, "rank 2", "rank", 2);
    expect_absent(&place.mpi, "rank 2", "world_size");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    close(ready[1]);
    planted_close(&rank);
    place_remove(&place);
}

static void a_rank_nobody_knows_waits_for_its_name(void **state) {
    struct place place;
    struct planted_rank rank;
    (void)state;
    place_make(&place);
    open_all(&place);
    assert_true(planted_open(&rank, place.directory, 1234567, -1, -1, 50 * S));
    rank.totals[CALL_Init].calls = 1;
    sample_all(&place, 60 * S);
    assert_int_equal(place.mpi.rows.n, 0);
    rank.header->rank = 0;
    rank.header->world_size = 1;
    sample_all(&place, 61 * S);
    expect(&place.mpi, "rank 0", "calls", 1);
    assert_int_equal(harness_row(&place.mpi, "rank 0")->flags, ROW_BORN);
    planted_close(&rank);
    place_remove(&place);
}

static void a_mad_rank_harms_only_itself(void **state) {
    struct place place;
    struct planted_rank good, mad, short_one, nonsense;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &good, 1234567, 0);
    plant(&place, &mad, 1234568, 1);
    plant(&place, &short_one, 1234569, 2);
    plant(&place, &nonsense, 1234570, 3);
    good.totals[CALL_Send].calls = 5;
    memset(mad.totals, 0xff, CALL_COUNT * sizeof *mad.totals);
    for (size_t i = 0; i < CALL_FILE_THREADS; i++)
        mad.header->now[i] = (struct call_now){.enter_ns = 1, .function = UINT32_MAX};
    mad.header->gap_ns = mad.header->lost_comms = UINT64_MAX;
    nonsense.header->rank = INT32_MAX;
    nonsense.header->world_size = -7;
    nonsense.header->now[0] = (struct call_now){.enter_ns = INT64_MAX, .function = CALL_Send};
    nonsense.header->now[1] = (struct call_now){.enter_ns = INT64_MIN, .function = CALL_Send};
    sample_all(&place, 60 * S);
    planted_close(&short_one);
    assert_int_equal(truncate(short_one.path, 100), 0);
    for (int i = 0; i < 20; i++)
        planted_event(&mad, (struct call_record){.function = 0xffff, .bytes = -1});
    mad.header->head += 1000000;
    planted_event(&good, (struct call_record){.function = CALL_Send, .peer = 1, .exit_ns = 1});
    sample_all(&place, 61 * S);
    sample_all(&place, 62 * S);
    mad.header->head = 1; /* the head went backwards */
    sample_all(&place, 63 * S);
    expect(&place.mpi, "rank 0", "calls", 5);
    expect(&place.mpi, "rank 0", "events", 1);
    expect(&place.mpi, "rank 0", "lost_events", 0);
    assert_null(harness_row(&place.mpi, "rank 1"));
    assert_null(harness_row(&place.mpi, "rank 2"));
    for (size_t i = 0; i < place.mpi.rows.n; i++)
        assert_true(instance_name_valid(place.mpi.rows.items[i].name,
                                        strlen(place.mpi.rows.items[i].name)));
    planted_close(&good);
    planted_close(&mad);
    planted_close(&nonsense);
    place_remove(&place);
}

static void absurd_totals_are_bounded(void **state) {
    struct place place;
    struct planted_rank mad;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &mad, 1234568, 1);
    memset(mad.totals, 0xff, CALL_COUNT * sizeof *mad.totals);
    mad.header->gap_ns = UINT64_MAX;
    sample_all(&place, 60 * S);
    expect(&place.mpi, "rank 1", "calls", INT64_MAX);
    expect(&place.mpi, "rank 1", "inside_ns", INT64_MAX);
    expect_absent(&place.mpi, "rank 1", "gap_ns");
    assert_int_equal(place.function.rows.n, CALL_COUNT);
    planted_close(&mad);
    place_remove(&place);
}

/* ---- events ---- */

static int64_t cell(const struct place *place, size_t row, const char *column) {
    return place->call.rows.items[row].values[table_find_column(probe_call.table, column)];
}

static void events_become_rows(void **state) {
    struct place place;
    struct planted_rank rank;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &rank, 1234567, 3);
    planted_event(&rank, (struct call_record){.function = CALL_Send,
                                              .flags = CALL_HAS_CPU | CALL_HAS_GAP_CPU,
                                              .comm = CALL_COMM_WORLD,
                                              .peer = 2,
                                              .tag = 7,
                                              .bytes = 4096,
                                              .enter_ns = 1000,
                                              .exit_ns = 201000,
                                              .cpu_us = 150,
                                              .gap_cpu_us = 300,
                                              .site_offset = 0x1234,
                                              .site_module = 0xab,
                                              .thread = 1});
    planted_event(&rank, (struct call_record){.function = CALL_Test,
                                              .flags = CALL_FOLDED | CALL_UNKNOWN_PEER,
                                              .comm = CALL_COMM_UNKNOWN,
                                              .peer = CALL_NO_PEER,
                                              .tag = 40,
                                              .enter_ns = 300000,
                                              .exit_ns = 400000,
                                              .cpu_us = 5000});
    sample_all(&place, 60 * S);
    assert_int_equal(place.call.rows.n, 2);
    assert_string_equal(place.call.rows.items[0].name, "MPI_Send");
    assert_string_equal(place.call.rows.items[1].name, "MPI_Test");
    static const struct {
        const char *column;
        int64_t send, test;
    } expected[] = {
        {"rank", 3, 3},
        {"pid", 1234567, 1234567},
        {"sequence", 1, 2},
        {"start_ns", 1000, 300000},
        {"duration_ns", 200000, 100000},
        {"comm", 0, VALUE_ABSENT},
        {"peer", 2, VALUE_ABSENT},
        {"tag", 7, VALUE_ABSENT},
        {"bytes", 4096, 0},
        {"cpu_ns", 150000, VALUE_ABSENT},
        {"gap_cpu_ns", 300000, VALUE_ABSENT},
        {"inside_ns", VALUE_ABSENT, 5000},
        {"polls", VALUE_ABSENT, 40},
        {"flags", CALL_HAS_CPU | CALL_HAS_GAP_CPU, CALL_FOLDED | CALL_UNKNOWN_PEER},
        {"thread", 1, 0},
        {"site", INT64_C(0xab00001234), 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        assert_int_equal(cell(&place, 0, expected[i].column), expected[i].send);
        assert_int_equal(cell(&place, 1, expected[i].column), expected[i].test);
    }
    sample_all(&place, 61 * S);
    assert_int_equal(place.call.rows.n, 0);
    expect(&place.mpi, "rank 3", "events", 2);
    planted_close(&rank);
    place_remove(&place);
}

static void plant_events(struct planted_rank *rank, int n) {
    for (int i = 0; i < n; i++)
        planted_event(rank, (struct call_record){.function = CALL_Send, .peer = 1, .exit_ns = 1});
}

static void events_too_many_for_one_frame_come_in_parts(void **state) {
    struct place place;
    struct planted_rank ranks[2];
    int64_t next[2] = {1, 1};
    size_t total = 0, parts = 0;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &ranks[0], 1234567, 0);
    plant(&place, &ranks[1], 1234568, 1);
    plant_events(&ranks[0], 10000);
    plant_events(&ranks[1], 777);
    sample_all(&place, 60 * S);
    do {
        for (size_t i = 0; i < place.call.rows.n; i++)
            assert_int_equal(cell(&place, i, "sequence"), next[cell(&place, i, "rank")]++);
        total += place.call.rows.n;
        parts++;
        assert_int_equal(harness_sample_at(&place.call, 60 * S), 0);
    } while (place.call.rows.n);
    assert_int_equal(total, 10777);
    assert_int_equal(parts, 3);
    assert_int_equal(place.call.rows.dropped, 0);
    planted_close(&ranks[0]);
    planted_close(&ranks[1]);
    place_remove(&place);
}

static void events_overwritten_before_they_are_read_are_counted(void **state) {
    struct place place;
    struct planted_rank rank;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &rank, 1234567, 0);
    plant_events(&rank, CALL_FILE_CAPACITY + 100);
    sample_all(&place, 60 * S);
    assert_int_equal(cell(&place, 0, "sequence"), 101);
    sample_all(&place, 61 * S);
    expect(&place.mpi, "rank 0", "events", CALL_FILE_CAPACITY + 100);
    expect(&place.mpi, "rank 0", "lost_events", 100);
    planted_close(&rank);
    place_remove(&place);
}

/* ---- over the death of an agent ---- */

/* A ring that has grown has time for it. */
static void part_of_a_large_ring_waits_for_an_idle_core_and_a_quarter_does_not(void **state) {
    struct place place;
    struct planted_rank rank;
    uint32_t large = 4 * CALL_FILE_CAPACITY;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &rank, 1234567, 0);
    assert_int_equal(truncate(rank.path, (off_t)CALL_FILE_BYTES_OF((size_t)large)), 0);
    rank.header->capacity = large;
    sample_all(&place, 60 * S);
    rank.header->head = large / 8 - 1;
    assert_int_equal(probe_call.pressure(place.call.state), PRESSURE_NONE);
    rank.header->head = large / 8;
    assert_int_equal(probe_call.pressure(place.call.state), PRESSURE_SOME);
    rank.header->head = large / 4;
    assert_int_equal(probe_call.pressure(place.call.state), PRESSURE_HIGH);
    planted_close(&rank);
    place_remove(&place);
}

/* One rank alone could fill all frames. */
static void ranks_take_turns(void **state) {
    struct place place;
    struct planted_rank ranks[2];
    (void)state;
    place_make(&place);
    open_all(&place);
    for (int i = 0; i < 2; i++) {
        plant(&place, &ranks[i], 1234567 + i, i);
        plant_events(&ranks[i], 10000);
    }
    sample_all(&place, 60 * S);
    int64_t first = cell(&place, 0, "rank");
    assert_int_equal(harness_sample_at(&place.call, 60 * S), 0);
    assert_int_equal(cell(&place, 0, "rank"), 1 - first);
    planted_close(&ranks[0]);
    planted_close(&ranks[1]);
    place_remove(&place);
}

static void an_eighth_of_a_ring_is_not_left_until_the_next_slot(void **state) {
    struct place place;
    struct planted_rank rank, mad;
    (void)state;
    place_make(&place);
    open_all(&place);
    assert_int_equal(probe_call.pressure(place.call.state), PRESSURE_NONE);
    plant(&place, &rank, 1234567, 0);
    plant(&place, &mad, 1234568, 1);
    sample_all(&place, 60 * S);
    mad.header->head = UINT64_MAX;
    plant_events(&rank, CALL_FILE_CAPACITY / 8 - 1);
    assert_int_equal(probe_call.pressure(place.call.state), PRESSURE_NONE);
    plant_events(&rank, 1);
    assert_int_equal(probe_call.pressure(place.call.state), PRESSURE_HIGH);
    assert_false(
        probe_call.is_called(place.call.state)); /* these writers say that they do not call */
    rank.header->calls_reader = 1;
    sample_all(&place, 60 * S); /* the other rank's file is broken */
    assert_int_equal(probe_call.is_called(place.call.state), place.watch.called_fd >= 0);
    assert_int_equal(harness_sample_at(&place.call, 60 * S), 0);
    assert_int_equal(probe_call.pressure(place.call.state), PRESSURE_NONE);
    rank.header->head++; /* claimed but not complete: its writer will not call */
    assert_int_equal(harness_sample_at(&place.call, 61 * S), 0);
    assert_false(probe_call.is_called(place.call.state));
    planted_close(&rank);
    planted_close(&mad);
    place_remove(&place);
}

static void the_successor_of_a_dead_agent_tells_no_event_twice(void **state) {
    struct place place;
    struct planted_rank rank, other, late;
    (void)state;
    place_make(&place);
    plant(&place, &rank, 1234567, 0);
    plant(&place, &other, 1234568, 1);
    rank.totals[CALL_Send].calls = 30;
    plant_events(&rank, 30);
    plant_events(&other, 5);
    pid_t pid = fork();
    if (pid == 0) {
        open_all(&place);
        sample_all(&place, 60 * S);
        keep_all(&place, 1);
        _exit(place.call.rows.n == 35 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    plant_events(&rank, 3);
    rank.totals[CALL_Send].calls = 33;
    rank.totals[CALL_Barrier].calls = 1;
    plant(&place, &late, 1234569, 2);
    open_all(&place);
    sample_all(&place, 61 * S);
    assert_int_equal(place.call.rows.n, 3);
    assert_int_equal(cell(&place, 0, "sequence"), 31);
    expect(&place.mpi, "rank 0", "lost_events", 0);
    /* Earlier counters are continued: the store has their last value. Functions whose first calls
     * were not observed are born.
     */
    assert_int_equal(harness_row(&place.mpi, "rank 0")->flags, 0);
    assert_int_equal(harness_row(&place.function, "rank 0 MPI_Send")->flags, 0);
    assert_int_equal(harness_row(&place.function, "rank 0 MPI_Barrier")->flags, ROW_BORN);
    assert_int_equal(harness_row(&place.mpi, "rank 2")->flags, ROW_BORN);
    rank.totals[CALL_Finalize].calls = 1;
    sample_all(&place, 62 * S);
    assert_int_equal(harness_row(&place.function, "rank 0 MPI_Barrier")->flags, 0);
    assert_int_equal(harness_row(&place.function, "rank 0 MPI_Finalize")->flags, ROW_BORN);
    planted_close(&late);
    planted_close(&rank);
    planted_close(&other);
    place_remove(&place);
}

/* A second agent of a place; both see the rank's calls. */
static void open_second(const struct place *place, struct place *second) {
    *second = *place;
    memset(&second->watch, 0, sizeof second->watch);
    open_all(second);
}

static void an_agent_takes_over_when_the_one_before_it_ends(void **state) {
    struct place place, second;
    struct planted_rank rank;
    enum probe_end ending = ENDING_REPLACED;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &rank, 1234567, 0);
    plant_events(&rank, 30);
    sample_all(&place, 60 * S);
    open_second(&place, &second);
    sample_all(&second, 60 * S);
    assert_int_equal(second.call.rows.n + second.mpi.rows.n, 0);
    assert_int_equal(probe_call.is_called(second.call.state), second.watch.called_fd >= 0);
    keep_all(&place, 1);
    place.mpi.env.ending = &ending;
    close_all(&place);
    plant_events(&rank, 3);
    assert_int_equal(probe_call.pressure(second.call.state), PRESSURE_NONE);
    sample_all(&second, 61 * S);
    assert_int_equal(second.call.rows.n, 3);
    assert_int_equal(cell(&second, 0, "sequence"), 31);
    assert_int_equal(harness_row(&second.mpi, "rank 0")->flags, 0);
    planted_close(&rank);
    place_remove(&second);
}

static void an_agent_that_is_replaced_lets_go_and_tells_no_more(void **state) {
    struct place place, second;
    struct planted_rank rank;
    (void)state;
    place_make(&place);
    open_all(&place);
    plant(&place, &rank, 1234567, 0);
    plant_events(&rank, 30);
    sample_all(&place, 60 * S);
    keep_all(&place, 1);
    open_second(&place, &second);
    plant_events(&rank, 3);
    sample_all(&place, 61 * S);
    assert_int_equal(place.call.rows.n + place.mpi.rows.n + place.function.rows.n, 0);
    sample_all(&second, 61 * S);
    assert_int_equal(second.call.rows.n, 3);
    assert_int_equal(cell(&second, 0, "sequence"), 31);
    plant_events(&rank, 3);
    sample_all(&place, 62 * S);
    assert_int_equal(place.call.rows.n, 0);
    close_all(&place);
    sample_all(&second, 62 * S);
    assert_int_equal(second.call.rows.n, 3);
    planted_close(&rank);
    place_remove(&second);
}

static uint64_t frame_of(void *ctx, uint64_t stream) {
    return stream == 44 || stream == 45 ? *(uint64_t *)ctx : UINT64_MAX;
}

/* An agent that takes the calls of frames 6 and 7, and is killed before frame 7 is kept. */
static void be_killed_agent(struct place *place, struct planted_rank *rank) {
    static const uint64_t stream = 44;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        open_all(place);
        place->mpi.env.stream = &stream;
        for (uint64_t seq = 6; seq < 8; seq++) {
            plant_events(rank, 10);
            rank->totals[seq == 6 ? CALL_Send : CALL_Recv].calls = 10;
            sample_all(place, 60 * S);
            keep_all(place, seq);
        }
        _exit(place->call.rows.n == 10 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void calls_that_a_killed_agent_had_not_kept_are_told(void **state) {
    (void)state;
    for (uint64_t kept = 6; kept < 8; kept++) {
        struct place place;
        struct planted_rank rank;
        place_make(&place);
        plant(&place, &rank, 1234567, 0);
        be_killed_agent(&place, &rank);
        open_all(&place);
        place.mpi.env.kept = frame_of;
        place.mpi.env.kept_ctx = &kept;
        sample_all(&place, 61 * S);
        assert_int_equal(place.call.rows.n, kept == 6 ? 10 : 0);
        if (kept == 6)
            assert_int_equal(cell(&place, 0, "sequence"), 11);
        assert_int_equal(harness_row(&place.function, "rank 0 MPI_Send")->flags, 0);
        assert_int_equal(harness_row(&place.function, "rank 0 MPI_Recv")->flags,
                         kept == 6 ? ROW_BORN : 0);
        planted_close(&rank);
        place_remove(&place);
    }
}

static void calls_overwritten_between_two_agents_are_counted(void **state) {
    struct place place;
    struct planted_rank rank;
    enum probe_end ending = ENDING_REPLACED;
    (void)state;
    place_make(&place);
    plant(&place, &rank, 1234567, 0);
    for (int i = 0; i < 3; i++) {
        open_all(&place);
        plant_events(&rank, CALL_FILE_CAPACITY + 100);
        for (int sample = 0; sample < 5; sample++) {
            sample_all(&place, (60 + sample) * S);
            keep_all(&place, (uint64_t)sample + 1);
        }
        assert_int_equal(place.call.rows.n, 0);
        expect(&place.mpi, "rank 0", "lost_events", 100 * (i + 1));
        place.mpi.env.ending = &ending;
        if (i < 2)
            close_all(&place);
    }
    planted_close(&rank);
    place.mpi.env.ending = NULL;
    place_remove(&place);
}

static void without_a_stem_there_are_no_calls(void **state) {
    static const struct probe *const probes[] = {&probe_mpi, &probe_mpi_function, &probe_call};
    struct call_watch watch = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
        struct harness h;
        assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
        h.env.calls = &watch;
        assert_int_equal(harness_open(&h, probes[i]), PROBE_ABSENT);
        assert_int_equal(h.why[0] != 0, i == 0); /* said once */
        harness_close(&h);
    }
}

/* ---- ranks that are not seen ---- */

struct heard {
    int n;
    char text[128];
};

static void hear(void *ctx, enum note_level level, const char *subject, const char *text) {
    struct heard *heard = ctx;
    assert_int_equal(level, NOTE_WARNING);
    assert_string_equal(subject, "mpi");
    heard->n++;
    snprintf(heard->text, sizeof heard->text, "%s", text);
}

static void add_to_job(struct harness *h, int32_t pid, int32_t rank) {
    h->job.processes[h->job.n++] = (struct job_process){.pid = pid, .rank = rank};
}

static void an_mpi_program_without_the_library_is_told_once(void **state) {
    struct place place;
    struct tree proc;
    struct planted_rank rank;
    struct heard heard = {0};
    (void)state;
    place_make(&place);
    tree_make(&proc, NULL);
    tree_write(&proc, "proc/20/maps", "00-01 r-xp 0 08:01 1 /usr/bin/bash\n");
    tree_write(&proc, "proc/30/maps", "00-01 r-xp 0 08:01 1 /usr/lib/libmpi.so.40\n");
    tree_write(&proc, "proc/40/maps", "00-01 r-xp 0 08:01 1 /usr/lib/libmpi.so.40\n");
    assert_int_equal(open_one(&place, &place.mpi, &probe_mpi), 0);
    snprintf(place.mpi.proc, sizeof place.mpi.proc, "%s/proc", proc.path);
    place.mpi.env.note = hear;
    place.mpi.env.note_ctx = &heard;
    plant(&place, &rank, 1234567, 0);
    add_to_job(&place.mpi, 1234567, 0);
    add_to_job(&place.mpi, 15, -1); /* no rank: it may not use MPI */
    add_to_job(&place.mpi, 20, 1);
    for (int64_t t = 100; t < 110; t++)
        assert_int_equal(harness_sample_at(&place.mpi, t * S), 0);
    assert_int_equal(heard.n, 0);
    add_to_job(&place.mpi, 30, 2);
    add_to_job(&place.mpi, 40, 3);
    assert_int_equal(harness_sample_at(&place.mpi, 110 * S), 0);
    assert_int_equal(harness_sample_at(&place.mpi, 114 * S), 0);
    assert_int_equal(heard.n, 0); /* it may not have reached MPI_Init yet */
    for (int64_t t = 115; t < 140; t++)
        assert_int_equal(harness_sample_at(&place.mpi, t * S), 0);
    assert_int_equal(heard.n, 1);
    assert_non_null(strstr(heard.text, "process 30 "));
    assert_non_null(strstr(heard.text, "preload libchokepoint-mpi.so"));
    planted_close(&rank);
    tree_remove(&proc);
    place_remove(&place);
}

/* Reported with the reason that the rank left; no reason is guessed if it left none. */
static void a_rank_whose_record_cannot_be_read_is_told_with_its_reason(void **state) {
    struct place place;
    struct planted_rank rank;
    struct heard heard = {0};
    char path[600];
    (void)state;
    place_make(&place);
    assert_int_equal(open_one(&place, &place.mpi, &probe_mpi), 0);
    place.mpi.env.note = hear;
    place.mpi.env.note_ctx = &heard;
    snprintf(path, sizeof path, "%s/1234568.why", place.directory);
    assert_int_equal(symlink("no file for it: No space left on device", path), 0);
    add_to_job(&place.mpi, 1234568, 1);
    for (int64_t t = 100; t < 110; t++)
        assert_int_equal(harness_sample_at(&place.mpi, t * S), 0);
    assert_int_equal(heard.n, 1);
    assert_string_equal(heard.text, "process 1234568: MPI time unknown: no file for it: No space "
                                    "left on device");
    plant(&place, &rank, 1234567, 0);
    add_to_job(&place.mpi, 1234567, 0);
    assert_int_equal(harness_sample_at(&place.mpi, 111 * S), 0);
    rank.header->magic = 0;
    for (int64_t t = 112; t < 115; t++)
        assert_int_equal(harness_sample_at(&place.mpi, t * S), 0);
    assert_int_equal(heard.n, 2);
    assert_string_equal(heard.text, "process 1234567: MPI time unknown from here on: its file is "
                                    "damaged");
    planted_close(&rank);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_what_the_rank_counted),
        cmocka_unit_test(a_call_that_has_not_returned_counts_up_to_now_and_never_steps_back),
        cmocka_unit_test(a_second_process_of_a_rank_is_told_apart),
        cmocka_unit_test(a_rank_is_known_by_its_environment_before_mpi_knows_it),
        cmocka_unit_test(a_rank_nobody_knows_waits_for_its_name),
        cmocka_unit_test(a_mad_rank_harms_only_itself),
        cmocka_unit_test(absurd_totals_are_bounded),
        cmocka_unit_test(events_become_rows),
        cmocka_unit_test(events_too_many_for_one_frame_come_in_parts),
        cmocka_unit_test(events_overwritten_before_they_are_read_are_counted),
        cmocka_unit_test(part_of_a_large_ring_waits_for_an_idle_core_and_a_quarter_does_not),
        cmocka_unit_test(ranks_take_turns),
        cmocka_unit_test(an_eighth_of_a_ring_is_not_left_until_the_next_slot),
        cmocka_unit_test(the_successor_of_a_dead_agent_tells_no_event_twice),
        cmocka_unit_test(an_agent_takes_over_when_the_one_before_it_ends),
        cmocka_unit_test(an_agent_that_is_replaced_lets_go_and_tells_no_more),
        cmocka_unit_test(calls_that_a_killed_agent_had_not_kept_are_told),
        cmocka_unit_test(calls_overwritten_between_two_agents_are_counted),
        cmocka_unit_test(without_a_stem_there_are_no_calls),
        cmocka_unit_test(an_mpi_program_without_the_library_is_told_once),
        cmocka_unit_test(a_rank_whose_record_cannot_be_read_is_told_with_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
