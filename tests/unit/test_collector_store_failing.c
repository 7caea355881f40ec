/* SPDX-License-Identifier: MIT */
/*
 * A small recording in which the n-th write, sync, open, name, read or allocation fails, once or
 * from then on, for all n. Hosts push samples and single events, a run ends, the collector is
 * restarted, the database is verified and read. After each failure no push is refused for good, or
 * acknowledged and lost; nothing crashes, leaks memory or leaves a descriptor open; no query
 * answers from half of a table. Once failures end, the file opens, is whole, and takes the rest:
 * each frame is there once, and counters have grown by the planted amounts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <sqlite3.h>
#include <time.h>

#include "tests/unit/fail_nth.h"

#include "agent/push/push_tables.h"
#include "collector/store_module.h"
#include "collector/store_read.h"
#include "collector/store_verify.h"
#include "collector/writer.h"
#include "common/clock.h"
#include "common/error.h"

#define N_LIVES 2
#define ROUNDS_A_LIFE 3
#define FRAMES_A_ROUND 2
#define N_FRAMES (N_LIVES * ROUNDS_A_LIFE * FRAMES_A_ROUND)
#define N_LAST (N_FRAMES + 2) /* after the failure */
#define N_INSTANCES 2
#define N_EVENTS 3 /* in a frame */
#define PERIOD_NS (100 * NS_PER_MS)

static const struct column cpu_columns[] = {
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "user"},
    {"idle_ns", UNIT_NS, COLUMN_COUNTER, "idle"},
};
static const struct table cpu = {"cpu",         "core",      "time by use",
                                 TABLE_SAMPLES, cpu_columns, ARRAY_SIZE(cpu_columns)};

/* The agent of the second life has more columns. */
static const struct column wide_columns[] = {
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "user"},
    {"idle_ns", UNIT_NS, COLUMN_COUNTER, "idle"},
    {"speed_hz", UNIT_NONE, COLUMN_LEVEL, "speed"},
};
static const struct table wide_cpu = {"cpu",         "core",       "time by use",
                                      TABLE_SAMPLES, wide_columns, ARRAY_SIZE(wide_columns)};

static const struct column call_columns[] = {
    {"begin_ns", UNIT_NS, COLUMN_LEVEL, "begin"},
    {"send_bytes", UNIT_BYTES, COLUMN_LEVEL, "sent"},
};
static const struct table calls = {"calls",      "process",    "single calls",
                                   TABLE_EVENTS, call_columns, ARRAY_SIZE(call_columns)};

/* An agent sends everything that is not acknowledged. */
struct agent {
    const char *host;
    bool events;
    struct buffer opening[N_LIVES], frames[N_LIVES][N_LAST + 1];
    /* by play */
    uint64_t acknowledged;
    struct push_tables tables;
    struct buffer body;
};

static struct agent agents[] = {{.host = "vm0"}, {.host = "vm0", .events = true}, {.host = "vm1"}};

struct play {
    char directory[48], path[64];
    int64_t run; /* 0: not begun */
};

/* Commits need no pacing here. */
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *at,
                           struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *at,
                           struct timespec *left) {
    (void)clock, (void)flags, (void)at, (void)left;
    return 0;
}

/* ---- what agents send ---- */

static const struct table *table_of(const struct agent *agent, int life) {
    return agent->events ? &calls : life ? &wide_cpu : &cpu;
}

