/* SPDX-License-Identifier: MIT */
/* A server that waits for clients which pause between their requests: each of them a little. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/awaited_plant.h"

#define CLIENTS 20
#define PAUSE .7

enum { SERVER = 1, FIRST };

/* The clients of the first host sleep until a time of their choice, or for an event. */
static void judge_clients(bool chosen) {
    char name[64];
    begin();
    add_process(&recording, (struct process){.host = 1, .pid = SERVER, .run = .3, .receive = .7});
    for (int i = 0; i < CLIENTS; i++) {
        struct process client = {.host = 0, .pid = FIRST + i, .run = .01, .receive = .29};
        *(chosen ? &client.timer : &client.poll) = PAUSE;
        add_process(&recording, client);
        snprintf(name, sizeof name, "10.0.0.1:%d>10.0.0.2:6000", 5000 + i);
        add_socket(&recording, 0, name,
                   (struct socket){FIRST + i, .starved = .29, .process_starved = .29, .reads = 10});
        snprintf(name, sizeof name, "10.0.0.2:6000>10.0.0.1:%d", 5000 + i);
        add_socket(&recording, 1, name,
                   (struct socket){SERVER, .starved = .7 / CLIENTS, .process_starved = .7 / CLIENTS,
                                   .reads = 10});
    }
    judge();
}

/* More than a suspicion; NULL: none. */
static const struct candidate *sleep_found(void) {
    for (size_t i = 0; i < judged.candidates.n; i++)
        if (judged.candidates.items[i].kind == CAUSE_SLEEP && judged.candidates.items[i].saturated)
            return &judged.candidates.items[i];
    return NULL;
}

static void pauses_of_many_clients_add_up(void **state) {
    (void)state;
    judge_clients(true);
    const struct candidate *c = sleep_found();
    assert_non_null(c);
    assert_int_equal(c->host, 0);
    if (c->blocked < .3)
        fail_msg("%.3g", c->blocked);
    release();
}

/* Their waits end by something that is not known. */
static void events_that_many_clients_wait_for_do_not(void **state) {
    (void)state;
    judge_clients(false);
    assert_null(sleep_found());
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_of_many_clients_add_up),
        cmocka_unit_test(events_that_many_clients_wait_for_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
