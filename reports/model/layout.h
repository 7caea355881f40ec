/* SPDX-License-Identifier: MIT */
/*
 * The rows of a report's tables and the format of their numbers. All writers share them, so that
 * the text, Markdown and HTML forms of a table agree.
 */
#ifndef CHOKEPOINT_REPORTS_LAYOUT_H
#define CHOKEPOINT_REPORTS_LAYOUT_H

#include "reports/model/model.h"

/* One row of a per-host table. */
struct layout_row {
    enum metric metric;
    const char *label; /* with its unit: "avg_nw_send (MB/s)" */
    bool of_ceiling;   /* the share of the metric's measured ceiling, in % */
};

/* T1: the seven rows of the reference table, means over a phase; and those of GPUs. */
extern const struct layout_row layout_averages[];
extern const size_t layout_averages_size;

/* T4: peaks. */
extern const struct layout_row layout_peaks[];
extern const size_t layout_peaks_size;

/* Whether a phase is long enough for means: three samples in all. */
bool layout_worth_a_table(const struct report *report, const struct report_resources *resources);

#define LAYOUT_NUMBER_SIZE 32

/* A number of a table: three digits, at most four decimals so that 0.0134 stays readable, "-" for
 * NAN. Writes it into text[LAYOUT_NUMBER_SIZE] and returns it. */
const char *layout_number(char text[LAYOUT_NUMBER_SIZE], double value);

/* "7.1 s", "3 min 20 s", "1 h 02 min". Into text[LAYOUT_NUMBER_SIZE]. */
const char *layout_duration(char text[LAYOUT_NUMBER_SIZE], double seconds);

/* Local time "2026-11-20 09:41:11". */
const char *layout_time(char text[LAYOUT_NUMBER_SIZE], int64_t wall_ns);

/* Whether a row of the metric may be shown: one of GPUs needs a host that tells it. */
bool layout_has(const struct report *report, enum metric metric);

/* The rows as they are shown: if a metric has a measured ceiling on some host, a row of shares of
 * it follows. Rows of GPUs are left out if none is known. Returns their number, at most
 * LAYOUT_ROWS_MAX. */
#define LAYOUT_ROWS_MAX 32
size_t layout_expand(const struct report *report, const struct layout_row *rows, size_t n,
                     struct layout_row ret_rows[LAYOUT_ROWS_MAX]);
/* The same beside other runs: a row of GPUs that one of them has is shown for all. */
size_t layout_expand_beside(const struct report *report, const struct report *const *all,
                            size_t n_all, const struct layout_row *rows, size_t n,
                            struct layout_row ret_rows[LAYOUT_ROWS_MAX]);
/* Mean or peak, in the unit of the row; NAN when not known. */
double layout_value(const struct report *report, const struct report_resources *resources,
                    size_t host, const struct layout_row *row, bool peak);

/* The measured limit of the metric on that host; NAN: not measured. */
double layout_ceiling(const struct report *report, size_t host, enum metric metric);

/* The name of a host of a report, "-" for none. Borrowed. */
const char *layout_host(const struct report *report, int host);

/* "; else the run would be 23 % shorter": the run's gain without the straggler if it is known,
 * since a straggler for which no rank waits costs nothing. Otherwise "". */
void layout_straggler_gain(char *text, size_t size, const struct report *report,
                           const struct straggler *straggler);

/* "Timeline of iteration 17 of rank 0, the one of median length (19.9 ms)"; "" if there is none. */
void layout_timeline_title(const struct report *report, char *text, size_t size);

#endif
