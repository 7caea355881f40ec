/* SPDX-License-Identifier: MIT */
/* The report for a terminal: verdict first, then the tables it rests on. */
#include "reports/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/layout.h"
#include "reports/summary.h"
#include "reports/terminal.h"
#include "reports/writer.h"

#define ALERTS_SHOWN 40
#define ARITHMETIC_SHOWN 4

static void heading(FILE *out, const char *text) {
    fputc('\n', out);
    terminal_put(out, text, TERMINAL_COLUMNS);
    fputc('\n', out);
}

void text_put_list(FILE *out, const char *label, char *const *items, size_t n) {
    char blanks[64];
    snprintf(blanks, sizeof blanks, "%*s", (int)terminal_width(label), "");
    bool bullets = strstr(label, "- ") != NULL;
    for (size_t i = 0; i < n; i++)
        terminal_paragraph(out, i && !bullets ? blanks : label, items[i], 0);
}

void text_put_head(FILE *out, const struct report *report) {
    char started[LAYOUT_NUMBER_SIZE], duration[LAYOUT_NUMBER_SIZE];
    fprintf(out, "Run %lld ", (long long)report->run_id);
    terminal_put(out, report->run_name, 40);
    fprintf(out, ": %s, %s, %zu host%s, %s", layout_time(started, report->started_wall_ns),
            layout_duration(duration, report->duration_s), report->n_hosts,
            report->n_hosts == 1 ? "" : "s", report->state);
    if (report->exit_status >= 0)
        fprintf(out, ", exit status %d", report->exit_status);
    fputc('\n', out);
    terminal_paragraph(out, "  ", report->command, 4);
}

static void put_stragglers(FILE *out, const struct report *report) {
    for (size_t i = 0; i < report->n_stragglers; i++) {
        const struct report_straggler *s = &report->stragglers[i];
        char text[512];
        snprintf(text, sizeof text,
                 "rank %d on %s, %s: %.2f times its peers' median in %.0f %% of the iterations; "
                 "probable cause: %s",
                 s->rank, layout_host(report, s->host), s->kind, s->slowdown, s->iterations_pct,
                 s->cause);
        terminal_paragraph(out, "  straggler:   ", text, 0);
        text_put_list(out, "               - ", s->evidence, s->n_evidence);
    }
}

void text_put_verdict(FILE *out, const struct report *report) {
    const struct report_verdict *v = &report->verdict;
    char text[2048];
    int length = snprintf(text, sizeof text, "%s (confidence %.2f)", verdict_state_name(v->state),
                          v->confidence);
    snprintf(text + length, sizeof text - (size_t)length, ": %s", v->summary);
    terminal_coloured_paragraph(out, NULL, (size_t)length, text, 0);
    text_put_list(out, "  evidence:    ", v->evidence, v->n_evidence);
    text_put_list(out, "  against it:  ", v->against, v->n_against);
    text_put_list(out, "  ruled out:   ", v->ruled_out, v->n_ruled_out);
    put_stragglers(out, report);
    text_put_list(out, "  next:        ", v->next, v->n_next);
}

static void put_hosts_header(struct text_table *table, const struct report *report) {
    for (size_t h = 0; h < report->n_hosts; h++)
        text_table_set(table, 0, h + 1, "%s", report->hosts[h].name);
}

static const struct report_value *value_at(const struct report_resources *resources, size_t host,
                                           enum metric metric) {
    return &resources->values[host * METRIC_COUNT_ + (size_t)metric];
}

