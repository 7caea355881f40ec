/* SPDX-License-Identifier: MIT */
/*
 * Marks that programs write through mark/chokepoint.h. This probe makes the directory that tells
 * them that somebody listens, and removes it at its end.
 *
 * An agent that was killed leaves the directory behind, with rings that are still written. Its
 * successor takes over, which a lock decides that dies with its holder: the file "cursors" also
 * says how far each ring had been read, so that nothing is told twice. Marks that the dead agent
 * had read but not yet written to its spool, at most one sample, are lost.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/mark/ring.h"
#include "agent/mark/ring_stale.h"
#include "agent/probes/probes.h"
#include "common/error.h"

enum { KIND, RANK, PID, NUMBER, START_NS, DURATION_NS, OUTPUT_BYTES, VALUE_NANO, N_COLUMNS };

enum mark_kind { MARK_PHASE = 1, MARK_ITERATION = 2, MARK_OPERATOR = 3, MARK_VALUE = 4 };

#define MARK_ROWS_MAX 4096 /* a sample: one whole ring */

/* How far the ring of one program has been read. */
struct cursor {
    int64_t opened_ns;
    uint64_t sequence;
    int64_t pid;
};

struct mark {
    struct mark_reader reader;
    char path[PATH_MAX];
    int cursors_fd;
    bool is_open;
    bool takes_over; /* until the first sample: what the reader calls lost was read before */
    uint64_t lost;   /* by the reader, as last counted into rows->dropped */
    struct cursor cursors[MARK_MAX_WRITERS]; /* of the reader's writers, in their order */
    struct cursor taken_over[MARK_MAX_WRITERS];
};

struct drain {
    struct mark *mark;
    struct rows *rows;
};

/* ---- how far ---- */

static struct cursor *cursor_of(struct mark *mark, const struct mark_writer *writer) {
    struct cursor *cursor = &mark->cursors[writer - mark->reader.writers];
    if (cursor->pid)
        return cursor;
    *cursor = (struct cursor){.opened_ns = writer->opened_ns, .pid = writer->pid};
    for (size_t i = 0; i < MARK_MAX_WRITERS; i++)
        if (mark->taken_over[i].pid == cursor->pid &&
            mark->taken_over[i].opened_ns == cursor->opened_ns)
            *cursor = mark->taken_over[i];
    return cursor;
}

/* A write that fails costs duplicates after a crash, nothing now. */
static void save_cursors(const struct mark *mark) {
    size_t size = mark->reader.n_writers * sizeof *mark->cursors;
    if (pwrite(mark->cursors_fd, mark->cursors, size, 0) < 0)
        return;
}

/* ---- rows ---- */

static const struct {
    enum mark_kind kind;
    const char *unnamed;
} kinds[] = {
    [CHOKEPOINT_MARK_PHASE_BEGIN] = {MARK_PHASE, "phase"},
    [CHOKEPOINT_MARK_PHASE_END] = {MARK_PHASE, "phase"},
    [CHOKEPOINT_MARK_ITERATION] = {MARK_ITERATION, "iteration"},
    [CHOKEPOINT_MARK_OPERATOR] = {MARK_OPERATOR, "operator"},
    [CHOKEPOINT_MARK_VALUE] = {MARK_VALUE, "value"},
};

static void fill(int64_t *values, const struct mark_writer *writer,
                 const struct chokepoint_mark_record *record) {
    enum mark_kind kind = kinds[record->kind].kind;
    values[KIND] = kind;
    values[PID] = writer->pid;
    values[START_NS] = record->start_ns;
    if (writer->rank >= 0)
        values[RANK] = writer->rank;
    if (kind != MARK_PHASE && record->number >= 0)
        values[NUMBER] = record->number;
    bool has_duration = kind == MARK_ITERATION ? record->duration_ns > 0 : kind != MARK_VALUE;
    if (has_duration && record->kind != CHOKEPOINT_MARK_PHASE_BEGIN)
        values[DURATION_NS] = record->duration_ns;
    if (kind == MARK_OPERATOR)
        values[OUTPUT_BYTES] = record->bytes;
    if (kind == MARK_VALUE && record->value_nano != CHOKEPOINT_MARK_NAN)
        values[VALUE_NANO] = record->value_nano;
}

