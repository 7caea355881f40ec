/* SPDX-License-Identifier: MIT */
/* The list of hosts: one line each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/draw.h"

/* First columns of the fields; a wide screen gives more to names and strips. */
struct columns {
    size_t number, name, cpu, strip, core, memory, read, write, receive, send, load;
    size_t name_width, strip_width;
    bool has_load;
};

#define FIXED 63 /* width of all other fields */
#define LOAD_WIDTH 7

static struct columns host_columns(const struct canvas *c) {
    struct columns at = {.has_load = c->columns >= 100};
    size_t left = c->columns - FIXED - (at.has_load ? LOAD_WIDTH : 0);
    at.strip_width = left / 2 > 64 ? 64 : left / 2;
    at.name_width = left - at.strip_width > 32 ? 32 : left - at.strip_width;
    at.name = 4;
    at.cpu = at.name + at.name_width + 1;
    at.strip = at.cpu + 5;
    at.core = at.strip + at.strip_width;
    at.memory = at.core + 5;
    at.read = at.memory + 12;
    at.write = at.read + 6;
    at.receive = at.write + 6;
    at.send = at.receive + 10;
    at.load = at.send + 10;
    return at;
}

static void draw_host_title(struct top_area *area, const struct columns *at) {
    struct canvas *c = area->canvas;
    const struct top_view *view = area->view;
    canvas_stripe(c, area->row, ROLE_HEAD);
    canvas_put(c, area->row, 0, 3, ROLE_HEAD, "  #");
    canvas_print(c, area->row, at->name, at->name_width, ROLE_HEAD, "HOST");
    canvas_put_right(c, area->row, at->cpu, 4, ROLE_HEAD, "CPU%");
    canvas_put(c, area->row, at->strip, at->strip_width, ROLE_HEAD, "cores");
    canvas_put_right(c, area->row, at->core, 4, ROLE_HEAD, "MAX%");
    canvas_put_right(c, area->row, at->memory, 11, ROLE_HEAD, "MEMORY");
    canvas_put_right(c, area->row, at->read, 5, ROLE_HEAD, "READ");
    canvas_put_right(c, area->row, at->write, 5, ROLE_HEAD, "WRITE");
    canvas_put_right(c, area->row, at->receive, 9, ROLE_HEAD, "NET IN/of");
    canvas_put_right(c, area->row, at->send, 9, ROLE_HEAD, "OUT/of");
    if (at->has_load)
        canvas_put_right(c, area->row, at->load, 6, ROLE_HEAD, "LOAD");
    if (view->sort == TOP_BY_NAME)
        return;
    char words[40];
    size_t used = (size_t)snprintf(words, sizeof words, "HOST by %s%s", top_sort_name(view->sort),
                                   view->reversed ? ", least" : "");
    canvas_put(c, area->row, at->name, used < at->name_width ? used : at->name_width, ROLE_HEAD,
               words);
}

/* "4.2", "112/125". */
static void draw_rate_of(struct canvas *c, size_t row, size_t column, double mb_s, double ceiling) {
    char rate[TOP_NUMBER_SIZE], most[TOP_NUMBER_SIZE], text[2 * TOP_NUMBER_SIZE + 1];
    top_rate(rate, mb_s);
    if (ceiling > 0)
        snprintf(text, sizeof text, "%s/%s", rate, top_rate(most, ceiling));
    else
        snprintf(text, sizeof text, "%s", rate);
    canvas_put_right(c, row, column, 9, ROLE_TRANSFER, text);
}

static void put_memory(struct canvas *c, size_t row, size_t column, const struct live_host *host) {
    char used[TOP_NUMBER_SIZE], all[TOP_NUMBER_SIZE], text[2 * TOP_NUMBER_SIZE + 1];
    snprintf(text, sizeof text, "%s/%s", top_size(used, host->metrics[METRIC_MEM_USED]),
             top_size(all, host->memory_gb));
    canvas_put_right(c, row, column, 11, ROLE_MEMORY, text);
}

static void draw_figures(struct canvas *c, size_t row, const struct columns *at,
                         const struct live_host *host) {
    char text[TOP_NUMBER_SIZE];
    const double *m = host->metrics;
    canvas_put_right(c, row, at->cpu, 4, ROLE_COMPUTING, top_percent(text, host->cpu_pct));
    top_draw_strip(c, row, at->strip, at->strip_width, host);
    canvas_put_right(c, row, at->core, 4, ROLE_COMPUTING,
                     top_percent(text, m[METRIC_CPU_CORE_MAX]));
    put_memory(c, row, at->memory, host);
    canvas_put_right(c, row, at->read, 5, ROLE_DISK, top_rate(text, m[METRIC_DISK_READ]));
    canvas_put_right(c, row, at->write, 5, ROLE_DISK, top_rate(text, m[METRIC_DISK_WRITE]));
    draw_rate_of(c, row, at->receive, m[METRIC_NET_RECV], host->receive_ceiling_mb_s);
    draw_rate_of(c, row, at->send, m[METRIC_NET_SEND], host->send_ceiling_mb_s);
    if (!at->has_load)
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

/* The marked host stays visible. */
static size_t first_shown(size_t marked, size_t n, size_t lines) {
    size_t half = lines / 2;
    if (n <= lines || marked < half)
        return 0;
    return marked - half + lines > n ? n - lines : marked - half;
}

void top_draw_hosts(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    size_t *order = top_hosts_in_order(area->view, s);
    struct columns at = host_columns(area->canvas);
    if (!order || area->rows < 2)
        return free(order);
    size_t lines = area->rows - 1, marked = top_marked(area->view, s, order);
    size_t first = first_shown(marked, s->n_hosts, lines);
    draw_host_title(area, &at);
    for (size_t i = 0; i < lines && first + i < s->n_hosts; i++)
        draw_host(area, area->row + 1 + i, &at, first + i + 1, order[first + i]);
    if (area->view->host[0] && s->n_hosts)
        area->canvas->chosen = area->row + 1 + marked - first;
    area->view->page = lines;
    free(order);
}
