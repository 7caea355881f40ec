/* SPDX-License-Identifier: MIT */
/* How flows share links, and whose rates are computed anew after a change. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts/series/stats.h"
#include "analysis/simulate/replay_run.h"

#define CLOSE(a, b)                                                                                \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(is_ == should_ || fabs(is_ - should_) <= 1e-9 * fabs(should_)))                      \
            fail_msg("%s is %.12g, not %.12g", #a, is_, should_);                                  \
    } while (0)

#define FLOW(from, to, most)                                                                       \
    (struct replay_flow) {                                                                         \
        .from_host = from, .to_host = to, .limit = most, .left = 1                                 \
    }

/* Two flows leave host 0; one of them meets a third at host 2, whose ingress is narrow. */
static void links_are_shared_max_min_fairly(void **state) {
    double out[] = {10, 10, 10}, in[] = {10, 10, 4}, room[12];
    struct replay_flow a = FLOW(0, 1, INFINITY), b = FLOW(0, 2, INFINITY), c = FLOW(1, 2, 1);
    struct replay_flow *flows[] = {&a, &b, &c};
    (void)state;
    replay_share(flows, 3, out, in, 3, room);
    CLOSE(c.rate, 1); /* its own limit */
    CLOSE(b.rate, 3); /* the rest of the ingress */
    CLOSE(a.rate, 7); /* the rest of the egress */
}

static void flows_without_a_limit_are_without_one(void **state) {
    double out[] = {INFINITY, INFINITY}, in[] = {INFINITY, 6}, room[8];
    struct replay_flow a = FLOW(1, 0, INFINITY), b = FLOW(0, 1, INFINITY), c = b;
    struct replay_flow *flows[] = {&a, &b, &c};
    (void)state;
    replay_share(flows, 3, out, in, 2, room);
    assert_true(isinf(a.rate));
    CLOSE(b.rate, 3);
    CLOSE(c.rate, 3);
}

/* ---- only what has changed ---- */

#define HOSTS 12
#define FLOWS 40

static size_t below(uint64_t *random, size_t n) {
    return (size_t)stats_random_below(random, n);
}

/* Random links and flows, with and without limits. */
static void draw_network(uint64_t *random, struct run *run, struct replay_flow *flows) {
    for (size_t link = 0; link < 2 * (size_t)HOSTS; link++)
        run->capacity[link] = below(random, 3) ? 10 + (double)below(random, 90) : INFINITY;
    for (size_t i = 0; i < FLOWS; i++)
        flows[i] = FLOW((uint32_t)below(random, HOSTS), (uint32_t)below(random, HOSTS),
                        below(random, 2) ? 1 + (double)below(random, 30) : INFINITY);
}

/* A flow begins or ends, or a link changes. */
static void change_one(uint64_t *random, struct run *run, struct replay_flow *flows) {
    struct replay_flow *flow = &flows[below(random, FLOWS)];
    size_t link = below(random, 2 * (size_t)HOSTS);
    if (below(random, 10) == 0 && isfinite(run->capacity[link])) {
        run->capacity[link] *= 1.5;
        replay_component_change(run, link);
    } else if (flow->moves) {
        replay_component_end(run, flow);
    } else {
        replay_component_begin(run, flow);
    }
}

/* Compares with all flows shared out together. */
static void check_rates(const struct run *run, const struct replay_flow *flows) {
    struct replay_flow copies[FLOWS], *all[FLOWS];
    double room[4 * HOSTS];
    size_t n = 0;
    for (size_t i = 0; i < FLOWS; i++) {
        copies[i] = flows[i];
        if (flows[i].moves)
            all[n++] = &copies[i];
    }
    replay_share(all, n, run->capacity, run->capacity + HOSTS, HOSTS, room);
    for (size_t i = 0; i < FLOWS; i++)
        if (flows[i].moves)
            CLOSE(flows[i].rate, copies[i].rate);
}

static void what_has_not_changed_keeps_the_rate_that_it_would_get_anew(void **state) {
    struct run_model model = {.n_hosts = HOSTS};
    struct replay replay = {.model = &model, .n_pairs = FLOWS};
    double capacity[2 * HOSTS], room[4 * HOSTS];
    size_t looked_at = 0, moved = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct replay_flow flows[FLOWS];
        struct run run = {.p = &replay, .capacity = capacity, .room = room};
        uint64_t random = seed;
        assert_int_equal(replay_components_init(&run), 0);
        draw_network(&random, &run, flows);
        for (int step = 0; step < 200; step++) {
            for (size_t n = 1 + below(&random, 3); n > 0; n--)
                change_one(&random, &run, flows);
            replay_components_find(&run);
            looked_at += run.components.n_changed;
            for (size_t i = 0; i < FLOWS; i++)
                moved += flows[i].moves;
            replay_share(run.components.changed, run.components.n_changed, capacity,
                         capacity + HOSTS, HOSTS, room);
            check_rates(&run, flows);
        }
        replay_components_release(&run);
    }
    assert_true(looked_at < moved);
}

/* Each flow of a ring crosses two links of its own: the end of one affects no other. */
static void flows_that_share_no_link_are_left_alone(void **state) {
    struct run_model model = {.n_hosts = HOSTS};
    struct replay replay = {.model = &model, .n_pairs = HOSTS};
    double capacity[2 * HOSTS];
    struct replay_flow flows[HOSTS];
    struct run run = {.p = &replay, .capacity = capacity};
    (void)state;
    assert_int_equal(replay_components_init(&run), 0);
    for (size_t link = 0; link < 2 * (size_t)HOSTS; link++)
        capacity[link] = 10;
    for (uint32_t h = 0; h < HOSTS; h++) {
        flows[h] = FLOW(h, (h + 1) % HOSTS, INFINITY);
        replay_component_begin(&run, &flows[h]);
    }
    replay_components_find(&run);
    assert_int_equal(run.components.n_changed, HOSTS);
    replay_component_end(&run, &flows[3]);
    replay_component_begin(&run, &flows[3]);
    replay_components_find(&run);
    assert_int_equal(run.components.n_changed, 1);
    assert_ptr_equal(run.components.changed[0], &flows[3]);
    replay_components_release(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_shared_max_min_fairly),
        cmocka_unit_test(flows_without_a_limit_are_without_one),
        cmocka_unit_test(what_has_not_changed_keeps_the_rate_that_it_would_get_anew),
        cmocka_unit_test(flows_that_share_no_link_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
