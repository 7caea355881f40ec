/* SPDX-License-Identifier: MIT */
/*
 * Ranks that send each other data without sockets: rank 1 computes, then sends to rank 0, in each
 * round. The ports of their hosts count what passes.
 */
#include "tests/unit/lockstep.h"

#define PORT_MB_S 12500.
#define LINK 40 * MS /* time of a transfer at the port's rate */

/* A round. */
static struct {
    int64_t compute_ns, way_ns;
    double bytes;            /* that the ranks send */
    double port_mb_s;        /* what the sender's port carries meanwhile, all in all */
    double waits, congested; /* a second */
    bool calls;              /* of MPI are recorded */
} now;

static double sender_row(size_t column, double t_s) {
    (void)t_s;
    return column == FABRIC_SEND_BYTES      ? now.port_mb_s * 1e6
           : column == FABRIC_SPEED         ? PORT_MB_S * 1e6
           : column == FABRIC_SEND_WAITS    ? now.waits
           : column == FABRIC_CONGESTED     ? now.congested
           : column == FABRIC_LINK          ? 1
           : column == FABRIC_STATE         ? 4
           : column == FABRIC_RECEIVE_BYTES ? 5e6
                                            : 0;
}

/* A port of twice the rate. */
static double receiver_row(size_t column, double t_s) {
    return column == FABRIC_RECEIVE_BYTES ? now.port_mb_s * 1e6
           : column == FABRIC_SEND_BYTES  ? 5e6
           : column == FABRIC_SPEED       ? 2 * PORT_MB_S * 1e6
                                          : sender_row(column, t_s);
}

static double idle_row(size_t column, double t_s) {
    return column == FABRIC_SEND_BYTES ? 1e6 : sender_row(column, t_s);
}

static void plant_round(struct recording *r, int i, int64_t begin) {
    int64_t sent = begin + now.compute_ns, done = sent + now.way_ns, size = (int64_t)now.bytes;
    PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, size, sent, done, BOTH, .gap_cpu_ns = now.compute_ns,
          .cpu_ns = done - sent);
    PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, size, begin, done, BOTH, .cpu_ns = done - begin);
    PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, done, done + US);
    PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, done, done + 2 * US);
    for (int rank = 0; rank < 2; rank++)
        plant_mark(r, MARK_ITERATION, "round", rank, rank, i, (double)begin / 1e9,
                   (double)(done + 2 * US - begin) / 1e9);
}

#define LEVELS (1u << FABRIC_SPEED | 1u << FABRIC_LINK | 1u << FABRIC_STATE)

static void judge_rounds(struct recording *r, struct judged *j) {
    int64_t round_ns = now.compute_ns + now.way_ns + 2 * US;
    plant_hosts(r, 2, 0.2 + ROUNDS * (double)round_ns / 1e9);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(r, rank, "work", (struct plant_process){rank, 1, 0, 0});
        if (now.calls)
            PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 100 * MS);
    }
    for (int i = 0; now.calls && i < ROUNDS; i++)
        plant_round(r, i, 100 * MS + i * round_ns);
    plant(r, RECORDING_FABRIC, 0, "mlx5_0/1", 1, LEVELS, receiver_row);
    plant(r, RECORDING_FABRIC, 1, "mlx5_0/1", 1, LEVELS, sender_row);
    plant(r, RECORDING_FABRIC, 1, "mlx5_1/1", 1, LEVELS, idle_row);
    judge(r, j);
}

static const struct candidate *port_of(const struct judged *j) {
    for (size_t i = 0; i < j->candidates.n; i++)
        if (j->candidates.items[i].by == &cause_link_fabric)
            return &j->candidates.items[i];
    return NULL;
}

/* The ranks' own transfers at the port's rate, for four fifths of the time. */
static void at_rate(void) {
    now.calls = true;
    now.compute_ns = 10 * MS;
    now.way_ns = LINK;
    now.bytes = PORT_MB_S * 1e6 * (double)(LINK) / 1e9;
    now.port_mb_s = .8 * PORT_MB_S;
    now.waits = 1e6;
    now.congested = 0;
}

