/* SPDX-License-Identifier: MIT */
/* The screens of `chokepoint top` without a terminal: planted pictures in several sizes, keys, and
 * hostile names.
 */
#include "tests/unit/planted_top.h"

/* ---- what is shown ---- */

static void every_size_has_all_sections(void **state) {
    static const size_t sizes[][2] = {{80, 24}, {120, 40}, {200, 60}, {300, 100}};
    struct fixture *f = *state;
    plant(f, 20);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        const char *text = draw(f, sizes[i][0], sizes[i][1], true);
        HAS(text, "run 7 planted");
        HAS(text, "20 hosts, 2 silent");
        HAS(text, "limit   network of vm1, sending:");
        HAS(text, "worth   a link twice as fast: -45 % run time\n");
        HAS(text, "do      raise eth0's rate on vm1\n");
        HAS(text, "so far (3:15 min), confidence 93 %");
        HAS(text, "vm2");
        HAS(text, "2.0/125");
        HAS(text, "RANKS SO FAR");
        HAS(text, "CCCCC");
        HAS(text, "train --fast");
        HAS(text, "192.0.2.9");
        HAS(text, "1.2G");
        HAS(text, "q quit");
    }
}

static void without_utf8_all_is_ascii(void **state) {
    struct fixture *f = *state;
    plant(f, 3);
    f->hosts[1].name = "b\xc3\xbcro";
    HAS(draw(f, 80, 24, true), "b\xc3\xbcro");
    HAS(draw(f, 80, 24, true), "\xe2\x96\x88"); /* a full core */
    const char *text = draw(f, 80, 24, false);
    for (size_t i = 0; text[i]; i++)
        assert_true(text[i] == '\n' || (text[i] >= ' ' && text[i] < 127));
    HAS(text, "b?ro");
    HAS(text, ".9..");
}

static void names_that_mean_harm_show_as_question_marks(void **state) {
    struct fixture *f = *state;
    plant(f, 3);
    f->hosts[0].name = "a\033[31mb\xe2\x80\xae";
    f->processes[0].command = "rm\n\r\t\x9b"
                              "2J\xff";
    f->pair.peer_name = "\xef\xbb\xbf\x7f";
    f->snapshot.run_name = "\033]0;x\007";
    const char *text = draw(f, 120, 40, true);
    for (size_t i = 0; text[i]; i++)
        assert_true(text[i] == '\n' || (unsigned char)text[i] >= ' ');
    LACKS(text, "\xe2\x80\xae");
    LACKS(text, "\x7f");
    HAS(text, "a?[31mb?");
}

static void wide_characters_keep_the_columns(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    f->hosts[0].name =
        "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad";
    draw(f, 80, 24, true);
    size_t first = lines_before(f->text, "\xe4\xb8\xad"), memory[2] = {0};
    for (size_t i = 0; i < 2; i++)
        for (size_t c = 0; c < 80; c++) /* the last value, at the right */
            if (f->canvas.cells[(first + i) * 80 + c].role == ROLE_MEMORY)
                memory[i] = c;
    assert_true(memory[0] > 20 && memory[0] == memory[1]);
}

static void a_silent_host_shows_for_how_long(void **state) {
    struct fixture *f = *state;
    plant(f, 100);
    f->view.sort = TOP_BY_CPU;
    const char *text = draw(f, 120, 420, true);
    HAS(text, "100 hosts, 10 silent");
    HAS(text, "silent for 12 s");
    const char *first = strstr(text, "vm98"), *silent = strstr(text, "vm99");
    assert_true(first && silent && first < silent); /* old figures come last */
}

static void only_the_limit_is_red(void **state) {
    struct fixture *f = *state;
    plant(f, 5);
    draw(f, 120, 40, true);
    assert_int_equal(role_of(f, "network of vm1"), ROLE_LIMIT);
    assert_int_equal(role_of(f, "!vm1"), ROLE_LIMIT);
    assert_int_equal(role_of(f, "vm2 "), ROLE_BOLD);
    assert_int_equal(role_of(f, "CCCC"), ROLE_COMPUTING);
    assert_int_equal(role_of(f, "wwww"), ROLE_PEER_WAIT);
    for (size_t i = 0; i < f->canvas.rows * f->canvas.columns; i++)
        if (f->canvas.cells[i].role == ROLE_LIMIT)
            assert_true(i / f->canvas.columns == 1 || i / f->canvas.columns == 6);
}

