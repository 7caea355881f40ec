/* SPDX-License-Identifier: MIT */
/*
 * A writer is killed without warning, again and again, until it has written everything. Each time
 * it resumes after the last frame that the file says is committed. At the end the file must hold
 * the planted rows: none lost, none twice, and no break in the growth of a counter.
 */
#include "tests/unit/store_fixture.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#define N_FRAMES 400
#define N_INSTANCES 6
#define KILLS_MAX 5000

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t mix(uint64_t x) {
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 32);
}

/* The growth of instance k at frame n: often zero, so that kills also hit idle stretches. */
static int64_t planted_growth(uint64_t n, uint64_t k) {
    uint64_t x = mix(n * 64 + k);
    return n % 60 < 30 && k % 2 ? 0 : (int64_t)(x % 5 ? 0 : x % 100000);
}

/* Instance 3 appears at frame 100; instance 4 is reset to zero at frame 200; frames are 100 ms
 * apart.
 */
static bool planted_present(uint64_t n, uint64_t k) {
    return k != 3 || n >= 100;
}

static void plant(uint64_t n, int64_t *counters) {
    for (uint64_t k = 0; k < N_INSTANCES; k++) {
        if (k == 4 && n == 200)
            counters[k] = 0;
        if (planted_present(n, k))
            counters[k] += planted_growth(n, k);
    }
}

static void write_planted(struct fixture *f, uint64_t n, const int64_t *counters) {
    char name[16];
    assert_int_equal(fixture_frame(f, n, 0.1 * (double)n), 0);
    for (uint64_t k = 0; k < N_INSTANCES; k++) {
        if (!planted_present(n, k))
            continue;
        snprintf(name, sizeof name, "i%d", (int)k);
        bool born = k == 3 && n == 100; /* counts from zero; the others existed before */
        int64_t values[2] = {counters[k] + (k == 3 ? 0 : 1), 3 * counters[k]};
        assert_int_equal(fixture_row_flags(f, &net_table, born ? ROW_BORN : 0, name, values), 0);
    }
}

/* Writes what is not committed yet; kills itself after `rope` frames, if that comes first. */
static void write_on(const char *path, uint64_t seed, uint64_t rope) {
    struct fixture f = {.run = 1};
    uint64_t random = seed;
    int64_t counters[N_INSTANCES] = {0};
    snprintf(f.path, sizeof f.path, "%s", path);
    fixture_open(&f);
    fixture_stream(&f, "vm1", BOOT_A, 7);
    uint64_t done = store_stream_last_seq(f.store, f.stream);
    for (uint64_t n = 1; n <= done; n++)
        plant(n, counters);
    for (uint64_t n = done + 1; n <= N_FRAMES;) {
        uint64_t batch = 1 + next_random(&random) % 25;
        assert_int_equal(store_begin(f.store), 0);
        for (; batch && n <= N_FRAMES; batch--, n++) {
            plant(n, counters);
            write_planted(&f, n, counters);
            if (rope-- == 0)
                raise(SIGKILL);
        }
        assert_int_equal(store_commit(f.store), 0);
    }
    store_close(f.store);
}

/* The child ends by itself between two rows, or by a timer wherever it then is: in a commit, in a
 * checkpoint, while opening. SIGALRM's default action gives it no more chance than SIGKILL. Each
 * child may live a hundredth longer than the last, so that a slow machine also gets beyond opening.
 */
static bool child_finishes(const char *path, uint64_t *random, bool by_timer, uint64_t *limit_us) {
    uint64_t seed = next_random(random), rope = next_random(random) % 60;
    uint64_t life_us = 100 + next_random(random) % *limit_us;
    pid_t child = fork();
    int status;
    assert_true(child >= 0);
    if (child == 0) {
        struct itimerval timer = {.it_value.tv_usec = (suseconds_t)life_us};
        if (by_timer)
            setitimer(ITIMER_REAL, &timer, NULL);
        write_on(path, seed | 1, by_timer ? UINT64_MAX : rope);
        _exit(0);
    }
    *limit_us += *limit_us < 900000 ? *limit_us / 100 : 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFEXITED(status);
}

struct truth {
    int64_t sum[N_INSTANCES], interval_ns[N_INSTANCES];
};

static void compute_truth(struct truth *truth) {
    *truth = (struct truth){0};
    for (uint64_t k = 0; k < N_INSTANCES; k++) {
        uint64_t first = k == 3 ? 100 : 2; /* a first row has no growth, except if the instance was
                                              born */
        for (uint64_t n = first; n <= N_FRAMES; n++)
            truth->sum[k] += planted_growth(n, k);
        truth->interval_ns[k] = (int64_t)(N_FRAMES - first + 1) * 100 * NS_PER_MS;
    }
    truth->sum[4] += 1; /* the reset from c + 1 to 0 + 1 counts as growth from zero */
}

static void check_truth(struct fixture *f) {
    struct truth truth;
    char sql[256];
    compute_truth(&truth);
    for (int k = 0; k < N_INSTANCES; k++) {
        snprintf(sql, sizeof sql,
                 "SELECT sum(receive_bytes) FROM net JOIN instance USING(instance)"
                 " WHERE name = 'i%d'",
                 k);
        assert_int_equal(sql_number(f, sql), truth.sum[k]);
        snprintf(sql, sizeof sql,
                 "SELECT sum(interval_ns) FROM net JOIN instance USING(instance)"
                 " WHERE name = 'i%d'",
                 k);
        assert_int_equal(sql_number(f, sql), truth.interval_ns[k]);
    }
    assert_int_equal(sql_number(f, "SELECT count(*) FROM frame"), N_FRAMES);
    assert_int_equal(sql_number(f, "SELECT count(DISTINCT seq) FROM frame"), N_FRAMES);
    assert_int_equal(sql_number(f, "SELECT frames FROM stream"), N_FRAMES);
    assert_int_equal(sql_number(f, "SELECT gaps + missed_slots + restarts FROM stream"), 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM counter_reset"), 1);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM pragma_integrity_check"
                                   " WHERE integrity_check <> 'ok'"),
                     0);
}

static void kill_until_done(struct fixture *f, uint64_t seed, bool by_timer) {
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15), limit_us = 4000;
    int kills = 0;
    store_close(f->store);
    f->store = NULL;
    while (!child_finishes(f->path, &random, by_timer, &limit_us))
        if (++kills > KILLS_MAX)
            fail_msg("no end after %d kills", kills);
    print_message("           seed %d: %d kills\n", (int)seed, kills);
    assert_true(by_timer || kills > 0);
    check_truth(f);
}

static void a_writer_killed_between_rows_loses_and_doubles_nothing(void **state) {
    kill_until_done(*state, 1, false);
}

static void a_writer_killed_between_other_rows_loses_and_doubles_nothing(void **state) {
    kill_until_done(*state, 2, false);
}

static void a_writer_killed_at_any_instant_loses_and_doubles_nothing(void **state) {
    kill_until_done(*state, 3, true);
}

static void a_writer_killed_at_other_instants_loses_and_doubles_nothing(void **state) {
    kill_until_done(*state, 4, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_writer_killed_between_rows_loses_and_doubles_nothing),
        TEST(a_writer_killed_between_other_rows_loses_and_doubles_nothing),
        TEST(a_writer_killed_at_any_instant_loses_and_doubles_nothing),
        TEST(a_writer_killed_at_other_instants_loses_and_doubles_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
