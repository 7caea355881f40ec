/* SPDX-License-Identifier: MIT */
/*
 * Marks that programs write through mark/chokepoint.h. This probe makes a directory, which tells
 * the programs that an agent reads their marks, and removes it at its end.
 *
 * An agent that was killed leaves the directory behind, with rings that are still written. The next
 * agent takes over (mark/ring_owner.h): the file "cursors" says how far the kept frames had read
 * each ring. So no mark is told twice. Only overwritten marks are lost, and these are counted.
 */
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mark/ring.h"
#include "agent/mark/ring_owner.h"
#include "agent/mark/ring_stale.h"
#include "agent/probes/probes.h"
#include "common/error.h"

enum mark_kind { MARK_PHASE = 1, MARK_ITERATION = 2, MARK_OPERATOR = 3, MARK_VALUE = 4 };

#define MARK_ROWS_MAX 4096 /* in a sample: one whole ring */

#define CURSORS_FILE "cursors"

/* How far the ring of one program has been read. */
struct cursor {
    int64_t opened_ns, pid;
    uint64_t ticket; /* the next one to read */
    uint64_t lost;   /* overwritten before they were read */
};

struct cursors {
    uint64_t dropped; /* marks of all programs that are in no row */
    struct cursor rings[MARK_MAX_WRITERS];
};

struct mark {
    struct mark_reader reader;
    struct ring_owner owner;
    const struct probe_env *env;
    char path[PATH_MAX];
    bool is_open;
    bool moved;          /* changed since they were saved */
    uint64_t lost;       /* the reader's losses that rows->dropped has counted */
    struct cursors read; /* rings: in the order of the reader's writers */
    struct cursors taken_over;
};

/* ---- how far ---- */

static size_t note_rings(struct mark *mark) {
    for (size_t i = 0; i < mark->reader.n_writers; i++) {
        const struct mark_writer *writer = &mark->reader.writers[i];
        mark->read.rings[i] =
            (struct cursor){writer->opened_ns, writer->pid, writer->cursor, writer->lost};
    }
    return offsetof(struct cursors, rings) + mark->reader.n_writers * sizeof(struct cursor);
}

/* Continues where another agent stopped reading the ring. */
static void continue_ring(struct mark *mark, struct mark_writer *writer) {
    for (size_t i = 0; i < MARK_MAX_WRITERS; i++) {
        const struct cursor *before = &mark->taken_over.rings[i];
        if (before->pid != writer->pid || before->opened_ns != writer->opened_ns)
            continue;
        writer->cursor = before->ticket;
        writer->lost = before->lost;
        mark->lost += before->lost;
    }
}

static int scan(struct mark *mark) {
    size_t known = mark->reader.n_writers;
    int r = mark_reader_scan(&mark->reader);
    for (size_t i = known; i < mark->reader.n_writers; i++)
        continue_ring(mark, &mark->reader.writers[i]);
    return r;
}

static void mark_keeping(void *state, uint64_t seq) {
    struct mark *mark = state;
    if (!mark->owner.owns || !mark->moved)
        return;
    size_t size = note_rings(mark);
    ring_owner_save(&mark->owner, mark->env->stream ? *mark->env->stream : 0, seq, &mark->read,
                    size);
    mark->moved = false;
}

/* ---- whose they are ---- */

static int open_marks(struct mark *mark) {
    int r = mark_directory_create(mark->path);
    if (r == 0 || r == -EEXIST)
        r = mark_reader_open(&mark->reader, mark->path);
    if (r < 0)
        return r;
    if (mark->env->run_token_id)
        mark_directory_name_run(mark->path, mark->env->run_token_id);
    r = ring_owner_open(&mark->owner, dirfd(mark->reader.files.dir), CURSORS_FILE,
                        sizeof mark->read);
    if (r < 0)
        mark_reader_release(&mark->reader);
    mark->is_open = r == 0;
    return r;
}

/* All marks that were read are kept by now: a sample's rows are kept before the next sample. */
static void close_marks(struct mark *mark) {
    size_t size = note_rings(mark);
    ring_owner_release(&mark->owner, &mark->read, size);
    ring_owner_close(&mark->owner);
    mark_reader_release(&mark->reader);
    mark->is_open = false;
}

