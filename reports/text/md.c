/* SPDX-License-Identifier: MIT */
/* The report as Markdown, for a lab book or an issue. */
#include "reports/text/md.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/text.h"
#include "reports/model/efficiency.h"
#include "reports/model/layout.h"
#include "reports/model/operators.h"
#include "reports/model/phase_verdicts.h"
#include "reports/model/summary.h"
#include "reports/text/budget_text.h"
#include "reports/text/text.h"
#include "reports/writer.h"

static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void md_put(FILE *out, const char *text) {
    bool last_is_letter = false;
    for (; *text; last_is_letter = is_letter((unsigned char)*text), text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            fputc(' ', out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '&')
            fputs("&amp;", out);
        else {
            /* an underscore between letters is no emphasis */
            bool inner = c == '_' && is_letter((unsigned char)text[1]);
            if (strchr("\\`*_[]|~#$", c) && !(inner && last_is_letter))
                fputc('\\', out);
            fputc(c, out);
        }
    }
}

void md_cell(FILE *out, const char *text) {
    fputs("| ", out);
    md_put(out, text);
    fputc(' ', out);
}

void md_number(FILE *out, double value) {
    char number[LAYOUT_NUMBER_SIZE];
    fprintf(out, "| %s ", layout_number(number, value));
}

void md_header_end(FILE *out, size_t columns) {
    fputs("|\n|---|", out);
    for (size_t i = 1; i < columns; i++)
        fputs("--:|", out);
    fputc('\n', out);
}

void md_list(FILE *out, const char *heading, char *const *items, size_t n) {
    if (!n)
        return;
    fprintf(out, "\n**%s**\n\n", heading);
    for (size_t i = 0; i < n; i++) {
        fputs("- ", out);
        md_put(out, items[i]);
        fputc('\n', out);
    }
}

/* A command in code needs a fence longer than its own backticks. */
static void put_command(FILE *out, const char *command) {
    size_t longest = 0, run = 0;
    for (const char *p = command; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int side = 0; side < 2; side++) {
        if (side) {
            fputc(' ', out);
            for (const char *p = command; *p; p++)
                fputc((unsigned char)*p < 0x20 ? ' ' : *p, out);
            fputc(' ', out);
        }
        for (size_t i = 0; i <= longest; i++)
            fputc('`', out);
    }
    fputc('\n', out);
}

void md_put_head(FILE *out, const struct report *report) {
    char started[LAYOUT_NUMBER_SIZE], duration[LAYOUT_NUMBER_SIZE];
    fprintf(out, "%s, %s, %zu host%s, %s", layout_time(started, report->started_wall_ns),
            layout_duration(duration, report->duration_s), report->n_hosts,
            report->n_hosts == 1 ? "" : "s", report->state);
    if (report->exit_status >= 0)
        fprintf(out, ", exit status %d", report->exit_status);
    fputs("\n\n", out);
    put_command(out, report->command);
}

void md_put_verdict(FILE *out, const struct report *report) {
    const struct report_verdict *v = &report->verdict;
    fprintf(out, "**%s**", verdict_state_name(v->state));
    if (v->confidence > 0)
        fprintf(out, " (confidence %.2f)", v->confidence);
    fputs(": ", out);
    md_put(out, v->summary);
    fputc('\n', out);
    md_list(out, "Evidence", v->evidence, v->n_evidence);
    md_list(out, "Against it", v->against, v->n_against);
    md_list(out, "Ruled out", v->ruled_out, v->n_ruled_out);
    md_put_phase_verdicts(out, report);
    md_list(out, "Next", v->next, v->n_next);
}

static void put_stragglers(FILE *out, const struct report *report) {
    if (!report->n_stragglers)
        return;
    fputs("\n## Stragglers\n\n| host | rank | kind | times its peers | % of iterations | probable "
          "cause |\n|---|--:|---|--:|--:|---|\n",
          out);
    for (size_t i = 0; i < report->n_stragglers; i++) {
        const struct report_straggler *s = &report->stragglers[i];
        md_cell(out, layout_host(report, s->host));
        fprintf(out, "| %d | %s | %.2f | %.0f ", s->rank, s->kind, s->slowdown, s->iterations_pct);
        md_cell(out, s->cause);
        fputs("|\n", out);
    }
}

static void put_table(FILE *out, const struct report *report,
                      const struct report_resources *resources, const struct layout_row *rows,
                      size_t n, bool peaks) {
    struct layout_row shown[LAYOUT_ROWS_MAX];
    size_t n_shown = layout_expand(report, rows, n, shown);
    fputs("| ", out);
    for (size_t h = 0; h < report->n_hosts; h++)
        md_cell(out, report->hosts[h].name);
    md_header_end(out, report->n_hosts + 1);
    for (size_t r = 0; r < n_shown; r++) {
        md_cell(out, shown[r].label);
        for (size_t h = 0; h < report->n_hosts; h++)
            md_number(out, layout_value(report, resources, h, &shown[r], peaks));
        fputs("|\n", out);
    }
}

