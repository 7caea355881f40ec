/* SPDX-License-Identifier: MIT */
/*
 * The HTML page of one run: the answer first, then what it rests on, then everything else. The page
 * of a comparison (html_compare.c) shows the same sections for each of its runs.
 */
#include "reports/html/html.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/html/html_page.h"
#include "reports/model/efficiency.h"
#include "reports/model/layout.h"
#include "reports/model/operators.h"
#include "reports/model/phase_verdicts.h"
#include "reports/plot/plot.h"
#include "reports/text/budget_text.h"
#include "reports/text/text.h"
#include "reports/writer.h"

static void put_cell(FILE *out, double value) {
    char text[LAYOUT_NUMBER_SIZE];
    fprintf(out, "<td>%s</td>", layout_number(text, value));
}

static void put_text_cell(FILE *out, const char *text) {
    html_element(out, "td", "t", text);
}

/* Over columns of words, which begin at the left. */
static bool is_of_words(const char *head) {
    static const char *const words[] = {"host",  "role",    "kind",  "cause",    "direction",
                                        "phase", "rate is", "level", "resource", "of the job"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], head) == 0)
            return true;
    return false;
}

static void put_heads(FILE *out, const char *const *heads, size_t n) {
    fputs("<tr>", out);
    for (size_t i = 0; i < n; i++)
        html_element(out, "th", is_of_words(heads[i]) ? "t" : NULL, heads[i]);
    fputs("</tr>\n", out);
}

