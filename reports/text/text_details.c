/* SPDX-License-Identifier: MIT */
/* The latter half of the text report: arithmetic, iterations, processes, alerts, quality. */
#include <math.h>
#include <string.h>

#include "reports/model/efficiency.h"
#include "reports/model/layout.h"
#include "reports/model/operators.h"
#include "reports/text/budget_text.h"
#include "reports/text/terminal.h"
#include "reports/text/text.h"

#define ALERTS_SHOWN 40
#define ARITHMETIC_SHOWN 6
#define ARITHMETIC_MIN_PCT 20

void text_arithmetic(const struct report *report, const struct report_arithmetic *a, char *text,
                     size_t size) {
    static const char *const rates[] = {
        [ARITHMETIC_SEEN] = "the highest rate any host reached again and again",
        [ARITHMETIC_SET] = "what its interface is set to",
        [ARITHMETIC_MEASURED] = "what this link was measured to carry"};
    /* a link may be able to carry more than was ever seen */
    const char *at_most = a->known == ARITHMETIC_SEEN ? "at most " : "";
    snprintf(
        text, size,
        "%s %ss %.4g MB an iteration in %s; at %.4g MB/s (%s) that takes %s%.3g s; an iteration "
        "takes %.3g s: %s%.0f %%",
        layout_host(report, a->host), a->direction, a->bytes_per_iteration / 1e6, a->phase,
        a->bandwidth_mb_s, rates[a->known], at_most, a->bound_s, a->iteration_s, at_most,
        a->share_pct);
}

size_t text_arithmetic_shown(const struct report *report) {
    size_t n = 0;
    while (n < report->n_arithmetic && n < ARITHMETIC_SHOWN &&
           (n < 2 || report->arithmetic[n].share_pct >= ARITHMETIC_MIN_PCT))
        n++;
    return n;
}

const char *text_arithmetic_heading(const struct report *report) {
    for (size_t i = 0; i < report->n_ranking; i++)
        if (strncmp(report->ranking[i].resource, "net-", 4) == 0)
            return "By arithmetic";
    for (size_t i = 0; i < report->n_arithmetic; i++)
        if (report->arithmetic[i].known != ARITHMETIC_SEEN)
            return "By arithmetic";
    return "By arithmetic (no link held one rate as if at a limit: bounds from the highest rate "
           "seen)";
}

static void put_arithmetic(FILE *out, const struct report *report) {
    char text[512];
    if (!report->n_arithmetic)
        return;
    text_put_heading(out, text_arithmetic_heading(report));
    for (size_t i = 0; i < text_arithmetic_shown(report); i++) {
        text_arithmetic(report, &report->arithmetic[i], text, sizeof text);
        terminal_paragraph(out, "  ", text, 0);
    }
}

const char *text_iterations_found(const struct report *report) {
    const char *source = report->iteration_source ? report->iteration_source : "none";
    return strcmp(source, "calls") == 0      ? ", found in their MPI calls"
           : strcmp(source, "counters") == 0 ? ", by the pace of their bytes"
                                             : "";
}

