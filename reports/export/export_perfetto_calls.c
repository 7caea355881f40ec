/* SPDX-License-Identifier: MIT */
/*
 * MPI calls as slices, on tracks below the ranks'. There may be millions, so they are read as
 * stored and sorted frame by frame: a call is stored when it has ended, so the frames of a thread
 * follow each other in time.
 *
 * Tests and probes that found nothing come in long rows, with short pauses between them: a row is
 * one slice with their number, since each alone says nothing and all together fill a viewer. So are
 * the shortest of other calls, if there are more than a viewer can show.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_read_tables.h"
#include "common/error.h"
#include "reports/export/export_perfetto.h"

/* Bits of `flags`: one message of a call, and the life of a request, are not separate calls. */
#define FLAG_FOLDED 2
#define FLAG_PART 4
#define FLAG_REQUEST 8
#define FLAG_UNKNOWN_PEER 512

struct call {
    const char *name; /* borrowed from `names` */
    int host;
    int64_t start_ns, end_ns;
    int64_t values[CALL_COLUMNS];
    int64_t n_joined; /* number of events that this one stands for */
    bool poll;
};

/* The last row of a thread. */
struct thread {
    struct call row;  /* calls merged into one slice; names the thread in any case */
    bool open;        /* the row may be continued */
    int64_t until_ns; /* end of the calls written so far */
};

#define PAUSE_NS 20000000      /* a longer pause between two polls ends the row */
#define SHORT_PAUSE_NS 1000000 /* the same between other short calls */

struct call_reader {
    struct perfetto *p;
    struct call *calls; /* owned: the calls of a host's frame at t_ns */
    size_t n, capacity;
    int64_t host, t_ns;
    char **names; /* owned: few, one for each function */
    size_t n_names;
    struct thread *threads; /* owned */
    size_t n_threads;
    int64_t short_ns; /* shorter calls are merged */
};

static int find_host(const struct perfetto *p, int64_t id) {
    for (size_t i = 0; i < p->input->n_hosts; i++)
        if (p->input->hosts[i].id == id)
            return (int)i;
    return -1;
}

