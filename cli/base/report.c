/* SPDX-License-Identifier: MIT */
#include "cli/base/report.h"

#include "cli/base/early_verdict.h"
#include "cli/base/heap.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/server_note.h"
#include "cli/base/since.h"
#include "cli/base/verb.h"
#include "collector/store_read.h"
#include "collector/store_verdict.h"
#include "common/error.h"
#include "common/link_guard.h"
#include "reports/model/budget_store.h"
#include "reports/model/run_use.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int report_open_database(const char *verb, const char *path, struct store **ret_store) {
    char why[256] = "";
    heap_use_large_pages();
    int result = store_open_read(path, ret_store, why, sizeof why);
    if (result == 0)
        verb_say_owner(verb, path);
    if (result == 0)
        return 0;
    if (result == -ENOENT)
        verb_complain(verb,
                      "there is no database '%s'; record a run first "
                      "(`chokepoint run COMMAND`) or name one with --db",
                      path);
    else
        verb_complain(verb, "cannot read '%s': %s", path,
                      why[0] ? why : strerror(result < 0 ? -result : EINVAL));
    return EXIT_USAGE;
}

/* The database cannot be read, however often one tries. */
static bool is_unreadable(int result) {
    return result == -EBADMSG || result == -E2BIG;
}

/* SQLite may have forgotten by now what failed. */
static const char *failure_words(struct store *store, int result) {
    const char *words = store_error(store);
    return strcmp(words, STORE_NO_REASON) == 0 ? strerror(-result) : words;
}

static const char *damage_words(const struct store *store) {
    return store_damaged_page(store)
               ? "the database is damaged: a page of it is not as it was written; "
                 "`chokepoint verify` tells which"
               : "the database is damaged";
}

/* Why a database could not be read. */
static const char *reading_words(struct store *store, int result) {
    return result == -EBADMSG ? damage_words(store)
           : result == -E2BIG ? "it holds more than is read: more than a million instances of a "
                                "table of one host, or a text of more than 1 MiB"
           : result == -EIO || result == -EBUSY ? failure_words(store, result)
                                                : strerror(-result);
}

int report_cannot_read(const char *verb, struct store *store, const char *database, int result) {
    verb_complain(verb, "cannot read %s: %s", database, reading_words(store, result));
    return is_unreadable(result) ? EXIT_USAGE : 1;
}

/* A run whose command never ran has only the reason to report. */
static int tell_refusal(const char *verb, struct store *store, const char *which) {
    struct store_run run;
    if (store_find_run(store, which, &run) < 0)
        return 1;
    verb_complain(verb, "the command of run %" PRId64 " was not started: %s", run.id,
                  run.refusal ? run.refusal : "it is not known why");
    store_run_release(&run);
    return 1;
}

int report_cannot_read_run(const char *verb, struct store *store, const char *database,
                           const char *which, int result) {
    if (result == -ENOENT) {
        verb_complain(verb, "no run '%s' in %s; `chokepoint list` shows what there is", which,
                      database);
        return EXIT_USAGE;
    }
    if (result == -ECANCELED)
        return tell_refusal(verb, store, which);
    verb_complain(verb, "cannot read run '%s' in %s: %s", which, database,
                  reading_words(store, result));
    return is_unreadable(result) ? EXIT_USAGE : 1;
}

int report_cannot_write(const char *verb, const char *path, int result) {
    char link[PATH_MAX];
    if (path && result == -EPERM && link_guard(path, link) == -EPERM)
        verb_complain(verb,
                      "cannot write %s: %s is a link that another user owns or can replace; name "
                      "the file that it leads to",
                      path, link);
    else
        verb_complain(verb, "cannot write %s: %s", path ? path : "standard output",
                      strerror(-result));
    return path ? EXIT_USAGE : 1;
}

int report_build_or_say(const char *verb, struct store *store, const char *database,
                        const char *which, struct report **ret_report) {
    struct progress *progress = progress_begin("judging the run");
    int result = report_build(store, which, verb_caller(), ret_report);
    progress_end(progress);
    return result < 0 ? report_cannot_read_run(verb, store, database, which, result) : 0;
}

bool report_may_colour(FILE *out) {
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(out)) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

int report_write_verdict(const struct report *report, bool why, FILE *out) {
    bool colour = report_may_colour(out);
    return why ? report_write_screen(report, colour, out) : report_write_lines(report, colour, out);
}

const struct format report_screen = {.name = "screen"}, report_summary = {.name = "summary"},
                    report_job = {.name = "job"};

const char *report_ending(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *dot = path ? strrchr(slash ? slash : path, '.') : NULL;
    return dot ? dot + 1 : "";
}

