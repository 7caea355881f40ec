/* SPDX-License-Identifier: MIT */
/* The longest waits, and sums of waits for locks, compared with plain sums over waits that all
 * differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/evidence/awaited.h"
#include "analysis/facts/series/stats.h"
#include "tests/unit/wait_plant.h"

#define ALL 6 /* processes; the last two begin no chain */
#define BEGINNERS 4
#define N_WAITS 40
#define SECONDS 20

/* A model with only budgets, pairs and two groups of time: all, and from 5 s to 9 s. */
struct planted {
    struct recording recording;
    struct run_model model;
    struct window windows[2];
    struct phase_group groups[2];
    struct rank_budget budgets[ALL];
    struct budget times[ALL][2];
    struct process_wait waits[N_WAITS];
};

static void begin(struct planted *p) {
    *p = (struct planted){.windows = {{0, SECONDS * S}, {5 * S, 9 * S}}};
    plant_init(&p->recording, 2, SECONDS);
    for (size_t g = 0; g < 2; g++)
        p->groups[g] = (struct phase_group){.items = &p->windows[g], .n = 1};
    for (size_t i = 0; i < ALL; i++) {
        p->times[i][0].wall_s = SECONDS;
        p->times[i][1].wall_s = 4 + (double)i;
        p->budgets[i] =
            (struct rank_budget){.host = i % 2, .pid = 100 + (int)i / 2, .groups = p->times[i]};
    }
    p->model = (struct run_model){
        .recording = &p->recording,
        .groups = p->groups,
        .n_groups = 2,
        .main_group = 1,
        .budgets = {.items = p->budgets, .n = BEGINNERS, .waits = p->waits, .n_waits = N_WAITS}};
}

/* Waits of all kinds between any two, each of another length. */
static void plant_waits(struct planted *p, uint64_t seed) {
    for (size_t i = 0; i < N_WAITS; i++)
        p->waits[i] = (struct process_wait){
            .who = stats_random_below(&seed, ALL),
            .whom = stats_random_below(&seed, ALL),
            .kind = (enum wait_kind)stats_random_below(&seed, WAIT_KIND_COUNT_),
            .seconds = 0.01 * (double)(1 + (i * 17) % N_WAITS)};
}

static bool is_meant(const struct planted *p, const struct process_wait *w,
                     struct awaited_filter filter) {
    if (filter.whom != SIZE_MAX && filter.whom != w->whom)
        return false;
    if (filter.host >= 0 && filter.host != p->budgets[w->whom].host)
        return false;
    if (filter.by_beginner && w->who >= BEGINNERS)
        return false;
    return (filter.kinds & 1u << w->kind) != 0;
}

static void expect_longest(const struct planted *p, struct awaited_filter filter) {
    const struct process_wait *longest = NULL;
    for (size_t i = 0; i < N_WAITS; i++)
        if (is_meant(p, &p->waits[i], filter) &&
            (!longest || longest->seconds < p->waits[i].seconds))
            longest = &p->waits[i];
    assert_ptr_equal(awaited_longest(&p->model, filter), longest);
}

static void the_longest_of_those_meant_is_found(void **state) {
    struct planted p;
    (void)state;
    begin(&p);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        plant_waits(&p, seed);
        expect_longest(&p, AWAITED_ANY);
        for (size_t whom = 0; whom <= ALL; whom++)
            for (int host = -1; host < 2; host++)
                for (unsigned kinds = 0; kinds < 1u << WAIT_KIND_COUNT_; kinds += 3)
                    for (int by = 0; by < 2; by++)
                        expect_longest(&p, (struct awaited_filter){whom < ALL ? whom : SIZE_MAX,
                                                                   host, kinds, by});
    }
    recording_release(&p.recording);
}

