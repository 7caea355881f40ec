/* SPDX-License-Identifier: MIT */
/* One host in detail: its resources and their use. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/top/draw.h"

#define LABEL_WIDTH 9
#define FIGURES 36 /* room for the figures right of a bar */

static size_t bar_width(const struct canvas *c) {
    size_t width = c->columns - LABEL_WIDTH - FIGURES - 2;
    return width > 80 ? 80 : width;
}

struct line {
    const char *label;
    enum role role;
    double share;
    char text[120];
};

static void draw_bar_line(struct top_area *area, const struct line *line) {
    struct canvas *c = area->canvas;
    size_t bar = bar_width(c);
    canvas_put(c, area->row, 1, LABEL_WIDTH - 2, ROLE_PLAIN, line->label);
    canvas_bar(c, area->row, LABEL_WIDTH, bar, line->role, line->share);
    canvas_put(c, area->row, LABEL_WIDTH + bar + 1, c->columns, line->role, line->text);
    area->row++;
}

/* "2 running, 101 sleeping": only states that occur, as many as fit. */
static const char *put_tasks(const struct live_host *host, char *text, size_t size, size_t column,
                             size_t columns) {
    size_t used = 0;
    text[0] = '\0';
    for (int t = 0; t < LIVE_TASKS; t++) {
        char one[40];
        if (t == LIVE_TASK_OTHER || host->tasks[t] < (t <= LIVE_TASK_SLEEPING ? 0 : 1))
            continue;
        size_t n = (size_t)snprintf(one, sizeof one, "%s%lld %s", used ? ", " : "",
                                    (long long)host->tasks[t], live_task_name((enum live_task)t));
        if (used + n >= size || column + used + n > columns)
            break;
        memcpy(text + used, one, n + 1);
        used += n;
    }
    return text;
}

static void draw_name(struct top_area *area, const struct live_host *host) {
    struct canvas *c = area->canvas;
    char load[64] = "", up[TOP_NUMBER_SIZE], tasks[120];
    if (!isnan(host->load[0]))
        snprintf(load, sizeof load, "load %.2f %.2f %.2f  ", host->load[0], host->load[1],
                 host->load[2]);
    canvas_stripe(c, area->row, ROLE_HEAD);
    size_t at = 1 + canvas_put(c, area->row, 1, c->columns / 2, ROLE_HEAD, host->name);
    if (!isnan(host->uptime_s))
        at += canvas_print(c, area->row, at + 2, c->columns, ROLE_HEAD, "up %s",
                           top_time(up, host->uptime_s)) +
              2;
    if (host->silent_s > 0)
        canvas_print(c, area->row, at + 2, c->columns, ROLE_HEAD, "silent for %s: as it was before",
                     top_time(up, host->silent_s));
    else
        canvas_print(c, area->row, at + 2, c->columns, ROLE_HEAD, "%s%s", load,
                     put_tasks(host, tasks, sizeof tasks, at + 2 + strlen(load), c->columns));
    area->row++;
}

static void draw_cpu(struct top_area *area, const struct live_host *host) {
    const double *m = host->metrics;
    struct line line = {"CPU", ROLE_COMPUTING, host->cpu_pct / 100, ""};
    char all[TOP_NUMBER_SIZE], user[TOP_NUMBER_SIZE], system[TOP_NUMBER_SIZE],
        wait[TOP_NUMBER_SIZE], steal[TOP_NUMBER_SIZE];
    snprintf(line.text, sizeof line.text, "%s %% (user %s, sys %s, io %s, st %s)",
             top_percent(all, host->cpu_pct), top_percent(user, m[METRIC_CPU_USER]),
             top_percent(system, m[METRIC_CPU_SYSTEM]), top_percent(wait, m[METRIC_CPU_IOWAIT]),
             top_percent(steal, m[METRIC_CPU_STEAL]));
    draw_bar_line(area, &line);
    canvas_print(area->canvas, area->row, 1, LABEL_WIDTH - 2, ROLE_PLAIN, "cores");
    size_t width = bar_width(area->canvas);
    top_draw_strip(area->canvas, area->row, LABEL_WIDTH + 1, width - 2, host);
    canvas_print(area->canvas, area->row, LABEL_WIDTH + width + 1, area->canvas->columns,
                 ROLE_COMPUTING, "%zu, the fullest at %s %%", host->n_cores,
                 top_percent(all, m[METRIC_CPU_CORE_MAX]));
    area->row++;
}