/* A word that looks like an ending, in small or capital letters, and not the random end of a
 * temporary file's name: a text with the ending of another format would be opened as that. */
static bool promises_format(const char *ending) {
    size_t small = strspn(ending, "abcdefghijklmnopqrstuvwxyz"),
           large = strspn(ending, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), n = small ? small : large;
    return n > 0 && n <= 5 && !ending[n];
}

const char *report_format_of_ending(const char *path) {
    static const char *const endings[][2] = {{"txt", "text"},    {"text", "text"}, {"md", "md"},
                                             {"markdown", "md"}, {"html", "html"}, {"htm", "html"},
                                             {"csv", "csv"},     {"json", "json"}};
    const char *ending = report_ending(path);
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
        if (strcasecmp(ending, endings[i][0]) == 0)
            return endings[i][1];
    return promises_format(ending) ? NULL : format_text.name;
}

const struct format *report_choose_format(const char *verb, const char *name, const char *path) {
    const char *wanted = name ? name : report_format_of_ending(path);
    const struct format *format = wanted ? format_find(wanted) : NULL;
    if (!format && name && strcmp(name, report_screen.name) == 0)
        return &report_screen;
    if (!format && name && strcmp(name, report_summary.name) == 0)
        return &report_summary;
    if (!format && name && strcmp(name, report_job.name) == 0)
        return &report_job;
    if (!format && name)
        verb_complain(verb, "unknown format '%s'; there are text, md, html, csv and json", name);
    else if (!format)
        verb_complain(verb,
                      "unknown file type '.%s': use .txt, .md, .html, .csv, .json, .svg, .png or "
                      ".pdf, or give --format",
                      report_ending(path));
    return format;
}

static int build_by_id(const char *db_path, int64_t run_id, struct report **ret_report) {
    struct store *store;
    char which[32];
    heap_use_large_pages();
    int result = store_open_read(db_path, &store, NULL, 0);
    if (result != 0)
        return result < 0 ? result : -EINVAL;
    snprintf(which, sizeof which, "%" PRId64, run_id);
    result = report_build(store, which, verb_caller(), ret_report);
    store_close(store);
    return result;
}

int report_print_verdict(const char *db_path, int64_t run_id, bool why, FILE *out) {
    struct report *report;
    int result = build_by_id(db_path, run_id, &report);
    if (result < 0)
        return result;
    result = report_write_verdict(report, why, out);
    report_free(report);
    return result;
}

static int keep_verdict(const struct report *report, struct store *store) {
    const struct report_verdict *v = &report->verdict;
    char *host = v->host >= 0 ? report->hosts[v->host].name : NULL;
    struct run_use use;
    int result = run_use_of(report, &use);
    if (result < 0)
        return result;
    const struct store_verdict verdict = {.run = report->run_id,
                                          .state = (char *)verdict_state_name(v->state),
                                          .host = host,
                                          .resource = v->resource,
                                          .limit = v->limit,
                                          .confidence = v->confidence,
                                          .use = {use.cores, use.cores_used, use.memory_gb,
                                                  use.memory_peak_gb, use.gpus, use.gpus_used}};
    return store_verdict_keep(store, &verdict);
}

int report_keep(const struct report *report, const char *db_path) {
    struct store *store;
    char why[256] = "";
    int result = store_open_write(db_path, &store, why, sizeof why);
    if (result == 0) {
        result = report_store_budget(report, store);
        if (result == 0)
            result = keep_verdict(report, store);
        if (result < 0)
            snprintf(why, sizeof why, "%s: %s", db_path,
                     result == -ENOMEM ? strerror(ENOMEM) : store_error(store));
        store_close(store);
    }
    if (result == 0)
        return 0;
    verb_complain(NULL,
                  "the table budget has no rows of run %" PRId64 ": %s; "
                  "`chokepoint report %" PRId64 " --store-budget` makes them",
                  report->run_id, why, report->run_id);
    return -EIO;
}

int report_conclude(const char *db_path, int64_t run_id, bool why, const char *again, FILE *out) {
    struct report *report;
    struct early_verdict *early = out ? early_verdict_begin(db_path, run_id, out) : NULL;
    struct progress *progress = out ? progress_begin("judging the run") : NULL;
    int result = build_by_id(db_path, run_id, &report);
    progress_end(progress);
    bool was_early = early_verdict_end(early);
    if (result < 0)
        return result;
    if (was_early)
        fputs("chokepoint: the exact verdict, from all that was recorded:\n", out);
    if (out)
        result = report_write_verdict(report, why, out);
    if (out)
        server_note_write(report, again, out);
    if (out && !why)
        since_write(db_path, run_id, report->verdict.limit, out);
    report_keep(report, db_path);
    report_free(report);
    return result;
}
