/* SPDX-License-Identifier: MIT */
/* The live model: planted figures of a run that is being recorded, of one that has ended, of hosts
 * that fall silent, and of a file that is removed.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/error.h"
#include "reports/live/live.h"
#include "reports/live/live_private.h"
#include "tests/unit/recorded_run.h"

#define NEAR(a, b) assert_true(fabs((double)(a) - (b)) < 1e-3 * fmax(1, fabs((double)(b))))

struct fixture {
    char directory[64], path[96], why[200];
    struct store *store;
    struct live *live;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->directory, sizeof f->directory, "/tmp/chokepoint-live-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/test.db", f->directory);
    assert_int_equal(store_open_write(f->path, &f->store, f->why, sizeof f->why), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    if (f->live) /* its thread may still be about to open the file */
        live_judge_now(f->live);
    live_close(f->live);
    store_close(f->store);
    unlink(f->path);
    assert_int_equal(rmdir(f->directory), 0);
    free(f);
    return 0;
}

static const struct live_snapshot *open_and_poll(struct fixture *f) {
    assert_int_equal(
        live_open(f->path, "last", &(struct caller){0}, &f->live, f->why, sizeof f->why), 0);
    assert_int_equal(live_poll(f->live), 1);
    return live_look(f->live);
}

/* ---- a run that has ended ---- */

static void record_ended(struct fixture *f) {
    static const char *const hosts[] = {"vm10", "vm2", "vm1"};
    const struct recorded_run run = {.name = "planned",
                                     .command = "train --fast",
                                     .hosts = hosts,
                                     .n_hosts = 3,
                                     .duration_s = 20,
                                     .send_mb_s = 100};
    const struct store_ceiling measured = recorded_ceiling("vm10", NULL, "net_egress", 100);
    assert_int_equal(record_run(f->store, &run), 0);
    assert_int_equal(store_ceilings_add(f->store, &measured, 1), 0);
}

static void figures_are_those_of_the_last_second(void **state) {
    struct fixture *f = *state;
    record_ended(f);
    const struct live_snapshot *s = open_and_poll(f);
    const struct live_host *server = &s->hosts[2], *worker = &s->hosts[0];
    assert_int_equal(s->n_hosts, 3);
    assert_string_equal(worker->name, "vm1"); /* vm2 before vm10 */
    assert_string_equal(server->name, "vm10");
    assert_int_equal(server->n_cores, 2);
    NEAR(server->cpu_pct, 15);
    NEAR(server->core_pct[0], 30);
    NEAR(server->core_pct[1], 0);
    NEAR(server->metrics[METRIC_CPU_CORE_MAX], 30);
    NEAR(server->metrics[METRIC_NET_SEND], 50);
    NEAR(worker->metrics[METRIC_NET_RECV], 25);
    NEAR(worker->metrics[METRIC_DISK_WRITE], 0.5);
    NEAR(worker->metrics[METRIC_MEM_USED], 2);
    NEAR(worker->memory_gb, 8);
    assert_true(isnan(worker->load[0]) && worker->tasks[LIVE_TASK_RUNNING] == -1);
    assert_int_equal(s->n_processes, 3);
    assert_string_equal(s->processes[0].name, "train"); /* the busiest first */
    assert_int_equal(s->processes[0].host, 2);
    assert_int_equal(s->processes[0].pid, 1000);
    NEAR(s->processes[0].cpu_pct, 30);
    assert_true(s->processes[0].job);
}

/* The speed of a virtual interface is a constant of its driver: no rate is held against it. */
static void a_nominal_speed_is_no_ceiling(void **state) {
    struct fixture *f = *state;
    recorded_speed = 1250000000;
    record_ended(f);
    recorded_speed = VALUE_ABSENT;
    const struct live_snapshot *s = open_and_poll(f);
    assert_int_equal(live_judge_now(f->live), 1);
    assert_int_equal(live_poll(f->live), 0);
    assert_true(isnan(s->hosts[0].send_ceiling_mb_s));
    assert_true(isnan(s->hosts[0].receive_ceiling_mb_s));
}

