/* SPDX-License-Identifier: MIT */
/* Words and figures of `chokepoint top` that might be cut off, unexplained or misleading. */
#include "tests/unit/planted_top.h"

#include "reports/text/budget_bars.h"

static const char *draw_detail(struct fixture *f) {
    strcpy(f->view.host, f->names[1]);
    f->view.mode = TOP_HOST;
    return draw(f, 80, 24, true);
}

static void help_fits_the_smallest_screen(void **state) {
    struct fixture *f = *state;
    plant(f, 3);
    f->view.mode = TOP_HELP;
    const char *text = draw(f, 80, 24, true);
    HAS(text, "red                   the limit");
    HAS(text, "\n NET IN/of  OUT/of");
    HAS(text, "\nq back");
    LACKS(text, LIMIT_WORDS);
    /* every letter of a bar is explained */
    for (int t = 0; t < BUDGET_TERMS; t++) {
        char first[8], next[8];
        snprintf(first, sizeof first, " %c ", budget_letter((enum budget_term)t));
        snprintf(next, sizeof next, ", %c ", budget_letter((enum budget_term)t));
        assert_true(strstr(text, first) || strstr(text, next));
    }
}

static void the_largest_terms_are_explained_where_not_all_can_be(void **state) {
    struct fixture *f = *state;
    static const double s[BUDGET_TERMS] = {
        [BUDGET_CPU] = 1,   [BUDGET_STOPPED] = 3,   [BUDGET_STEAL] = 2,
        [BUDGET_IDLE] = 20, [BUDGET_TRANSFER] = 10, [BUDGET_UNSPLIT] = 24};
    plant(f, 1);
    memcpy(f->budgets[0].term_s, s, sizeof s);
    const char *text = draw(f, 80, 24, true);
    HAS(text, "i asleep or blocked  t transfer  u in MPI, not known why\n");
    LACKS(text, "X stopped");
    text = draw(f, 200, 24, true);
    HAS(text, "X stopped");
    HAS(text, "C computing");
}

static void processes_without_ranks_are_not_called_ranks(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    HAS(draw(f, 80, 24, true), "RANKS SO FAR  C computing");
    for (size_t i = 0; i < 2; i++) {
        f->budgets[i].rank = -1;
        f->budgets[i].process = "redis-server";
    }
    const char *text = draw(f, 80, 24, true);
    HAS(text, "PROCESSES SO FAR  C computing");
    LACKS(text, "RANKS");
    f->snapshot.state = LIVE_ENDED;
    HAS(draw(f, 80, 24, true), "PROCESSES  C computing");
}

static void a_process_that_lived_for_a_moment_comes_last(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"curl[9]", "server", "launcher"};
    plant(f, 3);
    for (size_t i = 0; i < 3; i++) {
        f->budgets[i] = (struct live_budget){
            .host = 0, .rank = -1, .process = names[i], .wall_s = i ? 60 : 0.1};
        f->budgets[i].term_s[BUDGET_IDLE] = i == 2 ? 54 : 0;
        f->budgets[i].term_s[BUDGET_CPU] = i == 0 ? 0.1 : i == 1 ? 60 : 6;
    }
    const char *text = draw(f, 120, 40, true);
    assert_true(lines_before(text, "server vm0") < lines_before(text, "launcher vm0"));
    assert_true(lines_before(text, "launcher vm0") < lines_before(text, "curl[9] vm0"));
    f->snapshot.n_hosts = f->snapshot.n_processes = 1;
    LACKS(draw(f, 120, 40, true), "server vm0");
    f->snapshot.n_hosts = 3;
    f->budgets[2].rank = 0;
    text = draw(f, 120, 40, true);
    assert_true(lines_before(text, "rank 0 vm0") < lines_before(text, "server vm0"));
}

static void tasks_of_a_host_are_not_cut_off(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    f->hosts[1].uptime_s = 40000;
    for (int t = 0; t < LIVE_TASKS; t++)
        f->hosts[1].tasks[t] = 1000000 + t;
    HAS(draw_detail(f), "1000000 running, 1000001 sleeping\n");
    memset(f->hosts[1].tasks, 0, sizeof f->hosts[1].tasks);
    f->hosts[1].tasks[LIVE_TASK_ZOMBIE] = 3;
    HAS(draw_detail(f), "0 running, 0 sleeping, 3 zombie\n");
}

static void rates_of_a_host_have_their_units(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    f->hosts[1].receive_ceiling_mb_s = 1250;
    f->hosts[1].metrics[METRIC_DISK_BUSY] = NAN;
    const char *text = draw_detail(f);
    HAS(text, "1.0 MB/s of 1.2 GB/s\n");
    HAS(text, "1.0 MB/s of 125 MB/s\n");
    HAS(text, "r 1.0 MB/s, w 1.0 MB/s\n");
    LACKS(text, "% busy");
}

