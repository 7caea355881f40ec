/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint top` shows the last minute, a filtered picture, processes by program, and screens
 * below the usual size. Golden screens are tests/golden/top-*.txt; after an intended change
 * UPDATE_GOLDEN=1 writes them: read the difference.
 */
#include "tests/unit/planted_top.h"

#include "tests/unit/golden.h"

static void press(struct fixture *f, int key) {
    top_view_key(&f->view, &f->snapshot, key);
}

static void type(struct fixture *f, const char *letters) {
    for (; *letters; letters++)
        press(f, *letters);
}

/* ---- golden screens ---- */

/* Two hosts, the second of which has a GPU; seven processes, one of them not of the job. */
static void plant_screen(struct fixture *f) {
    static const char *const commands[] = {
        "train --fast", "train --fast", "train --fast",       "sh -c x",
        "train --fast", "loader /data", "redis-server *:6379"};
    static const char *const names[] = {"train", "train",  "train",       "sh",
                                        "train", "loader", "redis-server"};
    static struct live_values gpu_history;
    static struct live_gpu gpu = {.name = "gpu0",
                                  .model = "NVIDIA H200",
                                  .busy_pct = 99,
                                  .sm_pct = 87,
                                  .memory_used_gb = 1.3,
                                  .memory_gb = 151,
                                  .watts = 692,
                                  .watts_limit = 700,
                                  .cap = LIVE_CAP_POWER,
                                  .xid = -1};
    plant(f, 7);
    f->snapshot.n_hosts = f->snapshot.n_budgets = 2;
    f->snapshot.n_hosts_expected = 2;
    f->snapshot.n_silent = 0;
    plant_history(f);
    for (int s = 0; s < LIVE_HISTORY_S; s++)
        gpu_history.value[s] = s < 30 ? NAN : (float)(100 - s);
    gpu.history = &gpu_history;
    f->hosts[1].gpus = &gpu;
    f->hosts[1].n_gpus = 1;
    for (size_t i = 0; i < 7; i++) {
        f->processes[i].host = i % 2;
        f->processes[i].name = names[i];
        f->processes[i].command = commands[i];
        f->processes[i].job = i != 6;
        f->processes[i].rank = i < 3 || i == 4 ? (int)i : -1;
    }
}

/* The clock of the wall is no part of the picture. */
static void expect_screen(struct fixture *f, const char *name, size_t columns, size_t rows,
                          bool utf8) {
    char *text = strdup(draw(f, columns, rows, utf8)), path[64];
    for (char *at = text; *at; at++)
        if (at[0] >= '0' && at[0] <= '9' && strlen(at) >= 8 && at[2] == ':' && at[5] == ':')
            memcpy(at, "hh:mm:ss", 8);
    snprintf(path, sizeof path, "top-%s.txt", name);
    expect_golden(path, text);
    free(text);
}

static void screens_of_all_sizes_are_as_before(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    expect_screen(f, "usual", 80, 24, true);
    expect_screen(f, "ascii", 80, 24, false);
    expect_screen(f, "wide", 132, 43, true);
    expect_screen(f, "small", 60, 16, true);
    expect_screen(f, "smallest", 40, 10, true);
}

static void screens_of_one_host_are_as_before(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    press(f, '2');
    assert_int_equal(f->view.mode, TOP_HOST);
    expect_screen(f, "host", 80, 24, true);
    expect_screen(f, "host-smallest", 40, 10, true);
}

static void screens_of_programs_and_help_are_as_before(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    press(f, 'p');
    press(f, 't');
    expect_screen(f, "tree", 80, 24, true);
    press(f, 'h');
    expect_screen(f, "help", 80, 24, true);
    press(f, 'h');
    press(f, '/');
    type(f, "train");
    expect_screen(f, "filter", 80, 24, true);
}

/* ---- sizes ---- */

/* The sanitizer tells if anything is written beyond the canvas. */
static void every_size_is_drawn(void **state) {
    static const enum top_mode modes[] = {TOP_ALL, TOP_HOST, TOP_PROCESSES, TOP_HELP};
    struct fixture *f = *state;
    plant_screen(f);
    for (size_t rows = 1; rows < 30; rows++)
        for (size_t columns = 1; columns < 110; columns++) {
            f->view.mode = modes[(rows + columns) % ARRAY_SIZE(modes)];
            f->view.own = columns % 3 == 0;
            draw(f, columns, rows, true);
            if (rows < TOP_ROWS_MIN || columns < TOP_COLUMNS_MIN)
                continue;
            LACKS(f->text, "needs");
            if (f->view.mode == TOP_ALL)
                HAS(f->text, "vm1");
        }
    f->view.own = false;
    f->view.mode = TOP_ALL;
    HAS(draw(f, 39, 24, true), "needs 40 x 10, has 39 x 24");
    LACKS(f->text, "vm1");
    HAS(draw(f, 80, 9, true), "needs 40 x 10, has 80 x 9");
}

static void the_smallest_screen_has_what_matters_most(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    const char *text = draw(f, 40, 10, true);
    HAS(text, "planted");
    HAS(text, "limit   network of vm1");
    HAS(text, "!vm1");
    HAS(text, "train --fast");
    HAS(text, "q quit");
    LACKS(text, "=>"); /* pairs come last */
}

static void help_scrolls_where_it_does_not_fit(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    press(f, 'h');
    LACKS(draw(f, 40, 10, true), "NET IN/of");
    press(f, TOP_KEY_END);
    HAS(draw(f, 40, 10, true), "NET IN/of");
}

/* ---- the last minute ---- */

static void each_host_has_its_last_minute_where_there_is_room(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    HAS(draw(f, 80, 24, true), "60 s");
    HAS(f->text, "\xe2\x96\x88"); /* the core is full in the end */
    plant(f, 30);
    plant_history(f);
    LACKS(draw(f, 80, 24, true), "60 s");
    press(f, 'g'); /* wanted all the same: fewer hosts then */
    HAS(draw(f, 80, 24, true), "60 s");
    HAS(f->text, "vm0");
    press(f, 'g');
    LACKS(draw(f, 80, 24, true), "60 s");
}

/* One second of a burst is seen in a cell of many; what is not known stays blank, and idle is a
 * line. */
static void a_burst_is_not_averaged_away(void **state) {
    struct fixture *f = *state;
    struct live_values values;
    for (int s = 0; s < LIVE_HISTORY_S; s++)
        values.value[s] = s < 30 ? NAN : 0;
    values.value[31] = 100;
    canvas_init(&f->canvas, 1, 12, true);
    top_draw_history(&f->canvas, 0, 1, 6, ROLE_DISK, &values, 100);
    FILE *out = open_memstream(&f->text, &f->size);
    canvas_write(&f->canvas, 1, out);
    fclose(out);
    assert_string_equal(f->text, "    \xe2\x96\x88\xe2\x96\x81\xe2\x96\x81\n");
}

/* A rate is of its ceiling where that is known, and else no share is shown. */
static void without_a_ceiling_there_is_no_share(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    press(f, '2');
    const char *text = draw(f, 80, 24, true), *in = strstr(text, "net in");
    HAS(text, "net out [");
    assert_non_null(in);
    assert_null(memchr(in, '[', strcspn(in, "\n"))); /* no bar */
    assert_null(memchr(in, '%', strcspn(in, "\n")));
    HAS(in, "1.0 MB/s, peak 59 MB/s\n");
    f->view.own = true;
    f->view.mode = TOP_ALL;
    f->hosts[1].receive_ceiling_mb_s = 0;
    f->hosts[1].metrics[METRIC_NET_RECV] = 1e6;
    LACKS(draw(f, 80, 24, true), "network, receiving");
}

/* ---- what is shown ---- */

static void letters_leave_the_hosts_that_have_them(void **state) {
    struct fixture *f = *state;
    plant(f, 20);
    press(f, '/');
    type(f, "VM1");
    const char *text = draw(f, 120, 60, true);
    HAS(text, "/VM1_");      /* in the line of keys */
    HAS(text, "  /VM1  20"); /* and in the head */
    HAS(text, "vm19");
    LACKS(text, "vm2 ");
    LACKS(text, "vm0 ");
    press(f, '7'); /* a digit is a letter here */
    text = draw(f, 120, 60, true);
    HAS(text, "vm17");
    LACKS(text, "vm16");
    press(f, TOP_KEY_ENTER);
    HAS(draw(f, 120, 60, true), "q quit");
    LACKS(f->text, "vm16");
    press(f, TOP_KEY_ESCAPE);
    HAS(draw(f, 120, 60, true), "vm16");
    assert_false(f->view.quit);
}

static void other_letters_leave_processes(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    press(f, '/');
    type(f, "redis");
    const char *text = draw(f, 80, 24, true);
    HAS(text, "redis-server");
    LACKS(text, "train --fast");
    HAS(text, "vm0"); /* no host has the letters: all stay */
    press(f, TOP_KEY_ERASE);
    type(f, "q");
    LACKS(draw(f, 80, 24, true), "redis-server");
    assert_int_equal(f->view.mode, TOP_ALL);
    press(f, TOP_KEY_ESCAPE);
    HAS(draw(f, 80, 24, true), "train --fast");
}

static void processes_of_others_are_hidden_on_request(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    press(f, 'p');
    HAS(draw(f, 80, 24, true), "redis-server");
    press(f, 'j');
    LACKS(draw(f, 80, 24, true), "redis-server");
    HAS(f->text, "loader /data");
    HAS(f->text, "only the job");
    press(f, 'j');
    HAS(draw(f, 80, 24, true), "redis-server");
    press(f, 'j'); /* hosts that are watched have no job */
    f->view.own = true;
    HAS(draw(f, 80, 24, true), "redis-server");
}

/* Many small processes may be more than one large one. */
static void programs_are_in_the_order_of_their_sums(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    for (size_t i = 0; i < 7; i++)
        f->processes[i].cpu_pct = i == 3 ? 100 : 30; /* sh, and four of train */
    press(f, 'p');
    press(f, 't');
    const char *text = draw(f, 80, 24, true);
    assert_true(lines_before(text, "4 x train") < lines_before(text, "sh -c x"));
    assert_true(lines_before(text, "sh -c x") < lines_before(text, "loader"));
}

static void programs_are_the_sums_of_their_processes(void **state) {
    struct fixture *f = *state;
    plant_screen(f);
    press(f, 'p');
    press(f, 't');
    const char *text = draw(f, 80, 24, true);
    HAS(text, "4 x train");
    HAS(text, "  393 "); /* 100 + 99 + 98 + 96 % */
    HAS(text, "├─ train --fast");
    HAS(text, "└─ train --fast");
    LACKS(text, "─ redis-server"); /* alone, it needs no branch */
    HAS(draw(f, 80, 24, false), "`- train --fast");
    press(f, 't');
    text = draw(f, 80, 24, true);
    HAS(text, "4 x train");
    LACKS(text, "train --fast");
    HAS(text, "redis-server");
    press(f, 't');
    LACKS(draw(f, 80, 24, true), "4 x");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(screens_of_all_sizes_are_as_before),
        TEST(screens_of_one_host_are_as_before),
        TEST(screens_of_programs_and_help_are_as_before),
        TEST(every_size_is_drawn),
        TEST(the_smallest_screen_has_what_matters_most),
        TEST(help_scrolls_where_it_does_not_fit),
        TEST(each_host_has_its_last_minute_where_there_is_room),
        TEST(a_burst_is_not_averaged_away),
        TEST(without_a_ceiling_there_is_no_share),
        TEST(letters_leave_the_hosts_that_have_them),
        TEST(other_letters_leave_processes),
        TEST(processes_of_others_are_hidden_on_request),
        TEST(programs_are_in_the_order_of_their_sums),
        TEST(programs_are_the_sums_of_their_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
