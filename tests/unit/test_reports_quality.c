/* SPDX-License-Identifier: MIT */
/* A report's notes about its samples, in whichever way they were read. */
#include <sqlite3.h>

#include "reports/model/model_private.h"
#include "tests/unit/recorded_run.h"

static const char *const hosts[] = {"vm1", "vm2"};
static const struct recorded_run planned = {"sync", "./train", hosts, 2, 44, 110, true, 0};

static void change(const char *path, const void *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", (const char *)sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* The report of the planned recording, changed by SQL. */
static struct report *build(const char *sql) {
    return report_of_run(&planned, change, sql);
}

static bool has_note(const struct report *report, const char *text) {
    for (size_t i = 0; i < report->quality.n_notes; i++)
        if (strstr(report->quality.notes[i], text))
            return true;
    return false;
}

/* So many cores that their use is held in steps of a second. */
#define CORES                                                                                      \
    "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 20000)"              \
    " INSERT INTO instance(host, table_id, name) SELECT h.host, t.table_id, 'further' || i"        \
    " FROM x, host h, table_info t WHERE t.name = 'cpu';"

static void expect_all_samples(const struct report *report) {
    for (size_t h = 0; h < 2; h++) {
        assert_in_range(report->hosts[h].samples_expected, 439, 440);
        assert_in_range(report->hosts[h].samples_recorded, 439, 440);
        assert_int_equal(report->hosts[h].samples_missed, 0);
    }
    assert_int_equal(report->quality.grade, 'A');
}

static void all_samples_are_there(void **state) {
    struct report *report = build("");
    (void)state;
    expect_all_samples(report);
    assert_false(has_note(report, "does not know"));
    report_free(report);
}

static void a_column_that_this_version_does_not_know_is_said(void **state) {
    struct report *report = build(
        "ALTER TABLE psi ADD COLUMN novelty_ns INTEGER; INSERT INTO column_info SELECT"
        " table_id, 99, 'novelty_ns', 'ns', 'counter', '' FROM table_info WHERE name = 'psi'");
    (void)state;
    assert_true(has_note(report, "1 column that this version does not know and does not read: "
                                 "psi.novelty_ns"));
    expect_all_samples(report);
    report_free(report);
}

static void steps_are_no_samples(void **state) {
    struct report *report = build(CORES);
    (void)state;
    assert_true(has_note(report, "in steps of 1 s"));
    expect_all_samples(report);
    assert_false(has_note(report, "samples missing"));
    report_free(report);
}

/* The second host began 11 s late, and delivered only every other sample. */
static void samples_that_are_missing_are_so_in_steps_too(void **state) {
    struct report *report =
        build(CORES "UPDATE stream SET frames = 170, first_mono_ns = first_mono_ns + 11500000000"
                    " WHERE host = (SELECT host FROM host WHERE name = 'vm2')");
    (void)state;
    assert_in_range(report->hosts[0].samples_recorded, 439, 440);
    assert_in_range(report->hosts[1].samples_recorded, 160, 175);
    assert_in_range(report->hosts[1].samples_missed, 265, 280);
    assert_int_equal(report->quality.grade, 'D');
    report_free(report);
}

/* Alternating frames of two boots of a host: those of the second do not belong to the time of the
 * first.
 */
static void boots_in_turn_are_read_one_after_the_other(void **state) {
    struct report *report = build(
        "INSERT INTO stream SELECT 1000, host, 'another', stream_id, period_ns,"
        " clock_offset_ns, clock_error_ns, first_mono_ns, last_mono_ns, last_seq, head_missed,"
        " head_lost, frames, missed_slots, lost_frames, gaps, restarts, duplicates,"
        " dropped_rows FROM stream WHERE stream = 1;"
        "UPDATE frame SET stream = 1000 WHERE stream = 1 AND seq % 2 = 0");
    (void)state;
    assert_in_range(report->hosts[0].samples_recorded, 219, 221);
    assert_in_range(report->hosts[1].samples_recorded, 439, 440);
    report_free(report);
}

/* Missing parts are reported in the five lines, which show what is wrong. */
static void a_host_without_the_job_is_named(void **state) {
    static const char of_nobody[] =
        "UPDATE process SET job = 0 WHERE instance IN (SELECT instance FROM instance JOIN host"
        " USING (host) WHERE host.name %s)";
    char sql[300];
    struct report *report = build("");
    (void)state;
    assert_false(has_note(report, "no process of the job"));
    report_free(report);
    snprintf(sql, sizeof sql, of_nobody, "= 'vm2'");
    report = build(sql);
    assert_int_equal(report->quality.n_amiss, 1);
    assert_string_equal(report->quality.notes[0], "vm2: no process of the job was seen");
    assert_int_equal(report->quality.grade, 'A'); /* nothing is missing in the recording */
    report_free(report);
    snprintf(sql, sizeof sql, of_nobody, "LIKE 'vm_'");
    report = build(sql);
    assert_int_equal(report->quality.n_amiss, 1);
    assert_true(has_note(report, "no process of the job was seen: its own waiting"));
    report_free(report);
}

/* Three notes about hosts: two equal ones become one, the third stays. */
static void a_note_that_hosts_share_is_said_once(void **state) {
    struct report_host two[2] = {{.name = (char *)"vm1"}, {.name = (char *)"vm2"}};
    struct report report = {.hosts = two, .n_hosts = 2};
    static const char *const notes[] = {"vm2: ended", "vm1: late", "vm1: ended",
                                        "alone",      "vm1: x",    "vm2: x"};
    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        assert_int_equal(report_add_note(&report, strdup(notes[i])), 0);
    report.quality.n_amiss = 4; /* a fault is not joined with a mere note */
    assert_int_equal(report_merge_notes(&report), 0);
    assert_int_equal(report.quality.n_notes, 4);
    assert_int_equal(report.quality.n_amiss, 3);
    assert_string_equal(report.quality.notes[0], "both hosts: ended");
    assert_string_equal(report.quality.notes[1], "vm1: late");
    assert_string_equal(report.quality.notes[2], "alone");
    assert_string_equal(report.quality.notes[3], "both hosts: x");
    for (size_t i = 0; i < report.quality.n_notes; i++)
        free(report.quality.notes[i]);
    free(report.quality.notes);
}

static void notes_of_some_hosts_name_these(void **state) {
    struct report_host seven[7] = {{.name = NULL}};
    struct report report = {.hosts = seven, .n_hosts = 7};
    char names[7][16], *note;
    (void)state;
    for (int h = 0; h < 7; h++) {
        snprintf(names[h], sizeof names[h], "n%d", h);
        seven[h].name = names[h];
        if (h == 6)
            continue;
        assert_true(asprintf(&note, "n%d: a", h) > 0);
        assert_int_equal(report_add_note(&report, note), 0);
    }
    assert_int_equal(report_add_note(&report, strdup("n1: b")), 0);
    assert_int_equal(report_add_note(&report, strdup("n6: b")), 0);
    assert_int_equal(report_merge_notes(&report), 0);
    assert_int_equal(report.quality.n_notes, 2);
    assert_string_equal(report.quality.notes[0], "6 hosts: a");
    assert_string_equal(report.quality.notes[1], "n1, n6: b");
    for (size_t i = 0; i < report.quality.n_notes; i++)
        free(report.quality.notes[i]);
    free(report.quality.notes);
}

static void the_first_line_names_all_that_is_missing(void **state) {
    struct report_host two[2] = {{.samples_missed = 1}, {.calls_missing = 1200}};
    struct report report = {.hosts = two, .n_hosts = 2};
    char text[REPORT_MISSING_SIZE];
    (void)state;
    assert_string_equal(report_missing(&report, text), "1 sample, 1200 MPI calls missing");
    two[0] = (struct report_host){.marks_missing = 2};
    assert_string_equal(report_missing(&report, text), "1200 MPI calls, 2 marks missing");
    two[0] = two[1] = (struct report_host){.gaps = 1};
    assert_string_equal(report_missing(&report, text), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_samples_are_there),
        cmocka_unit_test(a_column_that_this_version_does_not_know_is_said),
        cmocka_unit_test(steps_are_no_samples),
        cmocka_unit_test(samples_that_are_missing_are_so_in_steps_too),
        cmocka_unit_test(a_host_without_the_job_is_named),
        cmocka_unit_test(a_note_that_hosts_share_is_said_once),
        cmocka_unit_test(notes_of_some_hosts_name_these),
        cmocka_unit_test(the_first_line_names_all_that_is_missing),
        cmocka_unit_test(boots_in_turn_are_read_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
