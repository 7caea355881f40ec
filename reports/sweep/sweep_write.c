/* SPDX-License-Identifier: MIT */
#include "reports/sweep/sweep_write.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/html/html_page.h"
#include "reports/sweep/sweep_private.h"
#include "reports/text/csv.h"
#include "reports/text/md.h"
#include "reports/text/terminal.h"
#include "reports/text/text.h"

sweep_writer *sweep_find_writer(const char *format) {
    static const struct {
        const char *name;
        sweep_writer *write;
    } writers[] = {{"text", sweep_write_text},
                   {"md", sweep_write_md},
                   {"html", sweep_write_html},
                   {"csv", sweep_write_csv},
                   {"json", sweep_write_json}};
    for (size_t i = 0; i < ARRAY_SIZE(writers); i++)
        if (strcmp(writers[i].name, format) == 0)
            return writers[i].write;
    return NULL;
}

void sweep_describe_runs(const struct sweep *sweep, char *text, size_t size) {
    size_t planned = sweep->n_cells * (size_t)sweep->of.repeats, done = 0, failed = 0, most = 0;
    for (size_t i = 0; i < sweep->n_cells; i++) {
        done += sweep->cells[i].n_done;
        failed += sweep->cells[i].n_failed;
        most = sweep->cells[i].n_done > most ? sweep->cells[i].n_done : most;
    }
    int n = snprintf(text, size, "%zu of %zu runs ended well", done, planned);
    if (failed && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, ", %zu failed", failed);
    if (most > 1 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "; figures are medians, in brackets %s",
                 most >= SWEEP_ENOUGH ? "their intervals of 95 %" : "the lowest and the highest");
}

static const char *text_of(const struct sweep_table *table, size_t row, size_t column) {
    const char *text = table->cells[row * table->columns + column];
    return text ? text : "";
}

/* ---- text ---- */

static void text_put_table(FILE *out, const struct sweep_table *table) {
    struct text_table cells;
    text_put_heading(out, table->title);
    text_table_init(&cells, table->rows, table->columns);
    for (size_t r = 0; r < table->rows; r++)
        for (size_t c = 0; c < table->columns; c++)
            text_table_set(&cells, r, c, "%s", text_of(table, r, c));
    text_table_print(&cells, out, 2);
    text_table_release(&cells);
}

int sweep_write_text(const struct sweep_section *sections, size_t n, FILE *out) {
    for (size_t i = 0; i < n; i++) {
        const struct sweep_section *s = &sections[i];
        char runs[300];
        sweep_describe_runs(s->sweep, runs, sizeof runs);
        if (i)
            fputc('\n', out);
        terminal_paragraph(out, "Sweep ", s->title, 0);
        terminal_paragraph(out, "  ", s->sweep->of.command, 3);
        terminal_paragraph(out, "  ", runs, 0);
        if (s->words)
            terminal_paragraph(out, "  ", s->words, 0);
        for (size_t t = 0; t < s->tables->n; t++)
            text_put_table(out, &s->tables->items[t]);
    }
    return ferror(out) ? -EIO : 0;
}

/* ---- Markdown ---- */

static void md_put_cell(FILE *out, const struct sweep_table *table, size_t row, size_t column) {
    const char *text = text_of(table, row, column);
    bool drawn = row && column && column == table->drawn && *text;
    const char *mark = drawn ? "`" : table->beside[row] && *text ? "*" : "";
    fprintf(out, "| %s", mark);
    if (drawn) /* ours: dots and hashes */
        fputs(text, out);
    else
        md_put(out, text + strspn(text, " "));
    fprintf(out, "%s ", mark);
}

static void md_put_table(FILE *out, const struct sweep_table *table) {
    fputs("\n**", out);
    md_put(out, table->title);
    fputs("**\n\n", out);
    for (size_t r = 0; r < table->rows; r++) {
        for (size_t c = 0; c < table->columns; c++)
            md_put_cell(out, table, r, c);
        if (r == 0)
            md_header_end(out, table->columns);
        else
            fputs("|\n", out);
    }
}

/* A link of the reader's file system: nothing in it ends it early. */
static void md_put_path(FILE *out, const char *path) {
    for (; *path; path++)
        if (isalnum((unsigned char)*path) || strchr("/._-", *path))
            fputc(*path, out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*path);
}

static void md_put_pictures(FILE *out, const struct sweep_section *s) {
    for (size_t i = 0; s->pictures && s->pictures_at && i < s->pictures->n; i++) {
        const struct sweep_picture *picture = &s->pictures->items[i];
        if (!picture->svg)
            continue;
        fputs("\n![", out);
        md_put(out, picture->caption);
        fputs("](", out);
        md_put_path(out, s->pictures_at);
        fprintf(out, "/%s.svg)\n", picture->name);
    }
}