/* Long words take the spare lines of a tall screen; a short screen cuts them visibly. */
static void the_head_is_whole_where_there_is_room(void **state) {
    struct fixture *f = *state;
    plant(f, 20);
    f->snapshot.limit.words =
        "not known. Twenty hosts wait for something that none of the counters of this recording "
        "shows, and which three lines of an ordinary terminal are not enough to describe to you.";
    f->snapshot.limit.action =
        "look at what the ranks wait for with `strace -f`, or record the connections of the job "
        "with the option --flows so that the next run tells more than this one has told us.";
    const char *text = draw(f, 80, 60, true);
    HAS(text, "describe to you.");
    HAS(text, "has told us.");
    assert_int_equal(lines_before(text, "worth   a link"), 4);
    text = draw(f, 80, 24, true);
    HAS(text, " ...");
    HAS(text, "do      look at");
    LACKS(text, "has told us.");
    assert_int_equal(lines_before(text, " HOST"), 6);
    HAS(text, "192.0.2.9");
}

static void a_run_not_judged_yet_says_so_once(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    f->snapshot.limit = live_limit_unknown();
    const char *text = draw(f, 80, 24, true);
    HAS(text, "limit   not judged yet\n");
    LACKS(text, "worth");
    f->snapshot.limit.known = f->snapshot.limit.too_short = true;
    f->snapshot.limit.words = "2.1 s is too short.";
    text = draw(f, 80, 24, true);
    HAS(text, "limit   too early to say");
    LACKS(text, "too short");
    f->snapshot.limit.final = true;
    HAS(draw(f, 80, 24, true), "limit   2.1 s is too short.\n");
}

static void an_ended_run_says_how(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    f->snapshot.state = LIVE_ENDED;
    f->snapshot.end = "failed";
    f->snapshot.exit_status = 3;
    f->snapshot.limit.final = true;
    const char *text = draw(f, 120, 40, true);
    HAS(text, "ended after 3:20 min: failed, exit status 3");
    LACKS(text, "so far (");
    HAS(text, "limit   network of vm1");
}

static void hosts_nobody_records_have_no_limit(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    f->view.own = true;
    f->hosts[1].metrics[METRIC_NET_SEND] = 124;
    const char *text = draw(f, 120, 40, true);
    HAS(text, "network, sending of vm1, at 99 %");
    LACKS(text, "confidence");
    LACKS(text, "RANKS");
}

/* ---- keys ---- */

static void press(struct fixture *f, int key) {
    top_view_key(&f->view, &f->snapshot, key);
}

static void keys_sort_hosts_and_processes(void **state) {
    struct fixture *f = *state;
    plant(f, 9);
    press(f, 'P');
    size_t shown, *order = top_hosts_in_order(&f->view, &f->snapshot, &shown);
    assert_int_equal(order[0], 8);
    free(order);
    press(f, 'R');
    order = top_hosts_in_order(&f->view, &f->snapshot, &shown);
    assert_int_equal(order[0], 0);
    free(order);
    press(f, 'R');
    press(f, '>');
    assert_int_equal(f->view.sort, TOP_BY_MEMORY);
    size_t n;
    struct top_process *busiest = top_processes_in_order(&f->view, &f->snapshot, -1, &n);
    assert_int_equal(n, 9);
    assert_int_equal(busiest[0].process.host, 8);
    free(busiest);
    press(f, 'N');
    assert_int_equal(f->view.sort, TOP_BY_NETWORK);
    press(f, '>');
    assert_int_equal(f->view.sort, TOP_BY_NAME);
    press(f, '<');
    assert_int_equal(f->view.sort, TOP_BY_NETWORK);
}

