/* SPDX-License-Identifier: MIT */
#include "cli/run/run_await.h"
#include "cli/launch/run_session.h"
#include "cli/run/run_progress.h"
#include "collector/store.h"
#include "collector/store_read.h"
#include "common/clock.h"

#include <errno.h>

#define PROGRESS_EVERY_NS NS_PER_S
#define SCANS_MIN 3 /* of processes on each host; in the first a new process may be missing */

int run_attach(struct run_session *s) {
    s->command.started_wall_ns = clock_wall_ns();
    s->command.started_mono_ns = clock_monotonic_ns();
    return 0;
}

static int64_t end_ns(const struct run_session *s) {
    int64_t duration_ns = s->options->duration_ns;
    return s->options->attached && duration_ns ? s->command.started_mono_ns + duration_ns
                                               : INT64_MAX;
}

static bool run_goes_on(const struct run_session *s) {
    if (!s->options->attached)
        return s->command.pid != 0;
    return !s->signals.last && clock_monotonic_ns() < end_ns(s);
}

static void await_until(struct run_session *s, int64_t deadline_ns) {
    deadline_ns = deadline_ns < end_ns(s) ? deadline_ns : end_ns(s);
    while (run_goes_on(s) && clock_monotonic_ns() < deadline_ns)
        session_poll(s, deadline_ns);
}

/* Whether the job that `attach` was told to watch is there: 1, 0 if that is not known yet, or
 * -ESRCH after enough scans without it. */
static int look_for_job(const struct run_session *s) {
    char why[200];
    struct store *store;
    bool has = false;
    int64_t scans = 0;
    if (store_open_read(s->options->database, &store, why, sizeof why) < 0)
        return 0;
    int r = store_run_has_job(store, s->run, &has);
    if (r == 0 && !has)
        r = store_run_scans(store, s->run, &scans);
    store_close(store);
    return has ? 1 : r == 0 && scans >= SCANS_MIN ? -ESRCH : 0;
}

void run_await(struct run_session *s) {
    bool shown = run_progress_wanted(s);
    int there = !s->options->attached;
    for (int64_t next_ns = s->command.started_mono_ns; run_goes_on(s);
         next_ns += PROGRESS_EVERY_NS) {
        await_until(s, shown || !there ? next_ns : INT64_MAX);
        if (!there && (there = look_for_job(s)) < 0)
            break; /* the end of the recording says so */
        if (shown && run_goes_on(s))
            run_progress_show(s);
    }
    if (shown)
        run_progress_end();
    if (s->options->attached)
        s->signals.last = 0;
}
