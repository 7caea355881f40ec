/* SPDX-License-Identifier: MIT */
#include "cli/run/run_await.h"
#include "cli/launch/run_session.h"
#include "cli/run/run_progress.h"
#include "common/clock.h"

#define PROGRESS_EVERY_NS NS_PER_S

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

void run_await(struct run_session *s) {
    bool shown = run_progress_wanted(s);
    for (int64_t next_ns = s->command.started_mono_ns; run_goes_on(s);
         next_ns += PROGRESS_EVERY_NS) {
        await_until(s, shown ? next_ns : INT64_MAX);
        if (shown && run_goes_on(s))
            run_progress_show(s);
    }
    if (shown)
        run_progress_end();
    if (s->options->attached)
        s->signals.last = 0;
}