static void make_opening(struct agent *agent, int life) {
    struct wire_stream stream = {.stream_id = 16 + agent->events,
                                 .period_ns = agent->events ? 0 : PERIOD_NS};
    snprintf(stream.host, sizeof stream.host, "%s", agent->host);
    strcpy(stream.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
    wire_put_stream(&agent->opening[life], &stream);
    wire_put_table(&agent->opening[life], 0, table_of(agent, life));
}

static void fill_samples(struct rows *rows, uint64_t seq) {
    for (int i = 0; i < N_INSTANCES; i++) {
        struct row *row = rows_append(rows, i ? "cpu1" : "cpu0", 4);
        row->values[0] = (int64_t)seq * 1000 * (i + 1);
        row->values[1] = (int64_t)seq * 7;
    }
}

static void fill_events(struct rows *rows, uint64_t seq) {
    for (int i = 0; i < N_EVENTS; i++) {
        struct row *row = rows_append(rows, i ? "1" : "0", 1);
        row->values[0] = (int64_t)seq * PERIOD_NS + i;
        row->values[1] = (int64_t)seq;
    }
}

static void make_frame(struct agent *agent, int life, uint64_t seq) {
    struct rows rows, *list[] = {&rows};
    struct buffer scratch = {0};
    int64_t t_ns = (int64_t)seq * PERIOD_NS;
    const struct frame_head head = {.seq = seq, .mono_ns = t_ns, .wall_ns = t_ns, .slot_ns = t_ns};
    MUST((agent->events ? rows_init_packed : rows_init)(&rows, table_of(agent, life), 8) == 0,
         "rows");
    if (agent->events)
        fill_events(&rows, seq);
    else
        fill_samples(&rows, seq);
    (agent->events ? wire_put_packed_frame : wire_put_frame)(&agent->frames[life][seq], &scratch,
                                                             &head, list, (const unsigned[]){0}, 1);
    buffer_release(&scratch);
    rows_release(&rows);
}

static void make_all(void) {
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++) {
        for (int life = 0; life < N_LIVES; life++) {
            make_opening(&agents[i], life);
            for (uint64_t seq = 1; seq <= N_LAST; seq++)
                make_frame(&agents[i], life, seq);
        }
    }
}

static void free_all(void) {
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++) {
        for (int life = 0; life < N_LIVES; life++) {
            buffer_release(&agents[i].opening[life]);
            for (uint64_t seq = 1; seq <= N_LAST; seq++)
                buffer_release(&agents[i].frames[life][seq]);
        }
        buffer_release(&agents[i].body);
        push_tables_release(&agents[i].tables);
    }
}

static void fill_body(struct agent *agent, int life, uint64_t last) {
    buffer_reset(&agent->body);
    buffer_put(&agent->body, agent->opening[life].data, agent->opening[life].size);
    for (uint64_t seq = agent->acknowledged + 1; seq <= last; seq++)
        buffer_put(&agent->body, agent->frames[life][seq].data, agent->frames[life][seq].size);
    push_tables_shorten(&agent->tables, &agent->body);
}

/* ---- the collector ---- */

struct answer {
    struct write_job job; /* must be first */
    pthread_mutex_t lock;
    pthread_cond_t come;
    bool there;
};

static void on_answer(struct write_job *job) {
    struct answer *answer = (struct answer *)job;
    pthread_mutex_lock(&answer->lock);
    answer->there = true;
    pthread_cond_signal(&answer->come);
    pthread_mutex_unlock(&answer->lock);
}

static void no_event(void *ctx, const char *line) {
    (void)ctx, (void)line;
}

/* Whether the agent must send its tables, and at once. */
static bool push_once(struct agent *agent, struct writer *writer, int life, uint64_t last) {
    struct answer answer = {.lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER};
    fail_paused = true;
    fill_body(agent, life, last);
    fail_paused = false;
    answer.job = (struct write_job){.push = {.body = agent->body.data,
                                             .size = agent->body.size,
                                             .have_clock = !agent->events,
                                             .clock = {(int64_t)last * PERIOD_NS, 500, 1000}},
                                    .done = on_answer};
    MUST(writer_submit(writer, &answer.job) == 0, "the writer takes nothing");
    pthread_mutex_lock(&answer.lock);
    while (!answer.there)
        pthread_cond_wait(&answer.come, &answer.lock);
    pthread_mutex_unlock(&answer.lock);
    int r = answer.job.result;
    MUST(r != -EBADMSG, "%s: good frames are refused: %s", agent->host, answer.job.push.why);
    MUST(r <= 0, "%s: %d is no answer", agent->host, r);
    if (r == -ENODATA)
        return push_tables_forget(&agent->tables);
    if (r == 0) {
        MUST(answer.job.push.committed == last, "%s: %llu acknowledged of %llu", agent->host,
             (unsigned long long)answer.job.push.committed, (unsigned long long)last);
        agent->acknowledged = last;
        push_tables_learn(&agent->tables, answer.job.push.tables);
    }
    return false;
}

