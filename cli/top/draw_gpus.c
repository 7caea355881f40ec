/* SPDX-License-Identifier: MIT */
/* GPUs: one line each, in the order of their hosts. Unknown figures are "-". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/top/draw.h"
#include "cli/top/order.h"

#define FIXED 56 /* width of all fields but names and strips */
#define NARROW_FIXED 19
#define STRIP_MIN 8

/* First columns; 0: a narrow screen has no room for it. */
struct columns {
    size_t name, sm, busy, strip, memory, watts, cap;
    size_t name_width, strip_width;
};

static struct columns gpu_columns(const struct canvas *c) {
    struct columns at = {.name = 1};
    bool wide = c->columns >= TOP_COLUMNS_USUAL;
    size_t left = c->columns - (wide ? FIXED : NARROW_FIXED);
    at.strip_width = left / 3 > LIVE_HISTORY_S ? LIVE_HISTORY_S
                     : left / 3 < STRIP_MIN    ? STRIP_MIN
                                               : left / 3;
    at.name_width = left - at.strip_width > 44 ? 44 : left - at.strip_width;
    at.sm = at.name + at.name_width + 1;
    at.busy = at.sm + 5;
    at.strip = at.busy + 7;
    at.memory = wide ? at.strip + at.strip_width + 1 : 0;
    at.watts = wide ? at.memory + 13 : 0;
    at.cap = wide ? at.watts + 12 : 0;
    return at;
}

static bool shows_host(const struct top_area *area, size_t host) {
    return area->host >= 0 ? area->host == (int)host
                           : top_shows_host(area->view, area->snapshot, host);
}

static size_t count(const struct top_area *area) {
    size_t n = 0;
    for (size_t h = 0; h < area->snapshot->n_hosts; h++)
        n += shows_host(area, h) ? area->snapshot->hosts[h].n_gpus : 0;
    return n;
}

size_t top_gpu_rows(const struct top_area *area, int host) {
    struct top_area of = *area;
    of.host = host;
    size_t n = count(&of);
    return n ? n + 1 : 0;
}

static void draw_gpu_title(struct top_area *area, const struct columns *at, size_t n) {
    struct canvas *c = area->canvas;
    canvas_stripe(c, area->row, ROLE_HEAD);
    if (n + 1 > area->rows)
        canvas_print(c, area->row, at->name, at->name_width, ROLE_HEAD, "GPU (%zu of %zu)",
                     area->rows - 1, n);
    else
        canvas_put(c, area->row, at->name, at->name_width, ROLE_HEAD, "GPU");
    canvas_put_right(c, area->row, at->sm, 4, ROLE_HEAD, "SM%");
    canvas_put_right(c, area->row, at->busy, 5, ROLE_HEAD, "BUSY%");
    canvas_put(c, area->row, at->strip, at->strip_width, ROLE_HEAD, "60 s");
    if (!at->memory)
        return;
    canvas_put_right(c, area->row, at->memory, 12, ROLE_HEAD, "MEMORY/of");
    canvas_put_right(c, area->row, at->watts, 10, ROLE_HEAD, "WATTS/of");
    canvas_put(c, area->row, at->cap, c->columns, ROLE_HEAD, "CAPPED BY");
}

/* "1.3G/151G"; without what is there at most only the first. */
static void put_of(struct canvas *c, size_t row, size_t column, size_t width, enum role role,
                   const char *used, const char *most) {
    char text[2 * TOP_NUMBER_SIZE + 1];
    snprintf(text, sizeof text, strcmp(most, "-") == 0 ? "%s" : "%s/%s", used, most);
    canvas_put_right(c, row, column, width, role, text);
}

/* A model without its maker: "H200". */
static const char *short_model(const char *model) {
    static const char maker[] = "NVIDIA ";
    return strncmp(model, maker, strlen(maker)) == 0 ? model + strlen(maker) : model;
}

static void draw_use(struct canvas *c, size_t row, const struct columns *at,
                     const struct live_gpu *gpu) {
    char text[TOP_NUMBER_SIZE], most[TOP_NUMBER_SIZE];
    canvas_put_right(c, row, at->sm, 4, ROLE_GPU, top_percent(text, gpu->sm_pct));
    canvas_put_right(c, row, at->busy, 5, ROLE_GPU, top_percent(text, gpu->busy_pct));
    if (gpu->history)
        top_draw_history(c, row, at->strip, at->strip_width, ROLE_GPU, gpu->history, 100);
    if (!at->memory)
        return;
    put_of(c, row, at->memory, 12, ROLE_MEMORY, top_size(text, gpu->memory_used_gb),
           top_size(most, gpu->memory_gb));
    put_of(c, row, at->watts, 10, ROLE_PLAIN, top_percent(text, gpu->watts),
           top_percent(most, gpu->watts_limit));
    canvas_put(c, row, at->cap, c->columns, gpu->cap > LIVE_CAP_NONE ? ROLE_BOLD : ROLE_DIM,
               gpu->cap == LIVE_CAP_UNKNOWN ? "-" : live_cap_name(gpu->cap));
}

static void draw_gpu(struct top_area *area, size_t row, const struct columns *at,
                     const struct live_host *host, const struct live_gpu *gpu) {
    struct canvas *c = area->canvas;
    bool names_host = area->host < 0 && area->snapshot->n_hosts > 1;
    char text[200];
    snprintf(text, sizeof text, "%s%s%s%s%s", names_host ? host->name : "", names_host ? " " : "",
             gpu->name, *gpu->model ? " " : "", short_model(gpu->model));
    canvas_put(c, row, at->name, at->name_width, host->silent_s > 0 ? ROLE_DIM : ROLE_PLAIN, text);
    if (gpu->lost && gpu->xid >= 0)
        canvas_print(c, row, at->sm + 2, c->columns, ROLE_BOLD,
                     "lost: it does not answer any more (Xid %lld)", (long long)gpu->xid);
    else if (gpu->lost)
        canvas_put(c, row, at->sm + 2, c->columns, ROLE_BOLD, "lost: it does not answer any more");
    else
        draw_use(c, row, at, gpu);
}

void top_draw_gpus(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    struct columns at = gpu_columns(area->canvas);
    size_t row = area->row + 1, end = area->row + area->rows, n = count(area);
    if (area->rows < 2 || !n)
        return;
    draw_gpu_title(area, &at, n);
    for (size_t h = 0; h < s->n_hosts; h++) {
        const struct live_host *host = &s->hosts[h];
        if (!shows_host(area, h))
            continue;
        for (size_t g = 0; g < host->n_gpus && row < end; g++)
            draw_gpu(area, row++, &at, host, &host->gpus[g]);
    }
}
