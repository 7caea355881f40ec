/* SPDX-License-Identifier: MIT */
/*
 * The power is cut at every answer of the collector's writer, and at any write, sync and removal
 * between. The disk's contents must then open, be whole, and have every acknowledged frame. The
 * same holds if any of the unsynced writes arrived. The next push then continues after the last
 * acknowledged one.
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

#include "collector/store_verify.h"
#include "collector/writer.h"
#include "tests/unit/cut_disk.h"
#include "tests/unit/files.h"
#include "tests/unit/frames.h"

#define N_HOSTS 3
#define N_ROUNDS 24
#define ROUNDS_A_LIFE 6 /* then the collector is restarted */
#define FRAMES_A_PUSH 4
#define MOMENTS_A_CUT 3 /* one cut in so many moments; 1 as the program's first argument: all */

struct power {
    char base[32], disk[48], left[48], db[64];
    uint64_t acknowledged[N_HOSTS], moments, cuts;
    int64_t run;
};

static uint64_t moments_a_cut = MOMENTS_A_CUT;
static uint64_t seed = 1; /* decides which writes arrive; the program's second argument */

struct push_of {
    struct write_job job; /* must be first */
    struct power *power;
    size_t host;
    pthread_mutex_t *lock;
    pthread_cond_t *done;
    size_t *n_done;
    struct buffer body;
};

/* The writer's thread checks, too, and cmocka can only jump out of the test's thread. */
#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, " (%s:%d)\n", __FILE__, __LINE__);                                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void remove_left(const struct power *p) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[80];
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
        snprintf(path, sizeof path, "%s/x.db%s", p->left, endings[i]);
        unlink(path);
    }
}

