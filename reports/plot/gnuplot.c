/* SPDX-License-Identifier: MIT */
/* Names are written as single-quoted strings, in which gnuplot expands nothing. */
#include "reports/plot/gnuplot.h"
#include "reports/plot/plot.h"
#include "reports/plot/thin.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/text.h"

#define BINS 420
#define PHASE_RECTS_MAX 300

/* ---- pieces of a script ---- */

int script_open(struct script *script, int height) {
    *script = (struct script){.height = height, .held = PLOT_HELD};
    script->file = open_memstream(&script->text, &script->size);
    if (!script->file)
        return -ENOMEM;
    fputs("set style fill solid 0.75 noborder\n"
          "set border 3 lc rgb '#888888'\nset tics nomirror out scale 0.5 tc rgb '#333333'\n"
          "set grid ytics lc rgb '#e4e4e4' lt 1\nset key noenhanced\nset lmargin at screen 0.09\n"
          "set style textbox opaque noborder fc rgb '#ffffff' margins 0.5,0.5\n",
          script->file);
    return 0;
}

struct plot *script_close(struct script *script) {
    bool failed = ferror(script->file);
    struct plot *plot = malloc(sizeof *plot);
    if (fclose(script->file) != 0 || failed || !plot) {
        free(script->text);
        free(plot);
        errno = ENOMEM;
        return NULL;
    }
    *plot = (struct plot){.script = script->text,
                          .size = script->size,
                          .height = script->height,
                          .held = script->held};
    return plot;
}

struct plot *script_no_data(void) {
    errno = ENODATA;
    return NULL;
}

struct plot *plot_titled(struct plot *plot, const char *format, ...) {
    va_list values;
    if (!plot)
        return NULL;
    char *title, *old = plot->title; /* the old title may be among the values */
    va_start(values, format);
    plot->title = vasprintf(&title, format, values) < 0 ? NULL : title;
    va_end(values);
    free(old);
    return plot;
}

const char *plot_title(const struct plot *plot) {
    return plot->title ? plot->title : "";
}

const char *plot_name(const struct plot *plot) {
    return plot->name;
}

int plot_held(const struct plot *plot) {
    return plot->held;
}

const char *script_colour(size_t i) {
    static const char *const colours[] = {"#0a8f8f", "#8c9a00", "#7d86ff", "#555c00", "#3fc4c4",
                                          "#3f3fb0", "#c2cc33", "#0b5252", "#00d0b0", "#a3a86a"};
    return colours[i % ARRAY_SIZE(colours)];
}

/* Writes a string so that gnuplot interprets no part of it. A quote becomes the typographic one: a
 * doubled quote at the begin of a string ends it for gnuplot.
 */
void script_put_string(FILE *out, const char *text) {
    uint32_t code;
    fputc('\'', out);
    for (size_t n; *text; text += n) {
        n = text_char(text, strnlen(text, 4), &code);
        if (code == '\'')
            fputs("\u2019", out);
        else
            fprintf(out, "%.*s", code ? (int)n : 1, code >= ' ' && code != '`' ? text : "?");
    }
    fputc('\'', out);
}

void script_put_short(FILE *out, const char *text, size_t characters) {
    uint32_t code;
    size_t size = 0, n = 0, cut = 0;
    for (; text[size] && n <= characters; n++) {
        cut = n + 1 < characters ? size + text_char(text + size, strnlen(text + size, 4), &code)
                                 : cut;
        size += text_char(text + size, strnlen(text + size, 4), &code);
    }
    char *shorter = n > characters ? malloc(cut + 4) : NULL;
    if (shorter) {
        memcpy(shorter, text, cut);
        strcpy(shorter + cut, "\u2026");
    }
    script_put_string(out, shorter ? shorter : text);
    free(shorter);
}

double report_end_s(const struct report *report) {
    return report->duration_s > 0 ? report->duration_s : 1;
}

