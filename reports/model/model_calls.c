/* SPDX-License-Identifier: MIT */
/* Reads the log of MPI calls from the database. */
#include <errno.h>
#include <stdlib.h>

#include "collector/store_read_columns.h"
#include "common/error.h"
#include "reports/model/model_private.h"

/* A value between 0 and max; any other becomes `none`. */
static int64_t bounded(int64_t value, int64_t max, int64_t none) {
    return value >= 0 && value <= max ? value : none;
}

static int64_t at_most(int64_t value, int64_t max) {
    return value < max ? value : max;
}

static int32_t number(int64_t value) {
    return (int32_t)bounded(value, INT32_MAX, -1);
}

/* Folds the hash of the file and the offset in it. */
static uint32_t site_of(int64_t value) {
    uint64_t site = value == VALUE_ABSENT ? 0 : (uint64_t)value;
    return (uint32_t)(site >> 32) * UINT32_C(0x9e3779b1) ^ (uint32_t)site;
}

/* Flags of a call; a flag is set only if its value is there. */
static uint16_t flags_of(const int64_t *v) {
    unsigned flags = (unsigned)bounded(v[CALL_FLAG_BITS], UINT16_MAX, 0);
    if (v[CALL_CPU_NS] < 0)
        flags &= ~(unsigned)MPI_FLAG_HAS_CPU;
    if (v[CALL_GAP_CPU_NS] < 0)
        flags &= ~(unsigned)MPI_FLAG_HAS_GAP_CPU;
    return (uint16_t)flags;
}

static int64_t time_inside(const int64_t *v, unsigned flags) {
    if (flags & (MPI_FLAG_PART | MPI_FLAG_REQUEST))
        return 0;
    return flags & MPI_FLAG_FOLDED ? bounded(v[CALL_INSIDE_NS], TIME_SANE_NS, 0)
                                   : v[CALL_DURATION_NS];
}

static uint32_t calls_of(const int64_t *v, unsigned flags) {
    if (flags & (MPI_FLAG_PART | MPI_FLAG_REQUEST))
        return 0;
    return flags & MPI_FLAG_FOLDED ? (uint32_t)bounded(v[CALL_POLLS], UINT32_MAX, 1) : 1;
}

/* v: the row's values; times are those of the run. */
static struct mpi_event event_of(const int64_t *v, int function, int64_t enter_ns,
                                 int64_t exit_ns) {
    uint16_t flags = flags_of(v);
    return (struct mpi_event){
        .function = (uint16_t)function,
        .flags = flags,
        .thread = (uint64_t)bounded(v[CALL_THREAD], UINT16_MAX, 0),
        .comm = (uint32_t)bounded(v[CALL_COMM_ID], UINT32_MAX, MPI_COMM_NONE),
        .peer = number(v[CALL_PEER]),
        .tag = number(v[CALL_TAG]),
        .site = site_of(v[CALL_SITE]),
        .calls = calls_of(v, flags),
        .bytes = at_most(bounded(v[CALL_BYTES], INT64_MAX, 0), MPI_BYTES_MAX),
        .enter_ns = enter_ns,
        .exit_ns = exit_ns,
        .inside_ns = at_most(time_inside(v, flags), MPI_INSIDE_MAX_NS),
        .cpu_ns = at_most(bounded(v[CALL_CPU_NS], TIME_SANE_NS, 0), MPI_CPU_MAX_NS),
        .gap_cpu_ns = at_most(bounded(v[CALL_GAP_CPU_NS], TIME_SANE_NS, 0), MPI_CPU_MAX_NS),
    };
}

static bool is_event(const int64_t *v) {
    return time_is_sane(v[CALL_START_NS]) && v[CALL_DURATION_NS] >= 0 &&
           time_is_sane(v[CALL_DURATION_NS]) && v[CALL_PID] > 0;
}

/* The state between rows: most are of the same rank as the row before. */
struct calls_reader {
    struct report_input *input;
    int host;
    int64_t rank_number, pid; /* of `rank` */
    struct mpi_rank *rank;    /* NULL: none yet */
    int *functions;           /* owned; of the host's instances: FUNCTION_NEW, a number, or
                                 FUNCTION_NONE */
    int64_t *times;           /* owned: of a block's rows when they begin, then when they end */
    size_t n_times;
};

