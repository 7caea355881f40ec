/* SPDX-License-Identifier: MIT */
/*
 * Events that a recorder lost: the same planted program once whole, and once with a hole in its
 * ranks' events. After the hole every call needs what it needs in the whole program, or nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/stats.h"
#include "common/table.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/plant.h"

#define RANKS 4
#define STEPS 60

/* Lost events of a rank: from..to-1, by sequence number. */
struct hole {
    int64_t from, to;
};

struct program {
    struct mpi_log log;
    struct hole holes[RANKS];
    int64_t clock[RANKS], sequence[RANKS];
    bool aborts;        /* no MPI_Finalize */
    int never_received; /* messages from rank 0 to rank 1 at the very end */
};

static bool is_lost(struct program *p, int rank) {
    int64_t s = ++p->sequence[rank];
    return s >= p->holes[rank].from && s < p->holes[rank].to;
}

static void call(struct program *p, int rank, const char *name, int peer, int tag, int64_t bytes,
                 int64_t enter, int64_t exit) {
    if (!is_lost(p, rank))
        PLANT(&p->log, rank, rank, name, peer, tag, bytes, enter, exit,
              .sequence = p->sequence[rank]);
    p->clock[rank] = exit;
}

static int64_t random_step(uint64_t *seed) {
    return 1 + (int64_t)stats_random_below(seed, 100);
}

static void message(struct program *p, uint64_t *seed, int from, int to, int64_t bytes) {
    int64_t sent = p->clock[from] + random_step(seed), posted = p->clock[to] + random_step(seed);
    call(p, from, "MPI_Send", to, 1, bytes, sent, sent + 5);
    call(p, to, "MPI_Recv", from, 1, bytes, posted, (sent > posted ? sent : posted) + 10);
}

static void together(struct program *p, uint64_t *seed, const char *name, int root) {
    int64_t enter[RANKS], last = 0;
    for (int r = 0; r < RANKS; r++) {
        enter[r] = p->clock[r] + random_step(seed);
        last = enter[r] > last ? enter[r] : last;
    }
    for (int r = 0; r < RANKS; r++)
        call(p, r, name, root, -1, 8, enter[r], last + 10);
}

/* Messages of one size around a ring, which only their order tells apart. */
static void write_program(struct program *p) {
    uint64_t seed = 5;
    for (int step = 0; step < STEPS; step++) {
        for (int r = 0; r < RANKS; r++)
            for (int64_t n = (int64_t)stats_random_below(&seed, 3); n >= 0; n--)
                message(p, &seed, r, (r + 1) % RANKS, 64);
        together(p, &seed, step % 3 ? "MPI_Allreduce" : "MPI_Bcast", step % 3 ? -1 : 0);
    }
    for (int i = 0; i < p->never_received; i++, p->clock[0] += 5)
        call(p, 0, "MPI_Send", 1, 1, 64, p->clock[0] + 1, p->clock[0] + 2);
    for (int r = 0; r < RANKS && !p->aborts; r++)
        call(p, r, "MPI_Finalize", -1, -1, 0, p->clock[r] + 1, p->clock[r] + 2);
}

static struct call_matches match(struct program *p) {
    struct call_matches m;
    write_program(p);
    assert_int_equal(mpi_log_finish(&p->log), 0);
    assert_int_equal(call_match(&p->log, NULL, &m), 0);
    return m;
}

/* The number of a call among all of its rank, of which none is missing. */
static int64_t sequence_of(const struct mpi_rank *whole_rank, const struct mpi_event *event) {
    for (size_t i = 0; i < whole_rank->n; i++) {
        const struct mpi_event *e = &whole_rank->events[i];
        if (e->enter_ns == event->enter_ns && e->exit_ns == event->exit_ns &&
            e->flags == event->flags && e->peer == event->peer && e->tag == event->tag)
            return (int64_t)i + 1;
    }
    fail();
    return 0;
}

/* The percentage of events after a rank's hole that are matched; each must be as in the whole
 * program.
 */
static int matched_behind(struct program *holed) {
    static const struct program whole;
    struct program all = whole;
    all.never_received = holed->never_received;
    struct call_matches m = match(holed), truth = match(&all);
    int events = 0, known = 0;
    for (int r = 0; r < RANKS; r++) {
        const struct mpi_rank *rank = &holed->log.ranks[r];
        for (size_t i = 0; i < rank->n; i++) {
            int64_t sequence = sequence_of(&all.log.ranks[r], &rank->events[i]);
            const struct call_need *need = &m.needs[r][i], *right = &truth.needs[r][sequence - 1];
            if (need->ready_ns != VALUE_ABSENT) {
                assert_int_equal(need->ready_ns, right->ready_ns);
                assert_int_equal(need->who, right->who);
            }
            if (!holed->holes[r].to || sequence < holed->holes[r].to || !right->asked)
                continue;
            events++;
            known += need->ready_ns != VALUE_ABSENT;
        }
    }
    assert_true(events > 0);
    call_matches_release(&m);
    call_matches_release(&truth);
    mpi_log_release(&holed->log);
    mpi_log_release(&all.log);
    return 100 * known / events;
}