static const char *keep_name(struct call_reader *reader, const char *name) {
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

static int compare_calls(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    int starts = ORDER(x->start_ns, y->start_ns);
    return starts ? starts : ORDER(y->end_ns, x->end_ns);
}

static int put_call(struct perfetto *p, const struct call *call) {
    static const int shown[] = {CALL_PEER,    CALL_TAG,    CALL_BYTES,
                                CALL_COMM_ID, CALL_CPU_NS, CALL_POLLS};
    const struct column *columns = all_tables[TABLE_CALL].columns;
    const int64_t *v = call->values;
    struct trace_argument arguments[ARRAY_SIZE(shown) + 1];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        if (v[shown[i]] != VALUE_ABSENT)
            arguments[n++] = (struct trace_argument){columns[shown[i]].name, v[shown[i]], NULL};
    if (call->n_joined > 1)
        arguments[n++] = (struct trace_argument){"events", call->n_joined, NULL};
    int rank = v[CALL_RANK] < 0 || v[CALL_RANK] > 1 << 24 ? -1 : (int)v[CALL_RANK];
    return perfetto_put_slice(p, call->host, v[CALL_PID] < 0 ? -1 : v[CALL_PID],
                              v[CALL_THREAD] < 0 ? 0 : v[CALL_THREAD], rank,
                              (struct trace_slice){.start_ns = call->start_ns,
                                                   .end_ns = call->end_ns,
                                                   .category = "mpi",
                                                   .name = call->name,
                                                   .arguments = arguments,
                                                   .n_arguments = n});
}

/* ---- rows of calls ---- */

/* A test or probe that found nothing has no peer. */
static bool is_poll(const struct call *call) {
    static const char *const names[] = {"MPI_Test", "MPI_Iprobe", "MPI_Improbe"};
    int64_t flags = call->values[CALL_FLAG_BITS];
    bool found = flags == VALUE_ABSENT || !(flags & (FLAG_FOLDED | FLAG_UNKNOWN_PEER));
    for (size_t i = 0; i < ARRAY_SIZE(names) && !found; i++)
        if (strncmp(call->name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static struct thread *thread_of(struct call_reader *reader, const struct call *call) {
    for (size_t i = 0; i < reader->n_threads; i++) {
        struct thread *t = &reader->threads[i];
        if (t->row.host == call->host && t->row.values[CALL_PID] == call->values[CALL_PID] &&
            t->row.values[CALL_THREAD] == call->values[CALL_THREAD])
            return t;
    }
    struct thread *threads =
        realloc(reader->threads, (reader->n_threads + 1) * sizeof *reader->threads);
    if (!threads)
        return NULL;
    reader->threads = threads;
    threads[reader->n_threads] = (struct thread){.row = *call, .until_ns = INT64_MIN};
    return &threads[reader->n_threads++];
}

static void add(int64_t *sum, int64_t value) {
    if (value != VALUE_ABSENT && (*sum == VALUE_ABSENT || __builtin_add_overflow(*sum, value, sum)))
        *sum = value;
}

/* Keeps only values that all calls of a row share. */
static void join(struct call *row, const struct call *call) {
    static const int same[] = {CALL_PEER, CALL_TAG, CALL_COMM_ID},
                     sums[] = {CALL_POLLS, CALL_CPU_NS, CALL_BYTES};
    for (size_t i = 0; i < ARRAY_SIZE(same); i++)
        if (row->values[same[i]] != call->values[same[i]])
            row->values[same[i]] = VALUE_ABSENT;
    for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
        add(&row->values[sums[i]], call->values[sums[i]]);
    if (strcmp(row->name, call->name) != 0)
        row->name = is_poll(call) && row->poll ? "MPI polls" : "MPI calls";
    row->poll &= call->poll;
    row->end_ns = call->end_ns > row->end_ns ? call->end_ns : row->end_ns;
    row->n_joined++;
}

static int end_row(struct call_reader *reader, struct thread *thread) {
    if (!thread->open)
        return 0;
    thread->open = false;
    return put_call(reader->p, &thread->row);
}

/* Polls and short calls are merged with what their thread did just before, unless a pause lies
 * between.
 */
static bool joins(const struct call_reader *reader, const struct thread *thread,
                  const struct call *call) {
    int64_t pause_ns = call->start_ns - thread->row.end_ns;
    if (!thread->open)
        return false;
    if (call->poll && thread->row.poll)
        return pause_ns <= PAUSE_NS;
    bool is_short = call->poll || call->end_ns - call->start_ns < reader->short_ns;
    return is_short && pause_ns <= reader->short_ns && pause_ns <= SHORT_PAUSE_NS;
}

static int take_call(struct call_reader *reader, struct call *call) {
    struct thread *thread = thread_of(reader, call);
    int result = thread ? 0 : -ENOMEM;
    call->poll = is_poll(call);
    if (thread && joins(reader, thread, call))
        return join(&thread->row, call), 0;
    if (thread)
        result = end_row(reader, thread);
    if (result < 0)
        return result;
    bool within =
        call->start_ns < thread->until_ns; /* inside another call: a row might outlast it */
    if (!within && (call->poll || call->end_ns - call->start_ns < reader->short_ns)) {
        thread->row = *call;
        thread->open = true;
        return 0;
    }
    thread->until_ns = call->end_ns > thread->until_ns ? call->end_ns : thread->until_ns;
    return put_call(reader->p, call);
}

static int end_rows(struct call_reader *reader) {
    int result = 0;
    for (size_t i = 0; i < reader->n_threads && result == 0; i++)
        result = end_row(reader, &reader->threads[i]);
    return result;
}

static int flush(struct call_reader *reader) {
    int result = 0;
    if (reader->n)
        qsort(reader->calls, reader->n, sizeof *reader->calls, compare_calls);
    for (size_t i = 0; result == 0 && i < reader->n; i++)
        result = take_call(reader, &reader->calls[i]);
    reader->n = 0;
    return result;
}

static struct call *next_call(struct call_reader *reader) {
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
    bool part = v[CALL_FLAG_BITS] != VALUE_ABSENT && v[CALL_FLAG_BITS] & (FLAG_PART | FLAG_REQUEST);
    return !part && time_is_sane(v[CALL_START_NS]) && v[CALL_DURATION_NS] >= 0 &&
           time_is_sane(v[CALL_DURATION_NS]);
}

static int take_call_row(void *ctx, const struct store_row_read *row) {
    struct call_reader *reader = ctx;
    int host = find_host(reader->p, row->host), result = 0;
    if (row->host != reader->host || row->t_ns != reader->t_ns)
        result = flush(reader);
    reader->host = row->host;
    reader->t_ns = row->t_ns;
    if (result < 0 || host < 0 || !is_call(row->values))
        return result;
    int64_t start = store_row_time(row, row->values[CALL_START_NS]),
            end = store_row_time(row, row->values[CALL_START_NS] + row->values[CALL_DURATION_NS]);
    if (!time_is_sane(start) || !time_is_sane(end))
        return 0;
    struct call *call = next_call(reader);
    const char *name = call ? keep_name(reader, row->instance_name) : NULL;
    if (!name)
        return -ENOMEM;
    *call =
        (struct call){.name = name, .host = host, .start_ns = start, .end_ns = end, .n_joined = 1};
    memcpy(call->values, row->values, sizeof call->values);
    reader->n++;
    return 0;
}

int perfetto_put_calls(struct perfetto *p) {
    struct call_reader reader = {.p = p, .t_ns = VALUE_ABSENT, .short_ns = perfetto_short_ns(p)};
    const struct recording_columns *columns = &recording_columns[RECORDING_CALL];
    int result = store_each_row_as_stored(p->store, p->input->run.id, columns->table,
                                          columns->columns, columns->n, take_call_row, &reader);
    if (result == 0)
        result = flush(&reader);
    if (result == 0)
        result = end_rows(&reader);
    free(reader.threads);
    for (size_t i = 0; i < reader.n_names; i++)
        free(reader.names[i]);
    free(reader.names);
    free(reader.calls);
    return result == -ENOENT ? 0 : result;
}
