/* SPDX-License-Identifier: MIT */
/*
 * The screens of `chokepoint top`, on a canvas. A section is a list with a head; the screen of all
 * shares its lines out among them: each gets what it needs at least, then what is left in turn.
 */
#ifndef CHOKEPOINT_CLI_TOP_DRAW_H
#define CHOKEPOINT_CLI_TOP_DRAW_H

#include "cli/top/canvas.h"
#include "cli/top/view.h"

/* The whole picture. The view learns how many lines a page has, and where its list ends. -ENOMEM.
 */
int top_draw(struct canvas *canvas, const struct live_snapshot *snapshot, struct top_view *view);

/* How many rows that takes if all is to be shown, `rows_max` at most. */
size_t top_rows_wanted(const struct live_snapshot *snapshot, struct top_view *view, size_t columns,
                       size_t rows_max);

/* ---- parts: each draws in `rows` lines from `row` on ---- */

struct top_area {
    struct canvas *canvas;
    const struct live_snapshot *snapshot;
    struct top_view *view;
    size_t row, rows;
    int host; /* lists: of this host only; -1: of all */
};

void top_draw_head(struct top_area *area); /* its rows: top_head_rows */
void top_draw_limit(struct top_area *area);
void top_draw_foot(struct top_area *area); /* one line: keys, or what is wrong */
void top_draw_hosts(struct top_area *area);
void top_draw_budgets(struct top_area *area);
void top_draw_processes(struct top_area *area);
void top_draw_pairs(struct top_area *area);
void top_draw_host(struct top_area *area); /* TOP_HOST_ROWS at most: one in detail */
void top_draw_help(
    struct top_area *area); /* TOP_ROWS_MIN - 2 lines: only the first and last stay */
#define TOP_HEAD_ROWS 4     /* at least */
/* The lines of the head, so that what it says is whole where the screen is tall enough. */
size_t top_head_rows(const struct top_area *screen);
#define TOP_HOST_ROWS 11

/* Lines with the head; 0: there is nothing to show. */
size_t top_budget_rows(const struct live_snapshot *snapshot, int host);
size_t top_process_rows(const struct live_snapshot *snapshot, int host);
size_t top_pair_rows(const struct live_snapshot *snapshot, int host);

/* ---- numbers, at most three digits; "-": not known ---- */

#define TOP_NUMBER_SIZE 24
/* "0", "4.2", "112", "1.2G" of MB/s; of GB the same without letters. */
const char *top_rate(char text[TOP_NUMBER_SIZE], double mb_s);
const char *top_size(char text[TOP_NUMBER_SIZE], double gb); /* "512M", "31.2G", "1.5T" */
const char *top_percent(char text[TOP_NUMBER_SIZE], double pct);
const char *top_time(char text[TOP_NUMBER_SIZE], double seconds); /* "12 s", "3:20", "2 d 04 h" */

/* Cores as a strip of that many cells; several cores in one show the fullest. */
void top_draw_strip(struct canvas *canvas, size_t row, size_t column, size_t width,
                    const struct live_host *host);
enum role top_term_role(enum budget_term term);

#endif
