/* SPDX-License-Identifier: MIT */
/*
 * Tables of the runs that stand for the cells: averages by host (T1, T2), the job as a whole (T3),
 * peaks (T4), roles (T5), operators (T8), the argument by arithmetic (P1).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/layout.h"
#include "reports/summary.h"
#include "reports/sweep_private.h"
#include "reports/text.h"

#define LABEL_SIZE 600
#define OPERATORS_SHOWN 8

static size_t hosts_of(const struct report *report, size_t hosts_max) {
    return hosts_max && report->n_hosts > hosts_max ? hosts_max : report->n_hosts;
}

/* ---- T1, T2, T4: a column a host of each cell ---- */

static int fill_host(struct sweep_table *table, size_t column, const char *label,
                     const struct report *report, size_t host, const struct layout_row *rows,
                     size_t n, bool peaks) {
    int result = sweep_table_set(table, 0, column, "%s %s", label, report->hosts[host].name);
    for (size_t r = 0; r < n && result == 0; r++)
        if (report->n_resources)
            result = sweep_table_number(
                table, r + 1, column,
                layout_value(report, &report->resources[0], host, &rows[r], peaks));
    return result;
}

static int add_hosts(struct sweep_tables *tables, const struct sweep *sweep, const char *id,
                     const char *title, const struct layout_row *rows, size_t n, bool peaks,
                     size_t hosts_max) {
    size_t columns = 1, column = 1;
    for (size_t i = 0; i < sweep->n_cells; i++)
        columns += sweep->cells[i].typical ? hosts_of(sweep->cells[i].typical, hosts_max) : 0;
    struct sweep_table *table = sweep_table_new(tables, id, "", n + 1, columns, "%s", title);
    int result = table ? sweep_table_set(table, 0, 0, " ") : -ENOMEM;
    for (size_t r = 0; r < n && result == 0; r++)
        result = sweep_table_set(table, r + 1, 0, "%s", rows[r].label);
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct report *report = sweep->cells[i].typical;
        char label[LABEL_SIZE];
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        for (size_t h = 0; report && result == 0 && h < hosts_of(report, hosts_max); h++)
            result = fill_host(table, column++, label, report, h, rows, n, peaks);
    }
    return result;
}

/* ---- T3: a row a cell ---- */

static int add_job(struct sweep_tables *tables, const struct sweep *sweep) {
    static const char *const titles[] = {" ",
                                         "CPU (%)",
                                         "network read (MB/s)",
                                         "network write (MB/s)",
                                         "disk read (MB/s)",
                                         "disk write (MB/s)"};
    size_t row = 1;
    struct sweep_table *table =
        sweep_table_new(tables, "job", "", sweep_n_typical(sweep) + 1, ARRAY_SIZE(titles),
                        "The job as a whole (sums over hosts; CPU 100 %% is one core)");
    int result = table ? 0 : -ENOMEM;
    for (size_t c = 0; c < ARRAY_SIZE(titles) && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", titles[c]);
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++) {
        char label[LABEL_SIZE];
        if (!sweep->cells[i].typical)
            continue;
        struct report_summary s = report_summarize(sweep->cells[i].typical);
        const double values[] = {s.job_cpu_pct, s.net_recv_mb_s, s.net_send_mb_s, s.disk_read_mb_s,
                                 s.disk_write_mb_s};
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        result = sweep_table_set(table, row, 0, "%s", label);
        for (size_t c = 0; c < ARRAY_SIZE(values) && result == 0; c++)
            result = sweep_table_number(table, row, c + 1, values[c]);
        row++;
    }
    return result;
}

/* ---- T5: a row a rank of each cell, by its role ---- */

/* What the rank's process used, of the busiest that are listed; NULL: it is not among them. */
static const struct report_process *process_of(const struct report *report, int rank) {
    for (size_t i = 0; i < report->n_processes; i++)
        if (report->processes[i].job && report->processes[i].rank == rank)
            return &report->processes[i];
    return NULL;
}

static double host_mean(const struct report *report, int host, enum metric metric) {
    return host >= 0 && report->n_resources
               ? report->resources[0].values[(size_t)host * METRIC_COUNT_ + (size_t)metric].mean
               : NAN;
}

static int fill_role(struct sweep_table *table, size_t row, const char *label,
                     const struct report *report, const struct report_rank *rank) {
    const struct report_process *process = process_of(report, rank->rank);
    double time = rank->n ? rank->end_s[rank->n - 1] - (rank->end_s[0] - rank->duration_s[0]) : NAN;
    const double values[] = {100 * report_last_value(report, "accuracy"),
                             time,
                             process ? process->cpu_pct : NAN,
                             process ? process->rss_gb : NAN,
                             host_mean(report, rank->host, METRIC_NET_RECV),
                             host_mean(report, rank->host, METRIC_NET_SEND)};
    int result =
        sweep_table_set(table, row, 0, "%s: %s%srank %d on %s", label, rank->role,
                        *rank->role ? ", " : "", rank->rank, layout_host(report, rank->host));
    for (size_t c = 0; c < ARRAY_SIZE(values) && result == 0; c++)
        result = sweep_table_number(table, row, c + 1, values[c]);
    return result;
}

static int add_roles(struct sweep_tables *tables, const struct sweep *sweep) {
    static const char *const titles[] = {" ",
                                         "accuracy (%)",
                                         "time (s)",
                                         "CPU (%)",
                                         "memory (GB)",
                                         "network read (MB/s)",
                                         "network write (MB/s)"};
    size_t rows = 1, row = 1;
    for (size_t i = 0; i < sweep->n_cells; i++)
        rows += sweep->cells[i].typical ? sweep->cells[i].typical->n_ranks : 0;
    struct sweep_table *table =
        sweep_table_new(tables, "roles", "", rows, ARRAY_SIZE(titles), "Roles");
    int result = table ? 0 : -ENOMEM;
    for (size_t c = 0; c < ARRAY_SIZE(titles) && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", titles[c]);
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct report *report = sweep->cells[i].typical;
        char label[LABEL_SIZE];
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        for (size_t r = 0; report && r < report->n_ranks && result == 0; r++)
            result = fill_role(table, row++, label, report, &report->ranks[r]);
    }
    return result;
}

