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
void top_draw_help(struct top_area *area); /* scrolls where it does not fit */
#define TOP_HEAD_ROWS 4                    /* minimum of a screen of the usual size */
/* The lines of the head that show all of it, if the screen is tall enough. */
size_t top_head_rows(const struct top_area *screen);
#define TOP_HOST_ROWS 11

/* Lines with the head; 0: there is nothing to show. */
size_t top_host_rows(const struct top_area *area); /* with histories, if the view shows them */
size_t top_budget_rows(const struct live_snapshot *snapshot, int host);
size_t top_gpu_rows(const struct top_area *area, int host);
size_t top_process_rows(const struct top_area *area, int host);
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
/* The last minute as a strip of at most that many cells, the newest at the right; a cell for
 * several seconds shows the highest. `most` is its full height; not known: the highest of the
 * minute. */
void top_draw_history(struct canvas *canvas, size_t row, size_t column, size_t width,
                      enum role role, const struct live_values *values, double most);
/* The highest value of the minute; NAN: none is known. */
double top_history_peak(const struct live_values *values);
/* The ceiling of a host for this trace; NAN: not known. */
double top_trace_most(const struct live_host *host, enum live_trace trace);
enum role top_term_role(enum budget_term term);

#endif
