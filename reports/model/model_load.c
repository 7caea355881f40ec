/* SPDX-License-Identifier: MIT */
/* Reads the database into arrays: the only part of the reports that reads the store. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_read_tables.h"
#include "collector/store_scan.h"
#include "common/error.h"
#include "reports/model/model_private.h"

struct table_reader {
    struct report_input *input;
    struct series_set *set;
    size_t table;
    int64_t host; /* host and index of the row before: a host's rows come together */
    int index;
    int64_t values[RECORDING_COLUMNS_MAX];
};

static int index_of(struct table_reader *reader, int64_t host) {
    if (reader->host != host)
        reader->index = report_host_index(reader->input, host);
    reader->host = host;
    return reader->index;
}

/* The row's values in the order of analysis. */
static const int64_t *values_of(struct table_reader *reader, const struct store_row_read *row) {
    if (reader->table != RECORDING_PROCESS)
        return row->values;
    memcpy(reader->values, row->values, reader->set->n_columns * sizeof *row->values);
    reader->values[PROCESS_START] = store_row_time(row, row->values[PROCESS_START]);
    return reader->values;
}

static int take_row(void *ctx, const struct store_row_read *row) {
    struct table_reader *reader = ctx;
    int host = index_of(reader, row->host);
    if (host < 0)
        return 0;
    return series_set_append(reader->set, host, row->instance, row->instance_name, row->t_ns,
                             row->interval_ns, values_of(reader, row));
}

static int take_scanned_row(void *ctx, size_t slot, const struct store_row_read *row) {
    struct table_reader *reader = ctx;
    bool is_new = slot >= reader->set->n || !reader->set->items[slot].name;
    int host = is_new ? index_of(reader, row->host) : reader->set->items[slot].host;
    if (host < 0)
        return 0;
    return series_set_append_at(reader->set, slot, host, row->instance, row->instance_name,
                                row->t_ns, row->interval_ns, values_of(reader, row));
}

/* A shorter step would read all rows and join them here. */
static int64_t whole_step(int64_t step_ns) {
    return step_ns && step_ns < STORE_JOINED_NS ? STORE_JOINED_NS : step_ns;
}

/* Chooses the step of large recordings; cores get longer steps. */
static int choose_steps(struct store *store, struct report_input *input, bool seconds) {
    struct series_set *tables = input->recording.tables;
    uint64_t frames = 0, cores = 0;
    int64_t period_ns = input->recording.period_ns;
    int result = store_count_instances(store, input->run.id, all_tables[TABLE_CPU].name, &cores);
    for (size_t i = 0; i < input->n_hosts; i++)
        frames += input->hosts[i].frames;
    for (size_t t = 0; t < RECORDING_COUNT_; t++)
        tables[t].step_ns = whole_step(recording_step_ns(frames, RECORDING_SAMPLES_MAX, period_ns));
    uint64_t rows = input->n_hosts ? frames / input->n_hosts * cores : 0;
    int64_t step = whole_step(recording_step_ns(rows, RECORDING_CORE_ROWS_MAX, period_ns));
    if (step > tables[RECORDING_CPU].step_ns)
        tables[RECORDING_CPU].step_ns = step;
    for (size_t t = 0; seconds && t < RECORDING_COUNT_; t++)
        if (!tables[t].step_ns)
            tables[t].step_ns = STORE_JOINED_NS;
    return result;
}

/* Reads all rows without joining. There are many, mostly in the order that a scan wants. */
static int scan_table(struct store *store, struct store_scan *scan, struct table_reader *reader) {
    const struct recording_columns *columns = &recording_columns[reader->table];
    int result = store_scan_table(scan, columns->table, columns->columns, columns->n,
                                  take_scanned_row, reader);
    series_set_squeeze(reader->set);
    if (result != STORE_SCAN_MIXED)
        return result;
    series_set_release(reader->set);
    return store_each_row(store, reader->input->run.id, columns->table, columns->columns,
                          columns->n, take_row, reader);
}

/* Packets by pair of hosts are only for the live picture; events are no series, except the facts of
 * a GPU and its bursts, which come one by one.
 */
static bool is_wanted(size_t table) {
    return recording_columns[table].n && table != RECORDING_FLOW &&
           (all_tables[table].kind == TABLE_SAMPLES || table == RECORDING_GPU_DEVICE ||
            table == RECORDING_GPU_BURST || table == RECORDING_GPU_KERNEL);
}

static int load_table(struct store *store, struct store_scan *scan, struct table_reader *reader) {
    const struct recording_columns *columns = &recording_columns[reader->table];
    if (all_tables[reader->table].kind == TABLE_EVENTS)
        return store_each_row(store, reader->input->run.id, columns->table, columns->columns,
                              columns->n, take_row, reader);
    if (!reader->set->step_ns)
        return scan_table(store, scan, reader);
    return store_each_row_joined(store, reader->input->run.id, columns->table, columns->columns,
                                 columns->n, take_row, reader);
}