static void an_ended_run_stays_as_it_ended(void **state) {
    struct fixture *f = *state;
    record_ended(f);
    const struct live_snapshot *s = open_and_poll(f);
    assert_int_equal(s->state, LIVE_ENDED);
    assert_string_equal(s->end, "done");
    assert_int_equal(s->exit_status, 0);
    NEAR(s->elapsed_s, 20);
    assert_int_equal(s->n_silent, 0);
    assert_int_equal(live_judge_now(f->live), 1);
    assert_int_equal(live_poll(f->live), 0);
    assert_true(s->limit.known && s->limit.final && !s->limit.too_short);
    assert_int_equal(s->limit.host, 2);
    assert_string_equal(s->limit.what, "vm10's network (sending)");
    assert_non_null(strstr(s->limit.words, "network of vm10, sending"));
    NEAR(s->hosts[2].send_ceiling_mb_s, 100); /* as measured: the interface has no speed */
    assert_string_not_equal(s->limit.worth, "");
    assert_string_not_equal(s->limit.action, "");
    assert_null(strstr(s->limit.action, "{run}"));
    assert_int_equal(s->n_budgets, 3);
    NEAR(s->budgets[0].wall_s, 20);
    NEAR(s->budgets[0].term_s[BUDGET_CPU], 6);
}

/* ---- a run that goes on ---- */

#define SECONDS(s) ((int64_t)((s)*1e9))

struct going {
    struct store *store;
    struct recorded_table tables[RECORDING_COUNT_];
    int64_t run, streams[4], start_mono_ns, start_wall_ns;
};

/* Its command started `age_s` ago. */
static void begin_run(struct going *g, struct store *store, double age_s, size_t n_hosts) {
    *g = (struct going){.store = store,
                        .start_mono_ns = SECONDS(5000),
                        .start_wall_ns = clock_wall_ns() - SECONDS(age_s)};
    struct run_begin begin = {.name = "going",
                              .command = "go",
                              .wall_ns = g->start_wall_ns,
                              .mono_ns = g->start_mono_ns,
                              .period_ns = SECONDS(0.1),
                              .n_hosts_expected = 4};
    assert_int_equal(store_run_begin(store, &begin, &g->run), 0);
    assert_int_equal(store_begin(store), 0);
    for (size_t h = 0; h < n_hosts; h++) {
        struct wire_stream stream = {.stream_id = 100 + h, .period_ns = SECONDS(0.1)};
        int64_t host;
        snprintf(stream.host, sizeof stream.host, "vm%zu", h);
        snprintf(stream.boot_id, sizeof stream.boot_id, "11111111-1111-1111-1111-11111111111%zu",
                 h % 10);
        assert_int_equal(store_stream(store, g->run, &stream, &host, &g->streams[h]), 0);
    }
    for (int t = 0; t < RECORDING_COUNT_; t++)
        if (t == RECORDING_CPU || t == RECORDING_CONNECTION || t == RECORDING_LOAD)
            assert_int_equal(recorded_describe(store, (enum recording_table)t, &g->tables[t]), 0);
    assert_int_equal(store_commit(store), 0);
}

static void put_row(struct going *g, enum recording_table t, const char *name,
                    const int64_t *values) {
    assert_int_equal(recorded_row(g->store, g->tables[t].id, &g->tables[t].table, name, values), 0);
}

/* One commit of a host, from one time of the run to another, in which its core is busy by a share
 * and a connection to another host carries that rate.
 */
