/* SPDX-License-Identifier: MIT */
/* Names and places of slices. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "reports/export/export_perfetto.h"

/* The last name of that pid in the process table, since a rank begins as its launcher's copy; "" if
 * there is none.
 */
static const char *process_of(const struct recording *recording, int host, int64_t pid) {
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    const struct series *last = NULL;
    for (size_t i = 0; i < set->n && pid >= 0; i++) {
        const struct series *series = &set->items[i];
        if (series->host == host && series_last(set, series, PROCESS_PID) == pid &&
            (!last || series->t_ns[series->n - 1] > last->t_ns[last->n - 1]))
            last = series;
    }
    return last ? last->name : "";
}

void perfetto_process_name(const struct perfetto *p, int host, int64_t pid, int rank,
                           char name[PERFETTO_NAME_SIZE]) {
    const char *process = process_of(&p->input->recording, host, pid);
    char rank_text[24] = "", pid_text[32] = "";
    if (rank >= 0)
        snprintf(rank_text, sizeof rank_text, "rank %d ", rank);
    if (!*process && pid >= 0)
        snprintf(pid_text, sizeof pid_text, "[%" PRId64 "]", pid);
    snprintf(name, PERFETTO_NAME_SIZE, "%s%s", rank_text, *process ? process : pid_text);
    size_t n = strlen(name);
    if (n && name[n - 1] == ' ')
        name[n - 1] = '\0';
}

static void put_track_name(struct perfetto *p, const struct strand *strand, unsigned tid) {
    char process[PERFETTO_NAME_SIZE], name[PERFETTO_NAME_SIZE + 80], thread[32] = "", more[32] = "";
    perfetto_process_name(p, strand->host, strand->pid, strand->rank, process);
    if (strand->thread > 0)
        snprintf(thread, sizeof thread, " thread %" PRId64, strand->thread);
    if (strand->n_tracks > 1)
        snprintf(more, sizeof more, " (%zu)", strand->n_tracks);
    snprintf(name, sizeof name, "%s%s%s%s", process, strand->thread >= 0 ? " MPI" : "", thread,
             more);
    trace_put_name(&p->trace, perfetto_pid(strand->host), tid, name, tid);
}

int perfetto_put_slice(struct perfetto *p, int host, int64_t pid, int64_t thread, int rank,
                       struct trace_slice slice) {
    bool is_new;
    if (slice.end_ns < slice.start_ns || slice.end_ns < 0)
        return 0;
    slice.start_ns = slice.start_ns < 0 ? 0 : slice.start_ns;
    struct strand *strand = strand_get(&p->strands, host, pid, thread, rank, &is_new);
    if (!strand)
        return -ENOMEM;
    struct track *track = strand_place(&p->strands, strand, slice.start_ns, slice.end_ns, &is_new);
    if (!track)
        return 0;
    if (is_new)
        put_track_name(p, strand, track->tid);
    slice.pid = perfetto_pid(host);
    slice.tid = track->tid;
    trace_put_slice(&p->trace, &slice);
    return 0;
}