static void put_ranks(FILE *out, const struct report *report) {
    struct text_table table;
    if (!report->n_ranks)
        return;
    char heading[128];
    snprintf(heading, sizeof heading, "Iterations by rank%s%s", text_iterations_found(report),
             report->ranks_in_step ? " (the ranks move together)" : "");
    text_put_heading(out, heading);
    text_table_init(&table, report->n_ranks + 1, 6);
    table.left[1] = table.left[2] = true;
    static const char *const names[] = {"rank",       "host",       "role",
                                        "iterations", "median (s)", "95 % (s)"};
    for (size_t c = 0; c < 6; c++)
        text_table_set(&table, 0, c, "%s", names[c]);
    for (size_t i = 0; i < report->n_ranks; i++) {
        const struct report_rank *rank = &report->ranks[i];
        if (rank->rank >= 0)
            text_table_set(&table, i + 1, 0, "%d", rank->rank);
        else
            text_table_set(&table, i + 1, 0, "-");
        text_table_set(&table, i + 1, 1, "%s", layout_host(report, rank->host));
        text_table_set(&table, i + 1, 2, "%s", rank->role);
        text_table_set(&table, i + 1, 3, "%zu", rank->n);
        text_table_set(&table, i + 1, 4, "%.3f", rank->median_s);
        text_table_set(&table, i + 1, 5, "%.3f", rank->p95_s);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

static void put_process_row(struct text_table *table, size_t row, const struct report *report,
                            const struct report_process *p) {
    text_table_set(table, row, 0, "%s", layout_host(report, p->host));
    text_table_set(table, row, 1, "%s", p->name);
    if (p->rank >= 0)
        text_table_set(table, row, 2, "rank %d", p->rank);
    else
        text_table_set(table, row, 2, "%s", p->job ? "job" : "other");
    const double values[] = {p->cpu_pct, p->run_queue_pct, p->rss_gb, p->read_mb_s, p->write_mb_s};
    for (size_t c = 0; c < 5; c++)
        text_table_number(table, row, c + 3, values[c]);
}

static void put_processes(FILE *out, const struct report *report) {
    struct text_table table;
    if (!report->n_processes)
        return;
    text_put_heading(out, "Processes (shares of the whole run)");
    text_table_init(&table, report->n_processes + 1, 8);
    table.left[1] = table.left[2] = true;
    table.shrink = 1;
    static const char *const names[] = {"host",        "process",     "",
                                        "CPU (%)",     "queue (%)",   "memory (GB)",
                                        "read (MB/s)", "write (MB/s)"};
    for (size_t c = 0; c < 8; c++)
        text_table_set(&table, 0, c, "%s", names[c]);
    for (size_t i = 0; i < report->n_processes; i++)
        put_process_row(&table, i + 1, report, &report->processes[i]);
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

void text_alert(const struct report *report, const struct report_alert *a, char *text,
                size_t size) {
    char time[LAYOUT_NUMBER_SIZE];
    long seconds = lround(a->duration_s);
    layout_time(time, report->started_wall_ns + (int64_t)(a->start_s * 1e9));
    snprintf(text, size, "%s (%ld:%02ld:%02ld) %s on %s (%.1f%s%s) %s", time, seconds / 3600,
             seconds / 60 % 60, seconds % 60, a->level == ALERT_CRITICAL ? "CRITICAL" : "WARNING",
             a->resource, a->peak, strcmp(a->unit, "%") == 0 ? "" : " ",
             strcmp(a->unit, "%") == 0 ? "" : a->unit, layout_host(report, a->host));
}

static void put_alerts(FILE *out, const struct report *report) {
    char text[512];
    text_put_heading(out, "Alerts (three seconds and longer)");
    if (!report->n_alerts)
        fputs("  none\n", out);
    for (size_t i = 0; i < report->n_alerts && i < ALERTS_SHOWN; i++) {
        text_alert(report, &report->alerts[i], text, sizeof text);
        terminal_paragraph(out, "  ", text, 0);
    }
    if (report->n_alerts > ALERTS_SHOWN)
        fprintf(out, "  ... and %zu more (all are in --format json)\n",
                report->n_alerts - ALERTS_SHOWN);
}

static void put_quality(FILE *out, const struct report *report) {
    char title[64];
    snprintf(title, sizeof title, "Quality of the recording: %c",
             report->grade ? report->grade : '-');
    text_put_heading(out, title);
    struct text_table table;
    text_table_init(&table, report->n_hosts + 1, 7);
    static const char *const names[] = {"host",      "cores",       "samples",      "missing",
                                        "clock (s)", "drift (ppm)", "known to (ms)"};
    for (size_t c = 0; c < 7; c++)
        text_table_set(&table, 0, c, "%s", names[c]);
    for (size_t h = 0; h < report->n_hosts; h++) {
        const struct report_host *host = &report->hosts[h];
        text_table_set(&table, h + 1, 0, "%s", host->name);
        text_table_set(&table, h + 1, 1, "%u", host->n_cpus);
        text_table_set(&table, h + 1, 2, "%llu", (unsigned long long)host->samples_recorded);
        text_table_set(&table, h + 1, 3, "%llu", (unsigned long long)host->samples_missed);
        text_table_number(&table, h + 1, 4, host->clock_offset_s);
        text_table_number(&table, h + 1, 5, host->clock_drift_ppm);
        text_table_number(&table, h + 1, 6, 1e3 * host->clock_error_s);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
    text_put_list(out, "  - ", report->notes, report->n_notes);
}

void text_put_details(FILE *out, const struct report *report) {
    text_put_budget(out, report);
    text_put_efficiency(out, report);
    put_arithmetic(out, report);
    put_ranks(out, report);
    text_put_operators(out, report);
    put_processes(out, report);
    put_alerts(out, report);
    put_quality(out, report);
}