static void draw_memory(struct top_area *area, const struct live_host *host) {
    struct line line = {"memory", ROLE_MEMORY, host->metrics[METRIC_MEM_USED] / host->memory_gb,
                        ""};
    char used[TOP_NUMBER_SIZE], all[TOP_NUMBER_SIZE];
    snprintf(line.text, sizeof line.text, "%s of %s",
             top_size(used, host->metrics[METRIC_MEM_USED]), top_size(all, host->memory_gb));
    draw_bar_line(area, &line);
    if (!(host->swap_gb > 0))
        return;
    line = (struct line){"swap", ROLE_MEMORY, host->swap_used_gb / host->swap_gb, ""};
    snprintf(line.text, sizeof line.text, "%s of %s", top_size(used, host->swap_used_gb),
             top_size(all, host->swap_gb));
    draw_bar_line(area, &line);
}

/* "13 MB/s", "1.2 GB/s", "-" */
static const char *put_rate(char text[TOP_NUMBER_SIZE + 8], double mb_s) {
    size_t n = strlen(top_rate(text, mb_s));
    bool giga = n && text[n - 1] == 'G';
    if (!isnan(mb_s))
        strcpy(text + n - giga, giga ? " GB/s" : " MB/s");
    return text;
}

/* Relative to its ceiling; without one only the number. */
static void draw_rate(struct top_area *area, const char *label, enum role role, double mb_s,
                      double ceiling) {
    struct line line = {label, role, mb_s / ceiling, ""};
    char rate[TOP_NUMBER_SIZE + 8], most[TOP_NUMBER_SIZE + 8];
    size_t used = (size_t)snprintf(line.text, sizeof line.text, "%s", put_rate(rate, mb_s));
    if (ceiling > 0)
        snprintf(line.text + used, sizeof line.text - used, " of %s", put_rate(most, ceiling));
    draw_bar_line(area, &line);
}

static void draw_disk(struct top_area *area, const struct live_host *host) {
    struct line line = {"disk", ROLE_DISK, host->metrics[METRIC_DISK_BUSY] / 100, ""};
    char busy[TOP_NUMBER_SIZE], read[TOP_NUMBER_SIZE + 8], write[TOP_NUMBER_SIZE + 8];
    size_t used = 0;
    if (!isnan(host->metrics[METRIC_DISK_BUSY]))
        used = (size_t)snprintf(line.text, sizeof line.text, "%s %% busy, ",
                                top_percent(busy, host->metrics[METRIC_DISK_BUSY]));
    snprintf(line.text + used, sizeof line.text - used, "r %s, w %s",
             put_rate(read, host->metrics[METRIC_DISK_READ]),
             put_rate(write, host->metrics[METRIC_DISK_WRITE]));
    draw_bar_line(area, &line);
}

static void draw_pressure(struct top_area *area, const struct live_host *host) {
    const double *m = host->metrics;
    char cpu[TOP_NUMBER_SIZE], memory[TOP_NUMBER_SIZE], io[TOP_NUMBER_SIZE];
    canvas_print(area->canvas, area->row++, 1, area->canvas->columns, ROLE_PLAIN,
                 "pressure (time with a task waiting): core %s %%, memory %s %%, disk %s %%",
                 top_percent(cpu, m[METRIC_PSI_CPU]), top_percent(memory, m[METRIC_PSI_MEMORY]),
                 top_percent(io, m[METRIC_PSI_IO]));
}

void top_draw_host(struct top_area *area) {
    const struct live_host *host = &area->snapshot->hosts[area->host];
    draw_name(area, host);
    draw_cpu(area, host);
    draw_memory(area, host);
    draw_disk(area, host);
    draw_rate(area, "net in", ROLE_TRANSFER, host->metrics[METRIC_NET_RECV],
              host->receive_ceiling_mb_s);
    draw_rate(area, "net out", ROLE_TRANSFER, host->metrics[METRIC_NET_SEND],
              host->send_ceiling_mb_s);
    draw_pressure(area, host);
}