static void the_share_is_of_the_one_that_waited_longest_of_its_time(void **state) {
    struct planted p;
    (void)state;
    begin(&p);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        plant_waits(&p, seed);
        for (size_t whom = 0; whom < ALL; whom++) {
            double most = 0;
            for (size_t i = 0; i < N_WAITS; i++) {
                double share = p.waits[i].seconds / p.times[p.waits[i].who][1].wall_s;
                if (p.waits[i].whom == whom && share > most)
                    most = share;
            }
            assert_true(fabs(awaited_share(&p.model, whom) - most) < 1e-12);
        }
    }
    p.waits[0] = (struct process_wait){.who = 1, .whom = 2, .seconds = 100};
    assert_true(awaited_share(&p.model, 2) == 1); /* at most all of its time */
    p.times[1][1].wall_s = 0;
    assert_true(awaited_share(&p.model, 2) < 1);
    recording_release(&p.recording);
}

static double locked_s(const struct run_model *model, size_t who, size_t group) {
    struct awaited_lock lock;
    assert_int_equal(awaited_lock_find(model, who, group, &lock), 0);
    return lock.waited_s;
}

/* Pairs of both hosts with the same indexes of processes; only waits for a lock, in which a process
 * waits for itself, count.
 */
static void waits_for_a_lock_are_of_one_process_of_one_host(void **state) {
    const double lock = WAIT_REASON_FUTEX, message = WAIT_REASON_POLL;
    struct planted p;
    (void)state;
    begin(&p);
    for (int host = 0; host < 2; host++)
        for (int pid = 100; pid < 103; pid++) {
            double part = 0.01 * (1 + host) + 0.1 * (pid - 100);
            add_pair(&p.recording, host, (struct pair){pid, pid, lock, part});
            add_pair(&p.recording, host, (struct pair){pid, pid, lock, 2 * part});
            add_pair(&p.recording, host, (struct pair){pid, pid, message, 0.5});
            add_pair(&p.recording, host, (struct pair){pid, pid + 1, lock, 0.25});
            add_pair(&p.recording, host, (struct pair){pid - 1, pid, lock, 0.125});
        }
    for (size_t i = 0; i < ALL; i++) {
        double part = 0.01 * (1 + (double)(i % 2)) + 0.1 * (double)(i / 2);
        assert_true(fabs(locked_s(&p.model, i, 0) - 3 * part * SECONDS) < 1e-6);
        assert_true(fabs(locked_s(&p.model, i, 1) - 3 * part * 4) < 1e-6);
    }
    recording_release(&p.recording);
}

/* By the sum over all that waited for it; the last is a helper, which does not count. */
static void the_rank_that_all_waited_for_longest_is_one_of_the_ranks(void **state) {
    struct rank_budget items[] = {
        {.rank = 0, .host = 0, .awaited_rank = 1, .awaited_host = 1, .awaited_s = 2},
        {.rank = 1, .host = 1, .awaited_rank = 0, .awaited_host = 0, .awaited_s = 3},
        {.rank = 2, .host = 0, .awaited_rank = 5, .awaited_host = 2, .awaited_s = 9},
        {.rank = 3, .host = 1, .awaited_rank = 1, .awaited_host = 1, .awaited_s = 1.5},
        {.rank = 1, .host = 0, .awaited_rank = -1, .awaited_host = -1, .awaited_s = 8},
        {.rank = 5, .host = 2, .awaited_rank = -1, .awaited_host = -1, .awaited_s = 4}};
    struct rank_budgets budgets = {.items = items, .n = 5};
    (void)state;
    assert_ptr_equal(rank_budgets_awaited(&budgets), &items[1]);
    items[3].awaited_s = 0.5;
    assert_ptr_equal(rank_budgets_awaited(&budgets), &items[0]);
    budgets.n = 0;
    assert_null(rank_budgets_awaited(&budgets));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_of_those_meant_is_found),
        cmocka_unit_test(the_share_is_of_the_one_that_waited_longest_of_its_time),
        cmocka_unit_test(waits_for_a_lock_are_of_one_process_of_one_host),
        cmocka_unit_test(the_rank_that_all_waited_for_longest_is_one_of_the_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
