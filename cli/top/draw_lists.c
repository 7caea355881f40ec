/* SPDX-License-Identifier: MIT */
/* The busiest processes, and the pairs of hosts that exchange most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/draw.h"

/* ---- processes ---- */

size_t top_process_rows(const struct live_snapshot *snapshot, int host) {
    size_t n = 0;
    for (size_t i = 0; i < snapshot->n_processes; i++)
        n += host < 0 || snapshot->processes[i].host == host;
    return n ? n + 1 : 0;
}

struct columns {
    size_t host, pid, rank, cpu, wait, memory, read, write, command, host_width;
};

static struct columns list_columns(const struct canvas *c, int host) {
    struct columns at = {.host = 1};
    at.host_width = host >= 0 ? 0 : c->columns / 6 > 24 ? 24 : c->columns / 6;
    at.pid = at.host + at.host_width + (at.host_width ? 1 : 0);
    at.rank = at.pid + 8;
    at.cpu = at.rank + 5;
    at.wait = at.cpu + 6;
    at.memory = at.wait + 6;
    at.read = at.memory + 7;
    at.write = at.read + 6;
    at.command = at.write + 7;
    return at;
}

static void draw_process_title(struct top_area *area, const struct columns *at) {
    struct canvas *c = area->canvas;
    canvas_stripe(c, area->row, ROLE_HEAD);
    canvas_put(c, area->row, at->host, at->host_width, ROLE_HEAD, "HOST");
    canvas_put_right(c, area->row, at->pid, 7, ROLE_HEAD, "PID");
    canvas_put_right(c, area->row, at->rank, 4, ROLE_HEAD, "RANK");
    canvas_put_right(c, area->row, at->cpu, 5, ROLE_HEAD, "CPU%");
    canvas_put_right(c, area->row, at->wait, 5, ROLE_HEAD, "WAIT%");
    canvas_put_right(c, area->row, at->memory, 6, ROLE_HEAD, "MEMORY");
    canvas_put_right(c, area->row, at->read, 5, ROLE_HEAD, "READ");
    canvas_put_right(c, area->row, at->write, 5, ROLE_HEAD, "WRITE");
    canvas_put(c, area->row, at->command, c->columns, ROLE_HEAD, "PROCESS");
}

/* Without the program's folders, which would fill a narrow column. */
static const char *command_of(const struct live_process *p) {
    const char *text = p->command ? p->command : p->name, *begin = text;
    for (const char *at = text; *at && *at != ' '; at++)
        if (*at == '/' && at[1] && at[1] != ' ')
            begin = at + 1;
    return p->command ? begin : text;
}

static void draw_process(struct top_area *area, size_t row, const struct columns *at,
                         const struct live_process *p) {
    struct canvas *c = area->canvas;
    char text[TOP_NUMBER_SIZE];
    canvas_put(c, row, at->host, at->host_width, ROLE_PLAIN, area->snapshot->hosts[p->host].name);
    snprintf(text, sizeof text, "%lld", (long long)p->pid);
    canvas_put_right(c, row, at->pid, 7, ROLE_PLAIN, p->pid >= 0 ? text : "-");
    snprintf(text, sizeof text, "%d", p->rank);
    canvas_put_right(c, row, at->rank, 4, ROLE_PLAIN,
                     p->rank >= 0                 ? text
                     : p->job && !area->view->own ? "job"
                                                  : "");
    canvas_put_right(c, row, at->cpu, 5, ROLE_COMPUTING, top_percent(text, p->cpu_pct));
    canvas_put_right(c, row, at->wait, 5, ROLE_CORE_WAIT, top_percent(text, p->run_queue_pct));
    canvas_put_right(c, row, at->memory, 6, ROLE_MEMORY, top_size(text, p->memory_gb));
    canvas_put_right(c, row, at->read, 5, ROLE_DISK, top_rate(text, p->read_mb_s));
    canvas_put_right(c, row, at->write, 5, ROLE_DISK, top_rate(text, p->write_mb_s));
    canvas_put(c, row, at->command, c->columns, p->job && !area->view->own ? ROLE_BOLD : ROLE_PLAIN,
               command_of(p));
}

