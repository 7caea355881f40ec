/* SPDX-License-Identifier: MIT */
/*
 * Plots drawn by gnuplot: one alone, or all of a file below one another. The script is written to
 * memory and passed to gnuplot's standard input; the picture comes from its standard output: no
 * temporary files, no shell. A plot's script is positioned by variables set before it, so the same
 * script fills a whole picture, a part of a column, or a part of a page.
 */
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
#include "reports/plot/gnuplot.h"
#include "reports/plot/plot.h"

#define WIDTH 980        /* in pixels */
#define HEADING 34       /* in pixels, above all plots of a page */
#define TITLE 30         /* in pixels, above a plot */
#define SHARPNESS 1.5    /* pixels of a PNG for one of the layout */
#define PAGE_WIDTH 8.27  /* in inches: A4 */
#define PAGE_HEIGHT 1386 /* in pixels: A4 at this width */
#define PICTURE_MAX (64u << 20)

extern char **environ;

/* ---- running gnuplot ---- */

struct bytes {
    char *data; /* owned; followed by a '\0' */
    size_t size;
};

static struct bytes read_all(int fd) {
    struct bytes all = {0};
    size_t capacity = 0;
    for (;;) {
        if (all.size + 65536 > capacity) {
            capacity = capacity ? capacity * 2 : 131072;
            char *grown = capacity <= PICTURE_MAX ? realloc(all.data, capacity) : NULL;
            if (!grown)
                break;
            all.data = grown;
        }
        ssize_t n = read(fd, all.data + all.size, capacity - all.size - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n > 0) {
            all.size += (size_t)n;
            continue;
        }
        if (n < 0 || all.size == 0)
            break;
        all.data[all.size] = '\0';
        return all;
    }
    free(all.data);
    return (struct bytes){0};
}