static void put_averages(FILE *out, const struct report *report,
                         const struct report_resources *resources) {
    struct text_table table;
    char title[128], duration[LAYOUT_NUMBER_SIZE];
    bool all = resources == &report->resources[0];
    snprintf(title, sizeof title, "Averages, %s%s (%s)", all ? "whole run" : "phase ",
             all ? "" : resources->phase, layout_duration(duration, resources->duration_s));
    heading(out, title);
    text_table_init(&table, layout_averages_size + 1, report->n_hosts + 1);
    put_hosts_header(&table, report);
    for (size_t r = 0; r < layout_averages_size; r++) {
        text_table_set(&table, r + 1, 0, "%s", layout_averages[r].label);
        for (size_t h = 0; h < report->n_hosts; h++)
            text_table_number(&table, r + 1, h + 1,
                              value_at(resources, h, layout_averages[r].metric)->mean);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

static void put_short_phases(FILE *out, const struct report *report) {
    bool any = false;
    for (size_t i = 1; i < report->n_resources; i++) {
        const struct report_resources *r = &report->resources[i];
        char text[128], duration[LAYOUT_NUMBER_SIZE];
        if (layout_worth_a_table(report, r))
            continue;
        if (!any)
            fputs("\nPhases too short for a table (fewer than three samples): ", out);
        snprintf(text, sizeof text, "%s%s (%s)", any ? ", " : "", r->phase,
                 layout_duration(duration, r->duration_s));
        terminal_put(out, text, 0);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void put_peaks(FILE *out, const struct report *report) {
    struct text_table table;
    heading(out, "Peaks (highest sample)");
    text_table_init(&table, layout_peaks_size + 1, report->n_hosts + 1);
    put_hosts_header(&table, report);
    for (size_t r = 0; r < layout_peaks_size; r++) {
        text_table_set(&table, r + 1, 0, "%s", layout_peaks[r].label);
        for (size_t h = 0; h < report->n_hosts; h++)
            text_table_number(&table, r + 1, h + 1,
                              value_at(&report->resources[0], h, layout_peaks[r].metric)->peak);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

/* T3 of one run. */
static void put_whole(FILE *out, const struct report *report) {
    struct report_summary s = report_summarize(report);
    struct text_table table;
    heading(out, "The job as a whole (sums over hosts; CPU 100 % is one core)");
    text_table_init(&table, 2, 5);
    static const char *const names[] = {"CPU (%)", "network read (MB/s)", "network write (MB/s)",
                                        "disk read (MB/s)", "disk write (MB/s)"};
    const double values[] = {s.job_cpu_pct, s.net_recv_mb_s, s.net_send_mb_s, s.disk_read_mb_s,
                             s.disk_write_mb_s};
    for (size_t c = 0; c < 5; c++) {
        text_table_set(&table, 0, c, "%s", names[c]);
        text_table_number(&table, 1, c, values[c]);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

void text_arithmetic(const struct report *report, const struct report_arithmetic *a, char *text,
                     size_t size) {
    snprintf(text, size,
             "%s %ss %.4g MB an iteration in %s; at %.4g MB/s (%s) that takes %.3g s; an iteration "
             "takes %.3g s: %.0f %%",
             layout_host(report, a->host), a->direction, a->bytes_per_iteration / 1e6, a->phase,
             a->bandwidth_mb_s,
             a->bandwidth_calibrated ? "calibrated"
                                     : "the highest rate any host reached again and again",
             a->bound_s, a->iteration_s, a->share_pct);
}

static void put_arithmetic(FILE *out, const struct report *report) {
    char text[512];
    if (!report->n_arithmetic)
        return;
    heading(out, "By arithmetic");
    for (size_t i = 0; i < report->n_arithmetic && i < ARITHMETIC_SHOWN; i++) {
        text_arithmetic(report, &report->arithmetic[i], text, sizeof text);
        terminal_paragraph(out, "  ", text, 0);
    }
}

static void put_ranks(FILE *out, const struct report *report) {
    struct text_table table;
    if (!report->n_ranks)
        return;
    heading(out, report->ranks_in_step ? "Iterations by rank (the ranks move together)"
                                       : "Iterations by rank");
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
    heading(out, "Processes (shares of the whole run)");
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
    heading(out, "Alerts (three seconds and longer)");
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
    heading(out, title);
    struct text_table table;
    text_table_init(&table, report->n_hosts + 1, 6);
    static const char *const names[] = {
        "host", "cores", "samples", "missing", "clock offset (s)", "known to (ms)"};
    for (size_t c = 0; c < 6; c++)
        text_table_set(&table, 0, c, "%s", names[c]);
    for (size_t h = 0; h < report->n_hosts; h++) {
        const struct report_host *host = &report->hosts[h];
        text_table_set(&table, h + 1, 0, "%s", host->name);
        text_table_set(&table, h + 1, 1, "%u", host->n_cpus);
        text_table_set(&table, h + 1, 2, "%llu", (unsigned long long)host->samples_recorded);
        text_table_set(&table, h + 1, 3, "%llu", (unsigned long long)host->samples_missed);
        text_table_number(&table, h + 1, 4, host->clock_offset_s);
        text_table_number(&table, h + 1, 5, 1e3 * host->clock_error_s);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
    text_put_list(out, "  - ", report->notes, report->n_notes);
}

static int write_report(const struct report *report, FILE *out) {
    text_put_head(out, report);
    fputc('\n', out);
    text_put_verdict(out, report);
    for (size_t i = 0; i < report->n_resources; i++)
        if (i == 0 || layout_worth_a_table(report, &report->resources[i]))
            put_averages(out, report, &report->resources[i]);
    put_short_phases(out, report);
    if (report->n_resources) {
        put_whole(out, report);
        put_peaks(out, report);
    }
    put_arithmetic(out, report);
    put_ranks(out, report);
    put_processes(out, report);
    put_alerts(out, report);
    put_quality(out, report);
    return ferror(out) ? -EIO : 0;
}

const struct report_format report_text = {"text", write_report, text_write_comparison};
