/* SPDX-License-Identifier: MIT */
/*
 * How much of a recording a timeline may hold: about 10 MB a minute, since viewers become slow
 * beyond some hundred MB. A short run may have as much as a minute.
 */
#include <stdlib.h>

#include "common/clock.h"
#include "reports/export/export_perfetto.h"

#define SLICES_A_MINUTE 20000 /* for calls */
#define MARKS_A_MINUTE 10000
#define STEPS 50 /* of a counter, in a run shorter than that many seconds */
#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

int64_t perfetto_step_ns(const struct perfetto *p) {
    int64_t step_ns = p->input->run.duration_ns / STEPS;
    return step_ns < NS_PER_S ? step_ns : NS_PER_S;
}

size_t perfetto_share(const struct perfetto *p, size_t a_minute) {
    int64_t seconds = p->input->run.duration_ns / NS_PER_S;
    return seconds > 60 && seconds < 1 << 30 ? a_minute * (size_t)seconds / 60 : a_minute;
}

static int compare_ns(const void *a, const void *b) {
    return ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

/* The length above which at most `most` of them are; 0: all may stay. */
static int64_t length_of_most(int64_t *lengths, size_t n, size_t most) {
    if (n <= most)
        return 0;
    qsort(lengths, n, sizeof *lengths, compare_ns);
    return lengths[n - most];
}

/* Half of the share is left to those that are not merged. */
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
    int64_t short_ns = n > most ? length_of_most(lengths, n, most / 2) : 0;
    free(lengths);
    return short_ns;
}

int64_t perfetto_short_mark_ns(const struct perfetto *p) {
    const struct recording *recording = &p->input->recording;
    int64_t *lengths = malloc((recording->n_marks + 1) * sizeof *lengths);
    size_t n = 0;
    for (size_t i = 0; lengths && i < recording->n_marks; i++)
        if (perfetto_mark_may_go(&recording->marks[i]))
            lengths[n++] = recording->marks[i].duration_ns;
    int64_t short_ns = lengths ? length_of_most(lengths, n, perfetto_share(p, MARKS_A_MINUTE)) : 0;
    free(lengths);
    return short_ns;
}