static void behind_a_hole_of_one_rank_matching_goes_on(void **state) {
    struct program p = {.holes = {[1] = {40, 90}}};
    (void)state;
    assert_in_range(matched_behind(&p), 95, 100); /* all but those that touch the hole */
}

static void behind_holes_of_all_ranks_matching_goes_on(void **state) {
    struct program p = {.holes = {{40, 90}, {50, 97}, {45, 60}, {44, 91}}};
    (void)state;
    assert_in_range(matched_behind(&p), 90, 100);
}

static void where_the_oldest_went_the_rest_is_matched(void **state) {
    struct program p = {.holes = {{1, 100}, {1, 90}}};
    (void)state;
    assert_in_range(matched_behind(&p), 90, 100);
}

static void without_an_end_to_count_from_nothing_is_guessed(void **state) {
    struct program p = {.holes = {[1] = {40, 90}}, .aborts = true};
    (void)state;
    assert_int_equal(matched_behind(&p), 0);
}

/* Every pair of that channel would be shifted by one: impossible pairs reveal it. */
static void a_message_nobody_received_spoils_its_channel_only(void **state) {
    struct program p = {.holes = {[1] = {40, 90}}, .never_received = 1};
    (void)state;
    assert_in_range(matched_behind(&p), 30, 80);
}

static void events_are_found_again_where_the_first_behind_the_hole_ends(void **state) {
    struct mpi_log log = {0};
    (void)state;
    for (int i = 1; i < 10; i++)
        if (i < 4 || i == 6 || i > 7)
            PLANT(&log, 0, 0, "MPI_Recv", 1, 1, 8, 100 * i, 100 * i + 50, .sequence = i);
    assert_int_equal(mpi_log_finish(&log), 0);
    assert_int_equal(log.ranks[0].lost_ns, 350);
    assert_int_equal(log.ranks[0].found_ns, 850); /* after all holes */
    mpi_log_release(&log);
}

static void a_number_beyond_all_sense_means_lost_for_good(void **state) {
    struct mpi_log log = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Recv", 1, 1, 8, 100, 150, .sequence = 1);
    PLANT(&log, 0, 0, "MPI_Recv", 1, 1, 8, 200, 250, .sequence = INT64_MAX);
    assert_int_equal(mpi_log_finish(&log), 0);
    assert_int_equal(log.ranks[0].lost_ns, 150);
    assert_int_equal(log.ranks[0].found_ns, INT64_MAX);
    mpi_log_release(&log);
}

/* ---- how many ---- */

/* Per second: 5 events of a rank; 3 rows that the agent dropped. */
static double events(size_t column, double t_s) {
    (void)t_s;
    return column == MPI_EVENTS ? 5 : NAN;
}

static double drops(size_t column, double t_s) {
    (void)t_s;
    return column == SELF_DROPPED ? 3 : 0;
}

static void what_ranks_wrote_and_nobody_has_is_counted(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 2, 10);
    plant(&r, RECORDING_MPI, 0, "rank 0", 1, 1u << MPI_PID, events);
    plant(&r, RECORDING_MPI, 1, "rank 1", 1, 1u << MPI_PID, events);
    plant(&r, RECORDING_SELF, 1, "mark", 1, 0, drops);
    plant(&r, RECORDING_SELF, 1, "disk", 1, 0, drops);
    assert_int_equal(recording_calls_missing(&r, 0), 0); /* recording was not wanted */
    for (int64_t i = 0; i < 100; i++)
        PLANT(&r.calls, 0, 0, "MPI_Barrier", -1, -1, 0, i * 10, i * 10 + 5, .sequence = i + 1);
    for (int64_t i = 0; i < 80; i++)
        PLANT(&r.calls, 1, 1, "MPI_Barrier", -1, -1, 0, i * 10, i * 10 + 5, .sequence = i + 1);
    assert_int_equal(recording_calls_missing(&r, 0), 0);
    assert_int_equal(recording_calls_missing(&r, 1), 20); /* at the end: no gap shows them */
    assert_int_equal(recording_marks_missing(&r, 0), 0);
    assert_int_equal(recording_marks_missing(&r, 1), 60);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_a_hole_of_one_rank_matching_goes_on),
        cmocka_unit_test(behind_holes_of_all_ranks_matching_goes_on),
        cmocka_unit_test(where_the_oldest_went_the_rest_is_matched),
        cmocka_unit_test(without_an_end_to_count_from_nothing_is_guessed),
        cmocka_unit_test(a_message_nobody_received_spoils_its_channel_only),
        cmocka_unit_test(events_are_found_again_where_the_first_behind_the_hole_ends),
        cmocka_unit_test(a_number_beyond_all_sense_means_lost_for_good),
        cmocka_unit_test(what_ranks_wrote_and_nobody_has_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
