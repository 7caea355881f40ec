/* SPDX-License-Identifier: MIT */
/* The list of hosts: one line each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/draw.h"
#include "cli/top/order.h"

/* First columns of the fields; a wide screen gives more to names and strips. A narrow one leaves
 * out fields (0), and what rates and memory are of. */
struct columns {
    size_t number, name, cpu, strip, core, memory, read, write, receive, send, load;
    size_t name_width, strip_width, memory_width, rate_width;
};

#define FIXED 63 /* width of all other fields */
#define LOAD_WIDTH 7
#define NARROW_FIXED 31 /* of those that every screen has */
#define DISK_WIDTH 12
#define NAME_MIN 9

static struct columns wide_columns(const struct canvas *c) {
    bool has_load = c->columns >= 100;
    size_t left = c->columns - FIXED - (has_load ? LOAD_WIDTH : 0);
    struct columns at = {.name = 4, .memory_width = 11, .rate_width = 9};
    at.strip_width = left / 2 > 64 ? 64 : left / 2;
    at.name_width = left - at.strip_width > 32 ? 32 : left - at.strip_width;
    at.cpu = at.name + at.name_width + 1;
    at.strip = at.cpu + 5;
    at.core = at.strip + at.strip_width;
    at.memory = at.core + 5;
    at.read = at.memory + 12;
    at.write = at.read + 6;
    at.receive = at.write + 6;
    at.send = at.receive + 10;
    at.load = has_load ? at.send + 10 : 0;
    return at;
}

static struct columns narrow_columns(const struct canvas *c) {
    size_t left = c->columns - NARROW_FIXED;
    bool has_disk = left >= NAME_MIN + DISK_WIDTH;
    struct columns at = {.name = 4, .memory_width = 6, .rate_width = 5};
    left -= has_disk ? DISK_WIDTH : 0;
    at.strip_width = left >= NAME_MIN + 4 ? (left - NAME_MIN) / 2 : 0;
    at.name_width = left - at.strip_width;
    at.cpu = at.name + at.name_width;
    at.strip = at.cpu + 5;
    at.core = at.strip + at.strip_width;
    at.memory = at.core + 5;
    at.read = has_disk ? at.memory + 6 : 0;
    at.write = has_disk ? at.read + 6 : 0;
    at.receive = at.memory + 6 + (has_disk ? DISK_WIDTH : 0);
    at.send = at.receive + 6;
    return at;
}

static void put_figure(struct canvas *c, size_t row, size_t column, size_t width, enum role role,
                       const char *text) {
    if (column)
        canvas_put_right(c, row, column, width, role, text);
}

static void draw_host_title(struct top_area *area, const struct columns *at) {
    struct canvas *c = area->canvas;
    const struct top_view *view = area->view;
    canvas_stripe(c, area->row, ROLE_HEAD);
    canvas_put(c, area->row, 0, 3, ROLE_HEAD, "  #");
    canvas_print(c, area->row, at->name, at->name_width, ROLE_HEAD, "HOST");
    canvas_put_right(c, area->row, at->cpu, 4, ROLE_HEAD, "CPU%");
    canvas_put(c, area->row, at->strip, at->strip_width ? at->strip_width - 1 : 0, ROLE_HEAD,
               "cores");
    canvas_put_right(c, area->row, at->core, 4, ROLE_HEAD, "MAX%");
    bool wide = at->rate_width > 5;
    canvas_put_right(c, area->row, at->memory, at->memory_width, ROLE_HEAD, "MEMORY");
    put_figure(c, area->row, at->read, 5, ROLE_HEAD, "READ");
    put_figure(c, area->row, at->write, 5, ROLE_HEAD, "WRITE");
    canvas_put_right(c, area->row, at->receive, at->rate_width, ROLE_HEAD,
                     wide ? "NET IN/of" : "IN");
    canvas_put_right(c, area->row, at->send, at->rate_width, ROLE_HEAD, wide ? "OUT/of" : "OUT");
    put_figure(c, area->row, at->load, 6, ROLE_HEAD, "LOAD");
    if (view->sort == TOP_BY_NAME)
        return;
    char words[40];
    size_t used = (size_t)snprintf(words, sizeof words, "HOST by %s%s", top_sort_name(view->sort),
                                   view->reversed ? ", least" : "");
    canvas_put(c, area->row, at->name, used < at->name_width ? used : at->name_width, ROLE_HEAD,
               words);
}

