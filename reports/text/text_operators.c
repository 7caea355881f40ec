/* SPDX-License-Identifier: MIT */
/* T8 in text, Markdown and CSV; in text the timeline is drawn with characters. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/model/operators.h"
#include "reports/text/csv.h"
#include "reports/text/md.h"
#include "reports/text/terminal.h"
#include "reports/text/text.h"

#define BAR_COLUMNS 56
#define NAME_COLUMNS 28
#define LINES_MAX 40

void operators_timeline_title(const struct report *report, char *text, size_t size) {
    const struct report_timeline *t = &report->timeline;
    char rank[32] = "", number[32] = "";
    *text = '\0';
    if (!t->n_bars)
        return;
    if (t->rank >= 0)
        snprintf(rank, sizeof rank, " of rank %d", t->rank);
    if (t->number >= 0)
        snprintf(number, sizeof number, " %" PRId64, t->number);
    snprintf(text, size, "Timeline of iteration%s%s, the one of median length (%.4g ms)", number,
             rank, 1e3 * t->duration_s);
}

bool operators_have_roles(const struct report *report) {
    for (size_t i = 0; i < report->n_operators; i++)
        if (*report->operators[i].role)
            return true;
    return false;
}

/* ---- text ---- */

static void put_table(FILE *out, const struct report *report) {
    static const char *const names[] = {"operator",  "in",        "calls",    "output (MB)",
                                        "total (s)", "mean (ms)", "share (%)"};
    struct text_table table;
    text_table_init(&table, report->n_operators + 1, 7);
    table.left[1] = true;
    table.shrink = 0;
    for (size_t c = 0; c < 7; c++)
        text_table_set(&table, 0, c, "%s", names[c]);
    for (size_t i = 0; i < report->n_operators; i++) {
        const struct report_operator *o = &report->operators[i];
        text_table_set(&table, i + 1, 0, "%s", o->name);
        text_table_set(&table, i + 1, 1, "%zu %s%s", o->n_ranks, *o->role ? o->role : "rank",
                       o->n_ranks == 1 ? "" : "s");
        text_table_set(&table, i + 1, 2, "%zu", o->calls);
        const double values[] = {o->output_bytes / 1e6, o->total_s, 1e3 * o->mean_s, o->share_pct};
        for (size_t c = 0; c < 4; c++)
            text_table_number(&table, i + 1, c + 3, values[c]);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

static bool same_line(const struct report_bar *a, const struct report_bar *b) {
    return a->rank == b->rank && a->host == b->host && strcmp(a->name, b->name) == 0;
}

static bool line_is_drawn(const struct report_timeline *t, size_t at) {
    for (size_t i = at; i-- > 0 && t->bars[i].rank == t->bars[at].rank;)
        if (same_line(&t->bars[i], &t->bars[at]))
            return true;
    return false;
}

/* Every column that the operator touches; the shortest is seen, too. */
static void draw_line(const struct report_timeline *t, size_t at, char line[BAR_COLUMNS + 1]) {
    memset(line, ' ', BAR_COLUMNS);
    line[BAR_COLUMNS] = '\0';
    for (size_t i = at; i < t->n_bars; i++) {
        if (!same_line(&t->bars[i], &t->bars[at]))
            continue;
        double scale = BAR_COLUMNS / t->duration_s;
        size_t from = (size_t)fmax(0, t->bars[i].start_s * scale), to = from + 1,
               end = (size_t)fmax(0, ceil(t->bars[i].end_s * scale - 0.5));
        to = end > to ? end : to;
        for (size_t c = from; c < to && c < BAR_COLUMNS; c++)
            line[c] = '#';
    }
}

static void put_timeline(FILE *out, const struct report *report) {
    const struct report_timeline *t = &report->timeline;
    char title[160];
    operators_timeline_title(report, title, sizeof title);
    if (!*title || !(t->duration_s > 0))
        return;
    text_put_heading(out, title);
    size_t lines = 0, more = 0;
    for (size_t i = 0; i < t->n_bars; i++) {
        char line[BAR_COLUMNS + 1], rank[16] = "";
        if (line_is_drawn(t, i))
            continue;
        if (++lines > LINES_MAX) {
            more++;
            continue;
        }
        draw_line(t, i, line);
        if (t->bars[i].rank >= 0)
            snprintf(rank, sizeof rank, "%d", t->bars[i].rank);
        fprintf(out, "  %-5s", rank);
        terminal_put_cell(out, t->bars[i].name, NAME_COLUMNS, false);
        fprintf(out, " |%s|\n", line);
    }
    if (more)
        fprintf(out, "  ... and %zu lines more (all are in --format json)\n", more);
}

void text_put_operators(FILE *out, const struct report *report) {
    if (!report->n_operators)
        return;
    text_put_heading(out,
                     "Operators (share: of the time in iterations of the ranks that ran them)");
    put_table(out, report);
    put_timeline(out, report);
}

/* ---- Markdown ---- */

void md_put_operators(FILE *out, const struct report *report) {
    if (!report->n_operators)
        return;
    fputs("\n## Operators\n\n| operator | role | ranks | calls | output (MB) | total (s) | mean "
          "(ms) | 95 % (ms) | of the iteration (%) |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n",
          out);
    for (size_t i = 0; i < report->n_operators; i++) {
        const struct report_operator *o = &report->operators[i];
        md_cell(out, o->name);
        md_cell(out, o->role);
        fprintf(out, "| %zu | %zu ", o->n_ranks, o->calls);
        md_number(out, o->output_bytes / 1e6);
        md_number(out, o->total_s);
        md_number(out, 1e3 * o->mean_s);
        md_number(out, 1e3 * o->p95_s);
        md_number(out, o->share_pct);
        fputs("|\n", out);
    }
}

/* ---- CSV ---- */

static void put_csv_line(FILE *out, const struct report *report, const struct report_operator *o,
                         const char *unit, const double values[3], const char *group) {
    char metric[128];
    csv_put_text(out, report->run_name);
    fputc(',', out);
    csv_put_text(out, o->role);
    fputs(",\"iteration\",", out);
    snprintf(metric, sizeof metric, "operator %s", o->name);
    csv_put_text(out, metric);
    fprintf(out, ",%s", unit);
    for (size_t i = 0; i < 3; i++)
        fprintf(out, isfinite(values[i]) ? ",%.10g" : ",", values[i]);
    fprintf(out, ",%lld,,", (long long)report->run_id); /* no ceiling */
    csv_put_text(out, group);
    fputs("\r\n", out);
}

void csv_put_operators(FILE *out, const struct report *report, const char *group) {
    for (size_t i = 0; i < report->n_operators; i++) {
        const struct report_operator *o = &report->operators[i];
        put_csv_line(out, report, o, "ms",
                     (double[]){1e3 * o->mean_s, 1e3 * o->p95_s, 1e3 * o->longest_s}, group);
        put_csv_line(out, report, o, "%", (double[]){o->share_pct, NAN, NAN}, group);
        put_csv_line(out, report, o, "bytes", (double[]){o->output_bytes, NAN, NAN}, group);
    }
}