/* A recording read in steps is not scanned, since a scan begins with all its frames. */
static bool wants_scan(const struct report_input *input) {
    for (size_t t = 0; t < RECORDING_COUNT_; t++)
        if (!input->recording.tables[t].step_ns)
            return true;
    return false;
}

/* Tables whose values are changed once all are read; the others are packed at once, so that only
 * these are ever held whole.
 */
static bool is_settled_later(size_t table) {
    return table == RECORDING_PROCESS || table == RECORDING_RANK || table == RECORDING_WAIT ||
           table == RECORDING_CPU;
}

static int load_tables(struct store *store, struct report_input *input, bool seconds) {
    struct store_scan *scan = NULL;
    int result = choose_steps(store, input, seconds);
    if (result == 0 && wants_scan(input))
        result = store_scan_open(store, input->run.id, &scan);
    for (size_t t = 0; t < RECORDING_COUNT_ && result == 0; t++) {
        struct table_reader reader = {.input = input,
                                      .set = &input->recording.tables[t],
                                      .table = t,
                                      .host = VALUE_ABSENT,
                                      .index = -1};
        if (is_wanted(t))
            result = load_table(store, scan, &reader);
        if (result == -ENOENT)
            result = 0;
        if (result == 0 && !is_settled_later(t))
            result = series_set_pack(&input->recording.tables[t]);
    }
    store_scan_close(scan);
    return result;
}

/* ---- marks ---- */

/* Converts both ends by the clock's map, so that marks that touch on their host still do. */
static int64_t run_duration(const struct store_row_read *row, int64_t start_ns,
                            int64_t duration_ns) {
    if (duration_ns < 0 || !time_is_sane(duration_ns))
        return VALUE_ABSENT;
    int64_t end_ns = store_row_time(row, start_ns + duration_ns);
    return time_is_sane(end_ns) ? end_ns - store_row_time(row, start_ns) : VALUE_ABSENT;
}

static int take_mark(void *ctx, const struct store_row_read *row) {
    struct report_input *input = ctx;
    const int64_t *v = row->values;
    int host = report_host_index(input, row->host);
    if (host < 0 || v[MARK_KIND] < MARK_PHASE || v[MARK_KIND] > MARK_VALUE ||
        !time_is_sane(v[MARK_START_NS]) || !time_is_sane(store_row_time(row, v[MARK_START_NS])))
        return 0;
    struct mark mark = {
        .host = host,
        .kind = (enum mark_kind)v[MARK_KIND],
        .rank = v[MARK_RANK] < 0 || v[MARK_RANK] > 1 << 24 ? -1 : (int)v[MARK_RANK],
        .pid = v[MARK_PID] == VALUE_ABSENT ? -1 : v[MARK_PID],
        .number = v[MARK_NUMBER],
        .start_ns = store_row_time(row, v[MARK_START_NS]),
        .duration_ns = run_duration(row, v[MARK_START_NS], v[MARK_DURATION_NS]),
        .output_bytes = v[MARK_OUTPUT_BYTES],
        .value_nano = v[MARK_VALUE_NANO],
    };
    strncpy(mark.name, row->instance_name, sizeof mark.name - 1);
    return recording_add_mark(&input->recording, &mark);
}

static int load_marks(struct store *store, struct report_input *input) {
    const struct recording_columns *columns = &recording_columns[RECORDING_MARK];
    int result = store_each_row(store, input->run.id, columns->table, columns->columns, columns->n,
                                take_mark, input);
    return result == -ENOENT ? 0 : result;
}

static int load_names(struct report_input *input) {
    struct recording *recording = &input->recording;
    if (input->run.duration_ns < 0 || !time_is_sane(input->run.duration_ns))
        input->run.duration_ns = 0; /* a foreign file may contain anything */
    recording->duration_ns = input->run.duration_ns;
    recording->period_ns = input->run.period_ns;
    /* somebody interrupted it, whatever status its launcher returns: mpirun may end with 1 */
    recording->exit_status = input->run.state == RUN_INTERRUPTED ? -1 : input->run.exit_status;
    recording->hosts = calloc(input->n_hosts + 1, sizeof *recording->hosts);
    recording->clock_bound_ns = calloc(input->n_hosts + 1, sizeof *recording->clock_bound_ns);
    recording->machines = calloc(input->n_hosts + 1, sizeof *recording->machines);
    if (!recording->hosts || !recording->clock_bound_ns || !recording->machines)
        return -ENOMEM;
    for (size_t i = 0; i < input->n_hosts; i++) {
        recording->clock_bound_ns[i] =
            input->hosts[i].clock_error_ns >= 0 ? input->hosts[i].clock_error_ns : -1;
        recording->machines[i] = input->hosts[i].machine;
    }
    for (size_t i = 0; i < input->n_hosts; i++, recording->n_hosts++)
        if (!(recording->hosts[i] = strdup(input->hosts[i].name)))
            return -ENOMEM;
    return 0;
}

