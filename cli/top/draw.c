/* SPDX-License-Identifier: MIT */
#include "cli/top/draw.h"
#include "cli/top/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

/* ---- distribution of lines ---- */

struct section {
    void (*draw)(struct top_area *area);
    size_t wanted, least; /* lines with the head; a head alone is useless */
    unsigned turn;        /* the first gets its minimum first */
    size_t given;
};

static size_t least_of(const struct section *section) {
    return section->wanted < section->least ? section->wanted : section->least;
}

static void give_least(struct section *section, size_t *lines) {
    size_t least = least_of(section);
    section->given = least <= *lines ? least : *lines >= 2 ? *lines : 0;
    *lines -= section->given;
}

/* Each section gets its minimum first, in turn; the rest is dealt out. */
static void share_out(struct section *sections, size_t n, size_t lines) {
    for (unsigned turn = 0; turn < n; turn++)
        for (size_t i = 0; i < n; i++)
            if (sections[i].turn == turn)
                give_least(&sections[i], &lines);
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

static size_t budget_rows(const struct top_area *area, int host) {
    return area->view->own ? 0 : top_budget_rows(area->snapshot, host);
}

static bool knows_history(const struct live_snapshot *s) {
    size_t h = 0;
    while (h < s->n_hosts && !s->hosts[h].history)
        h++;
    return h < s->n_hosts;
}

/* The first section is that of hosts: it shows the last minute of all of them, or of none, unless
 * the user wants it. */
static void decide_history(struct top_area *area, struct section *sections, size_t n) {
    size_t others = 0;
    for (size_t i = 1; i < n; i++)
        others += least_of(&sections[i]);
    area->view->shows_history = true;
    sections[0].wanted = top_host_rows(area);
    bool room = sections[0].wanted + others <= area->rows && knows_history(area->snapshot);
    area->view->shows_history = area->view->history == TOP_HISTORY_ALWAYS ||
                                (area->view->history == TOP_HISTORY_IF_ROOM && room);
    sections[0].wanted = top_host_rows(area);
    if (room && area->view->shows_history)
        sections[0].least = sections[0].wanted;
}

static void draw_all(struct top_area *area) {
    size_t list = area->canvas->rows < TOP_ROWS_USUAL ? 3 : 5;
    struct section sections[] = {
        {top_draw_hosts, 0, list, 0, 0},
        {top_draw_gpus, top_gpu_rows(area, -1), 3, 2, 0},
        {top_draw_budgets, budget_rows(area, -1), 4, 3, 0},
        {top_draw_processes, top_process_rows(area, -1), list, 1, 0},
        {top_draw_pairs, top_pair_rows(area->snapshot, -1), 4, 4, 0},
    };
    decide_history(area, sections, ARRAY_SIZE(sections));
    draw_sections(area, sections, ARRAY_SIZE(sections));
    if (!area->snapshot->n_hosts)
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
        {top_draw_gpus, top_gpu_rows(area, area->host), 3, 1, 0},
        {top_draw_budgets, budget_rows(area, area->host), 4, 2, 0},
        {top_draw_processes, top_process_rows(area, area->host), 4, 0, 0},
        {top_draw_pairs, top_pair_rows(area->snapshot, area->host), 3, 3, 0},
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

static void draw_picture(struct top_area *area) {
    struct top_area head = *area, foot = *area;
    head.rows = area->view->mode == TOP_HELP ? 0 : top_head_rows(area);
    foot.row = area->canvas->rows - 1;
    foot.rows = 1;
    area->row = head.rows;
    area->rows = area->canvas->rows - head.rows - 1;
    if (head.rows)
        top_draw_head(&head);
    draw_body(area);
    top_draw_foot(&foot);
}

int top_draw(struct canvas *canvas, const struct live_snapshot *snapshot, struct top_view *view) {
    struct live_snapshot selected;
    struct top_area area = {.canvas = canvas, .snapshot = &selected, .view = view, .host = -1};
    canvas_clear(canvas);
    if (canvas->rows < TOP_ROWS_MIN || canvas->columns < TOP_COLUMNS_MIN) {
        canvas_print(canvas, 0, 0, canvas->columns, ROLE_PLAIN, "needs %d x %d, has %zu x %zu",
                     TOP_COLUMNS_MIN, TOP_ROWS_MIN, canvas->columns, canvas->rows);
        return 0;
    }
    int result = top_select(view, snapshot, &selected);
    if (result < 0)
        return result;
    draw_picture(&area);
    top_selection_release(&selected);
    return 0;
}

size_t top_rows_wanted(const struct live_snapshot *snapshot, struct top_view *view, size_t columns,
                       size_t rows_max) {
    struct canvas whole = {.rows = rows_max, .columns = columns};
    struct top_area area = {.canvas = &whole, .snapshot = snapshot, .view = view, .host = -1};
    view->shows_history = knows_history(snapshot);
    size_t rows = top_head_rows(&area) + 1 + top_host_rows(&area) + top_gpu_rows(&area, -1) +
                  budget_rows(&area, -1) + top_process_rows(&area, -1) +
                  top_pair_rows(snapshot, -1);
    return rows > rows_max ? rows_max : rows < TOP_ROWS_USUAL ? TOP_ROWS_USUAL : rows;
}