#define FUNCTION_NEW (-2)
#define FUNCTION_NONE (-1) /* the log has room for no more */

static int find_rank(struct calls_reader *reader, const int64_t *v) {
    int error;
    if (reader->rank && reader->pid == v[CALL_PID] && reader->rank_number == v[CALL_RANK])
        return 0;
    reader->rank = mpi_log_rank(&reader->input->recording.calls, number(v[CALL_RANK]), reader->host,
                                v[CALL_PID], &error);
    reader->pid = v[CALL_PID];
    reader->rank_number = v[CALL_RANK];
    return reader->rank ? 0 : error;
}

static int find_function(struct calls_reader *reader, const struct store_columns_read *rows,
                         uint32_t instance, int *ret_function) {
    int *function = &reader->functions[instance];
    if (*function == FUNCTION_NEW) {
        *function = rows->names[instance]
                        ? mpi_log_function(&reader->input->recording.calls, rows->names[instance])
                        : FUNCTION_NONE;
        if (*function == -ENOMEM)
            return -ENOMEM;
        *function = *function < 0 ? FUNCTION_NONE : *function;
    }
    *ret_function = *function;
    return 0;
}

static int take_call(struct calls_reader *reader, const struct store_columns_read *rows, size_t i) {
    struct mpi_log *log = &reader->input->recording.calls;
    int64_t v[TABLE_COLUMNS_MAX];
    int function;
    for (size_t c = 0; c < recording_columns[RECORDING_CALL].n; c++)
        v[c] = rows->values[c][i];
    if (!is_event(v)) {
        log->refused++;
        return 0;
    }
    int result = find_function(reader, rows, rows->instances[i], &function);
    if (result == 0 && function != FUNCTION_NONE)
        result = find_rank(reader, v);
    if (result < 0 || function == FUNCTION_NONE || !reader->rank)
        return result;
    struct mpi_event event =
        event_of(v, function, reader->times[i], reader->times[reader->n_times + i]);
    return mpi_log_add(log, reader->rank, &event, bounded(v[CALL_SEQUENCE], INT64_MAX, 0));
}

static int find_times(struct calls_reader *reader, const struct store_columns_read *rows) {
    if (rows->n > reader->n_times) {
        int64_t *times = reallocarray(reader->times, rows->n, 2 * sizeof *times);
        if (!times)
            return -ENOMEM;
        reader->times = times;
        reader->n_times = rows->n;
    }
    int64_t *begin = reader->times, *end = reader->times + reader->n_times;
    for (size_t i = 0; i < rows->n; i++) /* wraps for rows that make no sense */
        end[i] = (int64_t)((uint64_t)rows->values[CALL_START_NS][i] +
                           (uint64_t)rows->values[CALL_DURATION_NS][i]);
    store_columns_times(rows, rows->values[CALL_START_NS], begin);
    store_columns_times(rows, end, end);
    return 0;
}

static int take_calls(void *ctx, const struct store_columns_read *rows) {
    struct calls_reader *reader = ctx;
    int host = report_host_index(reader->input, rows->host);
    if (host < 0)
        return 0;
    int *functions = realloc(reader->functions, rows->n_names * sizeof *functions);
    if (!functions)
        return -ENOMEM;
    reader->functions = functions;
    for (size_t i = 0; i < rows->n_names; i++)
        functions[i] = FUNCTION_NEW;
    if (host != reader->host)
        reader->rank = NULL;
    reader->host = host;
    int result = find_times(reader, rows);
    for (size_t i = 0; result == 0 && i < rows->n; i++)
        result = take_call(reader, rows, i);
    reader->rank = NULL; /* the next rank may move it */
    return result;
}

int report_load_calls(struct store *store, struct report_input *input) {
    const struct recording_columns *columns = &recording_columns[RECORDING_CALL];
    struct calls_reader reader = {.input = input, .host = -1};
    int result = store_each_columns(store, input->run.id, columns->table, columns->columns,
                                    columns->n, take_calls, &reader);
    free(reader.functions);
    free(reader.times);
    if (result < 0 && result != -ENOENT)
        return result;
    result = mpi_log_finish(&input->recording.calls);
    return result < 0 ? result : recording_settle_gpu_calls(&input->recording);
}
