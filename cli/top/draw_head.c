/* SPDX-License-Identifier: MIT */
/* The first lines: the run and its limit so far; and the last line: keys. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/top/draw.h"
#include "common/error.h"
#include "reports/formats/terminal.h"

/* ---- the run ---- */

static void put_state(char *text, size_t size, const struct live_snapshot *s,
                      const struct top_view *view, bool wide) {
    char elapsed[TOP_NUMBER_SIZE];
    top_time(elapsed, s->elapsed_s);
    if (!isnan(s->at_s))
        snprintf(text, size, "as it was at %s", elapsed);
    else if (!wide)
        snprintf(text, size, "%s%s", elapsed, s->state == LIVE_RUNNING ? "" : ", ended");
    else if (view->own)
        snprintf(text, size, "watching for %s", elapsed);
    else if (s->state == LIVE_RUNNING)
        snprintf(text, size, "running for %s", elapsed);
    else if (s->state == LIVE_CUT_OFF)
        snprintf(text, size, "its recording was cut off after %s", elapsed);
    else if (s->exit_status > 0)
        snprintf(text, size, "ended after %s: %s, exit status %d", elapsed, s->end, s->exit_status);
    else
        snprintf(text, size, "ended after %s: %s", elapsed, s->end);
}

static void put_hosts(char *text, size_t size, const struct live_snapshot *s) {
    size_t used =
        (size_t)snprintf(text, size, "%zu host%s", s->n_hosts, s->n_hosts == 1 ? "" : "s");
    if (s->n_hosts_expected > 0 && (size_t)s->n_hosts_expected > s->n_hosts && used < size)
        used += (size_t)snprintf(text + used, size - used, " of %d", s->n_hosts_expected);
    if (s->n_silent && used < size)
        snprintf(text + used, size - used, ", %zu silent", s->n_silent);
}

/* "/redis  only the job  5 hosts  12:00:00": what is left out first, and the most that fits. */
static void put_right_end(char *text, size_t size, const struct top_area *area) {
    const struct top_view *view = area->view;
    char hosts[60], clock[16] = "", chosen[80];
    time_t now = time(NULL);
    struct tm tm;
    put_hosts(hosts, sizeof hosts, area->snapshot);
    if (localtime_r(&now, &tm))
        strftime(clock, sizeof clock, "%H:%M:%S", &tm);
    snprintf(chosen, sizeof chosen, "%s%s%s%s", view->filter[0] || view->asks_filter ? "/" : "",
             view->filter, view->filter[0] || view->asks_filter ? "  " : "",
             view->job_only && !view->own ? "only the job  " : "");
    bool wide = area->canvas->columns >= TOP_COLUMNS_USUAL;
    snprintf(text, size, "%s%s%s%s", chosen, wide || !chosen[0] ? hosts : "", wide ? "  " : "",
             wide ? clock : "");
}

static void draw_run(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    struct canvas *c = area->canvas;
    char state[80], right[200], name[64];
    bool wide = c->columns >= TOP_COLUMNS_USUAL;
    put_state(state, sizeof state, s, area->view, wide);
    put_right_end(right, sizeof right, area);
    snprintf(name, sizeof name, "run %lld ", (long long)s->run_id);
    size_t most = wide ? c->columns - 20 : c->columns / 2, width = terminal_width(right);
    size_t end = c->columns - (width < most ? width : most), at = 0;
    canvas_put(c, area->row, end, c->columns, ROLE_PLAIN, right);
    if (wide)
        at = canvas_put(c, area->row, 0, end - 1, ROLE_BOLD, "chokepoint top  ");
    size_t room = end > at + 2 ? end - at - 2 : 0, own = terminal_width(state) + 2;
    if (!area->view->own) {
        at += canvas_put(c, area->row, at, room, ROLE_PLAIN, name);
        size_t left = end > at + own + 1 ? end - at - own - 1 : 1;
        at += canvas_put(c, area->row, at, left, ROLE_BOLD, s->run_name) + 2;
    }
    canvas_put(c, area->row, at, end > at + 1 ? end - at - 1 : 0, ROLE_PLAIN, state);
}

/* ---- the fullest resource, if no command is recorded ---- */

struct fullest {
    double share;
    const char *host, *what;
    enum role role;
};

static void consider(struct fullest *most, double share, const struct live_host *host,
                     const char *what, enum role role) {
    if (isfinite(share) && share > most->share) /* nothing is full of what is not known */
        *most = (struct fullest){share, host->name, what, role};
}

