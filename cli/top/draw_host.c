/* SPDX-License-Identifier: MIT */
/* One host in detail: its resources and their use. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/top/draw.h"

#define LABEL_WIDTH 9
#define FIGURES 36 /* room for the figures right of a strip */
#define FIGURES_NARROW 15
#define BAR_MAX 40

/* A line has a bar of now, a strip of the last minute, and figures. */
struct widths {
    size_t bar, strip;
};

static struct widths widths_of(const struct canvas *c) {
    bool wide = c->columns >= TOP_COLUMNS_USUAL;
    size_t left = c->columns - LABEL_WIDTH - 2 - (wide ? FIGURES : FIGURES_NARROW);
    struct widths widths = {.strip = left * 2 / 3};
    if (widths.strip > LIVE_HISTORY_S)
        widths.strip = LIVE_HISTORY_S;
    widths.bar = left - widths.strip > BAR_MAX ? BAR_MAX : left - widths.strip;
    return widths;
}

struct line {
    const char *label;
    enum role role;
    double share; /* NAN: of what is not known */
    char text[120];
    int trace; /* -1: none */
};

/* A screen may have fewer lines than the host has figures. */
static bool has_line(const struct top_area *area) {
    return area->rows > 0;
}

static void next_line(struct top_area *area) {
    area->row++;
    area->rows--;
}

static void draw_bar_line(struct top_area *area, const struct live_host *host,
                          const struct line *line) {
    struct canvas *c = area->canvas;
    struct widths widths = widths_of(c);
    size_t strip = LABEL_WIDTH + widths.bar + 1;
    if (!has_line(area))
        return;
    canvas_put(c, area->row, 1, LABEL_WIDTH - 2, ROLE_PLAIN, line->label);
    if (isfinite(line->share))
        canvas_bar(c, area->row, LABEL_WIDTH, widths.bar, line->role, line->share);
    if (line->trace >= 0 && host->history)
        top_draw_history(c, area->row, strip, widths.strip, line->role, &host->history[line->trace],
                         top_trace_most(host, (enum live_trace)line->trace));
    canvas_put(c, area->row, strip + widths.strip + 1, c->columns, line->role, line->text);
    next_line(area);
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
    if (!has_line(area))
        return;
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
    next_line(area);
}

static void draw_cores(struct top_area *area, const struct live_host *host) {
    struct canvas *c = area->canvas;
    struct widths widths = widths_of(c);
    size_t width = widths.bar + widths.strip + 1;
    char most[TOP_NUMBER_SIZE];
    if (!has_line(area))
        return;
    canvas_put(c, area->row, 1, LABEL_WIDTH - 2, ROLE_PLAIN, "cores");
    top_draw_strip(c, area->row, LABEL_WIDTH + 1, width - 2, host);
    canvas_print(c, area->row, LABEL_WIDTH + width + 1, c->columns, ROLE_COMPUTING,
                 c->columns < TOP_COLUMNS_USUAL ? "%zu, most %s %%" : "%zu, the fullest at %s %%",
                 host->n_cores, top_percent(most, host->metrics[METRIC_CPU_CORE_MAX]));
    next_line(area);
}

static void draw_cpu(struct top_area *area, const struct live_host *host) {
    const double *m = host->metrics;
    struct line line = {"CPU", ROLE_COMPUTING, host->cpu_pct / 100, "", LIVE_TRACE_CPU};
    char all[TOP_NUMBER_SIZE], user[TOP_NUMBER_SIZE], system[TOP_NUMBER_SIZE],
        wait[TOP_NUMBER_SIZE], steal[TOP_NUMBER_SIZE];
    size_t used =
        (size_t)snprintf(line.text, sizeof line.text, "%s %%", top_percent(all, host->cpu_pct));
    if (area->canvas->columns >= TOP_COLUMNS_USUAL)
        snprintf(line.text + used, sizeof line.text - used, " (user %s, sys %s, io %s, st %s)",
                 top_percent(user, m[METRIC_CPU_USER]), top_percent(system, m[METRIC_CPU_SYSTEM]),
                 top_percent(wait, m[METRIC_CPU_IOWAIT]), top_percent(steal, m[METRIC_CPU_STEAL]));
    draw_bar_line(area, host, &line);
    draw_cores(area, host);
}

