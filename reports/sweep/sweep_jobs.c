/* SPDX-License-Identifier: MIT */
/* Tables of the runs that stand for the cells, by what the job used: as a whole (T3), by role (T5).
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/model/summary.h"
#include "reports/sweep/sweep_private.h"

#define LABEL_SIZE 600

/* ---- T3: a row a cell ---- */

int sweep_tables_add_job(struct sweep_tables *tables, const struct sweep *sweep) {
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

int sweep_tables_add_roles(struct sweep_tables *tables, const struct sweep *sweep) {
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