static void transfers_at_the_rate_of_a_port_fill_it(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    judge_rounds(&r, &j);
    const struct candidate *c = port_of(&j);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_int_equal(c->resource, RESOURCE_NET_EGRESS);
    assert_int_equal(c->kind, CAUSE_PATH_LIMITED);
    assert_true(fabs(c->blocked - .8) < .02);
    assert_true(fabs(c->reached - .8) < .02);
    assert_true(c->saturated && !c->inferred);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    assert_int_equal(j.verdict.host, 1);
    assert_true(any_says(&j.words.evidence, "its port mlx5_0/1 sent 10000 MB/s on average, 80 %"));
    assert_true(any_says(&j.words.evidence, "take 78 % of the time; transfers hold up the run"));
    assert_true(any_says(&j.words.evidence, "data waited to be sent for 1000000 ticks"));
    assert_true(any_says(&j.words.next, "give vm2 a faster port than mlx5_0/1 (100 Gbit/s)"));
    if (!strstr(j.words.summary, "receives 5 MB/s meanwhile"))
        fail_msg("%s", j.words.summary);
    release(&r, &j);
}

/* They are a tenth of the time: no average over a second would show it. */
static void short_bursts_at_its_rate_are_enough(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    now.compute_ns = 9 * LINK;
    now.port_mb_s = .1 * PORT_MB_S;
    judge_rounds(&r, &j);
    const struct candidate *c = port_of(&j);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_true(fabs(c->blocked - .1) < .01);
    release(&r, &j);
}

static void a_port_full_of_others_bytes_limits_nobody_who_computes(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    now.compute_ns = 99 * LINK;
    now.bytes = 1e6;
    now.port_mb_s = .97 * PORT_MB_S;
    judge_rounds(&r, &j);
    assert_null(port_of(&j));
    assert_int_equal(j.verdict.host, 1); /* it computes while the other waits */
    assert_int_not_equal(j.verdict.resource, RESOURCE_NET_EGRESS);
    release(&r, &j);
}

static void transfers_that_take_longer_than_at_its_rate_wait_for_something_else(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    now.bytes /= 4;
    now.port_mb_s /= 4;
    judge_rounds(&r, &j);
    assert_null(port_of(&j));
    assert_true(any_says(&j.words.ruled_out, "no port of InfiniBand, RoCE or Omni-Path was full; "
                                             "the fullest, mlx5_0/1 of vm2 sending, carried 20 %"));
    release(&r, &j);
}

/* Storage fills half of it, too, and the ranks' messages are slow for another reason. */
static void others_bytes_do_not_make_a_ranks_transfers_fast(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    now.bytes /= 4;
    now.port_mb_s = .7 * PORT_MB_S;
    judge_rounds(&r, &j);
    assert_null(port_of(&j));
    release(&r, &j);
}

static void messages_that_went_another_way_fill_no_port(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    now.port_mb_s = 1;
    judge_rounds(&r, &j);
    assert_null(port_of(&j));
    release(&r, &j);
}

static void a_port_that_others_fill_is_shared(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    now.bytes /= 4;
    now.port_mb_s = .95 * PORT_MB_S;
    now.congested = 20;
    judge_rounds(&r, &j);
    const struct candidate *c = port_of(&j);
    assert_non_null(c);
    assert_int_equal(c->kind, CAUSE_LINK_CONTENTION);
    assert_true(c->inferred); /* whose bytes they were is not counted */
    assert_true(
        any_says(&j.words.evidence, "of what its port carried at most 21 % was the ranks'"));
    assert_true(any_says(&j.words.against, "receivers told it 20 times a second to send slower"));
    assert_true(any_says(&j.words.next, "see on vm2 what else uses mlx5_0/1"));
    release(&r, &j);
}

static void without_calls_a_full_port_is_not_judged(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    at_rate();
    now.calls = false;
    now.port_mb_s = .97 * PORT_MB_S;
    judge_rounds(&r, &j);
    assert_null(port_of(&j));
    release(&r, &j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_at_the_rate_of_a_port_fill_it),
        cmocka_unit_test(short_bursts_at_its_rate_are_enough),
        cmocka_unit_test(a_port_full_of_others_bytes_limits_nobody_who_computes),
        cmocka_unit_test(transfers_that_take_longer_than_at_its_rate_wait_for_something_else),
        cmocka_unit_test(others_bytes_do_not_make_a_ranks_transfers_fast),
        cmocka_unit_test(messages_that_went_another_way_fill_no_port),
        cmocka_unit_test(a_port_that_others_fill_is_shared),
        cmocka_unit_test(without_calls_a_full_port_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
