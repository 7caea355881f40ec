/* SPDX-License-Identifier: MIT */
/* The text of an answer, which any host on the network may have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "agent/push/push_reply.h"
#include "common/error.h"

#define WHOLE "committed 7\nreceived_ns 100\nreplied_ns 200\nstop 0\n"

static void each_word_is_read_and_later_words_are_passed_over(void **state) {
    struct push_reply reply;
    (void)state;
    assert_int_equal(push_reply_parse(WHOLE, &reply), 0);
    assert_int_equal(reply.committed, 7);
    assert_int_equal(reply.received_ns, 100);
    assert_int_equal(reply.replied_ns, 200);
    assert_false(reply.stop);
    assert_int_equal(reply.echo_key, 0);
    assert_int_equal(push_reply_parse("later words of any kind\n\necho 5\n" WHOLE "stop 1", &reply),
                     0);
    assert_true(reply.stop);
    assert_int_equal(reply.echo_key, 5);
    assert_int_equal(reply.tables, 0);
    assert_int_equal(push_reply_parse(WHOLE "tables 9\n", &reply), 0);
    assert_int_equal(reply.tables, 9);
    assert_int_equal(reply.next_ns, 0);
    assert_int_equal(push_reply_parse(WHOLE "next_ns 600000000\n", &reply), 0);
    assert_int_equal(reply.next_ns, 600000000);
}

static void the_largest_number_is_that_of_a_time(void **state) {
    struct push_reply reply;
    (void)state;
    assert_int_equal(push_reply_parse(WHOLE "received_ns 9223372036854775807\n", &reply), 0);
    assert_int_equal(reply.received_ns, INT64_MAX);
}

/* The earlier values stay unchanged. */
static void an_answer_that_is_none_is_refused(void **state) {
    static const char *const bad[] = {"",
                                      "received_ns 1\nreplied_ns 2\nstop 0\n",
                                      "committed 1\nreplied_ns 2\nstop 0\n",
                                      "committed 1\nreceived_ns 1\nstop 0\n",
                                      "committed 1\nreceived_ns 1\nreplied_ns 2\n",
                                      WHOLE "committed\n",
                                      WHOLE "committed x\n",
                                      WHOLE "committed -1\n",
                                      WHOLE "committed 8 9\n",
                                      WHOLE "committed 9223372036854775808\n",
                                      WHOLE "received_ns 9223372036854775808\n",
                                      WHOLE "replied_ns 18446744073709551615\n",
                                      WHOLE "echo 18446744073709551616\n",
                                      WHOLE "tables 9223372036854775808\n",
                                      WHOLE "next_ns -1\n"};
    struct push_reply reply = {.committed = 3};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        if (push_reply_parse(bad[i], &reply) != -EBADMSG)
            fail_msg("taken: %s", bad[i]);
    assert_int_equal(reply.committed, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_word_is_read_and_later_words_are_passed_over),
        cmocka_unit_test(the_largest_number_is_that_of_a_time),
        cmocka_unit_test(an_answer_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