static void push(struct going *g, size_t host, double from_s, double to_s, double busy,
                 double mb_s) {
    static double used[4], sent[4];
    assert_int_equal(store_begin(g->store), 0);
    if (from_s == 0)
        used[host] = sent[host] = 0;
    for (int i = (int)(from_s * 10 + 0.5); i <= (int)(to_s * 10 + 0.5); i++) {
        int64_t t = SECONDS(i / 10.0), connection[RECORDING_COLUMNS_MAX], load[10];
        struct frame_head head = {.seq = (uint64_t)i + 1,
                                  .mono_ns = g->start_mono_ns + t,
                                  .wall_ns = g->start_wall_ns + t};
        const struct clock_estimate exchange = {head.mono_ns, 0, 50000};
        assert_int_equal(store_frame(g->store, g->streams[host], &head), 0);
        assert_int_equal(store_clock(g->store, g->streams[host], &exchange), 0);
        used[host] += busy * 0.1;
        sent[host] += mb_s * 1e5;
        put_row(g, RECORDING_CPU, "cpu0",
                (int64_t[]){SECONDS(used[host]), 0, 0, t - SECONDS(used[host]), 0, 0, 0, 0,
                            VALUE_ABSENT});
        for (size_t c = 0; c < RECORDING_COLUMNS_MAX; c++)
            connection[c] = 0;
        connection[CONNECTION_SEND_BYTES] = (int64_t)sent[host];
        connection[CONNECTION_RECEIVE_BYTES] = 2 * (int64_t)sent[host];
        put_row(g, RECORDING_CONNECTION,
                host == 0   ? "10.0.0.1:1>10.0.0.2:2"
                : host == 1 ? "10.0.0.2:2>10.0.0.1:1"
                            : "10.0.0.3:5>192.0.2.9:6",
                connection);
        for (size_t c = 0; c < 10; c++)
            load[c] = c < 3 ? SECONDS(1.5) : (int64_t)c;
        put_row(g, RECORDING_LOAD, "host", load);
    }
    assert_int_equal(store_commit(g->store), 0);
}

static void each_poll_shows_what_came_since(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 3, 1);
    push(&g, 0, 0, 2, 0.5, 0);
    const struct live_snapshot *s = open_and_poll(f);
    assert_int_equal(s->state, LIVE_RUNNING);
    NEAR(s->hosts[0].cpu_pct, 50);
    NEAR(s->hosts[0].load[2], 1.5);
    assert_int_equal(s->hosts[0].tasks[LIVE_TASK_RUNNING], LOAD_RUNNING);
    push(&g, 0, 2.1, 3.1, 0.9, 0);
    assert_int_equal(live_poll(f->live), 1);
    NEAR(live_look(f->live)->hosts[0].cpu_pct, 90);
    NEAR(live_look(f->live)->hosts[0].seen_s, 3.1);
    store_run_end(f->store, g.run, RUN_FAILED, 3, g.start_wall_ns + SECONDS(3.1),
                  g.start_mono_ns + SECONDS(3.1));
    assert_int_equal(live_poll(f->live), 1);
    assert_int_equal(live_look(f->live)->state, LIVE_ENDED);
    assert_int_equal(live_look(f->live)->exit_status, 3);
    NEAR(live_look(f->live)->hosts[0].cpu_pct, 90);
}

/* Each second is kept once, whatever the pushes were, for a minute. */
static void the_last_minute_is_kept_by_seconds(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 8.5, 1);
    push(&g, 0, 0, 2, 0.5, 0);
    const struct live_snapshot *s = open_and_poll(f);
    push(&g, 0, 2.1, 4.5, 0.9, 0);
    assert_int_equal(live_poll(f->live), 1);
    push(&g, 0, 4.6, 8, 0.1, 0);
    assert_int_equal(live_poll(f->live), 1);
    const float *core = s->hosts[0].history[LIVE_TRACE_CORE].value;
    const double busy[] = {50, 90, 90, 50, 10, 10, 10}; /* the fifth is half and half */
    for (size_t i = 0; i < ARRAY_SIZE(busy); i++)
        assert_true(fabs((double)core[LIVE_HISTORY_S - ARRAY_SIZE(busy) + i] - busy[i]) < 3);
    for (size_t i = 0; i < LIVE_HISTORY_S - 8; i++) /* before the run nothing is known */
        assert_true(isnan(core[i]));
    for (int i = 9; i < 100; i++)
        push(&g, 0, i - 0.9, i, i < 60 ? 0.2 : 0.7, 0);
    assert_int_equal(live_poll(f->live), 1);
    core = live_look(f->live)->hosts[0].history[LIVE_TRACE_CPU].value;
    assert_true(fabs((double)core[LIVE_HISTORY_S - 1] - 70) < 3);
}