static int spawn_gnuplot(int script, int picture, pid_t *ret_pid) {
    char *argv[] = {(char *)"gnuplot", (char *)"-", NULL}; /* posix_spawn does not write to them */
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, 0);
    posix_spawn_file_actions_adddup2(&actions, picture, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int r = posix_spawnp(ret_pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* Starts gnuplot on a script; the picture goes to memory, so that it need not be read meanwhile.
 * -ENOENT: gnuplot is not installed.
 */
static int start_gnuplot(const char *script, size_t size, struct plot_running *ret_running) {
    int fd = memfd_create("plot", MFD_CLOEXEC), out = memfd_create("picture", MFD_CLOEXEC);
    int r = fd < 0 || out < 0 ? negative_errno() : 0;
    if (r == 0 && pwrite(fd, script, size, 0) != (ssize_t)size)
        r = -EIO;
    if (r == 0)
        r = spawn_gnuplot(fd, out, &ret_running->pid);
    if (fd >= 0)
        close(fd);
    if (r == 0)
        ret_running->picture = out;
    else if (out >= 0)
        close(out);
    return r;
}

/* -EIO: gnuplot failed. */
static int finish_gnuplot(struct plot_running *running, struct bytes *ret_picture) {
    int status = 0;
    while (waitpid(running->pid, &status, 0) < 0 && errno == EINTR)
        ;
    struct bytes picture = {0};
    if (status == 0 && lseek(running->picture, 0, SEEK_SET) == 0)
        picture = read_all(running->picture);
    close(running->picture);
    *running = (struct plot_running){0};
    *ret_picture = picture;
    return picture.data ? 0 : -EIO;
}

/* ---- pages ---- */

/* Plots below one another, in pixels. */
struct plot_column {
    struct plot *const *plots;
    size_t n;
    const char *heading; /* NULL: no heading and no titles */
    int height;
};

static int plot_height(const struct plot *plot, bool titled) {
    return plot->height + (titled ? TITLE : 0);
}

/* Takes as many of the plots as fit into `most` pixels, at least one. */
static struct plot_column take_column(struct plot *const *plots, size_t n, const char *heading,
                                      int most) {
    struct plot_column column = {plots, 0, heading, heading ? HEADING : 0};
    for (; column.n < n; column.n++) {
        int height = plot_height(plots[column.n], heading != NULL);
        if (column.n && column.height + height > most)
            break;
        column.height += height;
    }
    return column;
}

static void put_words(FILE *out, size_t label, const char *words, double from_top, double height,
                      const char *look) {
    fprintf(out, "set label %zu ", label);
    script_put_string(out, words);
    fprintf(out, " at screen 0.012, screen %.6f left tc rgb '#222222' %s\n", 1 - from_top / height,
            look);
}

/* An empty plot over the whole page draws all words once: labels are redrawn with every plot. */
static void put_titles(FILE *out, const struct plot_column *column, double height) {
    double top = HEADING;
    fputs("reset\nunset border\nunset tics\nunset key\nset margins 0,0,0,0\n", out);
    put_words(out, 1, column->heading, 0.55 * HEADING, height, "font ',13'");
    for (size_t i = 0; i < column->n; i++) {
        put_words(out, i + 2, plot_title(column->plots[i]), top + 0.7 * TITLE, height,
                  "font ',12'");
        top += plot_height(column->plots[i], true);
    }
    fputs("plot [0:1][0:1] 2 notitle\n", out);
}

static void put_column(FILE *out, const struct plot_column *column, double height) {
    double top = column->heading ? HEADING : 0;
    fputs("set multiplot\n", out);
    if (column->heading)
        put_titles(out, column, height);
    for (size_t i = 0; i < column->n; i++) {
        const struct plot *plot = column->plots[i];
        top += plot_height(plot, column->heading != NULL);
        fprintf(out, "reset\nbottom = %.6f\npart = %.6f\ntall = %d.0\n", 1 - top / height,
                plot->height / height, plot->height);
        fputs("set size 1,part\nset origin 0,bottom\n", out);
        fwrite(plot->script, 1, plot->size, out);
    }
    fputs("unset multiplot\n", out);
}

/* The common look: fonts with the size that they have in an SVG of that width. */
static void put_terminal(FILE *out, enum plot_file kind, double height, const char *font) {
    double inch = WIDTH / PAGE_WIDTH;
    if (kind == PLOT_FILE_PNG)
        fprintf(out, "set terminal pngcairo size %.0f,%.0f fontscale %g linewidth %g pointscale %g",
                SHARPNESS * WIDTH, SHARPNESS * height, SHARPNESS * 0.9, SHARPNESS, SHARPNESS);
    else if (kind == PLOT_FILE_PDF)
        fprintf(out, "set terminal pdfcairo size %.4f,%.4f fontscale %g linewidth 0.8 pointscale 1",
                PAGE_WIDTH, height / inch, 72 / inch);
    else
        fprintf(out, "set terminal svg size %d,%.0f dynamic", WIDTH, height);
    fprintf(out, " noenhanced font '%s,11' background '#ffffff'\nset encoding utf8\n%s", font,
            "px(y) = bottom + part * (1 - y / tall)\ncrisp = 'pixels'\n");
}

/* All pages of a PDF have the height of the tallest plot. */
static double page_height(struct plot *const *plots, size_t n) {
    double height = PAGE_HEIGHT;
    for (size_t i = 0; i < n; i++)
        height = fmax(height, HEADING + plot_height(plots[i], true));
    return height;
}

static void put_pages(FILE *out, struct plot *const *plots, size_t n, const char *heading) {
    double height = page_height(plots, n);
    put_terminal(out, PLOT_FILE_PDF, height, "DejaVu Sans");
    for (size_t at = 0; at < n;) {
        struct plot_column column = take_column(plots + at, n - at, heading, (int)height);
        put_column(out, &column, height);
        at += column.n;
    }
}

static int start(struct plot *const *plots, size_t n, const char *heading, enum plot_file kind,
                 struct plot_running *ret_running) {
    struct bytes script = {0};
    FILE *out = open_memstream(&script.data, &script.size);
    if (!out)
        return -ENOMEM;
    if (kind == PLOT_FILE_PDF) {
        put_pages(out, plots, n, heading);
    } else {
        struct plot_column column = take_column(plots, n, heading, PLOT_COLUMN_MAX);
        put_terminal(out, kind, column.height, "DejaVu Sans");
        if (!heading) /* otherwise the page blurs an image of few cells */
            fputs("crisp = ''\n", out);
        put_column(out, &column, column.height);
    }
    bool failed = ferror(out);
    int result = fclose(out) == 0 && !failed ? 0 : -ENOMEM;
    if (result == 0)
        result = start_gnuplot(script.data, script.size, ret_running);
    free(script.data);
    return result;
}

size_t plots_that_fit(struct plot *const *plots, size_t n, enum plot_file kind) {
    return kind == PLOT_FILE_PDF ? n : take_column(plots, n, "", PLOT_COLUMN_MAX).n;
}

int plots_write(struct plot *const *plots, size_t n, const char *heading, enum plot_file kind,
                FILE *out) {
    struct plot_running running = {0};
    struct bytes picture;
    int result = start(plots, n, heading, kind, &running);
    if (result == 0)
        result = finish_gnuplot(&running, &picture);
    if (result < 0)
        return result;
    if (fwrite(picture.data, 1, picture.size, out) != picture.size)
        result = -EIO;
    free(picture.data);
    return result;
}

void plot_svg_begin(struct plot *plot) {
    if (plot && !plot->running.pid)
        start(&plot, 1, NULL, PLOT_FILE_SVG,
              &plot->running); /* if it fails, plot_svg() reports why */
}

/* Waits for drawing that was begun, and discards it. */
static void drop_drawing(struct plot *plot) {
    struct bytes picture;
    if (plot->running.pid && finish_gnuplot(&plot->running, &picture) == 0)
        free(picture.data);
}

void plot_free(struct plot *plot) {
    if (!plot)
        return;
    drop_drawing(plot);
    free(plot->script);
    free(plot->title);
    free(plot);
}

char *plot_svg(struct plot *plot) {
    struct bytes picture = {0};
    int result = plot ? 0 : negative_errno();
    if (plot && !plot->running.pid)
        result = start(&plot, 1, NULL, PLOT_FILE_SVG, &plot->running);
    if (result == 0)
        result = finish_gnuplot(&plot->running, &picture);
    errno = -result;
    return picture.data;
}
