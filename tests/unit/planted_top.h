/* SPDX-License-Identifier: MIT */
/* A planted picture of a run, and the screen that `chokepoint top` draws of it. */
#ifndef CHOKEPOINT_TESTS_PLANTED_TOP_H
#define CHOKEPOINT_TESTS_PLANTED_TOP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "cli/top/draw.h"
#include "cli/top/order.h"
#include "common/error.h"

#define HOSTS_MAX 100
#define LIMIT_WORDS "network of vm1, sending: at 99 % of its 224 MB/s"

struct fixture {
    struct live_snapshot snapshot;
    struct live_host hosts[HOSTS_MAX];
    char names[HOSTS_MAX][24];
    double cores[HOSTS_MAX][4];
    struct live_values history[HOSTS_MAX][LIVE_TRACES];
    int numbers[4];
    struct live_process processes[HOSTS_MAX];
    struct live_pair pair;
    struct live_budget budgets[HOSTS_MAX];
    struct top_view view;
    struct canvas canvas;
    char *text;
    size_t size;
};

/* Host i is busy for i % and uses i of 128 GB; every tenth host is silent. */
static inline void plant_host(struct fixture *f, size_t i) {
    struct live_host *host = &f->hosts[i];
    snprintf(f->names[i], sizeof f->names[i], "vm%zu", i);
    *host = (struct live_host){.name = f->names[i],
                               .seen_s = 60,
                               .silent_s = i % 10 == 9 ? 12 : 0,
                               .cpu_pct = (double)i,
                               .core_pct = f->cores[i],
                               .core_number = f->numbers,
                               .n_cores = 4,
                               .memory_gb = 128,
                               .send_ceiling_mb_s = 125,
                               .receive_ceiling_mb_s = NAN,
                               .load = {1, 2, 3}};
    for (int m = 0; m < METRIC_JOB_CPU; m++)
        host->metrics[m] = (double)i;
    for (size_t c = 0; c < 4; c++)
        f->cores[i][c] = c == 1 ? 100 : 0;
    f->processes[i] = (struct live_process){.host = (int)i,
                                            .pid = (int64_t)(1000 + i),
                                            .rank = (int)i,
                                            .job = true,
                                            .name = "train",
                                            .command = "train --fast",
                                            .cpu_pct = (double)(100 - i),
                                            .memory_gb = (double)i};
    f->budgets[i] = (struct live_budget){
        .host = (int)i, .rank = (int)i, .wall_s = 60, .term_s = {[BUDGET_CPU] = 30}};
    f->budgets[i].term_s[BUDGET_PEER_WAIT] = 30;
}

static inline void plant(struct fixture *f, size_t n) {
    for (size_t i = 0; i < n; i++)
        plant_host(f, i);
    f->pair = (struct live_pair){.host = 0,
                                 .peer = -1,
                                 .host_name = "vm0",
                                 .peer_name = "192.0.2.9",
                                 .send_mb_s = 12.5,
                                 .receive_mb_s = 1250,
                                 .connections = 3};
    f->snapshot = (struct live_snapshot){.run_id = 7,
                                         .run_name = "planted",
                                         .state = LIVE_RUNNING,
                                         .end = "",
                                         .exit_status = -1,
                                         .elapsed_s = 200,
                                         .at_s = NAN,
                                         .n_hosts_expected = (int)n,
                                         .hosts = f->hosts,
                                         .n_hosts = n,
                                         .n_silent = n / 10,
                                         .processes = f->processes,
                                         .n_processes = n,
                                         .pairs = &f->pair,
                                         .n_pairs = 1,
                                         .budgets = f->budgets,
                                         .n_budgets = n,
                                         .limit = {.known = true,
                                                   .at_s = 195,
                                                   .state = VERDICT_SATURATED,
                                                   .confidence = 0.93,
                                                   .host = 1,
                                                   .rank = -1,
                                                   .what = "vm1's network (sending)",
                                                   .summary = "The run waits for vm1's network.",
                                                   .words = LIMIT_WORDS,
                                                   .worth = "a link twice as fast: -45 % run time",
                                                   .action = "raise eth0's rate on vm1"}};
    top_view_init(&f->view, 1);
}

/* The last minute: the core fills up, the host's link is used every twelve seconds, and nothing is
 * known before the last 40 s. */
static inline void plant_history(struct fixture *f) {
    for (size_t h = 0; h < f->snapshot.n_hosts; h++) {
        for (int t = 0; t < LIVE_TRACES; t++)
            for (int s = 0; s < LIVE_HISTORY_S; s++)
                f->history[h][t].value[s] = s < 20                    ? NAN
                                            : t == LIVE_TRACE_CORE    ? (float)(s * 100 / 59)
                                            : t == LIVE_TRACE_SEND    ? (s % 12 == 0 ? 125 : 0)
                                            : t == LIVE_TRACE_RECEIVE ? (float)s
                                                                      : (float)(10 * h);
        f->hosts[h].history = f->history[h];
    }
}

static inline int setup(void **state) {
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static inline int teardown(void **state) {
    struct fixture *f = *state;
    free(f->text);
    canvas_release(&f->canvas);
    free(f);
    return 0;
}

static inline const char *draw(struct fixture *f, size_t columns, size_t rows, bool utf8) {
    canvas_release(&f->canvas);
    free(f->text);
    assert_int_equal(canvas_init(&f->canvas, rows, columns, utf8), 0);
    assert_int_equal(top_draw(&f->canvas, &f->snapshot, &f->view), 0);
    FILE *out = open_memstream(&f->text, &f->size);
    assert_int_equal(canvas_write(&f->canvas, rows, out), 0);
    fclose(out);
    return f->text;
}

/* The colour role of the first cell of some text in the picture. */
static inline int role_of(const struct fixture *f, const char *text) {
    for (size_t r = 0; r < f->canvas.rows; r++)
        for (size_t c = 0; c < f->canvas.columns; c++) {
            const struct cell *cells = &f->canvas.cells[r * f->canvas.columns + c];
            size_t i = 0;
            while (text[i] && c + i < f->canvas.columns && cells[i].text[0] == text[i])
                i++;
            if (!text[i])
                return cells[0].role;
        }
    return -1;
}

static inline size_t lines_before(const char *text, const char *part) {
    size_t n = 0;
    for (const char *at = strstr(text, part); at && at > text; at--)
        n += at[-1] == '\n';
    return n;
}

#define HAS(text, part) assert_non_null(strstr(text, part))
#define LACKS(text, part) assert_null(strstr(text, part))

#endif