/* A view that begins late has the minute before it, as soon as the run has been judged. */
static void the_minute_before_the_view_comes_from_the_judge(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 50.5, 1);
    for (int i = 1; i <= 50; i++)
        push(&g, 0, i == 1 ? 0 : i - 0.9, i, i <= 20 ? 0.8 : 0.3, 0);
    open_and_poll(f);
    const float *cpu = live_look(f->live)->hosts[0].history[LIVE_TRACE_CPU].value;
    assert_true(isnan(cpu[LIVE_HISTORY_S - 45]));
    assert_true(fabs((double)cpu[LIVE_HISTORY_S - 1] - 30) < 3);
    assert_int_equal(live_judge_now(f->live), 1);
    cpu = live_look(f->live)->hosts[0].history[LIVE_TRACE_CPU].value;
    assert_true(fabs((double)cpu[LIVE_HISTORY_S - 45] - 80) < 3);
    assert_true(fabs((double)cpu[LIVE_HISTORY_S - 25] - 30) < 3);
    assert_true(isnan(cpu[LIVE_HISTORY_S - 55]));
}

/* A moment is as a view then had it, whether the run goes on or not. */
static void a_moment_of_the_past_is_as_it_was(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 50.5, 2);
    for (int i = 1; i <= 50; i++) {
        push(&g, 0, i == 1 ? 0 : i - 0.9, i, i <= 20 ? 0.8 : 0.3, i <= 20 ? 5 : 0);
        if (i <= 8) /* silent since, for more than five seconds */
            push(&g, 1, i == 1 ? 0 : i - 0.9, i, 0.5, 0);
    }
    assert_int_equal(
        live_open_at(f->path, "last", 15, &(struct caller){0}, &f->live, f->why, sizeof f->why), 0);
    assert_int_equal(live_poll(f->live), 1);
    const struct live_snapshot *s = live_look(f->live);
    NEAR(s->at_s, 15);
    NEAR(s->elapsed_s, 15);
    assert_int_equal(s->state, LIVE_RUNNING);
    assert_int_equal(s->n_hosts, 2);
    assert_true(fabs(s->hosts[0].cpu_pct - 80) < 3);
    assert_true(s->hosts[0].seen_s > 13 && s->hosts[0].seen_s < 15.01);
    assert_true(s->hosts[0].silent_s == 0 && s->hosts[1].silent_s > 4);
    assert_true(s->n_pairs == 1 && fabs(s->pairs[0].send_mb_s - 5) < 0.5);
    assert_false(s->limit.known);
    assert_int_equal(live_poll(f->live), 0); /* it does not change any more */
    assert_int_equal(live_judge_now(f->live), 1);
    assert_true(fabs(live_look(f->live)->hosts[0].cpu_pct - 80) < 3);
}

static void the_whole_run_shows_when_something_was_full(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 50.5, 2);
    for (int i = 1; i <= 50; i++) {
        push(&g, 0, i == 1 ? 0 : i - 0.9, i, i <= 20 ? 1 : 0.25, 0);
        push(&g, 1, i == 1 ? 0 : i - 0.9, i, 0.5, 0);
    }
    assert_null(open_and_poll(f)->past);
    assert_int_equal(live_judge_now(f->live), 1);
    const struct live_past *past = live_look(f->live)->past;
    assert_non_null(past);
    NEAR(past->step_s, 1);
    assert_in_range(past->n, 49, 52);
    assert_true(fabs((double)past->pct[LIVE_FULL_CORE][10] - 100) < 3);
    assert_true(fabs((double)past->pct[LIVE_FULL_CORE][40] - 50) < 3); /* of the other host */
    assert_true(isnan(past->pct[LIVE_FULL_NETWORK][10]));              /* no ceiling is known */
}