static void push(struct agent *agent, struct writer *writer, int life, uint64_t last) {
    if (push_once(agent, writer, life, last))
        push_once(agent, writer, life, last);
}

static void record(struct store *store, int64_t run, int life, uint64_t first_round,
                   uint64_t rounds, uint64_t frames) {
    struct writer *writer;
    const struct writer_options options = {.store = store, .run = run, .event = no_event};
    if (writer_start(&options, &writer) != 0)
        return;
    for (uint64_t round = first_round; round < first_round + rounds; round++)
        for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
            push(&agents[i], writer, life, (round + 1) * frames);
    writer_refused(writer, REFUSED_UNAUTHORIZED);
    writer_free(writer);
}

static void begin_run(struct play *p, struct store *store) {
    const struct run_begin begin = {
        .command = "true", .wall_ns = 1, .mono_ns = 1, .period_ns = PERIOD_NS};
    if (!p->run && store_run_begin(store, &begin, &p->run) != 0)
        p->run = 0;
}

static void end_run(struct play *p, struct store *store) {
    const struct run_usage usage = {.user_ns = 1};
    (void)!store_run_usage(store, p->run, "vm0", &usage);
    (void)!store_run_note(store, p->run, "it has ended");
    (void)!store_run_end(store, p->run, RUN_DONE, 0, 2, 2);
}

static void live(struct play *p, int life) {
    struct store *store;
    char why[256];
    if (store_open_write(p->path, &store, why, sizeof why) != 0)
        return;
    begin_run(p, store);
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
        agents[i].tables.id = 0; /* another collector */
    if (p->run)
        record(store, p->run, life, (uint64_t)life * ROUNDS_A_LIFE, ROUNDS_A_LIFE, FRAMES_A_ROUND);
    if (p->run && life + 1 == N_LIVES)
        end_run(p, store);
    store_close(store);
}

/* ---- readers ---- */

static void verify(struct play *p, const char *when) {
    struct verification v;
    char why[256];
    int r = store_verify(p->path, &v, why, sizeof why);
    MUST(r != 0 || verification_is_good(&v),
         "%s %llu pages of %llu are called damaged (%u), %llu missing: %s", when,
         (unsigned long long)v.n_damaged, (unsigned long long)v.n_pages,
         v.n_damages ? v.damages->page : 0, (unsigned long long)v.n_missing, v.structure);
    verification_release(&v);
}

static int add_up(void *ctx, const struct store_row_read *row) {
    if (row->values[0] != VALUE_ABSENT)
        *(int64_t *)ctx += row->values[0];
    return 0;
}

/* The planted growth of cpu0 and cpu1 up to that frame. */
static int64_t planted(const struct agent *agent, uint64_t last) {
    return agent->events || !last ? 0 : (int64_t)(last - 1) * 1000 * 3;
}

static void read_run(struct play *p, struct store *store, const char *which) {
    static const char *const columns[] = {"user_ns"};
    struct store_run run;
    struct store_host *hosts;
    struct store_note *notes;
    size_t n;
    int64_t sum = 0, expected = 0;
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
        expected += planted(&agents[i], agents[i].acknowledged);
    int r = store_find_run(store, which, &run);
    if (r == 0)
        store_run_release(&run);
    if (store_list_hosts(store, p->run, &hosts, &n) == 0)
        store_hosts_free(hosts, n);
    if (store_list_notes(store, p->run, &notes, &n) == 0)
        store_notes_free(notes, n);
    r = store_each_row(store, p->run, "cpu", columns, 1, add_up, &sum);
    MUST(r != 0 || sum >= expected, "a reader got %lld of %lld", (long long)sum,
         (long long)expected);
    sum = 0;
    r = store_each_row_joined(store, p->run, "cpu", columns, 1, add_up, &sum);
    MUST(r != 0 || sum >= expected, "a reader of joined rows got %lld of %lld", (long long)sum,
         (long long)expected);
}