static void a_number_or_enter_opens_a_host(void **state) {
    struct fixture *f = *state;
    plant(f, 9);
    press(f, '3');
    assert_int_equal(f->view.mode, TOP_HOST);
    assert_string_equal(f->view.host, "vm2");
    HAS(draw(f, 80, 24, true), "pressure");
    press(f, 'q');
    assert_int_equal(f->view.mode, TOP_ALL);
    press(f, TOP_KEY_DOWN);
    press(f, TOP_KEY_ENTER);
    assert_string_equal(f->view.host, "vm3");
    assert_int_equal(f->view.mode, TOP_HOST);
    plant(f, 20);
    press(f, '1');
    assert_int_equal(f->view.mode, TOP_ALL); /* it may become 12 */
    press(f, '2');
    press(f, TOP_KEY_ENTER);
    assert_string_equal(f->view.host, "vm11");
    press(f, TOP_KEY_ESCAPE);
    press(f, '9');
    press(f, '9');
    press(f, TOP_KEY_ENTER);
    assert_int_equal(f->view.mode, TOP_ALL); /* there is no such host */
}

static void the_marked_host_stays_marked_when_the_order_changes(void **state) {
    struct fixture *f = *state;
    plant(f, 9);
    press(f, TOP_KEY_END);
    assert_string_equal(f->view.host, "vm8");
    press(f, 'P');
    press(f, TOP_KEY_ENTER);
    assert_string_equal(f->view.host, "vm8");
}

static void a_long_list_scrolls_to_its_end_and_not_beyond(void **state) {
    struct fixture *f = *state;
    plant(f, 60);
    press(f, 'p');
    HAS(draw(f, 80, 24, true), "1000");
    LACKS(draw(f, 80, 24, true), "1059");
    press(f, TOP_KEY_END);
    HAS(draw(f, 80, 24, true), "1059");
    size_t end = f->view.scroll;
    press(f, TOP_KEY_UP);
    draw(f, 80, 24, true);
    assert_int_equal(f->view.scroll, end - 1);
    press(f, TOP_KEY_HOME);
    HAS(draw(f, 80, 24, true), "1000");
    plant(f, 60);
    press(f, TOP_KEY_PAGE_DOWN);
    for (int i = 0; i < 20; i++) {
        draw(f, 80, 24, true);
        press(f, TOP_KEY_PAGE_DOWN);
    }
    assert_string_equal(f->view.host, "vm59");
    HAS(draw(f, 80, 24, true), "vm59"); /* the marked one is visible */
}

static void a_delay_is_typed_and_bounded(void **state) {
    struct fixture *f = *state;
    plant(f, 3);
    press(f, 'd');
    press(f, '2');
    press(f, '.');
    press(f, '5');
    HAS(draw(f, 80, 24, true), "2.5_");
    press(f, TOP_KEY_ENTER);
    assert_true(f->view.delay_s == 2.5);
    press(f, 'd');
    press(f, '0');
    press(f, TOP_KEY_ENTER);
    assert_true(f->view.delay_s == 2.5);
    press(f, 'd');
    press(f, '9');
    press(f, TOP_KEY_ESCAPE);
    assert_true(f->view.delay_s == 2.5 && !f->view.asks_delay && !f->view.quit);
    press(f, ' ');
    assert_true(f->view.paused);
    HAS(draw(f, 80, 24, true), "Paused");
}

static void q_leaves_help_first(void **state) {
    struct fixture *f = *state;
    plant(f, 3);
    press(f, 'h');
    HAS(draw(f, 80, 24, true), "amber");
    press(f, 'q');
    assert_false(f->view.quit);
    press(f, 'q');
    assert_true(f->view.quit);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_size_has_all_sections),
        TEST(without_utf8_all_is_ascii),
        TEST(names_that_mean_harm_show_as_question_marks),
        TEST(wide_characters_keep_the_columns),
        TEST(a_silent_host_shows_for_how_long),
        TEST(only_the_limit_is_red),
        TEST(the_head_is_whole_where_there_is_room),
        TEST(a_run_not_judged_yet_says_so_once),
        TEST(an_ended_run_says_how),
        TEST(hosts_nobody_records_have_no_limit),
        TEST(keys_sort_hosts_and_processes),
        TEST(a_number_or_enter_opens_a_host),
        TEST(the_marked_host_stays_marked_when_the_order_changes),
        TEST(a_long_list_scrolls_to_its_end_and_not_beyond),
        TEST(a_delay_is_typed_and_bounded),
        TEST(q_leaves_help_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