#define PUT_HEADS(out, ...)                                                                        \
    put_heads(out, (const char *const[]){__VA_ARGS__},                                             \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- verdict ---- */

void html_put_verdict(FILE *out, const struct report *report) {
    const struct report_verdict *verdict = &report->verdict;
    const char *state = verdict_state_name(verdict->state);
    fprintf(out, "<div class=\"card\"><span class=\"badge %s\">%s</span>", state, state);
    if (verdict->confidence > 0)
        fprintf(out, "<span class=\"muted\">confidence %.0f %%</span>", 100 * verdict->confidence);
    html_element(out, "p", "verdict", verdict->summary);
    html_list(out, "Evidence", verdict->evidence, verdict->n_evidence);
    html_list(out, "Against it", verdict->against, verdict->n_against);
    html_list(out, "Ruled out", verdict->ruled_out, verdict->n_ruled_out);
    html_put_phase_verdicts(out, report);
    html_list(out, "What to do next", verdict->next, verdict->n_next);
    fputs("</div>\n", out);
}

static void put_stragglers(FILE *out, const struct report *report) {
    if (!report->n_stragglers)
        return;
    fputs("<section><h3>Stragglers</h3><table>", out);
    PUT_HEADS(out, "rank", "host", "kind", "slowdown", "iterations (%)", "cause");
    for (size_t i = 0; i < report->n_stragglers; i++) {
        const struct report_straggler *s = &report->stragglers[i];
        fprintf(out, "<tr><td>%d</td>", s->rank);
        put_text_cell(out, layout_host(report, s->host));
        put_text_cell(out, s->kind);
        put_cell(out, s->slowdown);
        put_cell(out, s->iterations_pct);
        put_text_cell(out, s->cause);
        fputs("</tr>\n", out);
    }
    fputs("</table></section>\n", out);
}

/* ---- T1 and T4 ---- */

static void put_host_heads(FILE *out, const struct report *report) {
    fputs("<tr><th></th>", out);
    for (size_t h = 0; h < report->n_hosts; h++)
        html_element(out, "th", NULL, report->hosts[h].name);
    fputs("</tr>\n", out);
}

static void put_group(FILE *out, const struct report *report, const struct report_resources *r) {
    char duration[LAYOUT_NUMBER_SIZE];
    fprintf(out, "<tr class=\"group\"><td colspan=\"%zu\">", report->n_hosts + 1);
    html_put(out, strcmp(r->phase, "all") == 0 ? "whole run" : r->phase);
    fprintf(out, " <span class=\"muted\">(%s)</span></td></tr>\n",
            layout_duration(duration, r->duration_s));
}

static void put_rows(FILE *out, const struct report *report,
                     const struct report_resources *resources, const struct layout_row *rows,
                     size_t n_rows, bool peaks) {
    struct layout_row shown[LAYOUT_ROWS_MAX];
    size_t n = layout_expand(report, rows, n_rows, shown);
    for (size_t i = 0; i < n; i++) {
        fputs("<tr>", out);
        put_text_cell(out, shown[i].label);
        for (size_t h = 0; h < report->n_hosts; h++)
            put_cell(out, layout_value(report, resources, h, &shown[i], peaks));
        fputs("</tr>\n", out);
    }
}

static void put_average_rows(FILE *out, const struct report *report,
                             const struct report_resources *r) {
    put_group(out, report, r);
    put_rows(out, report, r, layout_averages, layout_averages_size, false);
}

static void put_averages(FILE *out, const struct report *report) {
    fputs("<section><table>", out);
    put_host_heads(out, report);
    for (size_t i = 0; i < report->n_resources; i++)
        put_average_rows(out, report, &report->resources[i]);
    fputs("</table></section>\n", out);
}

static void put_peaks(FILE *out, const struct report *report) {
    if (!report->n_resources)
        return;
    fputs("<section><table>", out);
    put_host_heads(out, report);
    put_rows(out, report, &report->resources[0], layout_peaks, layout_peaks_size, true);
    fputs("</table></section>\n", out);
}

/* ---- pictures ---- */

static void put_routes_plot(FILE *out, const struct report *report) {
    char caption[160] = "Between hosts: what the job's TCP connections carried";
    if (report->n_routes < report->n_routes_all)
        snprintf(caption, sizeof caption,
                 "Between hosts: what the job's TCP connections carried, "
                 "the %zu of %zu pairs that moved most",
                 report->n_routes, report->n_routes_all);
    char *svg = plot_routes(report);
    html_picture(out, svg, caption);
}

static void put_resource_plots(FILE *out, const struct report *report) {
    fputs("<h2>Over time</h2><section>\n", out);
    for (int i = 0; i < PLOT_RESOURCE_COUNT_; i++) {
        char *svg = plot_resource(report, (enum plot_resource)i);
        html_picture(out, svg, plot_resource_title((enum plot_resource)i));
    }
    put_routes_plot(out, report);
    fputs("</section>\n", out);
}

#define CORE_PICTURES_MAX 16

static void put_core_plots(FILE *out, const struct report *report) {
    size_t n = report->n_hosts < CORE_PICTURES_MAX ? report->n_hosts : CORE_PICTURES_MAX;
    fputs("<section><details><summary>Each core of each host</summary>\n", out);
    for (size_t h = 0; h < n; h++) {
        char caption[160];
        snprintf(caption, sizeof caption, "busy share of each core, %s", report->hosts[h].name);
        char *svg = plot_cores(report, h);
        html_picture(out, svg, caption);
    }
    if (n < report->n_hosts)
        fprintf(out, "<p class=\"muted\">The first %zu of %zu hosts.</p>\n", n, report->n_hosts);
    fputs("</details></section>\n", out);
}

/* ---- iterations ---- */

static void put_rank_table(FILE *out, const struct report *report) {
    fputs("<table>", out);
    PUT_HEADS(out, "rank", "host", "role", "iterations", "median (s)", "95 % (s)");
    for (size_t i = 0; i < report->n_ranks; i++) {
        const struct report_rank *rank = &report->ranks[i];
        fprintf(out, "<tr><td>%d</td>", rank->rank);
        put_text_cell(out, layout_host(report, rank->host));
        put_text_cell(out, rank->role && *rank->role ? rank->role : "-");
        fprintf(out, "<td>%zu</td>", rank->n);
        put_cell(out, rank->median_s);
        put_cell(out, rank->p95_s);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void put_arithmetic(FILE *out, const struct report *report) {
    if (!report->n_arithmetic)
        return;
    fputs("<h3>By arithmetic: what the bytes of an iteration need at what the link was measured to "
          "carry, else at what its interface is set to, else at the highest rate seen</h3><table>",
          out);
    PUT_HEADS(out, "host", "direction", "phase", "MB an iteration", "rate (MB/s)", "rate is",
              "needs (s)", "takes (s)", "share (%)");
    for (size_t i = 0; i < report->n_arithmetic; i++) {
        const struct report_arithmetic *a = &report->arithmetic[i];
        fputs("<tr>", out);
        put_text_cell(out, layout_host(report, a->host));
        put_text_cell(out, a->direction);
        put_text_cell(out, a->phase);
        put_cell(out, a->bytes_per_iteration / 1e6);
        put_cell(out, a->bandwidth_mb_s);
        put_text_cell(out, report_arithmetic_rate(a->known));
        put_cell(out, a->bound_s);
        put_cell(out, a->iteration_s);
        put_cell(out, a->share_pct);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n<p class=\"muted small\">Where the rate is the highest one seen, a link may "
          "be able "
          "to carry more: needs and share are then the most they can be.</p>\n",
          out);
}

static void put_iterations(FILE *out, const struct report *report) {
    if (!report->n_ranks && !report->n_arithmetic)
        return;
    fprintf(out, "<h2>Iterations%s</h2><section>\n", text_iterations_found(report));
    char *svg = plot_iterations(report);
    html_picture(out, svg, "duration of each iteration, by rank");
    if (report->n_ranks)
        put_rank_table(out, report);
    put_arithmetic(out, report);
    fputs("</section>\n", out);
}

/* Whether a curve of this name was drawn for an earlier index. */
static bool curve_seen(const struct report *report, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (strcmp(report->curves[i].name, report->curves[at].name) == 0)
            return true;
    return false;
}

static void put_curves(FILE *out, const struct report *report) {
    if (!report->n_curves)
        return;
    fputs("<h2>What the program said of itself</h2><section>\n", out);
    for (size_t i = 0; i < report->n_curves; i++) {
        const char *name = report->curves[i].name;
        size_t ranks = curve_seen(report, i) ? 0 : plot_marked_count(report, name);
        char caption[256];
        if (!ranks)
            continue;
        if (ranks > PLOT_MARKED_MAX)
            snprintf(caption, sizeof caption, "%s against time, %d of %zu ranks", name,
                     PLOT_MARKED_MAX, ranks);
        else
            snprintf(caption, sizeof caption, "%s against time", name);
        html_picture(out, plot_marked(report, name), caption);
    }
    fputs("</section>\n", out);
}

/* ---- the rest ---- */

static void put_processes(FILE *out, const struct report *report) {
    if (!report->n_processes)
        return;
    fputs("<h2>Processes</h2><section><table>", out);
    PUT_HEADS(out, "process", "host", "rank", "of the job", "CPU (%)", "run queue (%)",
              "resident (GB)", "read (MB/s)", "write (MB/s)");
    for (size_t i = 0; i < report->n_processes; i++) {
        const struct report_process *p = &report->processes[i];
        fputs("<tr>", out);
        put_text_cell(out, p->name);
        put_text_cell(out, layout_host(report, p->host));
        if (p->rank >= 0)
            fprintf(out, "<td>%d</td>", p->rank);
        else
            fputs("<td>-</td>", out);
        put_text_cell(out, p->job ? "yes" : "no");
        put_cell(out, p->cpu_pct);
        put_cell(out, p->run_queue_pct);
        put_cell(out, p->rss_gb);
        put_cell(out, p->read_mb_s);
        put_cell(out, p->write_mb_s);
        fputs("</tr>\n", out);
    }
    fputs("</table></section>\n", out);
}

static void put_alerts(FILE *out, const struct report *report) {
    fputs("<h2>Alerts</h2><section>", out);
    if (!report->n_alerts) {
        fputs("<p class=\"muted\">None.</p></section>\n", out);
        return;
    }
    fputs("<table>", out);
    PUT_HEADS(out, "time", "lasted", "level", "host", "resource", "peak");
    for (size_t i = 0; i < report->n_alerts; i++) {
        const struct report_alert *a = &report->alerts[i];
        char time[LAYOUT_NUMBER_SIZE], lasted[LAYOUT_NUMBER_SIZE], peak[LAYOUT_NUMBER_SIZE];
        const char *level = a->level == ALERT_CRITICAL ? "CRITICAL" : "WARNING";
        layout_time(time, report->started_wall_ns + (int64_t)(a->start_s * 1e9));
        fprintf(out, "<tr><td>%s</td><td>%s</td><td class=\"t %s\">%s</td>", time,
                layout_duration(lasted, a->duration_s), level, level);
        put_text_cell(out, layout_host(report, a->host));
        put_text_cell(out, a->resource);
        fprintf(out, "<td>%s %s</td></tr>\n", layout_number(peak, a->peak), a->unit);
    }
    fputs("</table></section>\n", out);
}

static void put_quality(FILE *out, const struct report *report) {
    fprintf(out, "<h2>How far to trust this recording: grade %c</h2><section><table>",
            report->grade ? report->grade : '-');
    PUT_HEADS(out, "host", "cores", "samples", "expected", "missed", "twice", "gaps",
              "clock offset (ms)", "drift (ppm)", "known to (ms)");
    for (size_t h = 0; h < report->n_hosts; h++) {
        const struct report_host *host = &report->hosts[h];
        fputs("<tr>", out);
        put_text_cell(out, host->name);
        fprintf(out, "<td>%u</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%llu</td>",
                host->n_cpus, (unsigned long long)host->samples_recorded,
                (unsigned long long)host->samples_expected,
                (unsigned long long)host->samples_missed,
                (unsigned long long)host->samples_duplicate, (unsigned long long)host->gaps);
        put_cell(out, host->clock_offset_s * 1e3);
        put_cell(out, host->clock_drift_ppm);
        put_cell(out, host->clock_error_s * 1e3);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
    html_list(out, "What could not be seen", report->notes, report->n_notes);
    fputs("</section>\n", out);
}

void html_put_head(FILE *out, const struct report *report) {
    char started[LAYOUT_NUMBER_SIZE], duration[LAYOUT_NUMBER_SIZE];
    fprintf(out, "<p class=\"muted\">run %lld, started %s, took %s on %zu host%s, %s",
            (long long)report->run_id, layout_time(started, report->started_wall_ns),
            layout_duration(duration, report->duration_s), report->n_hosts,
            report->n_hosts == 1 ? "" : "s", report->state);
    if (report->exit_status > 0)
        fprintf(out, " (exit status %d)", report->exit_status);
    fputs("</p><p><code>", out);
    html_put(out, report->command);
    fputs("</code></p>\n", out);
}

void html_put_details(FILE *out, const struct report *report) {
    put_stragglers(out, report);
    html_put_budget(out, report);
    html_put_efficiency(out, report);
    fputs("<h2>Averages per host</h2>\n", out);
    put_averages(out, report);
    put_iterations(out, report);
    html_put_operators(out, report);
    put_resource_plots(out, report);
    put_core_plots(out, report);
    put_curves(out, report);
    fputs("<h2>Peaks per host</h2>\n", out);
    put_peaks(out, report);
    put_processes(out, report);
    put_alerts(out, report);
    put_quality(out, report);
}

static int write_report(const struct report *report, FILE *out) {
    html_begin(out, report->run_name);
    html_element(out, "h1", NULL, report->run_name);
    html_put_head(out, report);
    html_put_verdict(out, report);
    html_put_details(out, report);
    html_end(out);
    return ferror(out) ? -EIO : 0;
}

const struct report_format report_html = {"html", write_report, html_write_comparison};