static void read_back(struct play *p) {
    struct store *store;
    char why[256];
    int r = store_open_read(p->path, &store, why, sizeof why);
    MUST(r <= 0 || !p->run, "a reader takes it for foreign: %s", why);
    if (r != 0)
        return;
    read_run(p, store, "last");
    store_close(store);
}

/* ---- after the failure ---- */

static int64_t ask(struct play *p, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    MUST(sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, "%s", sql);
    MUST(store_module_register(db, NULL, NULL) == SQLITE_OK && store_module_show(db) == SQLITE_OK,
         "%s", sql);
    MUST(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
         sqlite3_errmsg(db));
    MUST(sqlite3_step(statement) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static void expect(struct play *p, const char *what, const char *sql, int64_t expected) {
    int64_t value = ask(p, sql);
    MUST(value == expected, "%s: %lld, not %lld", what, (long long)value, (long long)expected);
}

/* Rows show frames: each sample has N_INSTANCES, each frame of events N_EVENTS. */
static void expect_acknowledged(struct play *p) {
    char sql[400];
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++) {
        const struct agent *agent = &agents[i];
        if (!agent->acknowledged)
            continue;
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM (SELECT DISTINCT f.seq, d.instance, d.%s FROM %s d"
                 " JOIN frame f USING(frame) JOIN instance i USING(instance)"
                 " JOIN host h ON h.host = i.host WHERE h.name = '%s' AND f.seq <= %llu"
                 " AND h.run = %lld)",
                 agent->events ? "begin_ns" : "frame", agent->events ? "calls" : "cpu", agent->host,
                 (unsigned long long)agent->acknowledged, (long long)p->run);
        expect(p, "acknowledged rows", sql,
               (int64_t)agent->acknowledged * (agent->events ? N_EVENTS : N_INSTANCES));
    }
}

static void expect_all(struct play *p) {
    expect(p, "damaged",
           "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'", 0);
    expect(p, "frames", "SELECT count(*) FROM frame", N_LAST * ARRAY_SIZE(agents));
    expect(p, "different frames of samples",
           "SELECT count(*) FROM (SELECT DISTINCT stream, seq FROM frame"
           " WHERE frame IN (SELECT frame FROM cpu))",
           2 * N_LAST);
    expect(p, "gaps and resets",
           "SELECT (SELECT sum(gaps + missed_slots + restarts) FROM stream)"
           " + (SELECT count(*) FROM counter_reset)",
           0);
    expect(p, "growth", "SELECT sum(user_ns) FROM cpu", 2 * planted(&agents[0], N_LAST));
    expect(p, "time covered", "SELECT sum(interval_ns) FROM cpu",
           2 * N_INSTANCES * (N_LAST - 1) * PERIOD_NS);
    expect(p, "events", "SELECT count(*) FROM calls", N_EVENTS * N_LAST);
    expect(p, "sum of events", "SELECT sum(send_bytes) FROM calls",
           (int64_t)N_EVENTS * N_LAST * (N_LAST + 1) / 2);
    expect(p, "instances", "SELECT count(*) FROM instance", 2 * N_INSTANCES + 2);
    expect(p, "views that cannot be read", "SELECT count(*) - count(*) FROM cpu_rate", 0);
}

static void go_on(struct play *p) {
    struct store *store;
    char why[256] = "";
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
        agents[i].tables.id = 0;
    int r = store_open_write(p->path, &store, why, sizeof why);
    MUST(r == 0, "it does not open: %d %s", r, why);
    begin_run(p, store);
    MUST(p->run, "no run can be begun");
    record(store, p->run, 1, 0, 1, N_LAST);
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
        MUST(agents[i].acknowledged == N_LAST, "%s does not go on", agents[i].host);
    store_close(store);
}

static void check(struct play *p, size_t files) {
    fail_disarm();
    MUST(fail_open_files() == files, "%zu descriptors, not %zu", fail_open_files(), files);
    if (sqlite3_memory_used() != 0)
        MUST(false, "SQLite holds %lld bytes", (long long)sqlite3_memory_used());
    if (access(p->path, F_OK) == 0 && p->run) {
        expect_acknowledged(p);
        verify(p, "afterwards");
    }
    go_on(p);
    verify(p, "in the end");
    expect_all(p);
}

static void remove_files(const struct play *p) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[96];
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
        snprintf(path, sizeof path, "%s%s", p->path, endings[i]);
        unlink(path);
    }
}