int sweep_write_md(const struct sweep_section *sections, size_t n, FILE *out) {
    for (size_t i = 0; i < n; i++) {
        const struct sweep_section *s = &sections[i];
        char runs[300];
        sweep_describe_runs(s->sweep, runs, sizeof runs);
        fputs(i ? "\n### " : "### ", out);
        md_put(out, s->title);
        fputs("\n\n", out);
        if (s->words) {
            md_put(out, s->words);
            fputs("\n\n", out);
        }
        md_put(out, runs);
        fputs(".\n", out);
        for (size_t t = 0; t < s->tables->n; t++)
            md_put_table(out, &s->tables->items[t]);
        md_put_pictures(out, s);
    }
    return ferror(out) ? -EIO : 0;
}

/* ---- HTML ---- */

static void html_put_table(FILE *out, const struct sweep_table *table) {
    html_element(out, "h3", NULL, table->title);
    fputs("<table>\n", out);
    for (size_t r = 0; r < table->rows; r++) {
        fputs(table->beside[r] ? "<tr class=\"muted\">" : "<tr>", out);
        for (size_t c = 0; c < table->columns; c++) {
            bool drawn = r && c && c == table->drawn;
            fputs(r ? drawn ? "<td><code>" : "<td>" : "<th>", out);
            html_put(out, text_of(table, r, c));
            fputs(r ? drawn ? "</code></td>" : "</td>" : "</th>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void html_put_section(FILE *out, const struct sweep_section *s) {
    char runs[300];
    sweep_describe_runs(s->sweep, runs, sizeof runs);
    fputs("<section>\n", out);
    html_element(out, "h2", NULL, s->title);
    fputs("<p><code>", out);
    html_put(out, s->sweep->of.command);
    fputs("</code></p>\n", out);
    html_element(out, "p", "muted", runs);
    if (s->words)
        html_element(out, "p", NULL, s->words);
    for (size_t t = 0; t < s->tables->n; t++)
        html_put_table(out, &s->tables->items[t]);
    for (size_t i = 0; s->pictures && i < s->pictures->n; i++) {
        const struct sweep_picture *picture = &s->pictures->items[i];
        errno = picture->why;
        html_picture(out, picture->svg ? strdup(picture->svg) : NULL, picture->caption);
    }
    fputs("</section>\n", out);
}

int sweep_write_html(const struct sweep_section *sections, size_t n, FILE *out) {
    html_begin(out, n == 1 ? sections[0].title : "Sweeps");
    html_element(out, "h1", NULL, n == 1 ? "Sweep" : "Sweeps");
    for (size_t i = 0; i < n; i++)
        html_put_section(out, &sections[i]);
    html_end(out);
    return ferror(out) ? -EIO : 0;
}

/* ---- CSV: a line for each run and measure ---- */

static void csv_put_run(FILE *out, const struct sweep *sweep, const struct sweep_cell *cell,
                        const struct sweep_run *run, size_t measure) {
    static const char *const states[] = {"unfinished", "done",        "failed",
                                         "killed",     "interrupted", "not-started"};
    char verdict[300];
    sweep_verdict(cell, verdict, sizeof verdict);
    csv_put_text(out, sweep->of.name);
    fputc(',', out);
    for (size_t p = 0; p < sweep->of.n_parameters; p++) {
        csv_put_text(out, sweep->of.parameters[p].values[cell->value[p]]);
        fputc(',', out);
    }
    fprintf(out, "%lld,%s,%d,", (long long)run->id, states[run->state], run->exit_status);
    csv_put_text(out, sweep->measures[measure].name);
    fprintf(out, ",%s,", sweep->measures[measure].unit);
    if (isfinite(run->measures[measure]))
        fprintf(out, "%.10g", run->measures[measure]);
    fputc(',', out);
    csv_put_text(out, verdict);
    fputs("\r\n", out);
}

static void csv_put_header(FILE *out, const struct sweep *sweep) {
    fputs("sweep,", out);
    for (size_t p = 0; p < sweep->of.n_parameters; p++) {
        csv_put_text(out, sweep->of.parameters[p].name);
        fputc(',', out);
    }
    fputs("run,state,exit_status,measure,unit,value,verdict_of_cell\r\n", out);
}

/* Sweeps of other parameters have other columns: each has a header of its own. */
int sweep_write_csv(const struct sweep_section *sections, size_t n, FILE *out) {
    for (size_t i = 0; i < n; i++) {
        const struct sweep *sweep = sections[i].sweep;
        if (i)
            fputs("\r\n", out);
        csv_put_header(out, sweep);
        for (size_t c = 0; c < sweep->n_cells; c++)
            for (size_t r = 0; r < sweep->cells[c].n_runs; r++)
                for (size_t m = 0; m < sweep->n_measures; m++)
                    csv_put_run(out, sweep, &sweep->cells[c], &sweep->cells[c].runs[r], m);
    }
    return ferror(out) ? -EIO : 0;
}
