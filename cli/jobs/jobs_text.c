/* SPDX-License-Identifier: MIT */
/* Jobs for a terminal: what each was given and did not use, and what limited it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cells.h"
#include "cli/jobs/jobs.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/model/layout.h"

enum { RUN, NAME, STARTED, TOOK, CORES, GPUS, MEMORY, COLUMNS };

static const char *const titles[COLUMNS] = {"run",          "name",        "started",       "took",
                                            "cores unused", "GPUs unused", "memory at most"};

#define NAME_WIDTH 24

struct row {
    char cells[COLUMNS][96];
};

/* "41.9 of 65.1 h (64 %)": hours of one core or GPU; seconds where it is less than one hour. */
static void put_share(char *to, size_t size, double part_h, double all_h) {
    char number[LAYOUT_NUMBER_SIZE], of[LAYOUT_NUMBER_SIZE];
    bool hours = all_h >= 1;
    double unit = hours ? 1 : 3600;
    if (isnan(part_h) || !(all_h > 0))
        snprintf(to, size, "-");
    else
        snprintf(to, size, "%s of %s %s (%.0f %%)", layout_number(number, part_h * unit),
                 layout_number(of, all_h * unit), hours ? "h" : "s", 100 * part_h / all_h);
}

static void put_memory(char *to, size_t size, const struct listed_run *run) {
    char number[LAYOUT_NUMBER_SIZE], of[LAYOUT_NUMBER_SIZE];
    if (isnan(run->memory_peak_gb) || !(run->memory_gb > 0))
        snprintf(to, size, "-");
    else
        snprintf(to, size, "%s of %s GB", layout_number(number, run->memory_peak_gb),
                 layout_number(of, run->memory_gb));
}

static void fill(struct row *row, const struct job *job, bool files) {
    const struct listed_run *run = job->run;
    const size_t size = sizeof *row->cells;
    char clean[256];
    bool cut;
    if (files)
        snprintf(row->cells[RUN], size, "%.80s:%" PRId64, run->file, run->id);
    else
        snprintf(row->cells[RUN], size, "%" PRId64, run->id);
    text_sanitize(clean, sizeof clean, run->name, strnlen(run->name, sizeof clean - 1));
    size_t end = cell_fit(clean, NAME_WIDTH, &cut);
    snprintf(row->cells[NAME], size, "%.*s%s", (int)end, clean, cut ? "…" : "");
    cell_start(run->started_wall_ns, row->cells[STARTED], size);
    row->cells[STARTED][strlen("2026-11-20 09:41")] = '\0'; /* without seconds */
    cell_duration(run->duration_s, row->cells[TOOK], size);
    put_share(row->cells[CORES], size, job->idle_core_h, job->core_h);
    put_share(row->cells[GPUS], size, job->idle_gpu_h, job->gpu_h);
    put_memory(row->cells[MEMORY], size, run);
}

static void print_cells(const struct row *row, const size_t widths[COLUMNS]) {
    for (size_t c = 0; c < COLUMNS; c++)
        if (widths[c])
            cell_print(row ? row->cells[c] : titles[c], widths[c], c == RUN || c >= TOOK);
}

/* A run that is not known counts in neither number. */
static void print_sum(const struct job *jobs, size_t n) {
    double cores = 0, idle = 0, gpus = 0, idle_gpus = 0;
    size_t unknown = 0;
    char share[96];
    for (size_t i = 0; i < n; i++) {
        bool known = !isnan(jobs[i].idle_core_h) && !isnan(jobs[i].core_h);
        unknown += !known;
        cores += known ? jobs[i].core_h : 0;
        idle += known ? jobs[i].idle_core_h : 0;
        known = !isnan(jobs[i].idle_gpu_h) && !isnan(jobs[i].gpu_h);
        gpus += known ? jobs[i].gpu_h : 0;
        idle_gpus += known ? jobs[i].idle_gpu_h : 0;
    }
    put_share(share, sizeof share, idle, cores);
    printf("%zu run%s left cores unused for %s", n, n == 1 ? "" : "s", share);
    put_share(share, sizeof share, idle_gpus, gpus);
    if (gpus > 0)
        printf(", GPUs for %s", share);
    if (unknown)
        printf("; not known of %zu: recorded with --no-report or by an older version, or running",
               unknown);
    putchar('\n');
}

static bool any_gpu(const struct job *jobs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (jobs[i].gpu_h > 0)
            return true;
    return false;
}

int jobs_print(const struct job *jobs, size_t n, bool files) {
    struct row *rows = calloc(n ? n : 1, sizeof *rows);
    size_t widths[COLUMNS] = {0}, used = 0;
    if (!rows)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        fill(&rows[i], &jobs[i], files);
    for (size_t c = 0; c < COLUMNS; c++) {
        if (c == GPUS && !any_gpu(jobs, n))
            continue;
        widths[c] = strlen(titles[c]);
        for (size_t i = 0; i < n; i++)
            if (cell_width(rows[i].cells[c]) > widths[c])
                widths[c] = cell_width(rows[i].cells[c]);
        used += widths[c] + 2;
    }
    print_cells(NULL, widths);
    puts("limit");
    for (size_t i = 0; i < n; i++) {
        print_cells(&rows[i], widths);
        cell_print_rest(jobs[i].run->limit ? jobs[i].run->limit : "-", used, false);
    }
    print_sum(jobs, n);
    free(rows);
    return 0;
}
