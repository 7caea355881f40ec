/* SPDX-License-Identifier: MIT */
/* The runs of a database for a terminal: one line each, and one for each note. */
#include "cli/list/list_text.h"
#include "cli/base/cells.h"
#include "common/error.h"
#include "common/text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_ID,
    COLUMN_NAME,
    COLUMN_REPEAT,
    COLUMN_START,
    COLUMN_DURATION,
    COLUMN_HOSTS,
    COLUMN_END,
    COLUMN_COMMAND,
    N_COLUMNS
};

static const char *const titles[N_COLUMNS] = {"run",      "name",  "repeat", "started",
                                              "duration", "hosts", "end",    "command"};

#define COMMAND_WIDTH 24

#define NOTE_HEAD "     note: "
#define COMMAND_HEAD "     "

struct line {
    char cells[N_COLUMNS][128];
    const struct listed_run *run; /* borrowed */
};

static void format_end(const struct listed_run *run, char *to, size_t size) {
    const char *signal = run->exit_status > 128 ? sigabbrev_np(run->exit_status - 128) : NULL;
    if (strcmp(run->state, "failed") == 0)
        snprintf(to, size, "exit %d", run->exit_status);
    else if (strcmp(run->state, "killed") == 0 && signal)
        snprintf(to, size, "SIG%s", signal);
    else
        snprintf(to, size, "%s",
                 strcmp(run->state, "not-started") == 0 ? "not started" : run->state);
}

static void format_hosts(const struct listed_run *run, char *to, size_t size) {
    if (run->n_hosts_expected >= 0 && (size_t)run->n_hosts_expected != run->n_hosts)
        snprintf(to, size, "%zu of %d", run->n_hosts, run->n_hosts_expected);
    else
        snprintf(to, size, "%zu", run->n_hosts);
}

static void format_repeat(const struct listed_run *run, char *to, size_t size) {
    if (run->repeat)
        snprintf(to, size, "%d of %d", run->repeat, run->repeats);
}

/* The name of the program without its folder, and its words. */
static void format_command(const char *command, char *to, size_t size) {
    char clean[256];
    bool cut;
    size_t program = strcspn(command, " ");
    const char *slash = memrchr(command, '/', program);
    const char *from = slash && command[0] != '\'' ? slash + 1 : command;
    text_sanitize(clean, sizeof clean, from, strnlen(from, sizeof clean - 1));
    size_t end = cell_fit(clean, COMMAND_WIDTH, &cut);
    snprintf(to, size, "%.*s%s", (int)end, clean, cut ? "…" : "");
}

static void fill_line(const struct listed_run *run, struct line *ret_line) {
    struct line *l = ret_line;
    snprintf(l->cells[COLUMN_ID], sizeof *l->cells, "%" PRId64, run->id);
    text_sanitize(l->cells[COLUMN_NAME], sizeof *l->cells, run->name, strlen(run->name));
    format_repeat(run, l->cells[COLUMN_REPEAT], sizeof *l->cells);
    cell_start(run->started_wall_ns, l->cells[COLUMN_START], sizeof *l->cells);
    cell_duration(run->duration_s, l->cells[COLUMN_DURATION], sizeof *l->cells);
    format_hosts(run, l->cells[COLUMN_HOSTS], sizeof *l->cells);
    format_end(run, l->cells[COLUMN_END], sizeof *l->cells);
    format_command(run->command, l->cells[COLUMN_COMMAND], sizeof *l->cells);
    l->run = run;
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
            cell_print(line ? line->cells[c] : titles[c], widths[c],
                       c == COLUMN_ID || c == COLUMN_DURATION);
}

/* Without repeats the column is left out. */
static void print_lines(const struct line *lines, size_t n, bool whole) {
    size_t widths[N_COLUMNS] = {0}, used = 0;
    for (size_t c = 0; c < N_COLUMNS; c++) {
        if ((c == COLUMN_REPEAT && !any_repeat(lines, n)) || (c == COLUMN_COMMAND && whole))
            continue;
        widths[c] = strlen(titles[c]);
        for (size_t i = 0; i < n; i++)
            if (cell_width(lines[i].cells[c]) > widths[c])
                widths[c] = cell_width(lines[i].cells[c]);
        used += widths[c] + 2;
    }
    print_cells(NULL, widths);
    puts("limit");
    for (size_t i = 0; i < n; i++) {
        const struct listed_run *run = lines[i].run;
        print_cells(&lines[i], widths);
        cell_print_rest(run->limit ? run->limit : "-", used, whole);
        if (whole) {
            fputs(COMMAND_HEAD, stdout);
            cell_print_rest(run->command, strlen(COMMAND_HEAD), true);
        }
        for (size_t k = 0; k < run->n_notes; k++) {
            fputs(NOTE_HEAD, stdout);
            cell_print_rest(run->notes[k], strlen(NOTE_HEAD), true);
        }
    }
}

int list_print(const struct listed_run *runs, size_t n, bool whole) {
    struct line *lines = calloc(n ? n : 1, sizeof *lines);
    if (!lines)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        fill_line(&runs[i], &lines[i]);
    if (n)
        print_lines(lines, n, whole);
    free(lines);
    return 0;
}