void top_draw_processes(struct top_area *area) {
    size_t n, *order = top_processes_in_order(area->view, area->snapshot, area->host, &n);
    struct columns at = list_columns(area->canvas, area->host);
    if (!order || area->rows < 2) {
        free(order);
        return;
    }
    size_t lines = area->rows - 1, most = n > lines ? n - lines : 0;
    bool scrolls = area->view->mode != TOP_ALL;
    if (scrolls && area->view->scroll > most)
        area->view->scroll = most;
    if (scrolls)
        area->view->page = lines;
    size_t first = scrolls ? area->view->scroll : 0;
    draw_process_title(area, &at);
    for (size_t i = 0; i < lines && first + i < n; i++)
        draw_process(area, area->row + 1 + i, &at, &area->snapshot->processes[order[first + i]]);
    free(order);
}

/* ---- pairs ---- */

static bool is_of(const struct live_pair *pair, int host) {
    return host < 0 || pair->host == host || pair->peer == host;
}

size_t top_pair_rows(const struct live_snapshot *snapshot, int host) {
    size_t n = 0;
    for (size_t i = 0; i < snapshot->n_pairs; i++)
        n += is_of(&snapshot->pairs[i], host);
    return n ? n + 1 : 0;
}

static double lower(double x, double y) {
    return isnan(x) || (y > 0 && y < x) ? y : x;
}

/* How full the link is in the fuller direction, if its capacity is known; else NAN. */
static double share_of_link(const struct live_snapshot *s, const struct live_pair *pair) {
    const struct live_host *host = &s->hosts[pair->host];
    const struct live_host *peer = pair->peer >= 0 ? &s->hosts[pair->peer] : NULL;
    double there = lower(host->send_ceiling_mb_s, peer ? peer->receive_ceiling_mb_s : NAN);
    double back = lower(host->receive_ceiling_mb_s, peer ? peer->send_ceiling_mb_s : NAN);
    return fmax(there > 0 ? pair->send_mb_s / there : NAN,
                back > 0 ? pair->receive_mb_s / back : NAN);
}

static void draw_pair(struct canvas *c, size_t row, size_t name, double share,
                      const struct live_pair *pair) {
    char text[TOP_NUMBER_SIZE];
    size_t at = 1 + name;
    canvas_put(c, row, 1, name, ROLE_PLAIN, pair->host_name);
    at += canvas_put(c, row, at, 4, ROLE_PLAIN, "<=> ");
    canvas_put(c, row, at, name, ROLE_PLAIN, pair->peer_name);
    at += name;
    canvas_put_right(c, row, at, 7, ROLE_TRANSFER, top_rate(text, pair->send_mb_s));
    canvas_put_right(c, row, at + 7, 7, ROLE_TRANSFER, top_rate(text, pair->receive_mb_s));
    snprintf(text, sizeof text, "%zu", pair->connections);
    canvas_put_right(c, row, at + 14, 6, ROLE_PLAIN, pair->connections ? text : "-");
    if (c->columns > at + 26 && !isnan(share))
        canvas_bar(c, row, at + 22, c->columns - at - 23, ROLE_TRANSFER, share);
}

void top_draw_pairs(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    struct canvas *c = area->canvas;
    size_t name = c->columns / 5 > 40 ? 40 : c->columns / 5, row = area->row + 1;
    if (area->rows < 2)
        return;
    canvas_stripe(c, area->row, ROLE_HEAD);
    canvas_put(c, area->row, 1, name, ROLE_HEAD, "HOST");
    canvas_put(c, area->row, name + 5, name, ROLE_HEAD, "PEER");
    canvas_put_right(c, area->row, 2 * name + 5, 7, ROLE_HEAD, "=> MB/s");
    canvas_put_right(c, area->row, 2 * name + 13, 6, ROLE_HEAD, "<=");
    canvas_put_right(c, area->row, 2 * name + 20, 5, ROLE_HEAD, "CONN");
    canvas_put(c, area->row, 2 * name + 28, c->columns, ROLE_HEAD, "OF THE LINK");
    for (size_t i = 0; i < s->n_pairs && row < area->row + area->rows; i++) {
        if (!is_of(&s->pairs[i], area->host))
            continue;
        draw_pair(c, row++, name, share_of_link(s, &s->pairs[i]), &s->pairs[i]);
    }
}
