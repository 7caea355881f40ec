/* SPDX-License-Identifier: MIT */
/* The report for a terminal: verdict first, then the tables it rests on. */
#include "reports/text/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/model/phase_verdicts.h"
#include "reports/model/summary.h"
#include "reports/text/terminal.h"
#include "reports/writer.h"

void text_put_heading(FILE *out, const char *text) {
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
        char text[700], gain[120];
        layout_straggler_gain(gain, sizeof gain, report, s);
        snprintf(text, sizeof text,
                 "rank %d on %s, %s: %.2f times its peers' median in %.0f %% of the iterations; "
                 "probable cause: %s%s",
                 s->rank, layout_host(report, s->host), s->kind, s->slowdown, s->iterations_pct,
                 s->cause, gain);
        terminal_paragraph(out, "  straggler:   ", text, 0);
        text_put_list(out, "               - ", s->evidence, s->n_evidence);
    }
}

void text_put_verdict(FILE *out, const struct report *report) {
    const struct report_verdict *v = &report->verdict;
    char text[2048];
    int length = snprintf(text, sizeof text, "%s", verdict_state_name(v->state));
    if (v->confidence > 0)
        length += snprintf(text + length, sizeof text - (size_t)length, " (confidence %.2f)",
                           v->confidence);
    snprintf(text + length, sizeof text - (size_t)length, ": %s", v->summary);
    terminal_coloured_paragraph(out, NULL, (size_t)length, text, 0);
    text_put_list(out, "  evidence:    ", v->evidence, v->n_evidence);
    text_put_list(out, "  against it:  ", v->against, v->n_against);
    text_put_list(out, "  ruled out:   ", v->ruled_out, v->n_ruled_out);
    text_put_phase_verdicts(out, report);
    put_stragglers(out, report);
    text_put_list(out, "  next:        ", v->next, v->n_next);
}

static void put_hosts_header(struct text_table *table, const struct report *report) {
    for (size_t h = 0; h < report->n_hosts; h++)
        text_table_set(table, 0, h + 1, "%s", report->hosts[h].name);
}

/* A column a host. */
static void put_rows(FILE *out, const struct report *report,
                     const struct report_resources *resources, const struct layout_row *rows,
                     size_t n_rows, bool peaks) {
    struct layout_row shown[LAYOUT_ROWS_MAX];
    struct text_table table;
    size_t n = layout_expand(report, rows, n_rows, shown);
    text_table_init(&table, n + 1, report->n_hosts + 1);
    put_hosts_header(&table, report);
    for (size_t r = 0; r < n; r++) {
        text_table_set(&table, r + 1, 0, "%s", shown[r].label);
        for (size_t h = 0; h < report->n_hosts; h++)
            text_table_number(&table, r + 1, h + 1,
                              layout_value(report, resources, h, &shown[r], peaks));
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

static void put_averages(FILE *out, const struct report *report,
                         const struct report_resources *resources) {
    char title[128], duration[LAYOUT_NUMBER_SIZE];
    bool all = resources == &report->resources[0];
    snprintf(title, sizeof title, "Averages, %s%s (%s)", all ? "whole run" : "phase ",
             all ? "" : resources->phase, layout_duration(duration, resources->duration_s));
    text_put_heading(out, title);
    put_rows(out, report, resources, layout_averages, layout_averages_size, false);
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
    text_put_heading(out, "Peaks (highest sample)");
    put_rows(out, report, &report->resources[0], layout_peaks, layout_peaks_size, true);
}

/* T3 of one run. */
static void put_whole(FILE *out, const struct report *report) {
    struct report_summary s = report_summarize(report);
    struct text_table table;
    text_put_heading(out, "The job as a whole (sums over hosts; CPU 100 % is one core)");
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
    text_put_details(out, report);
    return ferror(out) ? -EIO : 0;
}

const struct report_format report_text = {"text", write_report, text_write_comparison};
