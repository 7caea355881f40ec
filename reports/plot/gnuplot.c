/* SPDX-License-Identifier: MIT */
/*
 * The script of a plot is written to memory, handed to gnuplot as its standard input, and the
 * picture read from its standard output: no temporary files, no shell. Series are thinned to the
 * lowest and highest value of each bin rather than averaged, so that a burst of one sample stays
 * visible. Names go in as single-quoted strings, in which gnuplot expands nothing.
 */
#include "reports/plot/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/text.h"

#define PLOT_WIDTH 980
#define BINS 420
#define PHASE_RECTS_MAX 300
#define SVG_MAX (64u << 20)

extern char **environ;

/* ---- running gnuplot ---- */

static char *read_all(int fd) {
    char *text = NULL;
    size_t size = 0, capacity = 0;
    for (;;) {
        if (size + 65536 > capacity) {
            capacity = capacity ? capacity * 2 : 131072;
            char *grown = capacity <= SVG_MAX ? realloc(text, capacity) : NULL;
            if (!grown)
                break;
            text = grown;
        }
        ssize_t n = read(fd, text + size, capacity - size - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n > 0) {
            size += (size_t)n;
            continue;
        }
        if (n < 0 || size == 0)
            break;
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static int spawn_gnuplot(int script, int out[2], pid_t *ret_pid) {
    char *argv[] = {(char *)"gnuplot", (char *)"-", NULL}; /* posix_spawn writes to neither */
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int r = posix_spawnp(ret_pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* Runs a script; the picture, or NULL with errno. */
static char *run_gnuplot(const char *script, size_t size) {
    int out[2], fd = memfd_create("plot", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (pwrite(fd, script, size, 0) != (ssize_t)size || pipe2(out, O_CLOEXEC) < 0) {
        close(fd);
        return NULL;
    }
    pid_t pid;
    int status = 0, r = spawn_gnuplot(fd, out, &pid);
    close(fd);
    close(out[1]);
    char *svg = r == 0 ? read_all(out[0]) : NULL;
    close(out[0]);
    if (r == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    if (r == 0 && (status != 0 || !svg)) {
        free(svg);
        svg = NULL;
        r = -EIO;
    }
    errno = -r;
    return svg;
}

/* ---- pieces of a script ---- */

int script_open(struct script *script, int height) {
    *script = (struct script){0};
    script->file = open_memstream(&script->text, &script->size);
    if (!script->file)
        return -ENOMEM;
    fprintf(script->file,
            "set terminal svg size %d,%d dynamic noenhanced font 'DejaVu Sans,11' background "
            "'#ffffff'\nset encoding utf8\nset style fill solid 0.75 noborder\n"
            "set border 3 lc rgb '#888888'\nset tics nomirror out scale 0.5 tc rgb '#333333'\n"
            "set grid ytics lc rgb '#e4e4e4' lt 1\nset key noenhanced\n",
            PLOT_WIDTH, height);
    return 0;
}

char *script_run(struct script *script) {
    bool failed = ferror(script->file);
    char *svg = NULL;
    if (fclose(script->file) == 0 && !failed)
        svg = run_gnuplot(script->text, script->size);
    int saved = errno;
    free(script->text);
    errno = saved;
    return svg;
}

char *script_no_data(void) {
    errno = ENODATA;
    return NULL;
}

const char *script_colour(size_t i) {
    static const char *const colours[] = {"#3d85c6", "#cc4125", "#6aa84f", "#f1c232",
                                          "#674ea7", "#45818e", "#a64d79", "#7f6000",
                                          "#6fa8dc", "#000000", "#93c47d", "#e69138"};
    return colours[i % ARRAY_SIZE(colours)];
}

/* A string no part of which gnuplot reads as anything else. */
void script_put_string(FILE *out, const char *text) {
    uint32_t code;
    fputc('\'', out);
    for (size_t n; *text; text += n) {
        n = text_char(text, strnlen(text, 4), &code);
        if (code == '\'')
            fputc('\'', out);
        fprintf(out, "%.*s", code ? (int)n : 1, code && code != '`' ? text : "?");
    }
    fputc('\'', out);
}

double report_end_s(const struct report *report) {
    return report->duration_s > 0 ? report->duration_s : 1;
}

/* The colour of a phase name: by its place among the distinct names. */
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

static const char *const phase_colours[] = {"#cfe2f3", "#fce5cd", "#d9ead3",
                                            "#ead1dc", "#fff2cc", "#d9d2e9"};

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

/* A legend of phases in the top margin: the first stretch of each name carries the word. */
void script_put_phase_words(FILE *out, const struct report *report) {
    size_t shown = 0;
    for (size_t i = 0; i < report->n_phases && shown < ARRAY_SIZE(phase_colours); i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(report->phases[k].name, report->phases[i].name) != 0;
        if (!first)
            continue;
        double x = 0.09 + 0.14 * (double)shown++;
        fprintf(out,
                "set object %zu rectangle center screen %.3f, screen 0.975 size char 1.6, char "
                "0.8 fc rgb '%s' fs solid 1 noborder\nset label %zu ",
                1000 + shown, x, phase_colour(report, i), 1000 + shown);
        script_put_string(out, report->phases[i].name);
        fprintf(out, " at screen %.3f, screen 0.975 left tc rgb '#333333'\n", x + 0.014);
    }
}

void script_clear_phase_words(FILE *out) {
    for (size_t i = 1; i <= ARRAY_SIZE(phase_colours); i++)
        fprintf(out, "unset object %zu\nunset label %zu\n", 1000 + i, 1000 + i);
}

/* ---- thinning ---- */

struct bin {
    double low, high;
    size_t low_at, high_at, n;
};

static void bin_add(struct bin *bin, double value, size_t at) {
    if (bin->n == 0 || value < bin->low) {
        bin->low = value;
        bin->low_at = at;
    }
    if (bin->n == 0 || value > bin->high) {
        bin->high = value;
        bin->high_at = at;
    }
    bin->n++;
}

static void put_point(FILE *out, const struct report_series *series, size_t at, double value) {
    fprintf(out, "%.7g %.6g\n", series->t_s[at], value);
}

static void put_bin(FILE *out, const struct report_series *series, const struct bin *bin) {
    if (bin->n == 0)
        return;
    bool low_first = bin->low_at <= bin->high_at;
    put_point(out, series, low_first ? bin->low_at : bin->high_at,
              low_first ? bin->low : bin->high);
    if (bin->n > 1 && bin->low != bin->high)
        put_point(out, series, low_first ? bin->high_at : bin->low_at,
                  low_first ? bin->high : bin->low);
}

/* Writes a series as a here-document; a gap becomes an empty line, which lifts the pen. */
void script_put_series(FILE *out, const char *name, const struct report_series *series,
                       double end_s) {
    fprintf(out, "$%s << EOD\n", name);
    struct bin bin = {0};
    long current = -1;
    size_t points = 0;
    for (size_t i = 0; i < series->n; i++) {
        long at = (long)(series->t_s[i] / end_s * BINS);
        if (at != current || isnan(series->value[i])) {
            put_bin(out, series, &bin);
            points += bin.n;
            bin = (struct bin){0};
            current = at;
        }
        if (isnan(series->value[i]))
            fputc('\n', out);
        else
            bin_add(&bin, series->value[i], i);
    }
    put_bin(out, series, &bin);
    if (points + bin.n == 0)
        fputs("0 NaN\n", out);
    fputs("EOD\n", out);
}

/* Adds the mean of each of n bins of a series to sums[]; NAN where a bin has no sample. */
void series_add_bin_means(const struct report_series *series, double end_s, double *sums,
                          size_t n) {
    struct {
        double sum;
        size_t n;
    } bins[HEAT_BINS] = {0};
    for (size_t i = 0; i < series->n; i++) {
        double at = series->t_s[i] / end_s * (double)n;
        if (isnan(series->value[i]) || at < 0 || at > (double)n)
            continue;
        size_t bin = at >= (double)n ? n - 1 : (size_t)at;
        bins[bin].sum += series->value[i];
        bins[bin].n++;
    }
    for (size_t i = 0; i < n; i++)
        sums[i] += bins[i].n ? bins[i].sum / (double)bins[i].n : NAN;
}
