/* SPDX-License-Identifier: MIT */
/* The busiest processes, one by one or by program. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/draw.h"
#include "cli/top/order.h"
#include "common/error.h"

size_t top_process_rows(const struct top_area *area, int host) {
    size_t n;
    free(top_processes_in_order(area->view, area->snapshot, host, &n));
    return n ? n + 1 : 0;
}

/* Columns; 0: a narrow screen has no room for it. */
struct columns {
    size_t host, pid, rank, cpu, wait, memory, read, write, command, host_width;
};

#define COMMAND_MIN 16

/* Gives a field room, if the command has enough left. Fields that matter most come first. */
static void take_room(size_t *left, size_t width, size_t *ret_width) {
    bool fits = *left >= width + COMMAND_MIN;
    *ret_width = fits ? width : 0;
    *left -= fits ? width : 0;
}

static struct columns list_columns(const struct canvas *c, int host) {
    struct columns at = {.host = 1};
    size_t left = c->columns - 1, pid, rank, cpu, wait, memory, read, write;
    size_t host_width = c->columns / 6 > 24 ? 24 : c->columns / 6;
    take_room(&left, 6, &cpu);
    take_room(&left, host >= 0 ? 0 : host_width + 1, &at.host_width);
    take_room(&left, 7, &memory);
    take_room(&left, 8, &pid);
    take_room(&left, 5, &rank);
    take_room(&left, 6, &wait);
    take_room(&left, 6, &read);
    take_room(&left, read ? 6 : left, &write);
    at.host_width -= at.host_width ? 1 : 0;
    size_t next = at.host + at.host_width + (at.host_width ? 1 : 0);
    const struct {
        size_t *at, width;
    } fields[] = {{&at.pid, pid},       {&at.rank, rank}, {&at.cpu, cpu},    {&at.wait, wait},
                  {&at.memory, memory}, {&at.read, read}, {&at.write, write}};
    for (size_t i = 0; i < ARRAY_SIZE(fields); next += fields[i++].width)
        *fields[i].at = fields[i].width ? next : 0;
    at.command = next + 1;
    return at;
}

static void put_field(struct canvas *c, size_t row, size_t column, size_t width, enum role role,
                      const char *text) {
    if (column)
        canvas_put_right(c, row, column, width, role, text);
}

static void draw_process_title(struct top_area *area, const struct columns *at) {
    static const char *const titles[] = {"PROCESS", "PROCESSES BY PROGRAM", "PROGRAMS"};
    struct canvas *c = area->canvas;
    canvas_stripe(c, area->row, ROLE_HEAD);
    canvas_put(c, area->row, at->host, at->host_width, ROLE_HEAD, "HOST");
    put_field(c, area->row, at->pid, 7, ROLE_HEAD, "PID");
    put_field(c, area->row, at->rank, 4, ROLE_HEAD, "RANK");
    put_field(c, area->row, at->cpu, 5, ROLE_HEAD, "CPU%");
    put_field(c, area->row, at->wait, 5, ROLE_HEAD, "WAIT%");
    put_field(c, area->row, at->memory, 6, ROLE_HEAD, "MEMORY");
    put_field(c, area->row, at->read, 5, ROLE_HEAD, "READ");
    put_field(c, area->row, at->write, 5, ROLE_HEAD, "WRITE");
    canvas_put(c, area->row, at->command, c->columns, ROLE_HEAD, titles[area->view->list]);
}

/* Without the program's folders, which would fill a narrow column. */
static const char *command_of(const struct live_process *p) {
    const char *text = p->command ? p->command : p->name, *begin = text;
    for (const char *at = text; *at && *at != ' '; at++)
        if (*at == '/' && at[1] && at[1] != ' ')
            begin = at + 1;
    return p->command ? begin : text;
}

static const char *branch_of(const struct canvas *c, enum top_branch branch) {
    static const char *const lines[] = {"", "├─ ", "└─ "}, *const ascii[] = {"", "|- ", "`- "};
    return (c->utf8 ? lines : ascii)[branch];
}

static void draw_command(struct top_area *area, size_t row, size_t column,
                         const struct top_process *line) {
    struct canvas *c = area->canvas;
    const struct live_process *p = &line->process;
    enum role role = p->job && !area->view->own ? ROLE_BOLD : ROLE_PLAIN;
    column += canvas_put(c, row, column, c->columns, ROLE_DIM, branch_of(c, line->branch));
    if (line->n)
        column += canvas_print(c, row, column, c->columns, ROLE_PLAIN, "%zu x ", line->n);
    canvas_put(c, row, column, c->columns, role, command_of(p));
}

static void draw_process(struct top_area *area, size_t row, const struct columns *at,
                         const struct top_process *line) {
    struct canvas *c = area->canvas;
    const struct live_process *p = &line->process;
    char text[TOP_NUMBER_SIZE];
    canvas_put(c, row, at->host, at->host_width, line->many_hosts ? ROLE_DIM : ROLE_PLAIN,
               line->many_hosts ? "several" : area->snapshot->hosts[p->host].name);
    snprintf(text, sizeof text, "%lld", (long long)p->pid);
    put_field(c, row, at->pid, 7, ROLE_PLAIN, p->pid >= 0 ? text : "-");
    snprintf(text, sizeof text, "%d", p->rank);
    put_field(c, row, at->rank, 4, ROLE_PLAIN,
              p->rank >= 0                 ? text
              : p->job && !area->view->own ? "job"
                                           : "");
    put_field(c, row, at->cpu, 5, ROLE_COMPUTING, top_percent(text, p->cpu_pct));
    put_field(c, row, at->wait, 5, ROLE_CORE_WAIT, top_percent(text, p->run_queue_pct));
    put_field(c, row, at->memory, 6, ROLE_MEMORY, top_size(text, p->memory_gb));
    put_field(c, row, at->read, 5, ROLE_DISK, top_rate(text, p->read_mb_s));
    put_field(c, row, at->write, 5, ROLE_DISK, top_rate(text, p->write_mb_s));
    draw_command(area, row, at->command, line);
}

void top_draw_processes(struct top_area *area) {
    size_t n;
    struct top_process *lines = top_processes_in_order(area->view, area->snapshot, area->host, &n);
    struct columns at = list_columns(area->canvas, area->host);
    if (!lines || area->rows < 2) {
        free(lines);
        return;
    }
    size_t room = area->rows - 1, most = n > room ? n - room : 0;
    bool scrolls = area->view->mode != TOP_ALL;
    if (scrolls && area->view->scroll > most)
        area->view->scroll = most;
    if (scrolls)
        area->view->page = room;
    size_t first = scrolls ? area->view->scroll : 0;
    draw_process_title(area, &at);
    for (size_t i = 0; i < room && first + i < n; i++)
        draw_process(area, area->row + 1 + i, &at, &lines[first + i]);
    free(lines);
}
