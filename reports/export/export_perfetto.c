/* SPDX-License-Identifier: MIT */
/*
 * A run as a timeline for the Perfetto viewer (https://ui.perfetto.dev): a process for each host, a
 * thread for each rank, slices for the program's marks and its MPI calls, counters for resources.
 *
 * It uses the JSON trace event form, not Perfetto's own protobuf: other viewers open it, too, a
 * person can read it and a script can check it. It can express everything in a recording except
 * units of counters, which go into their names. The price is size: about 100 bytes for an event.
 *
 * Zero is the start of the command, on the run's common clock. Earlier times are cut off, since
 * viewers drop negative ones.
 */
#include "reports/export/export_perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/error.h"
#include "reports/export/export.h"

/* ---- names and places ---- */

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

/* ---- the whole ---- */

static int finish(struct perfetto *p) {
    const struct store_run *run = &p->input->run;
    const struct trace_argument facts[] = {
        {"program", 0, "chokepoint " CHOKEPOINT_VERSION},
        {"run", run->id, NULL},
        {"name", 0, run->name},
        {"command", 0, run->command},
        {"started_wall_ns", run->started_wall_ns, NULL},
        {"duration_ns", run->duration_ns, NULL},
        {"slices_left_out", (int64_t)p->strands.left_out, NULL},
        {"marks_left_out", (int64_t)p->marks_left_out, NULL},
        {"values_joined", (int64_t)p->values_joined, NULL},
        {"counters_left_out", (int64_t)p->tracks_left_out, NULL},
        {"arrows_left_out", (int64_t)p->arrows_left_out, NULL},
    };
    return trace_end(&p->trace, facts, ARRAY_SIZE(facts));
}

static int write_all(struct perfetto *p, FILE *out) {
    trace_begin(&p->trace, out);
    for (size_t h = 0; h < p->input->n_hosts; h++)
        trace_put_name(&p->trace, perfetto_pid((int)h), 0, p->input->hosts[h].name, (unsigned)h);
    int result = perfetto_put_marks(p);
    if (result == 0)
        result = perfetto_put_calls(p);
    if (result == 0)
        result = perfetto_put_arrows(p);
    if (result == 0)
        result = perfetto_put_counters(p);
    if (result == 0)
        result = perfetto_put_tables(p);
    return result < 0 ? result : finish(p);
}

static int write_perfetto(struct store *store, const struct store_run *run, const char *only,
                          FILE *out) {
    struct report_input input;
    char which[32];
    (void)only;
    snprintf(which, sizeof which, "%" PRId64, run->id);
    int result = report_load(store, which, REPORT_CALLS, &input);
    if (result < 0)
        return result;
    struct perfetto p = {
        .store = store, .input = &input, .strands = {.next_tid = (unsigned)input.n_hosts + 1}};
    result = write_all(&p, out);
    strands_release(&p.strands);
    report_input_release(&input);
    return result;
}

const struct export_format export_perfetto = {"perfetto", false, write_perfetto};
