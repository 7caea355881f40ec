/* SPDX-License-Identifier: MIT */
/* A full link is the wrong one only if a faster interface of the same host leads to the same hosts
 * and is idle. Each direction of a link has its own figure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/causes/link_private.h"
#include "analysis/evidence/interfaces.h"
#include "tests/unit/judged.h"
#include "tests/unit/plant.h"

#include "reports/says/verdict_lines.h"

#define HOME (INT64_C(0x0a000000) << 8 | 24)
#define STORAGE (INT64_C(0x0a010000) << 8 | 24)
#define NET_LEVELS (1u << NET_SPEED | 1u << NET_NETWORK)

static struct one {
    double sends, receives, speed; /* MB/s; NAN: not known */
    int64_t network;
} now;

static double interface(size_t column, double t_s) {
    (void)t_s;
    return column == NET_SEND_BYTES      ? now.sends * 1e6
           : column == NET_RECEIVE_BYTES ? now.receives * 1e6
           : column == NET_SPEED         ? now.speed * 1e6
           : now.network                 ? (double)now.network
                                         : NAN;
}

static double set_to_ten(size_t column, double t_s) {
    (void)t_s;
    return column == QDISC_RATE ? 10e6 : 0;
}

static void plant_interface(struct recording *r, int host, const char *name, struct one one) {
    now = one;
    plant(r, RECORDING_NET, host, name, 0.1, NET_LEVELS, interface);
}

/* Host 0 sends 8 MB/s over eth0, which is set to 10, and has another interface; host 1 is in both
 * networks.
 */
static void plant_two(struct recording *r, const char *name, struct one other, bool peer) {
    plant_init(r, 2, 10);
    for (int rank = 0; rank < 2; rank++)
        plant_process(r, rank, "train", (struct plant_process){rank, 0.1, 0, 0});
    plant(r, RECORDING_QDISC, 0, "eth0 tbf 1:", 0.1, 1u << QDISC_BACKLOG | 1u << QDISC_RATE,
          set_to_ten);
    plant_interface(r, 0, "eth0", (struct one){8, 0.5, 1250, HOME});
    plant_interface(r, 0, name, other);
    plant_interface(r, 1, "eth0", (struct one){0.5, 8, 1250, HOME});
    if (peer)
        plant_interface(r, 1, "eth1", (struct one){0, 0, 1250, STORAGE});
    assert_int_equal(mpi_log_finish(&r->calls), 0);
}

static struct candidate full_link(const struct run_model *model, enum flow_side side) {
    struct candidate c = link_of(model, 0, &(struct flows){0}, 0, side);
    c.ceiling = 10;
    c.reached = side == FLOW_SEND ? 0.8 : 0;
    c.ceiling_from = CEILING_SET;
    c.blocked = 0.7;
    return c;
}

static void release(struct candidate *c) {
    remark_release(&c->cause);
    remarks_release(&c->evidence);
    remarks_release(&c->against);
}

static bool is_wrong(struct one other, bool peer, enum flow_side side) {
    struct recording r;
    struct run_model model;
    plant_two(&r, "eth1", other, peer);
    assert_int_equal(model_build(&r, &model), 0);
    struct candidate c = full_link(&model, side);
    link_name_interface(&model, &c);
    bool wrong = c.kind == CAUSE_WRONG_INTERFACE;
    assert_int_equal(wrong, c.cause.kind == &remark_FASTER_INTERFACE_IDLE);
    if (wrong) {
        assert_string_equal(c.cause.names[0], "eth0");
        assert_string_equal(c.cause.names[1], "eth1");
        assert_true(fabs(c.cause.numbers[1] - 64) < 1 && fabs(c.cause.numbers[2] - 80) < 1e-6);
        assert_true(fabs(c.cause.numbers[3] - 1000) < 1e-6);
        assert_int_equal(c.evidence.n, 1);
        assert_string_equal(c.evidence.items[0].names[2], "vm2");
    }
    release(&c);
    model_release(&model);
    recording_release(&r);
    return wrong;
}

static void a_faster_interface_that_idles_is_the_cause(void **state) {
    (void)state;
    assert_true(is_wrong((struct one){0, 0, 125, STORAGE}, true, FLOW_SEND));
}

static void an_interface_that_leads_elsewhere_is_not(void **state) {
    (void)state;
    assert_false(is_wrong((struct one){0, 0, 125, STORAGE}, false, FLOW_SEND));
    assert_false(is_wrong((struct one){0, 0, 125, 0}, true, FLOW_SEND));
}

static void one_that_is_no_faster_or_in_use_is_not(void **state) {
    (void)state;
    assert_false(is_wrong((struct one){0, 0, 15, STORAGE}, true, FLOW_SEND));
    assert_false(is_wrong((struct one){0, 0, NAN, STORAGE}, true, FLOW_SEND));
    assert_false(is_wrong((struct one){5, 0, 125, STORAGE}, true, FLOW_SEND));
}

/* The rate of a queue is for sending: when receiving, eth0 has 1250 MB/s. */
static void a_set_rate_is_of_sending_alone(void **state) {
    (void)state;
    assert_false(is_wrong((struct one){0, 0, 125, STORAGE}, true, FLOW_RECEIVE));
}

static void a_direction_is_said_by_its_own_figure(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    plant_two(&r, "eth1", (struct one){0, 0, 15, STORAGE}, true);
    assert_int_equal(model_build(&r, &model), 0);
    struct candidate c = full_link(&model, FLOW_SEND), back = full_link(&model, FLOW_RECEIVE);
    struct verdict v = {.candidate = &c, .sureness = VERDICT_SURE};
    c.start_s = c.lost.estimate = NAN;
    char *both, *one = verdict_limit(&model, &v, "");
    assert_non_null(strstr(one, "at 80 % of its 10 MB/s"));
    free(one);
    v.other = &back;
    both = verdict_limit(&model, &v, "");
    assert_non_null(strstr(both, "sends at 80 % of its 10 MB/s, receives 0.5 MB/s"));
    free(both);
    back.reached = 0.3;
    both = verdict_limit(&model, &v, "");
    assert_non_null(strstr(both, "sends at 80 % and receives at 30 % of its 10 MB/s"));
    free(both);
    back.ceiling = 20;
    both = verdict_limit(&model, &v, "");
    assert_non_null(strstr(both, "sends at 80 % of its 10 MB/s, receives at 30 % of 20"));
    free(both);
    struct verdict_words words;
    v.other = NULL;
    v.state = VERDICT_SATURATED;
    assert_int_equal(verdict_say(&model, &v, &(struct caller){0}, &words), 0);
    assert_non_null(strstr(words.summary, "; it receives 0.5 MB/s meanwhile"));
    verdict_words_release(&words);
    release(&c);
    release(&back);
    model_release(&model);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faster_interface_that_idles_is_the_cause),
        cmocka_unit_test(an_interface_that_leads_elsewhere_is_not),
        cmocka_unit_test(one_that_is_no_faster_or_in_use_is_not),
        cmocka_unit_test(a_set_rate_is_of_sending_alone),
        cmocka_unit_test(a_direction_is_said_by_its_own_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
