/* SPDX-License-Identifier: MIT */
#include "cli/run/run_repeat.h"
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/launch/run_options.h"
#include "cli/launch/run_session.h"
#include "cli/run/run_prepare.h"
#include "common/clock.h"
#include "reports/comparison/comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Repeats that ended well, in order. */
struct repeats {
    const struct run_options *options;
    struct run_turn done[RUN_REPEATS_MAX];
    int n;
    int64_t begun_ns; /* monotonic */
};

/* "1 min 20 s", "12 s" */
static const char *words_of_time(int64_t ns, char *text, size_t size) {
    int64_t s = (ns + NS_PER_S / 2) / NS_PER_S;
    if (s >= 3600)
        snprintf(text, size, "%" PRId64 " h %02d min", s / 3600, (int)(s / 60 % 60));
    else if (s >= 60)
        snprintf(text, size, "%" PRId64 " min %02d s", s / 60, (int)(s % 60));
    else
        snprintf(text, size, "%" PRId64 " s", s);
    return text;
}

/* Starting, stopping and storing take time, too: the remaining time is estimated from whole
 * turns. */
static void tell_progress(const struct repeats *repeats, const struct run_turn *turn) {
    char left[40], tail[64] = "";
    int n_left = repeats->options->repeats - turn->repeat;
    if (repeats->options->quiet)
        return;
    if (n_left > 0)
        snprintf(tail, sizeof tail, "; about %s left",
                 words_of_time((clock_monotonic_ns() - repeats->begun_ns) / turn->repeat * n_left,
                               left, sizeof left));
    verb_complain(NULL, "repeat %d of %d: %.2f s, exit status %d (run %" PRId64 ")%s", turn->repeat,
                  repeats->options->repeats, (double)turn->duration_ns / 1e9, turn->exit_status,
                  turn->run, tail);
}

static int compare_durations(const void *a, const void *b) {
    int64_t x = ((const struct run_turn *)a)->duration_ns,
            y = ((const struct run_turn *)b)->duration_ns;
    return (x > y) - (x < y);
}

/* The run of median length is shown: the shortest and the longest are luck. */
static void tell_end(struct repeats *repeats) {
    const struct run_options *options = repeats->options;
    if (options->quiet || repeats->n < 1)
        return;
    qsort(repeats->done, (size_t)repeats->n, sizeof *repeats->done, compare_durations);
    const struct run_turn *shortest = repeats->done, *longest = &repeats->done[repeats->n - 1],
                          *median = &repeats->done[(repeats->n - 1) / 2];
    verb_complain(
        NULL, "%d of %d repeats ended well, in %.2f to %.2f s; run %" PRId64 " is the median one",
        repeats->n, options->repeats, (double)shortest->duration_ns / 1e9,
        (double)longest->duration_ns / 1e9, median->run);
    int result = options->report
                     ? report_print_verdict(options->database, median->run, options->why, stderr)
                     : 0;
    if (result < 0)
        verb_complain(NULL, "no verdict: %s", strerror(-result));
}

/* Printed before the time is spent: so few repeats show what happened, but prove nothing. */
static void tell_few(const struct run_options *options) {
    if (options->quiet || options->repeats < 2 || options->repeats >= COMPARE_RUNS_MIN)
        return;
    verb_complain(NULL,
                  "%d repeats: a comparison calls a difference established only from %d "
                  "runs of each on",
                  options->repeats, COMPARE_RUNS_MIN);
}

static bool repeats_go_on(const struct repeats *repeats, const struct run_turn *turn) {
    if (turn->interrupted || !turn->started)
        return false;
    return turn->exit_status == 0 || repeats->options->ignore_failure;
}

static void tell_early_end(const struct repeats *repeats, const struct run_turn *turn) {
    if (turn->repeat == repeats->options->repeats || repeats->options->quiet)
        return;
    verb_complain(NULL, "%s in repeat %d of %d: the others are not made%s",
                  turn->interrupted ? "interrupted"
                  : turn->started   ? "the command failed"
                                    : "the command could not be started",
                  turn->repeat, repeats->options->repeats,
                  turn->interrupted || !turn->started ? "" : " (--ignore-failure goes on)");
}

int run_repeatedly(const struct run_options *options,
                   void (*once)(const struct run_options *, struct run_turn *)) {
    struct repeats *repeats = calloc(1, sizeof *repeats);
    int exit_status = 0, live_port = options->live ? live_pick_port() : 0;
    int64_t group = 0;
    if (!repeats)
        return verb_complain("run", "out of memory"), 1;
    repeats->options = options;
    repeats->begun_ns = clock_monotonic_ns();
    tell_few(options);
    for (int i = 1; i <= options->repeats; i++) {
        struct run_turn turn = {.repeat = i, .group = group, .live_port = live_port};
        int unprepared = run_prepare(options);
        if (unprepared) {
            exit_status = exit_status ? exit_status : unprepared;
            break;
        }
        once(options, &turn);
        group = group ? group : turn.run;
        exit_status = exit_status ? exit_status : turn.exit_status;
        if (turn.started)
            tell_progress(repeats, &turn);
        if (turn.started && !turn.interrupted && turn.exit_status == 0)
            repeats->done[repeats->n++] = turn;
        if (repeats_go_on(repeats, &turn))
            continue;
        tell_early_end(repeats, &turn);
        break;
    }
    tell_end(repeats);
    free(repeats);
    return exit_status;
}