/* "4.2", "112/125". */
static void draw_rate_of(struct canvas *c, size_t row, size_t column, size_t width, double mb_s,
                         double ceiling) {
    char rate[TOP_NUMBER_SIZE], most[TOP_NUMBER_SIZE], text[2 * TOP_NUMBER_SIZE + 1];
    top_rate(rate, mb_s);
    if (ceiling > 0 && width > 5)
        snprintf(text, sizeof text, "%s/%s", rate, top_rate(most, ceiling));
    else
        snprintf(text, sizeof text, "%s", rate);
    canvas_put_right(c, row, column, width, ROLE_TRANSFER, text);
}

static void put_memory(struct canvas *c, size_t row, size_t column, size_t width,
                       const struct live_host *host) {
    char used[TOP_NUMBER_SIZE], all[TOP_NUMBER_SIZE], text[2 * TOP_NUMBER_SIZE + 1];
    top_size(used, host->metrics[METRIC_MEM_USED]);
    if (host->memory_gb > 0 && width > 6)
        snprintf(text, sizeof text, "%s/%s", used, top_size(all, host->memory_gb));
    else
        snprintf(text, sizeof text, "%s", used);
    canvas_put_right(c, row, column, width, ROLE_MEMORY, text);
}

static void draw_figures(struct canvas *c, size_t row, const struct columns *at,
                         const struct live_host *host) {
    char text[TOP_NUMBER_SIZE];
    const double *m = host->metrics;
    canvas_put_right(c, row, at->cpu, 4, ROLE_COMPUTING, top_percent(text, host->cpu_pct));
    top_draw_strip(c, row, at->strip, at->strip_width, host);
    canvas_put_right(c, row, at->core, 4, ROLE_COMPUTING,
                     top_percent(text, m[METRIC_CPU_CORE_MAX]));
    put_memory(c, row, at->memory, at->memory_width, host);
    put_figure(c, row, at->read, 5, ROLE_DISK, top_rate(text, m[METRIC_DISK_READ]));
    put_figure(c, row, at->write, 5, ROLE_DISK, top_rate(text, m[METRIC_DISK_WRITE]));
    draw_rate_of(c, row, at->receive, at->rate_width, m[METRIC_NET_RECV],
                 host->receive_ceiling_mb_s);
    draw_rate_of(c, row, at->send, at->rate_width, m[METRIC_NET_SEND], host->send_ceiling_mb_s);
    if (!at->load)
        return;
    snprintf(text, sizeof text, "%.1f", fmin(host->load[0], 9999));
    canvas_put_right(c, row, at->load, 6, ROLE_PLAIN, isnan(host->load[0]) ? "-" : text);
}

static void draw_host(struct top_area *area, size_t row, const struct columns *at, size_t number,
                      size_t index) {
    const struct live_host *host = &area->snapshot->hosts[index];
    struct canvas *c = area->canvas;
    bool limits = !area->view->own && area->snapshot->limit.host == (int)index;
    char text[TOP_NUMBER_SIZE], since[TOP_NUMBER_SIZE];
    snprintf(text, sizeof text, "%zu", number);
    canvas_put_right(c, row, 0, 3, ROLE_DIM, text);
    canvas_put(c, row, at->name, at->name_width,
               limits               ? ROLE_LIMIT
               : host->silent_s > 0 ? ROLE_DIM
                                    : ROLE_BOLD,
               host->name);
    if (limits) /* the meaning of red, without colours */
        canvas_put(c, row, 3, 1, ROLE_LIMIT, "!");
    if (host->silent_s > 0)
        canvas_print(c, row, at->cpu, c->columns, ROLE_DIM, " silent for %s",
                     top_time(since, host->silent_s));
    else
        draw_figures(c, row, at, host);
}

