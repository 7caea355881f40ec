/* SPDX-License-Identifier: MIT */
/* `chokepoint jobs`: runs of one or more databases, those that left most of what they had unused
 * first. */
#include "cli/jobs/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/listing.h"
#include "cli/base/moment.h"
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "common/clock.h"
#include "common/duration.h"
#include "common/error.h"
#include "reports/formats/formats.h"

static const char usage[] =
    "usage: chokepoint jobs [--since WHEN] [--order WHAT] [--format FORMAT] [FILE...]\n"
    "       chokepoint jobs [--since WHEN] --postgres TABLE [FILE...]\n"
    "\n"
    "Lists runs with the cores, the memory and the GPUs that they had, what of it they left\n"
    "unused, and what limited them; those that left most unused come first. FILE: databases,\n"
    "instead of ./chokepoint.db.\n"
    "\n";

struct options {
    const char *since, *table;
    enum job_order order;
    const struct format *format; /* NULL: text */
    int64_t since_wall_ns;       /* 0: all */
    const char **files;          /* NULL-terminated */
};

/* The runs of all files. */
struct all {
    struct listing *listings; /* owned; one a file */
    size_t n_listings;
    struct job *jobs; /* owned; borrow from the listings */
    size_t n;
};

/* ---- the words ---- */

/* "7d": that long ago; else a moment. */
static int parse_since(const char *text, int64_t *ret_wall_ns) {
    int64_t ago, now_ns = clock_wall_ns();
    if (duration_parse(text, &ago) == 0)
        return *ret_wall_ns = now_ns - ago, 0;
    return moment_parse(text, now_ns, ret_wall_ns) == 0
               ? 0
               : verb_refuse("jobs", "no time:", text, "say 7d, 12h, yesterday or 2026-11-20");
}

static int parse_order(const char *name, enum job_order *ret_order) {
    for (int i = 0; i < JOB_ORDERS; i++)
        if (strcmp(name, job_order_name(i)) == 0)
            return *ret_order = i, 0;
    return verb_refuse("jobs", "unknown order", name, "cores, gpus, memory or start");
}

static int parse_format(const char *name, const struct format **ret_format) {
    *ret_format = strcmp(name, "json") == 0  ? &format_json
                  : strcmp(name, "csv") == 0 ? &format_csv
                                             : NULL;
    return *ret_format || strcmp(name, "text") == 0
               ? 0
               : verb_refuse("jobs", "unknown format", name, "text, csv or json");
}

static int read_words(int argc, char **argv, struct options *o) {
    static const char *fallback[] = {REPORT_DATABASE, NULL};
    const char *order = "cores", *format = "text", *database = NULL;
    const struct option_row rows[] = {
        {"--since WHEN", "runs that began then or later: 7d, 12h, 2026-11-20", .text = &o->since},
        {"--order WHAT", "cores (default), gpus, memory: most unused first; start", .text = &order},
        {"--format FORMAT", "text (default), csv or json", .text = &format},
        {"--postgres TABLE", "a row a run for a table of PostgreSQL (PGHOST, PGSERVICE)",
         .text = &o->table},
        VERB_DATABASE(&database),
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 20, false};
    char **rest;
    int r = verb_words_read("jobs", &table, argc, argv, &rest);
    if (r == 0 && database && rest[0])
        r = verb_refuse("jobs", "files both with and without --db", NULL, "leave --db out");
    if (r == 0)
        r = parse_order(order, &o->order);
    if (r == 0)
        r = parse_format(format, &o->format);
    if (r == 0 && o->since)
        r = parse_since(o->since, &o->since_wall_ns);
    if (r)
        return r;
    if (database)
        fallback[0] = database;
    o->files = rest[0] ? (const char **)rest : fallback;
    return 0;
}

/* ---- the runs ---- */

static int read_file(const char *path, struct listing *l) {
    struct store *store;
    int status = report_open_database("jobs", path, &store);
    if (status)
        return status;
    int r = listing_load(store, l);
    if (r < 0)
        status = report_cannot_read("jobs", store, path, r);
    store_close(store);
    return status;
}

static int gather(struct all *all, const struct options *o, bool several) {
    size_t most = 0;
    for (size_t f = 0; f < all->n_listings; f++)
        most += all->listings[f].n;
    all->jobs = calloc(most + 1, sizeof *all->jobs);
    if (!all->jobs)
        return report_cannot_read("jobs", NULL, o->files[0], -ENOMEM);
    for (size_t f = 0; f < all->n_listings; f++)
        for (size_t i = 0; i < all->listings[f].n; i++) {
            struct listed_run *run = &all->listings[f].listed[i];
            run->file = several || o->table ? o->files[f] : NULL;
            if (run->started_wall_ns >= o->since_wall_ns)
                all->jobs[all->n++] = job_of(run);
        }
    jobs_sort(all->jobs, all->n, o->order);
    return 0;
}

static int read_files(struct all *all, const struct options *o) {
    size_t n = 0;
    while (o->files[n])
        n++;
    all->listings = calloc(n + 1, sizeof *all->listings);
    int status = all->listings ? 0 : report_cannot_read("jobs", NULL, o->files[0], -ENOMEM);
    for (size_t f = 0; f < n && status == 0; f++) {
        status = read_file(o->files[f], &all->listings[f]);
        all->n_listings = f + 1;
    }
    return status ? status : gather(all, o, n > 1);
}

static void release(struct all *all) {
    for (size_t f = 0; f < all->n_listings; f++)
        listing_release(&all->listings[f]);
    free(all->listings);
    free(all->jobs);
}

/* ---- what becomes of them ---- */

static int write_document(const struct all *all, const struct format *format) {
    struct listed_run *runs = calloc(all->n + 1, sizeof *runs);
    if (!runs)
        return -ENOMEM;
    for (size_t i = 0; i < all->n; i++)
        runs[i] = *all->jobs[i].run;
    int r = runs_write(runs, all->n, format, stdout);
    free(runs);
    return r;
}

static int show(const struct all *all, const struct options *o) {
    if (o->table)
        return jobs_to_postgres(all->jobs, all->n, o->table);
    if (o->format)
        return write_document(all, o->format);
    if (all->n)
        return jobs_print(all->jobs, all->n, all->n_listings > 1);
    verb_complain("jobs", "no run%s", o->since ? " since then" : " yet");
    return 0;
}

static int jobs_main(int argc, char **argv) {
    struct options o = {0};
    struct all all = {0};
    int r = read_words(argc, argv, &o);
    if (r)
        return verb_words_status(r);
    int status = read_files(&all, &o);
    if (status == 0)
        status = show(&all, &o) < 0;
    release(&all);
    return fflush(stdout) != 0 && status == 0 ? 1 : status;
}

const struct verb verb_jobs = {.name = "jobs",
                               .help = "show what runs left unused, the worst first",
                               .main = jobs_main,
                               .formats = "text csv json"};
