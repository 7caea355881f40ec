/* SPDX-License-Identifier: MIT */
/* The mark probe: from a program's calls to rows, and over the death of an agent. */
#include "tests/unit/probe_test.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/mark/chokepoint.h"
#include "agent/mark/ring.h"

struct place {
    struct tree tree;
    char stem[128];
    char directory[512];
};

static void place_make(struct place *place) {
    tree_make(&place->tree, NULL);
    snprintf(place->stem, sizeof place->stem, "%s/marks", place->tree.path);
    assert_int_equal(mark_directory_path(place->stem, place->directory, sizeof place->directory),
                     0);
}

static int open_marks(struct harness *h, const struct place *place) {
    assert_int_equal(harness_init(h, "", SCOPE_HOST), 0);
    h->env.marks = place->stem;
    return harness_open(h, &probe_mark);
}

static bool exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

/* Runs calls() in a child that knows the listener, and waits for its end. */
static pid_t run_program(const struct place *place, void (*calls)(void)) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("CHOKEPOINT_MARKS", place->stem, 1);
        setenv("OMPI_COMM_WORLD_RANK", "5", 1);
        calls();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void all_kinds(void) {
    chokepoint_phase("loading");
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    chokepoint_iteration(7);
    chokepoint_operator("matmul", 4096, 1000, 250);
    chokepoint_value("accuracy", 0.75);
    chokepoint_value("loss", __builtin_nan(""));
    chokepoint_phase(NULL);
}

static int64_t cell(const struct harness *h, size_t row, const char *column) {
    return h->rows.items[row].values[table_find_column(probe_mark.table, column)];
}

static void every_kind_of_mark_becomes_a_row(void **state) {
    static const struct {
        const char *name;
        int64_t kind;
        bool has_duration;
    } expected[] = {
        {"loading", 1, false},  {"loading", 1, true},  {"training", 1, false},
        {"iteration", 2, true}, {"matmul", 3, true},   {"accuracy", 4, false},
        {"loss", 4, false},     {"training", 1, true},
    };
    struct place place;
    struct harness h;
    (void)state;
    place_make(&place);
    assert_int_equal(open_marks(&h, &place), 0);
    int64_t before_ns = clock_monotonic_ns();
    pid_t pid = run_program(&place, all_kinds);
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(h.rows.items[i].name, expected[i].name);
        assert_int_equal(cell(&h, i, "kind"), expected[i].kind);
        assert_int_equal(cell(&h, i, "pid"), pid);
        assert_int_equal(cell(&h, i, "rank"), 5);
        assert_int_equal(cell(&h, i, "duration_ns") != VALUE_ABSENT, expected[i].has_duration);
    }
    assert_int_equal(cell(&h, 1, "start_ns"), cell(&h, 0, "start_ns"));
    assert_in_range(cell(&h, 0, "start_ns"), before_ns, clock_monotonic_ns());
    assert_int_equal(cell(&h, 3, "number"), 7);
    assert_int_equal(cell(&h, 4, "number"), 7);
    assert_int_equal(cell(&h, 4, "start_ns"), 1000);
    assert_int_equal(cell(&h, 4, "duration_ns"), 250);
    assert_int_equal(cell(&h, 4, "output_bytes"), 4096);
    assert_int_equal(cell(&h, 5, "value_nano"), 750000000);
    assert_int_equal(cell(&h, 6, "value_nano"), VALUE_ABSENT);
    assert_int_equal(cell(&h, 0, "number"), VALUE_ABSENT);
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 0);
    harness_close(&h);
    tree_remove(&place.tree);
}

static void the_directory_lives_as_long_as_the_agent(void **state) {
    struct place place;
    struct harness h;
    struct stat st;
    (void)state;
    place_make(&place);
    assert_int_equal(open_marks(&h, &place), 0);
    assert_int_equal(stat(place.directory, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    run_program(&place, all_kinds);
    harness_close(&h);
    assert_false(exists(place.directory));
    tree_remove(&place.tree);
}

static void without_a_stem_there_are_no_marks(void **state) {
    struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_mark), PROBE_ABSENT);
    assert_non_null(strstr(h.why, "CHOKEPOINT_MARKS"));
    harness_close(&h);
}

static void one_mark(void) {
    chokepoint_value("one", 1);
}

