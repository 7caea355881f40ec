/* SPDX-License-Identifier: MIT */
/* Reads the log of MPI calls from the database. */
#include <errno.h>
#include <stdlib.h>

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

static struct mpi_event event_of(const struct store_row_read *row, int function) {
    const int64_t *v = row->values;
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
        .enter_ns = store_row_time(row, v[CALL_START_NS]),
        .exit_ns = store_row_time(row, v[CALL_START_NS] + v[CALL_DURATION_NS]),
        .inside_ns = at_most(time_inside(v, flags), MPI_INSIDE_MAX_NS),
        .cpu_ns = at_most(bounded(v[CALL_CPU_NS], TIME_SANE_NS, 0), MPI_CPU_MAX_NS),
        .gap_cpu_ns = at_most(bounded(v[CALL_GAP_CPU_NS], TIME_SANE_NS, 0), MPI_CPU_MAX_NS),
    };
}

static bool is_event(const int64_t *v) {
    return time_is_sane(v[CALL_START_NS]) && v[CALL_DURATION_NS] >= 0 &&
           time_is_sane(v[CALL_DURATION_NS]) && v[CALL_PID] > 0;
}

static int take_call(void *ctx, const struct store_row_read *row) {
    struct report_input *input = ctx;
    struct mpi_log *log = &input->recording.calls;
    int host = report_host_index(input, row->host), error;
    if (host < 0)
        return 0;
    if (!is_event(row->values)) {
        log->refused++;
        return 0;
    }
    int function = mpi_log_function(log, row->instance_name);
    if (function < 0)
        return function == -ENOSPC ? 0 : function;
    struct mpi_rank *rank =
        mpi_log_rank(log, number(row->values[CALL_RANK]), host, row->values[CALL_PID], &error);
    if (!rank)
        return error;
    struct mpi_event event = event_of(row, function);
    return mpi_log_add(log, rank, &event, bounded(row->values[CALL_SEQUENCE], INT64_MAX, 0));
}

int report_load_calls(struct store *store, struct report_input *input) {
    const struct recording_columns *columns = &recording_columns[RECORDING_CALL];
    int result = store_each_row(store, input->run.id, columns->table, columns->columns, columns->n,
                                take_call, input);
    if (result < 0 && result != -ENOENT)
        return result;
    result = mpi_log_finish(&input->recording.calls);
    return result < 0 ? result : recording_settle_gpu_calls(&input->recording);
}
