/* SPDX-License-Identifier: MIT */
#include "cli/top/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

/* ---- distribution of lines ---- */

struct section {
    void (*draw)(struct top_area *area);
    size_t wanted, least, given; /* lines with the head; a head alone is useless */
};

static size_t least_of(const struct section *section) {
    return section->wanted < section->least ? section->wanted : section->least;
}

/* Each section gets its minimum first, in order; the rest is dealt out in turn. */
static void share_out(struct section *sections, size_t n, size_t lines) {
    for (size_t i = 0; i < n; i++) {
        size_t least = least_of(&sections[i]);
        sections[i].given = least <= lines ? least : lines >= 2 ? lines : 0;
        lines -= sections[i].given;
    }
    for (bool any = true; any && lines;) {
        any = false;
        for (size_t i = 0; i < n && lines; i++) {
            if (sections[i].given < 2 || sections[i].given >= sections[i].wanted)
                continue;
            sections[i].given++;
            lines--;
            any = true;
        }
    }
}

static void draw_sections(struct top_area *area, struct section *sections, size_t n) {
    size_t row = area->row;
    share_out(sections, n, area->rows);
    for (size_t i = 0; i < n; i++) {
        struct top_area part = *area;
        part.row = row;
        part.rows = sections[i].given;
        if (part.rows >= 2)
            sections[i].draw(&part);
        row += part.rows;
    }
}

static void draw_all(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    struct section sections[] = {
        {top_draw_hosts, s->n_hosts ? s->n_hosts + 1 : 0, 5, 0},
        {top_draw_gpus, top_gpu_rows(s, -1), 3, 0},
        {top_draw_budgets, area->view->own ? 0 : top_budget_rows(s, -1), 4, 0},
        {top_draw_processes, top_process_rows(s, -1), 5, 0},
        {top_draw_pairs, top_pair_rows(s, -1), 4, 0},
    };
    draw_sections(area, sections, ARRAY_SIZE(sections));
    if (!s->n_hosts)
        canvas_put(area->canvas, area->row + 1, 0, area->canvas->columns, ROLE_PLAIN,
                   "Waiting for the first sample.");
}

static int marked_host(const struct live_snapshot *s, const struct top_view *view) {
    for (size_t h = 0; h < s->n_hosts; h++)
        if (strcmp(s->hosts[h].name, view->host) == 0)
            return (int)h;
    return s->n_hosts ? 0 : -1;
}

static void draw_one(struct top_area *area) {
    area->host = marked_host(area->snapshot, area->view);
    if (area->host < 0) {
        draw_all(area);
        return;
    }
    struct top_area detail = *area;
    top_draw_host(&detail);
    size_t used = detail.row - area->row;
    area->row += used;
    area->rows -= used;
    struct section sections[] = {
        {top_draw_gpus, top_gpu_rows(area->snapshot, area->host), 3, 0},
        {top_draw_budgets, area->view->own ? 0 : top_budget_rows(area->snapshot, area->host), 4, 0},
        {top_draw_processes, top_process_rows(area->snapshot, area->host), 4, 0},
        {top_draw_pairs, top_pair_rows(area->snapshot, area->host), 3, 0},
    };
    draw_sections(area, sections, ARRAY_SIZE(sections));
}

/* ---- the picture ---- */

static void draw_body(struct top_area *area) {
    switch (area->view->mode) {
    case TOP_HELP:
        top_draw_help(area);
        break;
    case TOP_HOST:
        draw_one(area);
        break;
    case TOP_PROCESSES:
        top_draw_processes(area);
        break;
    default:
        draw_all(area);
    }
}

int top_draw(struct canvas *canvas, const struct live_snapshot *snapshot, struct top_view *view) {
    struct top_area area = {.canvas = canvas, .snapshot = snapshot, .view = view, .host = -1};
    canvas_clear(canvas);
    if (canvas->rows < TOP_ROWS_MIN || canvas->columns < TOP_COLUMNS_MIN) {
        canvas_print(canvas, 0, 0, canvas->columns, ROLE_PLAIN, "needs %d x %d, has %zu x %zu",
                     TOP_COLUMNS_MIN, TOP_ROWS_MIN, canvas->columns, canvas->rows);
        return 0;
    }
    struct top_area head = area, foot = area;
    head.rows = view->mode == TOP_HELP ? 1 : top_head_rows(&area);
    foot.row = canvas->rows - 1;
    foot.rows = 1;
    area.row = head.rows;
    area.rows = canvas->rows - head.rows - 1;
    top_draw_head(&head);
    draw_body(&area);
    top_draw_foot(&foot);
    return 0;
}

size_t top_rows_wanted(const struct live_snapshot *snapshot, struct top_view *view, size_t columns,
                       size_t rows_max) {
    struct canvas whole = {.rows = rows_max, .columns = columns};
    struct top_area area = {.canvas = &whole, .snapshot = snapshot, .view = view, .host = -1};
    size_t rows = top_head_rows(&area) + 1 + snapshot->n_hosts + 1 + top_gpu_rows(snapshot, -1) +
                  top_process_rows(snapshot, -1) + top_pair_rows(snapshot, -1);
    if (!view->own)
        rows += top_budget_rows(snapshot, -1);
    return rows > rows_max ? rows_max : rows < TOP_ROWS_MIN ? TOP_ROWS_MIN : rows;
}