static void put_resources(FILE *out, const struct report *report) {
    char duration[LAYOUT_NUMBER_SIZE];
    for (size_t i = 0; i < report->n_resources; i++) {
        const struct report_resources *r = &report->resources[i];
        if (i && !layout_worth_a_table(report, r))
            continue;
        fputs(i ? "\n## Averages, phase " : "\n## Averages, whole run", out);
        if (i)
            md_put(out, r->phase);
        fprintf(out, " (%s)\n\n", layout_duration(duration, r->duration_s));
        put_table(out, report, r, layout_averages, layout_averages_size, false);
    }
    if (!report->n_resources)
        return;
    struct report_summary s = report_summarize(report);
    fputs(
        "\n## The job as a whole\n\n| CPU (%) | network read (MB/s) | network write (MB/s) | disk "
        "read (MB/s) | disk write (MB/s) |\n|--:|--:|--:|--:|--:|\n",
        out);
    const double values[] = {s.job_cpu_pct, s.net_recv_mb_s, s.net_send_mb_s, s.disk_read_mb_s,
                             s.disk_write_mb_s};
    for (size_t i = 0; i < 5; i++)
        md_number(out, values[i]);
    fputs("|\n\n## Peaks\n\n", out);
    put_table(out, report, &report->resources[0], layout_peaks, layout_peaks_size, true);
}

static void put_iterations(FILE *out, const struct report *report) {
    char text[512];
    if (report->n_arithmetic)
        fprintf(out, "\n## %s\n\n", text_arithmetic_heading(report));
    for (size_t i = 0; i < text_arithmetic_shown(report); i++) {
        fputs("- ", out);
        text_arithmetic(report, &report->arithmetic[i], text, sizeof text);
        md_put(out, text);
        fputc('\n', out);
    }
    if (!report->n_ranks)
        return;
    fprintf(
        out,
        "\n## Iterations by rank%s\n\n| rank | host | role | iterations | median (s) | 95 %% (s) "
        "|\n|--:|---|---|--:|--:|--:|\n",
        text_iterations_found(report));
    for (size_t i = 0; i < report->n_ranks; i++) {
        const struct report_rank *r = &report->ranks[i];
        fprintf(out, "| %d ", r->rank);
        md_cell(out, layout_host(report, r->host));
        md_cell(out, r->role);
        fprintf(out, "| %zu | %.3f | %.3f |\n", r->n, r->median_s, r->p95_s);
    }
}

static void put_processes(FILE *out, const struct report *report) {
    if (!report->n_processes)
        return;
    fputs(
        "\n## Processes\n\n| host | process | | CPU (%) | queue (%) | memory (GB) | read (MB/s) | "
        "write (MB/s) |\n|---|---|---|--:|--:|--:|--:|--:|\n",
        out);
    for (size_t i = 0; i < report->n_processes; i++) {
        const struct report_process *p = &report->processes[i];
        md_cell(out, layout_host(report, p->host));
        md_cell(out, p->name);
        if (p->rank >= 0)
            fprintf(out, "| rank %d ", p->rank);
        else
            fputs(p->job ? "| job " : "| other ", out);
        md_number(out, p->cpu_pct);
        md_number(out, p->run_queue_pct);
        md_number(out, p->rss_gb);
        md_number(out, p->read_mb_s);
        md_number(out, p->write_mb_s);
        fputs("|\n", out);
    }
}

static void put_alerts(FILE *out, const struct report *report) {
    char text[512];
    fputs("\n## Alerts\n\n", out);
    if (!report->n_alerts)
        fputs("None.\n", out);
    for (size_t i = 0; i < report->n_alerts; i++) {
        fputs("- ", out);
        text_alert(report, &report->alerts[i], text, sizeof text);
        md_put(out, text);
        fputc('\n', out);
    }
}

static int write_report(const struct report *report, FILE *out) {
    fprintf(out, "# Run %lld ", (long long)report->run_id);
    md_put(out, report->run_name);
    fputs("\n\n", out);
    md_put_head(out, report);
    fputs("\n## Verdict\n\n", out);
    md_put_verdict(out, report);
    put_stragglers(out, report);
    put_resources(out, report);
    md_put_budget(out, report);
    put_iterations(out, report);
    md_put_efficiency(out, report);
    md_put_operators(out, report);
    put_processes(out, report);
    put_alerts(out, report);
    fprintf(out, "\n## Quality of the recording: %c\n", report->grade ? report->grade : '-');
    md_list(out, "Notes", report->notes, report->n_notes);
    return ferror(out) ? -EIO : 0;
}

const struct report_format report_md = {"md", write_report, md_write_comparison};