static void a_host_that_stops_sending_is_silent(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 20.5, 2);
    push(&g, 0, 0, 20, 0.5, 0);
    push(&g, 1, 0, 8, 0.5, 0);
    const struct live_snapshot *s = open_and_poll(f);
    assert_int_equal(s->n_hosts_expected, 4);
    assert_int_equal(s->n_hosts, 2);
    assert_int_equal(s->n_silent, 1);
    assert_true(s->hosts[0].silent_s == 0);
    assert_true(s->hosts[1].silent_s > 12 && s->hosts[1].silent_s < 20);
    NEAR(s->hosts[1].cpu_pct, 50); /* unchanged */
}

static void a_recording_that_died_is_cut_off(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 3600, 1);
    push(&g, 0, 0, 4, 0.5, 0);
    const struct live_snapshot *s = open_and_poll(f);
    assert_int_equal(s->state, LIVE_CUT_OFF);
    NEAR(s->elapsed_s, 4);
}

static void a_pair_is_counted_once_and_each_way(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 3, 3);
    push(&g, 0, 0, 3, 0.5, 10);
    push(&g, 1, 0, 3, 0.5, 40);
    push(&g, 2, 0, 3, 0.5, 5);
    const struct live_snapshot *s = open_and_poll(f);
    assert_int_equal(s->n_pairs, 2);
    assert_string_equal(s->pairs[0].host_name, "vm0");
    assert_string_equal(s->pairs[0].peer_name, "vm1");
    NEAR(s->pairs[0].send_mb_s, 10);
    NEAR(s->pairs[0].receive_mb_s, 40); /* what vm1 sent, not what vm0 received by its own count */
    assert_int_equal(s->pairs[0].connections, 1);
    assert_int_equal(s->pairs[1].peer, -1);
    assert_string_equal(s->pairs[1].peer_name, "192.0.2.9");
    NEAR(s->pairs[1].send_mb_s, 5);
    NEAR(s->pairs[1].receive_mb_s, 10);
}

static void a_database_that_is_gone_leaves_the_last_picture(void **state) {
    struct fixture *f = *state;
    struct going g;
    begin_run(&g, f->store, 3, 1);
    push(&g, 0, 0, 3, 0.5, 0);
    assert_null(open_and_poll(f)->trouble);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(live_poll(f->live), 1);
    assert_non_null(strstr(live_look(f->live)->trouble, "is gone"));
    NEAR(live_look(f->live)->hosts[0].cpu_pct, 50);
}

/* ---- opening, writing ---- */

static void what_is_not_there_is_one_line(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        live_open(f->path, "last", &(struct caller){0}, &f->live, f->why, sizeof f->why), -ENOENT);
    assert_non_null(strstr(f->why, "no run 'last'"));
    assert_int_equal(
        live_open("/nowhere/x.db", "last", &(struct caller){0}, &f->live, f->why, sizeof f->why),
        -ENOENT);
    assert_non_null(strstr(f->why, "/nowhere/x.db"));
    assert_null(strchr(f->why, '\n'));
}

static void names_that_mean_harm_are_escaped(void **state) {
    struct fixture *f = *state;
    static const char *const hosts[] = {"a\xe2\x80\xae\"<b>"}; /* reverses the writing direction */
    const struct recorded_run run = {
        .name = "x\"\\", .command = "</script>", .hosts = hosts, .n_hosts = 1, .duration_s = 5};
    char *text = NULL;
    size_t size;
    assert_int_equal(record_run(f->store, &run), 0);
    open_and_poll(f);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(live_write_json(live_look(f->live), out), 0);
    fclose(out);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_ptr_equal(strchr(text, '\n'), text + size - 1);
    assert_string_equal(json_string_value(json_object_get(root, "name")), "x\"\\");
    const char *host = json_string_value(
        json_object_get(json_array_get(json_object_get(root, "hosts"), 0), "name"));
    assert_null(strstr(host, "\xe2\x80\xae"));
    assert_true(json_is_null(json_object_get(json_object_get(root, "limit"), "state")));
    json_decref(root);
    free(text);
}

