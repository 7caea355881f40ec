/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint list`: the runs in a database, oldest first. A run whose end was never written is
 * "unfinished": it goes on now, or what recorded it was killed; the file alone cannot tell.
 */
#include "cli/options.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "collector/store_read.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: chokepoint list [--db FILE]\n"
    "\n"
    "Lists the runs in a database: number, name, which repeat of it, start, duration,\n"
    "hosts that were recorded (of those expected), how it ended, command.\n"
    "\n"
    "  --db FILE   default: ./chokepoint.db\n";

enum {
    COLUMN_ID,
    COLUMN_NAME,
    COLUMN_REPEAT,
    COLUMN_START,
    COLUMN_DURATION,
    COLUMN_HOSTS,
    COLUMN_END,
    N_COLUMNS
};

static const char *const titles[N_COLUMNS] = {"run",      "name",  "repeat", "started",
                                              "duration", "hosts", "end"};

struct line {
    char cells[N_COLUMNS][100];
    const char *command; /* borrowed */
};

/* Characters, not bytes: what the terminal counts, wide ones apart. */
static size_t text_width(const char *text) {
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

static void format_start(int64_t wall_ns, char *to, size_t size) {
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm tm;
    if (!localtime_r(&seconds, &tm) || !strftime(to, size, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(to, size, "?");
}

static void format_duration(int64_t ns, char *to, size_t size) {
    int64_t s = ns / NS_PER_S;
    if (ns < 0)
        snprintf(to, size, "-");
    else if (s < 60)
        snprintf(to, size, "%.1f s", (double)ns / NS_PER_S);
    else if (s < 3600)
        snprintf(to, size, "%" PRId64 ":%02d min", s / 60, (int)(s % 60));
    else
        snprintf(to, size, "%" PRId64 ":%02d:%02d h", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
}

static void format_end(const struct store_run *run, char *to, size_t size) {
    const char *signal = run->exit_status > 128 ? sigabbrev_np(run->exit_status - 128) : NULL;
    switch (run->state) {
    case RUN_DONE:
        snprintf(to, size, "done");
        return;
    case RUN_INTERRUPTED:
        snprintf(to, size, "interrupted");
        return;
    case RUN_NOT_STARTED:
        snprintf(to, size, "not started");
        return;
    case RUN_FAILED:
        snprintf(to, size, "exit %d", run->exit_status);
        return;
    case RUN_KILLED:
        snprintf(to, size, "%s%s", signal ? "SIG" : "killed", signal ? signal : "");
        return;
    default:
        snprintf(to, size, "unfinished");
    }
}

static int format_hosts(struct store *store, const struct store_run *run, char *to, size_t size) {
    struct store_host *hosts;
    size_t n;
    int r = store_list_hosts(store, run->id, &hosts, &n);
    if (r < 0)
        return r;
    store_hosts_free(hosts, n);
    if (run->n_hosts_expected >= 0 && (size_t)run->n_hosts_expected != n)
        snprintf(to, size, "%zu of %d", n, run->n_hosts_expected);
    else
        snprintf(to, size, "%zu", n);
    return 0;
}

static void format_repeat(const struct store_run *run, char *to, size_t size) {
    if (run->repeat)
        snprintf(to, size, "%d of %d", run->repeat, run->repeats);
}

static int fill_line(struct store *store, const struct store_run *run, struct line *ret_line) {
    struct line *l = ret_line;
    snprintf(l->cells[COLUMN_ID], sizeof *l->cells, "%" PRId64, run->id);
    text_sanitize(l->cells[COLUMN_NAME], sizeof *l->cells, run->name, strlen(run->name));
    format_repeat(run, l->cells[COLUMN_REPEAT], sizeof *l->cells);
    format_start(run->started_wall_ns, l->cells[COLUMN_START], sizeof *l->cells);
    format_duration(run->state == RUN_NOT_STARTED ? -1 : run->duration_ns,
                    l->cells[COLUMN_DURATION], sizeof *l->cells);
    format_end(run, l->cells[COLUMN_END], sizeof *l->cells);
    l->command = run->command;
    return format_hosts(store, run, l->cells[COLUMN_HOSTS], sizeof *l->cells);
}

static void print_cell(const char *text, size_t width, bool right) {
    int pad = (int)(width - text_width(text));
    printf("%*s%s%*s  ", right ? pad : 0, "", text, right ? 0 : pad, "");
}

/* The command takes what is left of a terminal's line; a file gets all of it. */
static void print_command(const char *command, size_t used) {
    struct winsize window;
    size_t size = strlen(command), room = SIZE_MAX;
    char *clean = malloc(size + 1);
    if (!clean)
        return;
    text_sanitize(clean, size + 1, command, size);
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col)
        room = window.ws_col > used + 8 ? window.ws_col - used : 8;
    size_t end = 0;
    bool cut = text_width(clean) > room;
    for (size_t n = 0; clean[end] && (!cut || n < room - 1); n++)
        do
            end++;
        while ((clean[end] & 0xc0) == 0x80);
    printf("%.*s%s\n", (int)end, clean, cut ? "…" : "");
    free(clean);
}

static bool any_repeat(const struct line *lines, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (lines[i].cells[COLUMN_REPEAT][0])
            return true;
    return false;
}

static void print_cells(const struct line *line, const size_t widths[N_COLUMNS]) {
    for (size_t c = 0; c < N_COLUMNS; c++)
        if (widths[c])
            print_cell(line ? line->cells[c] : titles[c], widths[c],
                       c == COLUMN_ID || c == COLUMN_DURATION);
}

/* Without repeats there is no column of them. */
static void print_lines(const struct line *lines, size_t n) {
    size_t widths[N_COLUMNS] = {0}, used = 0;
    for (size_t c = 0; c < N_COLUMNS; c++) {
        if (c == COLUMN_REPEAT && !any_repeat(lines, n))
            continue;
        widths[c] = strlen(titles[c]);
        for (size_t i = 0; i < n; i++)
            if (text_width(lines[i].cells[c]) > widths[c])
                widths[c] = text_width(lines[i].cells[c]);
        used += widths[c] + 2;
    }
    print_cells(NULL, widths);
    puts("command");
    for (size_t i = 0; i < n; i++) {
        print_cells(&lines[i], widths);
        print_command(lines[i].command, used);
    }
}

static int print_runs(struct store *store, const struct store_run *runs, size_t n) {
    struct line *lines = calloc(n ? n : 1, sizeof *lines);
    int r = lines ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && r == 0; i++)
        r = fill_line(store, &runs[i], &lines[i]);
    if (r == 0 && n)
        print_lines(lines, n);
    free(lines);
    return r;
}

static int list(const char *database) {
    struct store *store;
    struct store_run *runs;
    char why[300];
    size_t n;
    if (store_open_read(database, &store, why, sizeof why)) {
        verb_complain("list", "%s", why);
        return EXIT_USAGE;
    }
    int r = store_list_runs(store, &runs, &n);
    if (r == 0) {
        r = print_runs(store, runs, n);
        store_runs_free(runs, n);
    }
    int status = r < 0 ? report_cannot_read("list", store, database, r) : 0;
    if (r == 0 && n == 0)
        verb_complain("list", "%s has no runs yet", database);
    store_close(store);
    return fflush(stdout) != 0 && status == 0 ? 1 : status;
}

static int list_main(int argc, char **argv) {
    const char *database = "./chokepoint.db";
    const struct verb_option takes[] = {{"db", 0, &database, NULL}};
    const struct verb_words words = {"list", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    int r = verb_words_read(&words, argc, argv, &rest);
    if (r == 0 && rest[0])
        r = verb_refuse("list", "one word too many:", rest[0], "chokepoint list [--db FILE]");
    return r ? verb_words_status(r) : list(database);
}

const struct verb verb_list = {"list", "list the runs in a database", list_main};