static void an_agent_takes_over_when_the_one_before_it_ends(void **state) {
    struct place place;
    struct harness first, second;
    (void)state;
    place_make(&place);
    assert_int_equal(open_marks(&first, &place), 0);
    assert_int_equal(harness_sample(&first), 0);
    assert_int_equal(open_marks(&second, &place), 0);
    run_program(&place, one_mark);
    assert_int_equal(harness_sample(&second), 0);
    assert_int_equal(second.rows.n, 0); /* they still belong to the other agent */
    enum probe_end ending = ENDING_REPLACED;
    first.env.ending = &ending;
    harness_close(&first);
    assert_true(exists(place.directory));
    assert_int_equal(harness_sample(&second), 0);
    assert_int_equal(second.rows.n, 1);
    harness_close(&second);
    assert_false(exists(place.directory));
    tree_remove(&place.tree);
}

static void an_agent_that_is_replaced_lets_go_and_tells_no_more(void **state) {
    struct place place;
    struct harness first, second;
    (void)state;
    place_make(&place);
    assert_int_equal(open_marks(&first, &place), 0);
    run_program(&place, one_mark);
    assert_int_equal(harness_sample(&first), 0);
    assert_int_equal(first.rows.n, 1);
    harness_keep(&first, 1);
    assert_int_equal(open_marks(&second, &place), 0);
    run_program(&place, one_mark);
    assert_int_equal(harness_sample(&first), 0);
    assert_int_equal(first.rows.n, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(harness_sample(&second), 0);
        assert_int_equal(second.rows.n, i == 0);
        assert_int_equal(harness_sample(&first), 0);
        assert_int_equal(first.rows.n, 0);
    }
    harness_close(&first);
    assert_true(exists(place.directory));
    harness_close(&second);
    assert_false(exists(place.directory));
    tree_remove(&place.tree);
}

/* An agent that waits for a removed directory takes its place. */
static void a_directory_that_was_removed_meanwhile_is_made_again(void **state) {
    struct place place;
    struct harness first, second;
    (void)state;
    place_make(&place);
    assert_int_equal(open_marks(&first, &place), 0);
    assert_int_equal(harness_sample(&first), 0);
    assert_int_equal(open_marks(&second, &place), 0);
    harness_close(&first);
    assert_false(exists(place.directory));
    assert_int_equal(harness_sample(&second), 0);
    assert_true(exists(place.directory));
    run_program(&place, one_mark);
    assert_int_equal(harness_sample(&second), 0);
    assert_int_equal(second.rows.n, 1);
    harness_close(&second);
    tree_remove(&place.tree);
}

static void the_rings_of_programs_that_go_on_stay(void **state) {
    struct place place;
    struct harness h;
    char ring[600];
    enum probe_end ending = ENDING_WITH_RUN;
    (void)state;
    place_make(&place);
    assert_int_equal(open_marks(&h, &place), 0);
    assert_int_equal(harness_sample(&h), 0);
    snprintf(ring, sizeof ring, "%s/%d.ring", place.directory, getpid());
    FILE *f = fopen(ring, "we");
    assert_non_null(f);
    fclose(f);
    harness_close(&h);
    assert_true(exists(ring));
    assert_int_equal(open_marks(&h, &place), 0);
    assert_int_equal(harness_sample(&h), 0);
    h.env.ending = &ending;
    harness_close(&h);
    assert_false(exists(place.directory));
    tree_remove(&place.tree);
}

static void a_directory_open_to_others_is_refused(void **state) {
    struct place place;
    struct harness h;
    (void)state;
    place_make(&place);
    assert_int_equal(mkdir(place.directory, 0700), 0);
    assert_int_equal(chmod(place.directory, 0777), 0);
    assert_int_equal(open_marks(&h, &place), -EPERM);
    harness_close(&h);
    assert_true(exists(place.directory));
    tree_remove(&place.tree);
}

/* The successor of an agent that died without closing continues where it stopped. */
static void a_successor_tells_nothing_twice(void **state) {
    struct place place;
    struct harness h;
    int ready[2], go[2];
    char byte;
    (void)state;
    place_make(&place);
    pid_t agent = fork();
    assert_true(agent >= 0);
    if (agent == 0) {
        if (open_marks(&h, &place) != 0)
            _exit(1);
        run_program(&place, all_kinds);
        int bad = harness_sample(&h) != 0 || h.rows.n != 8;
        harness_keep(&h, 1);
        _exit(bad ? 2 : 0); /* as if killed: without closing */
    }
    int status;
    assert_int_equal(waitpid(agent, &status, 0), agent);
    assert_int_equal(status, 0);
    assert_true(exists(place.directory));
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    pid_t program = fork(); /* marks once before the successor comes, and once after */
    if (program == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if an assertion ends the test early */
        setenv("CHOKEPOINT_MARKS", place.stem, 1);
        chokepoint_value("before", 1);
        if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(1);
        chokepoint_value("after", 2);
        _exit(write(ready[1], "", 1) != 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(open_marks(&h, &place), 0);
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 1);
    assert_string_equal(h.rows.items[0].name, "before");
    assert_int_equal(h.rows.dropped, 0);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(waitpid(program, NULL, 0), program);
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 1);
    assert_string_equal(h.rows.items[0].name, "after");
    harness_close(&h);
    assert_false(exists(place.directory));
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
    tree_remove(&place.tree);
}