/* ---- command lines ---- */

static void command_lines_are_those_of_this_machine_and_of_this_name(void **state) {
    static const bool here[] = {true, false};
    struct live_process processes[5] = {{.name = "sh"},
                                        {.name = "sh"},
                                        {.name = "bash"},
                                        {.name = "sh", .host = 1},
                                        {.name = "sh"}};
    struct live_picture picture = {
        .snapshot = {.processes = calloc(5, sizeof *processes), .n_processes = 5}};
    int hold[2], ready[2];
    char byte;
    (void)state;
    assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(hold[0], STDIN_FILENO);
        dup2(ready[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", "echo; read -r x", "one", "t w", NULL);
        _exit(127);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    for (size_t i = 0; i < 5; i++)
        processes[i].pid = pid;
    processes[1].pid = 0;
    processes[4].pid = INT32_MAX;
    memcpy(picture.snapshot.processes, processes, sizeof processes);
    live_fill_commands(&picture, here);
    const struct live_process *p = picture.snapshot.processes;
    assert_string_equal(p[0].command, "sh -c echo; read -r x one t w");
    for (size_t i = 1; i < 5; i++)
        assert_null(p[i].command);
    close(hold[1]);
    close(hold[0]);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    live_picture_release(&picture);
}

static void this_boot_is_known_by_its_whole_id(void **state) {
    char id[BOOT_ID_SIZE + 1], text[100] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    (void)state;
    live_own_boot(id);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_int_equal(strlen(id), BOOT_ID_SIZE);
    assert_int_equal(strncmp(id, text, BOOT_ID_SIZE), 0);
}

/* At most a fiftieth of a core, and every five seconds; every second while nothing is known. */
static void judging_rests_by_what_it_costs(void **state) {
    (void)state;
    assert_int_equal(live_judge_rest_ns(0, true), NS_PER_S);
    assert_int_equal(live_judge_rest_ns(0, false), 5 * NS_PER_S);
    assert_int_equal(live_judge_rest_ns(10 * NS_PER_MS, true), NS_PER_S);
    assert_int_equal(live_judge_rest_ns(80 * NS_PER_MS, true), 4 * NS_PER_S);
    assert_int_equal(live_judge_rest_ns(80 * NS_PER_MS, false), 5 * NS_PER_S);
    assert_int_equal(live_judge_rest_ns(3 * NS_PER_S, true), 150 * NS_PER_S);
    assert_int_equal(live_judge_rest_ns(3 * NS_PER_S, false), 150 * NS_PER_S);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_lines_are_those_of_this_machine_and_of_this_name),
        cmocka_unit_test(this_boot_is_known_by_its_whole_id),
        cmocka_unit_test(judging_rests_by_what_it_costs),
        cmocka_unit_test_setup_teardown(figures_are_those_of_the_last_second, setup, teardown),
        cmocka_unit_test_setup_teardown(a_nominal_speed_is_no_ceiling, setup, teardown),
        cmocka_unit_test_setup_teardown(an_ended_run_stays_as_it_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(each_poll_shows_what_came_since, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_minute_is_kept_by_seconds, setup, teardown),
        cmocka_unit_test_setup_teardown(the_minute_before_the_view_comes_from_the_judge, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_moment_of_the_past_is_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(the_whole_run_shows_when_something_was_full, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_host_that_stops_sending_is_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(a_recording_that_died_is_cut_off, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pair_is_counted_once_and_each_way, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_is_gone_leaves_the_last_picture, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_one_line, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_mean_harm_are_escaped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
