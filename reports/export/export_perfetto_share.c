/* SPDX-License-Identifier: MIT */
/*
 * How much of a recording a timeline may hold: about 10 MB a minute, since viewers grow slow beyond
 * some hundred MB. A short run may have as much as a minute.
 */
#include <stdlib.h>

#include "common/clock.h"
#include "reports/export/export_perfetto.h"

#define SLICES_A_MINUTE 30000 /* of calls */
#define SHORT_MOST_NS 1000000 /* a longer call is looked for by its name */
#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))
#define LONG_NS (20 * NS_PER_S)

int64_t perfetto_step_ns(const struct perfetto *p) {
    return p->input->run.duration_ns > LONG_NS ? NS_PER_S : 0;
}

size_t perfetto_share(const struct perfetto *p, size_t a_minute) {
    int64_t seconds = p->input->run.duration_ns / NS_PER_S;
    return seconds > 60 && seconds < 1 << 30 ? a_minute * (size_t)seconds / 60 : a_minute;
}

static int compare_ns(const void *a, const void *b) {
    return ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

/* Calls shorter than this join each other, where there are too many: half of what may be is then
 * left to those that do not. 0: none need to. */
int64_t perfetto_short_ns(const struct perfetto *p) {
    const struct mpi_log *log = &p->input->recording.calls;
    size_t most = perfetto_share(p, SLICES_A_MINUTE), n = 0, all = 0;
    for (size_t r = 0; r < log->n; r++)
        all += log->ranks[r].n;
    int64_t *lengths = all > most ? malloc(all * sizeof *lengths) : NULL;
    for (size_t r = 0; lengths && r < log->n; r++)
        for (size_t e = 0; e < log->ranks[r].n; e++) {
            const struct mpi_event *event = &log->ranks[r].events[e];
            if (mpi_event_is_call(event))
                lengths[n++] = event->exit_ns - event->enter_ns;
        }
    int64_t short_ns = 0;
    if (n > most) {
        qsort(lengths, n, sizeof *lengths, compare_ns);
        short_ns = lengths[n - most / 2];
    }
    free(lengths);
    return short_ns < SHORT_MOST_NS ? short_ns : SHORT_MOST_NS;
}