static struct fullest find_fullest(const struct live_snapshot *s) {
    struct fullest most = {0};
    for (size_t h = 0; h < s->n_hosts; h++) {
        const struct live_host *host = &s->hosts[h];
        const double *m = host->metrics;
        if (host->silent_s > 0)
            continue;
        consider(&most, m[METRIC_CPU_CORE_MAX] / 100, host, "one core", ROLE_COMPUTING);
        consider(&most, host->cpu_pct / 100, host, "all cores", ROLE_COMPUTING);
        consider(&most, m[METRIC_MEM_USED] / host->memory_gb, host, "memory", ROLE_MEMORY);
        consider(&most, m[METRIC_DISK_BUSY] / 100, host, "time of the disk", ROLE_DISK);
        consider(&most, m[METRIC_NET_SEND] / host->send_ceiling_mb_s, host, "network, sending",
                 ROLE_TRANSFER);
        consider(&most, m[METRIC_NET_RECV] / host->receive_ceiling_mb_s, host, "network, receiving",
                 ROLE_TRANSFER);
    }
    return most;
}

static void draw_fullest(struct top_area *area) {
    struct fullest most = find_fullest(area->snapshot);
    struct canvas *c = area->canvas;
    size_t at = canvas_put(c, area->row, 0, c->columns, ROLE_BOLD, "fullest now   ");
    if (!most.host) {
        canvas_put(c, area->row, at, c->columns, ROLE_PLAIN, "no sample yet");
        return;
    }
    at += canvas_print(c, area->row, at, c->columns, most.role, "%s of ", most.what);
    at += canvas_put(c, area->row, at, c->columns > at + 12 ? c->columns - at - 12 : 0, most.role,
                     most.host);
    canvas_print(c, area->row, at, c->columns, ROLE_PLAIN, ", at %.0f %%", 100 * most.share);
    canvas_put(c, area->row + 1, 0, c->columns, ROLE_DIM,
               "Watching only. `chokepoint run COMMAND` records and judges a program.");
}

void top_draw_head(struct top_area *area) {
    struct top_area limit = *area;
    limit.row++;
    limit.rows--;
    draw_run(area);
    if (!limit.rows)
        return;
    if (area->view->own)
        draw_fullest(&limit);
    else
        top_draw_limit(&limit);
}

/* ---- the last line ---- */

/* The most that fits. */
static const char *keys_of(const struct top_view *view, size_t columns) {
    static const char *const first[] = {
        "q quit  h help  Enter host  p processes  / filter  t tree  j only the job  "
        "P M N < > sort  g history  space pause  d delay",
        "q quit  h help  Enter host  p processes  / filter  t tree  P M N sort  g history",
        "q quit  h help  Enter host  p processes  / filter",
        "q quit  h help  / filter  p processes"};
    static const char *const back[] = {
        "q back  h help  up down  / filter  t tree  j only the job  P M N < > sort  g history  "
        "space pause  d delay",
        "q back  h help  up down  / filter  t tree  j only the job  P M N sort",
        "q back  h help  up down  / filter  t tree", "q back  h help  up down  / filter"};
    const char *const *keys = view->mode == TOP_ALL ? first : back;
    size_t i = 0;
    while (i + 1 < ARRAY_SIZE(first) && strlen(keys[i]) > columns)
        i++;
    return keys[i];
}

void top_draw_foot(struct top_area *area) {
    const struct top_view *view = area->view;
    struct canvas *c = area->canvas;
    if (view->asks_filter)
        canvas_print(c, area->row, 0, c->columns, ROLE_BOLD, "/%s_  Enter keeps it, Esc ends it",
                     view->filter);
    else if (view->asks_delay)
        canvas_print(c, area->row, 0, c->columns, ROLE_BOLD, "Seconds between pictures (%.1f): %s_",
                     view->delay_s, view->entry);
    else if (view->entry[0])
        canvas_print(c, area->row, 0, c->columns, ROLE_BOLD, "Host number: %s_", view->entry);
    else if (area->snapshot->trouble || view->message)
        canvas_put(c, area->row, 0, c->columns, ROLE_BOLD,
                   view->message ? view->message : area->snapshot->trouble);
    else if (view->paused)
        canvas_put(c, area->row, 0, c->columns, ROLE_BOLD, "Paused: space goes on");
    else
        canvas_put(c, area->row, 0, c->columns, ROLE_DIM, keys_of(view, c->columns));
}