static void take_record(void *ctx, const struct mark_writer *writer,
                        const struct chokepoint_mark_record *record) {
    struct drain *drain = ctx;
    struct cursor *cursor = cursor_of(drain->mark, writer);
    if (record->sequence <= cursor->sequence)
        return;
    cursor->sequence = record->sequence;
    const char *name = record->name[0] ? record->name : kinds[record->kind].unnamed;
    struct row *row = rows_append(drain->rows, name, strlen(name));
    if (row)
        fill(row->values, writer, record);
}

static int mark_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct mark *mark = state;
    struct drain drain = {mark, rows};
    (void)env;
    int n = mark_reader_drain(&mark->reader, take_record, &drain);
    if (!mark->takes_over)
        rows->dropped += mark->reader.lost - mark->lost;
    mark->lost = mark->reader.lost;
    mark->takes_over = false;
    if (n > 0)
        save_cursors(mark);
    return n < 0 ? n : 0;
}

static size_t mark_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return MARK_ROWS_MAX;
}

/* ---- life ---- */

static int lock_cursors(struct mark *mark) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/cursors", mark->path);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return -EBUSY;
    }
    ssize_t n = pread(fd, mark->taken_over, sizeof mark->taken_over, 0);
    if (n < (ssize_t)sizeof mark->taken_over)
        memset((char *)mark->taken_over + (n > 0 ? n : 0), 0,
               sizeof mark->taken_over - (size_t)(n > 0 ? n : 0));
    mark->cursors_fd = fd;
    mark->takes_over = n > 0;
    return 0;
}

/* The reader refuses a directory that is open to others, before anything is made in it. */
static int open_directory(struct mark *mark, const struct probe_env *env) {
    int r = mark_directory_path(env->marks, mark->path, sizeof mark->path);
    if (r == 0)
        r = mark_directory_create(mark->path);
    if (r == 0 || r == -EEXIST)
        r = mark_reader_open(&mark->reader, mark->path);
    if (r < 0)
        return r;
    if (env->run_token_id)
        mark_directory_name_run(mark->path, env->run_token_id);
    r = lock_cursors(mark);
    if (r < 0)
        mark_reader_release(&mark->reader);
    return r;
}

static int mark_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct mark *mark = state;
    if (!env->marks || !*env->marks) {
        snprintf(why, why_size, "no marks: CHOKEPOINT_MARKS is not set");
        return PROBE_ABSENT;
    }
    mark_directories_collect(env->marks, env->proc);
    int r = open_directory(mark, env);
    mark->is_open = r == 0;
    if (r == -EBUSY)
        snprintf(why, why_size, "another agent on this host reads the marks in %s", mark->path);
    else if (r < 0)
        snprintf(why, why_size, "cannot make the directory of marks %s: %s", mark->path,
                 strerror(-r));
    return r;
}

static void mark_close(void *state) {
    struct mark *mark = state;
    char path[PATH_MAX + 16];
    if (!mark->is_open)
        return;
    mark_reader_release(&mark->reader);
    snprintf(path, sizeof path, "%s/cursors", mark->path);
    unlink(path);
    close(mark->cursors_fd);
    mark_directory_remove(mark->path);
    mark->is_open = false;
}

static const struct column mark_columns[N_COLUMNS] = {
    [KIND] = {"kind", UNIT_NONE, COLUMN_LEVEL, "1: phase, 2: iteration, 3: operator, 4: value"},
    [RANK] = {"rank", UNIT_NONE, COLUMN_LEVEL, "rank in the parallel program"},
    [PID] = {"pid", UNIT_NONE, COLUMN_LEVEL, "process id"},
    [NUMBER] = {"number", UNIT_NONE, COLUMN_LEVEL,
                "of the iteration; of operators and values: the last iteration before them"},
    [START_NS] = {"start_ns", UNIT_NS, COLUMN_LEVEL, "when it began, on the host's clock"},
    [DURATION_NS] = {"duration_ns", UNIT_NS, COLUMN_LEVEL,
                     "how long it took; absent while a phase has not ended"},
    [OUTPUT_BYTES] = {"output_bytes", UNIT_BYTES, COLUMN_LEVEL, "size of an operator's result"},
    [VALUE_NANO] = {"value_nano", UNIT_NANO, COLUMN_LEVEL, "a figure the program gave"},
};

const struct probe probe_mark = {
    .table = {.name = "mark",
              .instance = "name",
              .help = "phases, iterations, operators and values, as the program marks them",
              .kind = TABLE_EVENTS,
              .columns = mark_columns,
              .n_columns = N_COLUMNS},
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct mark),
    .max_rows = mark_max_rows,
    .open = mark_open,
    .sample = mark_sample,
    .close = mark_close,
};