static int64_t ask(const char *path, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    MUST(code == SQLITE_OK, "%s: %s", path, sqlite3_errmsg(db));
    code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    MUST(code == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    code = sqlite3_step(statement);
    MUST(code == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static void expect_acknowledged(const struct power *p, const char *path) {
    char sql[256];
    for (size_t h = 0; h < N_HOSTS; h++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(DISTINCT f.seq) FROM frame f JOIN stream USING(stream)"
                 " JOIN host USING(host) WHERE name = 'vm%zu' AND f.seq <= %llu",
                 h, (unsigned long long)p->acknowledged[h]);
        int64_t kept = ask(path, sql);
        MUST((uint64_t)kept == p->acknowledged[h],
             "host %zu: %lld of %llu acknowledged frames after cut %llu", h, (long long)kept,
             (unsigned long long)p->acknowledged[h], (unsigned long long)p->cuts);
    }
    MUST(ask(path, "SELECT count(*) FROM frame") ==
             ask(path, "SELECT count(*) FROM (SELECT DISTINCT stream, seq FROM frame)"),
         "frames are there twice after cut %llu", (unsigned long long)p->cuts);
    MUST(ask(path, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'") ==
             0,
         "damaged after cut %llu", (unsigned long long)p->cuts);
}

static void verify(const struct power *p, const char *path) {
    struct verification v;
    char why[256] = "";
    int r = store_verify(path, &v, why, sizeof why);
    MUST(r == 0 && verification_is_good(&v), "cut %llu: %d, %llu pages are damaged: %s%s",
         (unsigned long long)p->cuts, r, (unsigned long long)v.n_damaged, why, v.structure);
    verification_release(&v);
}

/* The host's agent sends what was not acknowledged, and one more frame. */
static void push_on(const struct power *p, struct store *store, struct ingest *ingest,
                    size_t host) {
    struct buffer body = {0};
    char name[16];
    uint64_t first = p->acknowledged[host] + 1, last = p->acknowledged[host] + FRAMES_A_PUSH + 1;
    snprintf(name, sizeof name, "vm%zu", host);
    frames_open(&body, name, host + 1, &frames_cpu);
    frames_put_many(&body, &frames_cpu, first, last);
    struct ingest_push push = {.body = body.data, .size = body.size};
    int r = ingest_check(ingest, &push);
    if (r == 0)
        r = store_begin(store);
    if (r == 0)
        r = ingest_write(ingest, &push);
    if (r == 0)
        r = store_commit(store);
    MUST(r == 0 && push.committed == last, "cut %llu: no push goes on: %d %s",
         (unsigned long long)p->cuts, r, push.why);
    buffer_release(&body);
}

static void go_on(const struct power *p, struct store *store, const char *path) {
    struct ingest *ingest;
    MUST(ingest_new(store, p->run, &ingest) == 0, "no ingest");
    for (size_t h = 0; h < N_HOSTS; h++)
        push_on(p, store, ingest, h);
    ingest_free(ingest);
    for (size_t h = 0; h < N_HOSTS; h++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "SELECT coalesce(sum(user_ns), 0) FROM cpu JOIN instance USING(instance)"
                 " JOIN host USING(host) WHERE host.name = 'vm%zu'",
                 h);
        int64_t growth = ask(path, sql);
        MUST((uint64_t)growth == 2 * 1000 * (p->acknowledged[h] + FRAMES_A_PUSH),
             "host %zu: counters grew by %lld after cut %llu", h, (long long)growth,
             (unsigned long long)p->cuts);
    }
}

static void cut_power(struct power *p, bool any_arrived) {
    char path[80], why[256] = "";
    struct store *store;
    p->cuts++;
    remove_left(p);
    cut_leave(p->left, any_arrived);
    snprintf(path, sizeof path, "%s/x.db", p->left);
    if (!p->acknowledged[0] && access(path, F_OK) != 0)
        return; /* nothing was acknowledged yet */
    int r = store_open_write(path, &store, why, sizeof why);
    MUST(r == 0, "cut %llu: %d %s", (unsigned long long)p->cuts, r, why);
    if (p->acknowledged[0]) {
        verify(p, path);
        expect_acknowledged(p, path);
        go_on(p, store, path);
    }
    store_close(store);
    verify(p, path);
}

static void on_change(void *ctx) {
    struct power *p = ctx;
    if (p->moments++ % moments_a_cut == 0)
        cut_power(p, p->moments % 2);
}

static void on_answer(struct write_job *job) {
    struct push_of *push = (struct push_of *)job;
    MUST(job->result == 0, "no answer: %d %s", job->result, job->push.why);
    cut_disk.busy = true;
    push->power->acknowledged[push->host] = job->push.committed;
    cut_power(push->power, false);
    cut_power(push->power, true);
    cut_disk.busy = false;
    pthread_mutex_lock(push->lock);
    ++*push->n_done;
    pthread_cond_signal(push->done);
    pthread_mutex_unlock(push->lock);
}

static void no_event(void *ctx, const char *line) {
    (void)ctx, (void)line;
}

static void fill_push(struct push_of *push, uint64_t round) {
    char host[16];
    uint64_t first = round * FRAMES_A_PUSH + 1;
    snprintf(host, sizeof host, "vm%zu", push->host);
    buffer_reset(&push->body);
    frames_open(&push->body, host, push->host + 1, &frames_cpu);
    frames_put_many(&push->body, &frames_cpu, first, first + FRAMES_A_PUSH - 1);
    push->job = (struct write_job){.push = {.body = push->body.data, .size = push->body.size},
                                   .done = on_answer};
}

/* All hosts push, and wait for their answers. */
static void play_round(struct power *p, struct writer *writer, uint64_t round) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t done = PTHREAD_COND_INITIALIZER;
    size_t n_done = 0;
    struct push_of pushes[N_HOSTS] = {0};
    for (size_t h = 0; h < N_HOSTS; h++) {
        pushes[h] = (struct push_of){
            .power = p, .host = h, .lock = &lock, .done = &done, .n_done = &n_done};
        fill_push(&pushes[h], round);
        assert_int_equal(writer_submit(writer, &pushes[h].job), 0);
    }
    pthread_mutex_lock(&lock);
    while (n_done < N_HOSTS)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
    for (size_t h = 0; h < N_HOSTS; h++)
        buffer_release(&pushes[h].body);
}

static void live(struct power *p, uint64_t first_round) {
    struct store *store;
    struct writer *writer;
    assert_int_equal(store_open_write(p->db, &store, NULL, 0), 0);
    const struct writer_options options = {.store = store, .run = p->run, .event = no_event};
    assert_int_equal(writer_start(&options, &writer), 0);
    for (uint64_t i = 0; i < ROUNDS_A_LIFE; i++)
        play_round(p, writer, first_round + i);
    writer_free(writer);
    store_close(store);
}

static int setup(void **state) {
    struct power *p = calloc(1, sizeof *p);
    strcpy(p->base, "/tmp/power-XXXXXX");
    assert_non_null(mkdtemp(p->base));
    snprintf(p->disk, sizeof p->disk, "%s/disk", p->base);
    snprintf(p->left, sizeof p->left, "%s/left", p->base);
    snprintf(p->db, sizeof p->db, "%s/x.db", p->disk);
    assert_int_equal(mkdir(p->disk, 0700), 0);
    assert_int_equal(mkdir(p->left, 0700), 0);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct power *p = *state;
    cut_end();
    assert_int_equal(folder_remove(p->base), 0);
    free(p);
    return 0;
}

static void what_was_acknowledged_outlives_a_power_cut(void **state) {
    struct power *p = *state;
    struct store *store;
    const struct run_begin begin = {
        .command = "true", .wall_ns = 1, .mono_ns = 1, .period_ns = 100000000};
    cut_begin(p->disk, seed, on_change, p);
    assert_int_equal(store_open_write(p->db, &store, NULL, 0), 0);
    assert_int_equal(store_run_begin(store, &begin, &p->run), 0);
    store_close(store);
    for (uint64_t round = 0; round < N_ROUNDS; round += ROUNDS_A_LIFE)
        live(p, round);
    cut_power(p, false);
    for (size_t h = 0; h < N_HOSTS; h++)
        assert_int_equal(p->acknowledged[h], N_ROUNDS * FRAMES_A_PUSH);
    print_message("           %llu cuts\n", (unsigned long long)p->cuts);
    assert_true(p->cuts > 2 * N_ROUNDS * N_HOSTS);
}

int main(int argc, char **argv) {
    if (argc > 1)
        moments_a_cut = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_acknowledged_outlives_a_power_cut, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