static int take_over_marks(struct mark *mark, struct rows *rows) {
    int r = ring_owner_take(&mark->owner);
    if (r == -ESTALE) {
        close_marks(mark);
        r = open_marks(mark);
        if (r == 0)
            r = ring_owner_take(&mark->owner);
    }
    if (r <= 0)
        return r;
    ring_owner_load(&mark->owner, mark->env->kept, mark->env->kept_ctx, &mark->taken_over);
    rows->dropped += mark->taken_over.dropped;
    mark->read.dropped = rows->dropped;
    ring_owner_save(&mark->owner, 0, 0, &mark->taken_over, sizeof mark->taken_over);
    return 1;
}

/* Returns 1 if this agent may read, 0 if another agent reads. */
static int own_marks(struct mark *mark, struct rows *rows) {
    if (!mark->is_open || mark->owner.superseded)
        return 0;
    if (!mark->owner.owns)
        return take_over_marks(mark, rows);
    if (!ring_owner_is_asked(&mark->owner))
        return 1;
    size_t size = note_rings(mark);
    ring_owner_release(&mark->owner, &mark->read, size);
    return 0;
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

static void fill_mark_row(int64_t *values, const struct mark_writer *writer,
                          const struct chokepoint_mark_record *record) {
    enum mark_kind kind = kinds[record->kind].kind;
    values[MARK_KIND] = kind;
    values[MARK_PID] = writer->pid;
    values[MARK_START_NS] = record->start_ns;
    if (writer->rank >= 0)
        values[MARK_RANK] = writer->rank;
    if (kind != MARK_PHASE && record->number >= 0)
        values[MARK_NUMBER] = record->number;
    bool has_duration = kind == MARK_ITERATION ? record->duration_ns > 0 : kind != MARK_VALUE;
    if (has_duration && record->kind != CHOKEPOINT_MARK_PHASE_BEGIN)
        values[MARK_DURATION_NS] = record->duration_ns;
    if (kind == MARK_OPERATOR)
        values[MARK_OUTPUT_BYTES] = record->bytes;
    if (kind == MARK_VALUE && record->value_nano != CHOKEPOINT_MARK_NAN)
        values[MARK_VALUE_NANO] = record->value_nano;
}

static void take_record(void *ctx, const struct mark_writer *writer,
                        const struct chokepoint_mark_record *record) {
    struct rows *rows = ctx;
    const char *name = record->name[0] ? record->name : kinds[record->kind].unnamed;
    struct row *row = rows_append(rows, name, strlen(name));
    if (row)
        fill_mark_row(row->values, writer, record);
}

static void count_lost(struct mark *mark, struct rows *rows) {
    rows->dropped += mark->reader.lost - mark->lost;
    mark->moved |= rows->dropped != mark->read.dropped;
    mark->lost = mark->reader.lost;
    mark->read.dropped = rows->dropped;
}

static int mark_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct mark *mark = state;
    (void)env;
    int owned = own_marks(mark, rows);
    if (owned <= 0)
        return owned;
    int r = scan(mark);
    int n = mark_reader_drain(&mark->reader, take_record, rows);
    mark->moved |= n > 0;
    count_lost(mark, rows);
    return n < 0 ? n : r < 0 ? r : 0;
}

static size_t mark_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return MARK_ROWS_MAX;
}

/* ---- life ---- */

static int mark_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct mark *mark = state;
    if (!env->marks || !*env->marks) {
        snprintf(why, why_size, "no marks: CHOKEPOINT_MARKS is not set");
        return PROBE_ABSENT;
    }
    mark_directories_collect(env->marks, env->proc);
    mark->env = env;
    int r = mark_directory_path(env->marks, mark->path, sizeof mark->path);
    if (r == 0)
        r = open_marks(mark);
    if (r < 0)
        snprintf(why, why_size, "cannot make the directory of marks %s: %s", mark->path,
                 strerror(-r));
    return r;
}

/* Programs that still run keep their rings: another agent may come. */
static void mark_close(void *state) {
    struct mark *mark = state;
    if (!mark->is_open)
        return;
    bool remove =
        ring_owner_take(&mark->owner) > 0 && probe_may_remove_rings(mark->env, mark->path);
    if (remove)
        unlinkat(dirfd(mark->reader.files.dir), CURSORS_FILE, 0);
    if (remove)
        mark_directory_remove(mark->path);
    close_marks(mark);
}

const struct probe probe_mark = {
    .table = &all_tables[TABLE_MARK],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct mark),
    .max_rows = mark_max_rows,
    .open = mark_open,
    .sample = mark_sample,
    .keeping = mark_keeping,
    .close = mark_close,
};
