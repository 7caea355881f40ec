/* SPDX-License-Identifier: MIT */
/*
 * One run cannot establish a difference, so nothing is called faster or slower for good: the line
 * says how far the run is from the last one, and where it lies among the runs before.
 */
#include "cli/base/since.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/error.h"
#include "reports/formats/terminal.h"
#include "reports/model/layout.h"
#include "reports/says/text_list.h"

#define RUNS_BEFORE 10 /* the latest count: machines and programs change */
#define RANGE_MIN 3    /* fewer runs have no range that says something */
#define NEAR 0.01

/* The runs before that ended well. */
struct before {
    const struct store_run *last;
    double low_s, high_s;
    size_t n;
};

static double seconds(const struct store_run *run) {
    return (double)run->duration_ns / NS_PER_S;
}

static struct before find_before(const struct store_run *runs, size_t n,
                                 const struct store_run *now) {
    struct before before = {.low_s = INFINITY};
    for (size_t i = n; i-- > 0 && before.n < RUNS_BEFORE;) {
        const struct store_run *run = &runs[i];
        if (run->id >= now->id || run->state != RUN_DONE || run->duration_ns <= 0 ||
            strcmp(run->command, now->command) != 0)
            continue;
        before.last = before.last ? before.last : run;
        before.low_s = fmin(before.low_s, seconds(run));
        before.high_s = fmax(before.high_s, seconds(run));
        before.n++;
    }
    return before;
}

static const char *limit_of(const struct store_verdict *verdicts, size_t n, int64_t run) {
    for (size_t i = 0; i < n; i++)
        if (verdicts[i].run == run)
            return verdicts[i].limit;
    return NULL;
}

/* Up to the first colon: figures differ from run to run. */
static bool same_limit(const char *a, const char *b) {
    size_t of_a = strcspn(a, ":"), of_b = strcspn(b, ":");
    return of_a == of_b && strncmp(a, b, of_a) == 0;
}

static void say_difference(char *to, size_t size, double now, double last) {
    double ratio = now / last;
    if (fabs(ratio - 1) < NEAR)
        snprintf(to, size, "as long as");
    else if (ratio >= 2)
        snprintf(to, size, "%.3g times as long as", ratio);
    else
        snprintf(to, size, "%.0f %% %s than", fabs(100 * (ratio - 1)),
                 ratio > 1 ? "longer" : "shorter");
}

static void say_place(char *to, size_t size, double now, const struct before *before) {
    char low[LAYOUT_NUMBER_SIZE], high[LAYOUT_NUMBER_SIZE];
    const char *where = now < before->low_s    ? "shorter than all of"
                        : now > before->high_s ? "longer than all of"
                                               : "within";
    *to = '\0';
    if (before->n >= RANGE_MIN)
        snprintf(to, size, "; %s the %zu before (%s to %s)", where, before->n,
                 layout_duration(low, before->low_s), layout_duration(high, before->high_s));
}

char *since_say(const struct store_run *runs, size_t n, const struct store_verdict *verdicts,
                size_t n_verdicts, int64_t id, const char *limit) {
    const struct store_run *now = NULL;
    char difference[64], place[128], was[LAYOUT_NUMBER_SIZE];
    for (size_t i = 0; i < n; i++)
        if (runs[i].id == id)
            now = &runs[i];
    if (!now || now->state != RUN_DONE || now->repeats > 1 || now->duration_ns <= 0)
        return NULL;
    struct before before = find_before(runs, n, now);
    if (!before.n)
        return NULL;
    const char *other = limit_of(verdicts, n_verdicts, before.last->id);
    bool moved = other && limit && !same_limit(other, limit);
    say_difference(difference, sizeof difference, seconds(now), seconds(before.last));
    say_place(place, sizeof place, seconds(now), &before);
    return text_format("%s the last run of this command (run %lld, %s)%s%s%.*s", difference,
                       (long long)before.last->id, layout_duration(was, seconds(before.last)),
                       place, moved ? "; its limit was: " : "",
                       moved ? (int)strcspn(other, ":;") : 0, moved ? other : "");
}

void since_write(const char *database, int64_t run, const char *limit, FILE *out) {
    struct store *store;
    struct store_run *runs;
    struct store_verdict *verdicts;
    size_t n, n_verdicts;
    if (store_open_read(database, &store, NULL, 0))
        return;
    if (store_list_runs(store, &runs, &n) == 0) {
        if (store_list_verdicts(store, &verdicts, &n_verdicts) == 0) {
            AUTO(text_free) char *text = since_say(runs, n, verdicts, n_verdicts, run, limit);
            if (text)
                terminal_paragraph(out, "since   ", text, 2);
            store_verdicts_free(verdicts, n_verdicts);
        }
        store_runs_free(runs, n);
    }
    store_close(store);
}