static void draw_memory(struct top_area *area, const struct live_host *host) {
    struct line line = {"memory", ROLE_MEMORY, host->metrics[METRIC_MEM_USED] / host->memory_gb, "",
                        LIVE_TRACE_MEMORY};
    char used[TOP_NUMBER_SIZE], all[TOP_NUMBER_SIZE];
    snprintf(line.text, sizeof line.text, "%s of %s",
             top_size(used, host->metrics[METRIC_MEM_USED]), top_size(all, host->memory_gb));
    draw_bar_line(area, host, &line);
    if (!(host->swap_gb > 0))
        return;
    line = (struct line){"swap", ROLE_MEMORY, host->swap_used_gb / host->swap_gb, "", -1};
    snprintf(line.text, sizeof line.text, "%s of %s", top_size(used, host->swap_used_gb),
             top_size(all, host->swap_gb));
    draw_bar_line(area, host, &line);
}

/* "13 MB/s", "1.2 GB/s", "-" */
static const char *put_rate(char text[TOP_NUMBER_SIZE + 8], double mb_s) {
    size_t n = strlen(top_rate(text, mb_s));
    bool giga = n && text[n - 1] == 'G';
    if (!isnan(mb_s))
        strcpy(text + n - giga, giga ? " GB/s" : " MB/s");
    return text;
}

/* Relative to its ceiling. Without one there is no share: the strip is relative to the highest rate
 * of the minute. */
static void draw_rate(struct top_area *area, const struct live_host *host, const char *label,
                      enum metric metric, enum live_trace trace) {
    double mb_s = host->metrics[metric], ceiling = top_trace_most(host, trace);
    struct line line = {label, ROLE_TRANSFER, mb_s / ceiling, "", (int)trace};
    char rate[TOP_NUMBER_SIZE + 8], most[TOP_NUMBER_SIZE + 8];
    bool wide = area->canvas->columns >= TOP_COLUMNS_USUAL;
    double peak = host->history ? top_history_peak(&host->history[trace]) : NAN;
    size_t used = (size_t)snprintf(line.text, sizeof line.text, "%s", put_rate(rate, mb_s));
    if (ceiling > 0 && wide)
        snprintf(line.text + used, sizeof line.text - used, " of %s", put_rate(most, ceiling));
    else if (!(ceiling > 0) && peak > 0 && wide)
        snprintf(line.text + used, sizeof line.text - used, ", peak %s", put_rate(most, peak));
    if (!(ceiling > 0))
        line.share = NAN;
    draw_bar_line(area, host, &line);
}

static void draw_disk(struct top_area *area, const struct live_host *host) {
    struct line line = {"disk", ROLE_DISK, host->metrics[METRIC_DISK_BUSY] / 100, "",
                        LIVE_TRACE_DISK};
    char busy[TOP_NUMBER_SIZE], read[TOP_NUMBER_SIZE + 8], write[TOP_NUMBER_SIZE + 8];
    size_t used = 0;
    if (!isnan(host->metrics[METRIC_DISK_BUSY]))
        used = (size_t)snprintf(line.text, sizeof line.text, "%s %% busy",
                                top_percent(busy, host->metrics[METRIC_DISK_BUSY]));
    if (used && area->canvas->columns >= TOP_COLUMNS_USUAL)
        used += (size_t)snprintf(line.text + used, sizeof line.text - used, ", ");
    if (!used || area->canvas->columns >= TOP_COLUMNS_USUAL)
        snprintf(line.text + used, sizeof line.text - used, "r %s, w %s",
                 put_rate(read, host->metrics[METRIC_DISK_READ]),
                 put_rate(write, host->metrics[METRIC_DISK_WRITE]));
    draw_bar_line(area, host, &line);
}

static void draw_pressure(struct top_area *area, const struct live_host *host) {
    const double *m = host->metrics;
    char cpu[TOP_NUMBER_SIZE], memory[TOP_NUMBER_SIZE], io[TOP_NUMBER_SIZE];
    if (!has_line(area))
        return;
    canvas_print(area->canvas, area->row, 1, area->canvas->columns, ROLE_PLAIN,
                 "pressure (time with a task waiting): core %s %%, memory %s %%, disk %s %%",
                 top_percent(cpu, m[METRIC_PSI_CPU]), top_percent(memory, m[METRIC_PSI_MEMORY]),
                 top_percent(io, m[METRIC_PSI_IO]));
    next_line(area);
}

void top_draw_host(struct top_area *area) {
    const struct live_host *host = &area->snapshot->hosts[area->host];
    draw_name(area, host);
    draw_cpu(area, host);
    draw_memory(area, host);
    draw_disk(area, host);
    draw_rate(area, host, "net in", METRIC_NET_RECV, LIVE_TRACE_RECEIVE);
    draw_rate(area, host, "net out", METRIC_NET_SEND, LIVE_TRACE_SEND);
    draw_pressure(area, host);
}
