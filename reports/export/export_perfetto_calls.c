/* SPDX-License-Identifier: MIT */
/*
 * Calls of MPI as slices, on tracks of their own below the ranks'. There may be millions, so they
 * are read as they are stored and sorted frame by frame: a call is stored when it has ended, so
 * the frames of a thread follow each other in time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_read_tables.h"
#include "common/error.h"
#include "reports/export/export_perfetto.h"

#define TABLE "call"

enum {
    AT_RANK,
    AT_PID,
    AT_START,
    AT_DURATION,
    AT_THREAD,
    AT_FLAGS,
    AT_PEER,
    AT_TAG,
    AT_BYTES,
    AT_COMM,
    AT_CPU,
    AT_POLLS
};
static const char *const columns[] = {"rank", "pid", "start_ns", "duration_ns", "thread", "flags",
                                      "peer", "tag", "bytes",    "comm",        "cpu_ns", "polls"};

/* Bits of `flags`: one message of a call, and the life of a request, are no calls of their own. */
#define FLAG_PART 4
#define FLAG_REQUEST 8

struct call {
    const char *name; /* borrowed: of names */
    int host;
    int64_t start_ns, end_ns;
    int64_t values[ARRAY_SIZE(columns)];
};

struct reader {
    struct perfetto *p;
    struct call *calls; /* owned: of the frame at t_ns of the host */
    size_t n, capacity;
    int64_t host, t_ns;
    char **names; /* owned: few, one a function */
    size_t n_names;
};

static int find_host(const struct perfetto *p, int64_t id) {
    for (size_t i = 0; i < p->input->n_hosts; i++)
        if (p->input->hosts[i].id == id)
            return (int)i;
    return -1;
}

static const char *keep_name(struct reader *reader, const char *name) {
    for (size_t i = reader->n_names; i-- > 0;)
        if (strcmp(reader->names[i], name) == 0)
            return reader->names[i];
    char **names = realloc(reader->names, (reader->n_names + 1) * sizeof *names);
    if (!names)
        return NULL;
    reader->names = names;
    names[reader->n_names] = strdup(name);
    return names[reader->n_names] ? names[reader->n_names++] : NULL;
}

/* ---- a frame ---- */

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

static int compare(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    int starts = ORDER(x->start_ns, y->start_ns);
    return starts ? starts : ORDER(y->end_ns, x->end_ns);
}

static int put_call(struct perfetto *p, const struct call *call) {
    static const int shown[] = {AT_PEER, AT_TAG, AT_BYTES, AT_COMM, AT_CPU, AT_POLLS};
    const int64_t *v = call->values;
    struct trace_argument arguments[ARRAY_SIZE(shown)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        if (v[shown[i]] != VALUE_ABSENT)
            arguments[n++] = (struct trace_argument){columns[shown[i]], v[shown[i]], NULL};
    int rank = v[AT_RANK] < 0 || v[AT_RANK] > 1 << 24 ? -1 : (int)v[AT_RANK];
    return perfetto_put_slice(p, call->host, v[AT_PID] < 0 ? -1 : v[AT_PID],
                              v[AT_THREAD] < 0 ? 0 : v[AT_THREAD], rank,
                              (struct trace_slice){.start_ns = call->start_ns,
                                                   .end_ns = call->end_ns,
                                                   .category = "mpi",
                                                   .name = call->name,
                                                   .arguments = arguments,
                                                   .n_arguments = n});
}

static int flush(struct reader *reader) {
    int result = 0;
    if (reader->n)
        qsort(reader->calls, reader->n, sizeof *reader->calls, compare);
    for (size_t i = 0; result == 0 && i < reader->n; i++)
        result = put_call(reader->p, &reader->calls[i]);
    reader->n = 0;
    return result;
}

static struct call *next_call(struct reader *reader) {
    if (reader->n == reader->capacity) {
        size_t capacity = reader->capacity ? 2 * reader->capacity : 1024;
        struct call *calls = realloc(reader->calls, capacity * sizeof *calls);
        if (!calls)
            return NULL;
        reader->calls = calls;
        reader->capacity = capacity;
    }
    return &reader->calls[reader->n];
}

static bool is_call(const int64_t *v) {
    bool part = v[AT_FLAGS] != VALUE_ABSENT && v[AT_FLAGS] & (FLAG_PART | FLAG_REQUEST);
    return !part && time_is_sane(v[AT_START]) && v[AT_DURATION] >= 0 &&
           time_is_sane(v[AT_DURATION]);
}

static int take_row(void *ctx, const struct store_row_read *row) {
    struct reader *reader = ctx;
    int host = find_host(reader->p, row->host), result = 0;
    if (row->host != reader->host || row->t_ns != reader->t_ns)
        result = flush(reader);
    reader->host = row->host;
    reader->t_ns = row->t_ns;
    if (result < 0 || host < 0 || !is_call(row->values))
        return result;
    int64_t start = store_row_time(row, row->values[AT_START]),
            end = store_row_time(row, row->values[AT_START] + row->values[AT_DURATION]);
    if (!time_is_sane(start) || !time_is_sane(end))
        return 0;
    struct call *call = next_call(reader);
    const char *name = call ? keep_name(reader, row->instance_name) : NULL;
    if (!name)
        return -ENOMEM;
    *call = (struct call){.name = name, .host = host, .start_ns = start, .end_ns = end};
    memcpy(call->values, row->values, sizeof call->values);
    reader->n++;
    return 0;
}

int perfetto_put_calls(struct perfetto *p) {
    struct reader reader = {.p = p, .t_ns = VALUE_ABSENT};
    int result = store_each_row_as_stored(p->store, p->input->run.id, TABLE, columns,
                                          ARRAY_SIZE(columns), take_row, &reader);
    if (result == 0)
        result = flush(&reader);
    for (size_t i = 0; i < reader.n_names; i++)
        free(reader.names[i]);
    free(reader.names);
    free(reader.calls);
    return result == -ENOENT ? 0 : result;
}