static void the_bar_of_a_pair_is_of_what_its_link_carries(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    const char *text = draw(f, 120, 40, true), *line = strstr(text, "192.0.2.9");
    HAS(text, "OF THE LINK");
    assert_non_null(line);
    size_t bars = 0;
    for (; *line != '\n'; line++)
        bars += *line == '|';
    assert_in_range(bars, 3, 5); /* 12.5 MB/s of 125 in 40 cells */
    f->hosts[0].send_ceiling_mb_s = NAN;
    line = strstr(draw(f, 120, 40, true), "192.0.2.9");
    assert_true(strchr(line, '|') == NULL || strchr(line, '|') > strchr(line, '\n'));
}

static void a_program_is_shown_without_its_folders(void **state) {
    struct fixture *f = *state;
    plant(f, 3);
    f->processes[0].command = "/opt/programs/of/somebody/solver --grid /data/grid";
    f->processes[1].command = "/";
    f->processes[2].command = NULL;
    f->processes[2].name = "a/b";
    const char *text = draw(f, 120, 40, true);
    HAS(text, "  solver --grid /data/grid\n");
    HAS(text, "  a/b\n");
}

static void a_command_wider_than_the_screen_is_broken(void **state) {
    struct fixture *f = *state;
    plant(f, 2);
    f->snapshot.limit.action = "`/opt/programs/of/somebody/chokepoint calibrate --only net --db "
                               "/a/long/way/to/recordings.db` tells what the link can carry";
    const char *text = draw(f, 80, 30, true);
    HAS(text, "/a/long/way/to/recordings.db`");
    HAS(text, "can carry");
    char path[400] = "`/";
    memset(path + 2, 'x', 150);
    strcpy(path + 152, "/end` tells it");
    f->snapshot.limit.action = path;
    HAS(draw(f, 80, 30, true), "x/end` tells it");
}

/* Two GPUs of vm1 that tell all, and two of vm2: one tells little, one is lost. */
static void plant_gpus(struct fixture *f) {
    static struct live_gpu first[] = {{.name = "gpu0",
                                       .model = "NVIDIA H200",
                                       .busy_pct = 99,
                                       .sm_pct = 87,
                                       .memory_used_gb = 1.3,
                                       .memory_gb = 151,
                                       .watts = 692,
                                       .watts_limit = 700,
                                       .cap = LIVE_CAP_POWER,
                                       .xid = -1},
                                      {.name = "gpu1",
                                       .model = "NVIDIA H200",
                                       .memory_used_gb = 1,
                                       .memory_gb = 151,
                                       .watts = 70,
                                       .watts_limit = 700,
                                       .cap = LIVE_CAP_NONE,
                                       .xid = -1}},
                           second[] = {{.name = "gpu0",
                                        .model = "GRID T4",
                                        .busy_pct = 32,
                                        .sm_pct = NAN,
                                        .memory_used_gb = NAN,
                                        .memory_gb = NAN,
                                        .watts = NAN,
                                        .watts_limit = NAN,
                                        .xid = -1},
                                       {.name = "gpu1", .model = "", .lost = true, .xid = 79}};
    plant(f, 3);
    f->hosts[1].gpus = first;
    f->hosts[2].gpus = second;
    f->hosts[1].n_gpus = f->hosts[2].n_gpus = 2;
}

/* Unknown figures are dashes and no zeros. */
static void a_gpu_has_a_line(void **state) {
    struct fixture *f = *state;
    plant_gpus(f);
    f->snapshot.n_budgets = 0;
    const char *text = draw(f, 80, 24, true);
    HAS(text, "SM% BUSY%");
    HAS(text, "vm1 gpu0 H200      87    99");
    HAS(text, "1.3G/151G    692/700  power");
    HAS(text, "70/700  none");
    HAS(text, "vm2 gpu0 GRID T4    -    32  ");
    HAS(text, "          -          -  -\n");
    HAS(text, "vm2 gpu1           lost: it does not answer any more (Xid 79)");
    assert_int_equal(role_of(f, "87"), ROLE_GPU);
    LACKS(draw_detail(f), "vm2 gpu0");
    HAS(f->text, "\n gpu0 H200");
}

/* Where not all fit, the head says how many do. A host without any has no such head. */
static void gpus_that_do_not_fit_are_counted(void **state) {
    struct fixture *f = *state;
    plant_gpus(f);
    HAS(draw(f, 80, 24, true), " of 4) ");
    HAS(draw(f, 140, 50, true), "\n GPU  ");
    strcpy(f->view.host, "vm0");
    f->view.mode = TOP_HOST;
    LACKS(draw(f, 80, 24, true), "GPU");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(help_fits_the_smallest_screen, setup, teardown),
        cmocka_unit_test_setup_teardown(the_largest_terms_are_explained_where_not_all_can_be, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(processes_without_ranks_are_not_called_ranks, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_process_that_lived_for_a_moment_comes_last, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_gpu_has_a_line, setup, teardown),
        cmocka_unit_test_setup_teardown(gpus_that_do_not_fit_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(tasks_of_a_host_are_not_cut_off, setup, teardown),
        cmocka_unit_test_setup_teardown(rates_of_a_host_have_their_units, setup, teardown),
        cmocka_unit_test_setup_teardown(the_bar_of_a_pair_is_of_what_its_link_carries, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_program_is_shown_without_its_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(a_command_wider_than_the_screen_is_broken, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