double axis_round_up(double value) {
    static const double steps[] = {1, 2, 3, 4, 5, 6, 8};
    double power = pow(10, floor(log10(value)));
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
        if (value <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/* The colour number of a phase name: its position among the distinct names. */
static size_t phase_number(const struct report *report, size_t phase) {
    size_t distinct = 0;
    for (size_t i = 0; i < report->n_phases; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(report->phases[k].name, report->phases[i].name) == 0;
        if (strcmp(report->phases[i].name, report->phases[phase].name) == 0)
            return distinct;
        distinct += !seen;
    }
    return distinct;
}

/* Tints without another meaning. */
static const char *const phase_colours[] = {"#dfe4ea", "#ece7da", "#d3dde0",
                                            "#e6e0e8", "#dad7c8", "#c9d0d8"};

static const char *phase_colour(const struct report *report, size_t phase) {
    return phase_colours[phase_number(report, phase) % ARRAY_SIZE(phase_colours)];
}

void script_put_phases(FILE *out, const struct report *report) {
    size_t n = report->n_phases < PHASE_RECTS_MAX ? report->n_phases : PHASE_RECTS_MAX;
    for (size_t i = 0; i < n; i++)
        fprintf(out,
                "set object %zu rectangle from first %.6g, graph 0 to first %.6g, graph 1 behind "
                "fc rgb '%s' fs solid 0.55 noborder\n",
                i + 1, report->phases[i].start_s, report->phases[i].end_s, phase_colour(report, i));
}

static bool is_first_of_name(const struct report *report, size_t phase) {
    for (size_t i = 0; i < phase; i++)
        if (strcmp(report->phases[i].name, report->phases[phase].name) == 0)
            return false;
    return true;
}

static size_t count_phase_names(const struct report *report) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_phases; i++)
        n += is_first_of_name(report, i);
    return n < ARRAY_SIZE(phase_colours) ? n : ARRAY_SIZE(phase_colours);
}

/* A legend of phases in the top margin: a swatch and a word for each name. */
void script_put_phase_words(FILE *out, const struct report *report, double right) {
    size_t n = count_phase_names(report), shown = 0;
    double step = n ? fmin(0.16, (right - 0.09) / (double)n) : 0;
    for (size_t i = 0; shown < n; i++) {
        if (!is_first_of_name(report, i))
            continue;
        double x = 0.09 + step * (double)shown++;
        fprintf(out,
                "set object %zu rectangle center screen %.3f, screen px(10) size char 1.6, char "
                "0.8 fc rgb '%s' fs solid 1 noborder\nset label %zu ",
                1000 + shown, x, phase_colour(report, i), 1000 + shown);
        script_put_short(out, report->phases[i].name, (size_t)fmax(4, step * 980 / 7.5 - 3));
        fprintf(out, " at screen %.3f, screen px(10) left tc rgb '#333333'\n", x + 0.014);
    }
}

void script_clear_phase_words(FILE *out) {
    for (size_t i = 1; i <= ARRAY_SIZE(phase_colours); i++)
        fprintf(out, "unset object %zu\nunset label %zu\n", 1000 + i, 1000 + i);
}

/* Writes a series as a here-document; a gap becomes an empty line, which interrupts the curve. */
void script_put_series(FILE *out, const char *name, const struct report_series *series,
                       double end_s) {
    struct thin_point *points = calloc(series->n + 1, sizeof *points);
    size_t n = points ? series_thin(series, end_s, BINS, points) : 0, drawn = 0;
    fprintf(out, "$%s << EOD\n", name);
    for (size_t i = 0; i < n; i++) {
        if (isnan(points[i].value))
            fputc('\n', out);
        else
            fprintf(out, "%.7g %.6g\n", points[i].t_s, points[i].value);
        drawn += !isnan(points[i].value);
    }
    if (!drawn)
        fputs("0 NaN\n", out);
    fputs("EOD\n", out);
    free(points);
}
