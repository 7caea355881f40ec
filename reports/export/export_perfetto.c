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

#include "common/error.h"
#include "reports/export/export.h"

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

const struct export_format export_perfetto = {.name = "perfetto", .write = write_perfetto};