static int64_t sum_of(int64_t a, int64_t b) {
    return a < 0 || b < 0 || !time_is_sane(a) || !time_is_sane(b) ? VALUE_ABSENT : a + b;
}

/* The command's host may be missing from the recording. */
static int load_usage(struct store *store, struct report_input *input) {
    char host[INSTANCE_MAX + 1];
    struct run_usage usage;
    int result = store_find_usage(store, input->run.id, host, &usage);
    int at = -1;
    input->command_cpu_ns = result == 0 ? sum_of(usage.user_ns, usage.system_ns) : VALUE_ABSENT;
    for (size_t h = 0; result == 0 && h < input->n_hosts; h++)
        if (strcmp(input->hosts[h].name, host) == 0)
            at = (int)h;
    if (result < 0 && result != -ENOENT)
        return result;
    result = recording_add_rank_tails(&input->recording, at);
    if (at < 0 || result < 0)
        return result;
    return recording_add_usage(
        &input->recording, at,
        &(struct recording_usage){.cpu_ns = sum_of(usage.user_ns, usage.system_ns),
                                  .read_bytes = usage.read_bytes,
                                  .write_bytes = usage.write_bytes});
}

/* Sorts vm2 before vm10. */
static int compare_hosts(const void *a, const void *b) {
    const struct store_host *x = a, *y = b;
    return strverscmp(x->name, y->name);
}

/* An agent that could not have the clocks it was asked for says so. */
static bool tells_refused_waits(const struct report_input *input) {
    for (size_t i = 0; i < input->n_notes; i++)
        if (strstr(input->notes[i].text, "wait clocks") || strstr(input->notes[i].text, ": wait: "))
            return true;
    return false;
}

static int load_rest(struct store *store, struct report_input *input, bool seconds) {
    int result = store_list_hosts(store, input->run.id, &input->hosts, &input->n_hosts);
    if (result == 0 && input->n_hosts)
        qsort(input->hosts, input->n_hosts, sizeof *input->hosts, compare_hosts);
    if (result == 0)
        result = store_list_notes(store, input->run.id, &input->notes, &input->n_notes);
    if (result == 0)
        result = store_list_comments(store, input->run.id, &input->comments, &input->n_comments);
    if (result == 0)
        result = load_names(input);
    if (result == 0)
        result = report_load_ceilings(store, input);
    if (result == 0)
        result = load_tables(store, input, seconds);
    if (result == 0)
        result = load_marks(store, input);
    if (result == 0)
        result = report_load_unknown(store, input);
    if (result == 0)
        result = recording_join_names(&input->recording);
    if (result == 0)
        result = recording_find_unseen(&input->recording);
    if (result == 0)
        result = load_usage(store, input);
    input->recording.waits_refused = tells_refused_waits(input);
    recording_use_exact_cpu(&input->recording);
    recording_settle(&input->recording);
    for (size_t t = 0; t < RECORDING_COUNT_ && result == 0; t++)
        result = series_set_pack(&input->recording.tables[t]);
    return result;
}

static bool marks_iterations(const struct report_input *input) {
    for (size_t i = 0; i < input->recording.n_marks; i++)
        if (input->recording.marks[i].kind == MARK_ITERATION)
            return true;
    return false;
}

static bool needs_calls(const struct report_input *input, enum report_calls calls) {
    return calls == REPORT_CALLS || (calls == REPORT_CALLS_UNMARKED && !marks_iterations(input));
}

static const struct judge *judged_by;

void report_judge_by(const struct judge *judge) {
    judged_by = judge;
}

const struct judge *report_judge(void) {
    return judged_by;
}

int report_load(struct store *store, const char *which, enum report_calls calls,
                struct report_input *ret_input) {
    struct report_input input = {0};
    recording_init(&input.recording);
    input.recording.judge = judged_by;
    int result = store_find_run(store, which, &input.run);
    if (result < 0)
        return result;
    result = input.run.state == RUN_NOT_STARTED ? -ECANCELED
                                                : load_rest(store, &input, calls == REPORT_SECONDS);
    if (result == 0 && needs_calls(&input, calls))
        result = report_load_calls(store, &input);
    if (result == 0 && calls == REPORT_CALLS)
        result = store_list_budget_sums(store, input.run.id, &input.budgets, &input.n_budgets);
    if (result < 0) {
        report_input_release(&input);
        return result == -ENOENT ? -EIO : result; /* the run exists: only its rows are missing */
    }
    *ret_input = input;
    return 0;
}

void report_input_release(struct report_input *input) {
    store_run_release(&input->run);
    store_hosts_free(input->hosts, input->n_hosts);
    store_notes_free(input->notes, input->n_notes);
    store_comments_free(input->comments, input->n_comments);
    store_ceilings_free(input->ceilings, input->n_ceilings);
    recording_release(&input->recording);
    store_budget_sums_free(input->budgets, input->n_budgets);
    free(input->unknown);
}
