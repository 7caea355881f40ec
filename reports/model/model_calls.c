/* SPDX-License-Identifier: MIT */
/* From the database to the log of MPI calls. */
#include <errno.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/model/model_private.h"

enum {
    AT_RANK,
    AT_PID,
    AT_SEQUENCE,
    AT_START,
    AT_DURATION,
    AT_COMM,
    AT_PEER,
    AT_TAG,
    AT_BYTES,
    AT_CPU,
    AT_GAP_CPU,
    AT_INSIDE,
    AT_POLLS,
    AT_FLAGS,
    AT_THREAD,
    AT_SITE,
};

static const char *const call_columns[] = {
    "rank",  "pid",    "sequence",   "start_ns",  "duration_ns", "comm",  "peer",   "tag",
    "bytes", "cpu_ns", "gap_cpu_ns", "inside_ns", "polls",       "flags", "thread", "site"};

/* A value between 0 and max; else what stands for none. */
static int64_t bounded(int64_t value, int64_t max, int64_t none) {
    return value >= 0 && value <= max ? value : none;
}

static int32_t number(int64_t value) {
    return (int32_t)bounded(value, INT32_MAX, -1);
}

/* The file's hash and the offset in it, folded. */
static uint32_t site_of(int64_t value) {
    uint64_t site = value == VALUE_ABSENT ? 0 : (uint64_t)value;
    return (uint32_t)(site >> 32) * UINT32_C(0x9e3779b1) ^ (uint32_t)site;
}

/* Flags promise only what is there. */
static uint16_t flags_of(const int64_t *v) {
    unsigned flags = (unsigned)bounded(v[AT_FLAGS], UINT16_MAX, 0);
    if (v[AT_CPU] < 0)
        flags &= ~(unsigned)MPI_FLAG_HAS_CPU;
    if (v[AT_GAP_CPU] < 0)
        flags &= ~(unsigned)MPI_FLAG_HAS_GAP_CPU;
    return (uint16_t)flags;
}

static int64_t time_inside(const int64_t *v, unsigned flags) {
    if (flags & (MPI_FLAG_PART | MPI_FLAG_REQUEST))
        return 0;
    return flags & MPI_FLAG_FOLDED ? bounded(v[AT_INSIDE], TIME_SANE_NS, 0) : v[AT_DURATION];
}

static uint32_t calls_of(const int64_t *v, unsigned flags) {
    if (flags & (MPI_FLAG_PART | MPI_FLAG_REQUEST))
        return 0;
    return flags & MPI_FLAG_FOLDED ? (uint32_t)bounded(v[AT_POLLS], UINT32_MAX, 1) : 1;
}

static struct mpi_event event_of(const struct store_row_read *row, int function) {
    const int64_t *v = row->values;
    uint16_t flags = flags_of(v);
    return (struct mpi_event){
        .function = (uint16_t)function,
        .flags = flags,
        .thread = (uint16_t)bounded(v[AT_THREAD], UINT16_MAX, 0),
        .comm = (uint32_t)bounded(v[AT_COMM], UINT32_MAX, MPI_COMM_NONE),
        .peer = number(v[AT_PEER]),
        .tag = number(v[AT_TAG]),
        .site = site_of(v[AT_SITE]),
        .calls = calls_of(v, flags),
        .bytes = bounded(v[AT_BYTES], INT64_MAX, 0),
        .sequence = bounded(v[AT_SEQUENCE], INT64_MAX, 0),
        .enter_ns = store_row_time(row, v[AT_START]),
        .exit_ns = store_row_time(row, v[AT_START] + v[AT_DURATION]),
        .inside_ns = time_inside(v, flags),
        .cpu_ns = bounded(v[AT_CPU], TIME_SANE_NS, 0),
        .gap_cpu_ns = bounded(v[AT_GAP_CPU], TIME_SANE_NS, 0),
    };
}

static bool is_event(const int64_t *v) {
    return time_is_sane(v[AT_START]) && v[AT_DURATION] >= 0 && time_is_sane(v[AT_DURATION]) &&
           v[AT_PID] > 0;
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
        mpi_log_rank(log, number(row->values[AT_RANK]), host, row->values[AT_PID], &error);
    if (!rank)
        return error;
    struct mpi_event event = event_of(row, function);
    return mpi_log_add(log, rank, &event);
}

int report_load_calls(struct store *store, struct report_input *input) {
    int result = store_each_row(store, input->run.id, "call", call_columns,
                                ARRAY_SIZE(call_columns), take_call, input);
    if (result < 0 && result != -ENOENT)
        return result;
    return mpi_log_finish(&input->recording.calls);
}