/* ---- T8: operators, a column a cell ---- */

/* The place of an operator in the list of all, which it joins if it is new and there is room. */
static void collect_operators(const struct report *report, const char **names, size_t *n) {
    for (size_t i = 0; i < report->n_operators && *n < OPERATORS_SHOWN; i++) {
        size_t k = 0;
        while (k < *n && strcmp(names[k], report->operators[i].name) != 0)
            k++;
        if (k == *n)
            names[(*n)++] = report->operators[i].name;
    }
}

/* "2.02 ms, 135.0 MB": mean time and output of the role that runs it most. */
static int put_operator(struct sweep_table *table, size_t row, size_t column,
                        const struct report *report, const char *name) {
    const struct report_operator *found = NULL;
    char ms[LAYOUT_NUMBER_SIZE], mb[LAYOUT_NUMBER_SIZE];
    for (size_t i = 0; i < report->n_operators; i++)
        if (strcmp(report->operators[i].name, name) == 0 &&
            (!found || report->operators[i].total_s > found->total_s))
            found = &report->operators[i];
    if (!found)
        return sweep_table_set(table, row, column, "-");
    layout_number(ms, 1e3 * found->mean_s);
    if (isnan(found->output_bytes))
        return sweep_table_set(table, row, column, "%s", ms);
    return sweep_table_set(table, row, column, "%s, %s MB", ms,
                           layout_number(mb, found->output_bytes / 1e6));
}

static int add_operators(struct sweep_tables *tables, const struct sweep *sweep) {
    const char *names[OPERATORS_SHOWN];
    size_t n = 0, column = 1;
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (sweep->cells[i].typical)
            collect_operators(sweep->cells[i].typical, names, &n);
    if (!n)
        return 0;
    struct sweep_table *table =
        sweep_table_new(tables, "operators", "", n + 1, sweep_n_typical(sweep) + 1,
                        "Operators: mean time (ms) and size of the output");
    int result = table ? sweep_table_set(table, 0, 0, "operator") : -ENOMEM;
    for (size_t r = 0; r < n && result == 0; r++)
        result = sweep_table_set(table, r + 1, 0, "%s", names[r]);
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++) {
        char label[LABEL_SIZE];
        if (!sweep->cells[i].typical)
            continue;
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        result = sweep_table_set(table, 0, column, "%s", label);
        for (size_t r = 0; r < n && result == 0; r++)
            result = put_operator(table, r + 1, column, sweep->cells[i].typical, names[r]);
        column++;
    }
    return result;
}

/* ---- P1 ---- */

/* Of each cell the argument that bounds an iteration most. */
static int add_arithmetic(struct sweep_tables *tables, const struct sweep *sweep) {
    static const char *const titles[] = {
        " ", "link", "MB an iteration", "MB/s", "so it takes (s)", "iteration (s)", "share (%)"};
    size_t rows = 1, row = 1;
    for (size_t i = 0; i < sweep->n_cells; i++)
        rows += sweep->cells[i].typical && sweep->cells[i].typical->n_arithmetic;
    if (rows == 1)
        return 0;
    struct sweep_table *table = sweep_table_new(tables, "arithmetic", "", rows, ARRAY_SIZE(titles),
                                                "By arithmetic: what the bytes of an iteration "
                                                "need");
    int result = table ? 0 : -ENOMEM;
    for (size_t c = 0; c < ARRAY_SIZE(titles) && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", titles[c]);
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++) {
        const struct report *report = sweep->cells[i].typical;
        char label[LABEL_SIZE];
        if (!report || !report->n_arithmetic)
            continue;
        const struct report_arithmetic *a = &report->arithmetic[0];
        const double values[] = {a->bytes_per_iteration / 1e6, a->bandwidth_mb_s, a->bound_s,
                                 a->iteration_s, a->share_pct};
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        result = sweep_table_set(table, row, 0, "%s", label);
        if (result == 0)
            result = sweep_table_set(table, row, 1, "%s %ss", layout_host(report, a->host),
                                     a->direction);
        for (size_t c = 0; c < ARRAY_SIZE(values) && result == 0; c++)
            result = sweep_table_number(table, row, c + 2, values[c]);
        row++;
    }
    return result;
}

int sweep_tables_add_runs(struct sweep_tables *tables, const struct sweep *sweep, const char *kind,
                          size_t hosts_max) {
    if (!sweep_n_typical(sweep))
        return 0;
    if (strcmp(kind, "hosts") == 0)
        return add_hosts(tables, sweep, "hosts", "Averages of each host", layout_averages,
                         layout_averages_size, false, hosts_max);
    if (strcmp(kind, "peaks") == 0)
        return add_hosts(tables, sweep, "peaks", "Peaks of each host", layout_peaks,
                         layout_peaks_size, true, hosts_max);
    if (strcmp(kind, "job") == 0)
        return add_job(tables, sweep);
    if (strcmp(kind, "roles") == 0)
        return add_roles(tables, sweep);
    if (strcmp(kind, "operators") == 0)
        return add_operators(tables, sweep);
    if (strcmp(kind, "arithmetic") == 0)
        return add_arithmetic(tables, sweep);
    return strcmp(kind, "pace") == 0 ? sweep_tables_add_pace(tables, sweep)
                                     : sweep_tables_add_curves(tables, sweep);
}
