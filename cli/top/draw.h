/* SPDX-License-Identifier: MIT */
/*
 * The screens of `chokepoint top`, on a canvas. A section is a list with a head; the main screen
 * divides its lines among the sections: each gets its minimum first, and the rest is dealt out in
 * turn.
 */
#ifndef CHOKEPOINT_CLI_TOP_DRAW_H
#define CHOKEPOINT_CLI_TOP_DRAW_H

#include "cli/top/canvas.h"
#include "cli/top/view.h"

/* Draws everything. The view gets the number of lines on a page, and the end of its list.
 * -ENOMEM. */
int top_draw(struct canvas *canvas, const struct live_snapshot *snapshot, struct top_view *view);

/* Number of rows needed to show everything, at most `rows_max`. */
size_t top_rows_wanted(const struct live_snapshot *snapshot, struct top_view *view, size_t columns,
                       size_t rows_max);

/* ---- parts: each draws `rows` lines from `row` on ---- */

struct top_area {
    struct canvas *canvas;
    const struct live_snapshot *snapshot;
    struct top_view *view;
    size_t row, rows;
    int host; /* lists: of this host only; -1: of all hosts */
};

void top_draw_head(struct top_area *area); /* its rows: top_head_rows */
void top_draw_limit(struct top_area *area);
void top_draw_foot(struct top_area *area); /* one line: keys, or trouble */
void top_draw_hosts(struct top_area *area);
void top_draw_gpus(struct top_area *area);
void top_draw_budgets(struct top_area *area);
void top_draw_processes(struct top_area *area);
void top_draw_pairs(struct top_area *area);
void top_draw_host(struct top_area *area); /* at most TOP_HOST_ROWS: one host in detail */
void top_draw_help(
    struct top_area *area); /* with TOP_ROWS_MIN - 2 lines only the first and last stay */
#define TOP_HEAD_ROWS 4     /* minimum */
/* The lines of the head that show all of it, if the screen is tall enough. */
size_t top_head_rows(const struct top_area *screen);
#define TOP_HOST_ROWS 11

/* Lines with the head; 0: there is nothing to show. */
size_t top_budget_rows(const struct live_snapshot *snapshot, int host);
size_t top_gpu_rows(const struct live_snapshot *snapshot, int host);
size_t top_process_rows(const struct live_snapshot *snapshot, int host);
size_t top_pair_rows(const struct live_snapshot *snapshot, int host);

/* ---- numbers with at most three digits; "-": not known ---- */

#define TOP_NUMBER_SIZE 24
/* "0", "4.2", "112", "1.2G" for MB/s; for GB without letters. */
const char *top_rate(char text[TOP_NUMBER_SIZE], double mb_s);
const char *top_size(char text[TOP_NUMBER_SIZE], double gb); /* "512M", "31.2G", "1.5T" */
const char *top_percent(char text[TOP_NUMBER_SIZE], double pct);
const char *top_time(char text[TOP_NUMBER_SIZE], double seconds); /* "12 s", "3:20", "2 d 04 h" */

/* Cores as a strip of that many cells; a cell for several cores shows the fullest. */
void top_draw_strip(struct canvas *canvas, size_t row, size_t column, size_t width,
                    const struct live_host *host);
enum role top_term_role(enum budget_term term);

#endif