static void play(void *ctx) {
    struct play *p = ctx;
    unsigned kinds = fail_nth.kinds;
    fail_disarm();
    remove_files(p);
    p->run = 0;
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++) {
        agents[i].acknowledged = 0;
        push_tables_release(&agents[i].tables);
    }
    size_t files = fail_open_files();
    fail_nth.kinds = kinds;
    for (int life = 0; life < N_LIVES; life++)
        live(p, life);
    verify(p, "meanwhile");
    read_back(p);
    check(p, files);
}

/* ---- tests ---- */

static int set_up(void **state) {
    struct play *p = calloc(1, sizeof *p);
    bool in_memory = access("/dev/shm", W_OK) == 0;
    snprintf(p->directory, sizeof p->directory, "%s/failing-XXXXXX",
             in_memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(p->directory));
    snprintf(p->path, sizeof p->path, "%s/x.db", p->directory);
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    struct play *p = *state;
    remove_files(p);
    assert_int_equal(rmdir(p->directory), 0);
    free(p);
    return 0;
}

static void both(void *ctx, const struct fail_series *series) {
    fail_each(series, FAIL_ONCE, play, ctx);
    fail_each(series, FAIL_FROM_THEN_ON, play, ctx);
}

static void a_write_that_fails_costs_no_acknowledged_frame(void **state) {
    both(*state, &(struct fail_series){"write", FAIL_WRITE, 29, false});
}

static void a_write_that_comes_short_costs_no_acknowledged_frame(void **state) {
    both(*state, &(struct fail_series){"half of a write", FAIL_WRITE, 37, true});
}

static void a_sync_that_fails_costs_no_acknowledged_frame(void **state) {
    both(*state, &(struct fail_series){"sync", FAIL_SYNC, 5, false});
}

static void a_file_that_does_not_open_costs_no_acknowledged_frame(void **state) {
    both(*state, &(struct fail_series){"open", FAIL_OPEN | FAIL_NAME, 3, false});
}

static void a_read_that_fails_costs_no_acknowledged_frame(void **state) {
    both(*state, &(struct fail_series){"read", FAIL_READ, 19, false});
}

static void memory_that_is_not_there_costs_no_acknowledged_frame(void **state) {
    both(*state, &(struct fail_series){"allocation", FAIL_MEMORY, 1009, false});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TEST(a_write_that_fails_costs_no_acknowledged_frame),
        TEST(a_write_that_comes_short_costs_no_acknowledged_frame),
        TEST(a_sync_that_fails_costs_no_acknowledged_frame),
        TEST(a_file_that_does_not_open_costs_no_acknowledged_frame),
        TEST(a_read_that_fails_costs_no_acknowledged_frame),
        TEST(memory_that_is_not_there_costs_no_acknowledged_frame),
    };
    fail_read_arguments(argc, argv);
    fail_sqlite_allocations();
    make_all();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free_all();
    return failed;
}
