/* SPDX-License-Identifier: MIT */
/* The part of a recording that a timeline holds: everything if there is room, else the longest
 * slices.
 */
#include "common/clock.h"
#include "reports/export/export_perfetto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SLICES = 20000, MARKS = 10000 }; /* in a minute */

struct planted {
    struct report_input input;
    struct mpi_rank rank;
    struct perfetto perfetto;
};

static struct planted *plant(struct planted *p, int64_t duration_s) {
    *p = (struct planted){.perfetto.input = &p->input};
    p->input.run.duration_ns = duration_s * NS_PER_S;
    return p;
}

/* n calls of 1, 2, ... n ns, the longest first, and as many parts of calls. */
static int64_t short_calls(int64_t duration_s, size_t n, size_t parts) {
    struct planted p;
    plant(&p, duration_s);
    p.rank.events = calloc(n + parts, sizeof *p.rank.events);
    p.rank.n = n + parts;
    for (size_t i = 0; i < n + parts; i++) {
        p.rank.events[i].exit_ns = (int64_t)(i < n ? n - i : 1000000);
        p.rank.events[i].flags = i < n ? 0 : MPI_FLAG_PART;
    }
    p.input.recording.calls.ranks = &p.rank;
    p.input.recording.calls.n = 1;
    int64_t ns = perfetto_short_ns(&p.perfetto);
    free(p.rank.events);
    return ns;
}

static void calls_are_joined_only_if_there_are_too_many(void **state) {
    (void)state;
    assert_int_equal(short_calls(10, SLICES, 0), 0);
    assert_int_equal(short_calls(10, SLICES, 5), 0);                  /* parts are no slices */
    assert_int_equal(short_calls(10, SLICES + 1, 0), SLICES / 2 + 2); /* half of the room */
    assert_int_equal(short_calls(120, 2 * SLICES, 0), 0);
    assert_int_equal(short_calls(120, 2 * SLICES + 1, 0), SLICES + 2);
}

static int64_t short_marks(int64_t duration_s, size_t n) {
    struct planted p;
    plant(&p, duration_s);
    struct mark *marks = calloc(n, sizeof *marks);
    for (size_t i = 0; i < n; i++)
        marks[i] = (struct mark){.kind = MARK_OPERATOR, .duration_ns = (int64_t)(n - i)};
    p.input.recording.marks = marks;
    p.input.recording.n_marks = n;
    int64_t ns = perfetto_short_mark_ns(&p.perfetto);
    free(marks);
    return ns;
}

static void the_longest_marks_stay(void **state) {
    (void)state;
    assert_int_equal(short_marks(60, MARKS), 0);
    assert_int_equal(short_marks(60, MARKS + 7), 8);
    assert_int_equal(short_marks(90, 3 * MARKS / 2), 0);
}

static void a_longer_run_has_more_room_and_a_short_one_no_less(void **state) {
    struct planted p;
    (void)state;
    assert_int_equal(perfetto_share(&plant(&p, 1)->perfetto, 600), 600);
    assert_int_equal(perfetto_share(&plant(&p, 60)->perfetto, 600), 600);
    assert_int_equal(perfetto_share(&plant(&p, 61)->perfetto, 600), 610);
    assert_int_equal(perfetto_share(&plant(&p, 3600)->perfetto, 600), 36000);
    assert_int_equal(perfetto_share(&plant(&p, 1 << 30)->perfetto, 600), 600); /* an impossible
                                                                                  count */
}

static void counters_have_fifty_steps_or_one_a_second(void **state) {
    struct planted p;
    (void)state;
    assert_int_equal(perfetto_step_ns(&plant(&p, 10)->perfetto), NS_PER_S / 5);
    assert_int_equal(perfetto_step_ns(&plant(&p, 50)->perfetto), NS_PER_S);
    assert_int_equal(perfetto_step_ns(&plant(&p, 5000)->perfetto), NS_PER_S);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_joined_only_if_there_are_too_many),
        cmocka_unit_test(the_longest_marks_stay),
        cmocka_unit_test(a_longer_run_has_more_room_and_a_short_one_no_less),
        cmocka_unit_test(counters_have_fifty_steps_or_one_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
