/* SPDX-License-Identifier: MIT */
/* Tables of the runs that stand for the cells, by the job's use of resources: as a whole (T3), by
 * role (T5).
 */
#include <errno.h>
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

/* Bytes over the rank's time, in MB/s. */
static int fill_role(struct sweep_table *table, size_t row, const char *label,
                     const struct report *report, const struct report_role *role) {
    const double values[] = {role->accuracy_pct,
                             role->time_s,
                             role->cpu_pct,
                             role->peak_memory_gb,
                             role->received_mb,
                             role->sent_mb,
                             role->received_mb / role->time_s,
                             role->sent_mb / role->time_s};
    int result =
        sweep_table_set(table, row, 0, "%s: %s%srank %d on %s", label, role->role,
                        *role->role ? ", " : "", role->rank, layout_host(report, role->host));
    for (size_t c = 0; c < ARRAY_SIZE(values) && result == 0; c++)
        result = sweep_table_number(table, row, c + 1, values[c]);
    return result;
}

int sweep_tables_add_roles(struct sweep_tables *tables, const struct sweep *sweep) {
    static const char *const titles[] = {
        " ",         "accuracy (%)",        "time (s)",
        "CPU (%)",   "memory (GB)",         "received (MB)",
        "sent (MB)", "network read (MB/s)", "network write (MB/s)"};
    size_t rows = 1, row = 1;
    for (size_t i = 0; i < sweep->n_cells; i++)
        rows += sweep->cells[i].typical ? sweep->cells[i].typical->n_roles : 0;
    struct sweep_table *table =
        sweep_table_new(tables, "roles", "", rows, ARRAY_SIZE(titles),
                        "Roles (each process alone; CPU in that time, memory at most)");
    int result = table ? 0 : -ENOMEM;
    for (size_t c = 0; c < ARRAY_SIZE(titles) && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", titles[c]);
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct report *report = sweep->cells[i].typical;
        char label[LABEL_SIZE];
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        for (size_t r = 0; report && r < report->n_roles && result == 0; r++)
            result = fill_role(table, row++, label, report, &report->roles[r]);
    }
    return result;
}