/* It is killed between the sample and the spool: no other process has the marks yet. */
static uint64_t nothing_is_kept(void *ctx, uint64_t stream) {
    (void)ctx;
    return stream == 44 ? 6 : UINT64_MAX;
}

static void marks_that_a_killed_agent_had_not_kept_are_told(void **state) {
    static const uint64_t stream = 44;
    struct place place;
    struct harness h;
    int status;
    (void)state;
    place_make(&place);
    pid_t agent = fork();
    if (agent == 0) {
        if (open_marks(&h, &place) != 0)
            _exit(1);
        h.env.stream = &stream;
        for (uint64_t seq = 6; seq < 8; seq++) {
            run_program(&place, one_mark);
            if (harness_sample(&h) != 0 || h.rows.n != 1)
                _exit(2);
            harness_keep(&h, seq);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(agent, &status, 0), agent);
    assert_int_equal(status, 0);
    assert_int_equal(open_marks(&h, &place), 0);
    h.env.kept = nothing_is_kept;
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 1); /* the one of frame 7, not of frame 6 */
    harness_close(&h);
    tree_remove(&place.tree);
}

static void too_many(void) {
    for (int i = 0; i < CHOKEPOINT_MARK_CAPACITY + 100; i++)
        chokepoint_value("v", i);
}

static void overwritten_marks_are_counted_as_dropped(void **state) {
    struct place place;
    struct harness h;
    (void)state;
    place_make(&place);
    assert_int_equal(open_marks(&h, &place), 0);
    run_program(&place, too_many);
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n + h.rows.dropped, CHOKEPOINT_MARK_CAPACITY + 100);
    assert_int_equal(h.rows.dropped, 100);
    harness_close(&h);
    tree_remove(&place.tree);
}

static void marks_overwritten_between_two_agents_are_counted(void **state) {
    struct place place;
    struct harness h;
    enum probe_end ending = ENDING_REPLACED;
    int ready[2], go[2];
    char byte;
    (void)state;
    place_make(&place);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    assert_int_equal(open_marks(&h, &place), 0);
    pid_t program = fork();
    if (program == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("CHOKEPOINT_MARKS", place.stem, 1);
        one_mark();
        if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(1);
        too_many();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 1);
    harness_keep(&h, 1);
    h.env.ending = &ending;
    harness_close(&h);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(waitpid(program, NULL, 0), program);
    for (int i = 0; i < 2; i++) { /* the second continues the count of the first */
        assert_int_equal(open_marks(&h, &place), 0);
        assert_int_equal(harness_sample(&h), 0);
        assert_int_equal(h.rows.n, i == 0 ? CHOKEPOINT_MARK_CAPACITY : 0);
        assert_int_equal(h.rows.dropped, 100);
        harness_keep(&h, 2);
        h.env.ending = &ending;
        harness_close(&h);
    }
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
    tree_remove(&place.tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_mark_becomes_a_row),
        cmocka_unit_test(the_directory_lives_as_long_as_the_agent),
        cmocka_unit_test(without_a_stem_there_are_no_marks),
        cmocka_unit_test(an_agent_takes_over_when_the_one_before_it_ends),
        cmocka_unit_test(an_agent_that_is_replaced_lets_go_and_tells_no_more),
        cmocka_unit_test(a_directory_that_was_removed_meanwhile_is_made_again),
        cmocka_unit_test(the_rings_of_programs_that_go_on_stay),
        cmocka_unit_test(a_directory_open_to_others_is_refused),
        cmocka_unit_test(a_successor_tells_nothing_twice),
        cmocka_unit_test(marks_that_a_killed_agent_had_not_kept_are_told),
        cmocka_unit_test(overwritten_marks_are_counted_as_dropped),
        cmocka_unit_test(marks_overwritten_between_two_agents_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
