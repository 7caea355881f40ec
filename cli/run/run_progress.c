/* SPDX-License-Identifier: MIT */
#include "cli/run/run_progress.h"
#include "cli/base/progress.h"
#include "cli/launch/run_session.h"
#include "collector/store_now.h"
#include "common/clock.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool run_progress_wanted(const struct run_session *s) {
    return s->options->progress && !s->options->quiet && isatty(STDERR_FILENO);
}

static void describe_now(const struct store_now *now, char *to, size_t size) {
    size_t n = (size_t)snprintf(to, size, ", %" PRId64 " samples of %zu host%s", now->samples,
                                now->hosts, now->hosts == 1 ? "" : "s");
    if (now->resource && n < size)
        snprintf(to + n, size - n, ", %s on %s is %.0f %% full%s%s%s", now->resource, now->host,
                 now->used_pct, *now->what ? " (" : "", now->what, *now->what ? ")" : "");
}

void run_progress_show(const struct run_session *s) {
    char text[300], state[240] = "", why[200], clean[300];
    struct store *store;
    struct store_now now;
    if (store_open_read(s->options->database, &store, why, sizeof why) == 0) {
        if (store_look_now(store, s->run, &now) == 0)
            describe_now(&now, state, sizeof state);
        store_close(store);
    }
    snprintf(text, sizeof text, "chokepoint: %.0f s%s",
             (double)(clock_monotonic_ns() - s->command.started_mono_ns) / NS_PER_S, state);
    text_sanitize(clean, sizeof clean, text, strlen(text));
    progress_line(clean);
}

void run_progress_end(void) {
    progress_line("");
}