/* ---- the last minute of a host ---- */

#define TRACES 5
#define TRACE_MIN 8 /* cells */
#define LABEL_MAX 5

/* Those that matter most come first: a narrow screen has fewer. */
static const struct {
    const char *label;
    enum live_trace trace;
    enum role role;
} traces[TRACES] = {{"core", LIVE_TRACE_CORE, ROLE_COMPUTING},
                    {"in", LIVE_TRACE_RECEIVE, ROLE_TRANSFER},
                    {"out", LIVE_TRACE_SEND, ROLE_TRANSFER},
                    {"disk", LIVE_TRACE_DISK, ROLE_DISK},
                    {"mem", LIVE_TRACE_MEMORY, ROLE_MEMORY}};

double top_trace_most(const struct live_host *host, enum live_trace trace) {
    return trace == LIVE_TRACE_RECEIVE  ? host->receive_ceiling_mb_s
           : trace == LIVE_TRACE_SEND   ? host->send_ceiling_mb_s
           : trace == LIVE_TRACE_MEMORY ? host->memory_gb
                                        : 100;
}

/* "60 s  core ▁▂▃  in ▁▁▁ ..." */
static void draw_minute(struct top_area *area, size_t row, const struct live_host *host) {
    struct canvas *c = area->canvas;
    size_t begin = c->columns < TOP_COLUMNS_USUAL ? 4 : 10, n = TRACES;
    while (n > 1 && (c->columns - begin) / n < TRACE_MIN + LABEL_MAX + 1)
        n--;
    size_t each = (c->columns - begin) / n;
    if (begin > 4)
        canvas_put(c, row, 4, 5, ROLE_DIM, "60 s");
    for (size_t i = 0; i < n && host->history; i++) {
        size_t column = begin + i * each;
        canvas_put_right(c, row, column, LABEL_MAX - 1, ROLE_DIM, traces[i].label);
        top_draw_history(c, row, column + LABEL_MAX, each - LABEL_MAX - 1, traces[i].role,
                         &host->history[traces[i].trace], top_trace_most(host, traces[i].trace));
    }
}

/* ---- the list ---- */

/* The marked host stays visible. */
static size_t first_shown(size_t marked, size_t n, size_t lines) {
    size_t half = lines / 2;
    if (n <= lines || marked < half)
        return 0;
    return marked - half + lines > n ? n - lines : marked - half;
}

size_t top_host_rows(const struct top_area *area) {
    size_t n = 0, each = area->view->shows_history ? 2 : 1;
    for (size_t h = 0; h < area->snapshot->n_hosts; h++)
        n += top_shows_host(area->view, area->snapshot, h);
    return n ? n * each + 1 : 0;
}

void top_draw_hosts(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    size_t n, *order = top_hosts_in_order(area->view, s, &n);
    struct columns at = area->canvas->columns < TOP_COLUMNS_USUAL ? narrow_columns(area->canvas)
                                                                  : wide_columns(area->canvas);
    if (!order || area->rows < 2)
        return free(order);
    size_t each = area->view->shows_history && area->rows > 2 ? 2 : 1;
    size_t shown = (area->rows - 1) / each, marked = top_marked(area->view, s, order, n);
    size_t first = first_shown(marked, n, shown);
    draw_host_title(area, &at);
    for (size_t i = 0; i < shown && first + i < n; i++) {
        size_t row = area->row + 1 + i * each;
        draw_host(area, row, &at, first + i + 1, order[first + i]);
        if (each > 1)
            draw_minute(area, row + 1, &s->hosts[order[first + i]]);
    }
    if (area->view->host[0] && n)
        area->canvas->chosen = area->row + 1 + (marked - first) * each;
    area->view->page = shown;
    free(order);
}
