/* SPDX-License-Identifier: MIT */
/*
 * Time is told by marks: the highest frame there was at some instants. A round packs all frames up
 * to the mark that has become old enough, table by table and stream by stream.
 */
#include "collector/store_age.h"

#include <errno.h>
#include <stdlib.h>

#include "collector/store_cold.h"
#include "collector/store_mark.h"
#include "collector/store_private.h"
#include "common/clock.h"
#include "common/error.h"

#define EVERY_MOST_NS (600 * NS_PER_S) /* between two marks, unless rows get very old */
#define MARKS 64

struct age_mark {
    int64_t at_ns, frame;
};

struct aging {
    struct store *store;
    int64_t run, after_ns, every_ns;
    struct age_mark marks[MARKS]; /* the oldest first */
    size_t n_marks;
    bool in_round;
    int64_t done, until;   /* frames packed by this process, and those of this round */
    int64_t table, stream; /* that were packed last in this round */
};

int aging_new(struct store *store, int64_t run, int64_t after_ns, struct aging **ret_aging) {
    struct aging *aging = calloc(1, sizeof *aging);
    if (!aging)
        return -ENOMEM;
    int64_t least_ns = after_ns / (MARKS - 2) + 1;
    int64_t every_ns = after_ns < EVERY_MOST_NS ? after_ns : EVERY_MOST_NS;
    *aging = (struct aging){.store = store,
                            .run = run,
                            .after_ns = after_ns,
                            .every_ns = every_ns > least_ns ? every_ns : least_ns};
    *ret_aging = aging;
    return 0;
}

void aging_free(struct aging *aging) {
    free(aging);
}

/* ---- marks ---- */

static void set_mark(struct aging *aging, int64_t now_ns) {
    int64_t frame = 0;
    bool due =
        !aging->n_marks || now_ns - aging->marks[aging->n_marks - 1].at_ns >= aging->every_ns;
    if (!due || aging->n_marks == MARKS ||
        pragma_get(aging->store, "SELECT coalesce(max(frame), 0) FROM frame", &frame))
        return;
    aging->marks[aging->n_marks++] = (struct age_mark){now_ns, frame};
}

/* The last mark that is old enough counts: after a pause there may be several. */
static void begin_round(struct aging *aging, int64_t now_ns) {
    size_t old = 0;
    while (old < aging->n_marks && now_ns - aging->marks[old].at_ns >= aging->after_ns)
        old++;
    if (!old)
        return;
    aging->until = aging->marks[old - 1].frame;
    aging->in_round = aging->until > aging->done;
    aging->table = aging->stream = 0;
    aging->n_marks -= old;
    for (size_t i = 0; i < aging->n_marks; i++)
        aging->marks[i] = aging->marks[i + old];
}

bool aging_is_due(struct aging *aging, int64_t now_ns) {
    set_mark(aging, now_ns);
    if (!aging->in_round)
        begin_round(aging, now_ns);
    return aging->in_round;
}

/* ---- a round ---- */

/* The first id after `after` that the statement gives: 1; 0: none. */
static int next_id(struct aging *aging, const char *sql, int64_t after, int64_t *ret_id, char *name,
                   size_t size) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(aging->store, sql, &statement);
    if (!r)
        r = sql_bind(statement, "ii", after, aging->run);
    if (r)
        return r;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return sql_errno(code);
    *ret_id = sqlite3_column_int64(statement, 0);
    if (name)
        sql_column_text(statement, 1, name, size);
    return 1;
}

static int next_table(struct aging *aging, int64_t *ret_table, char name[TABLE_NAME_MAX + 1]) {
    return next_id(aging,
                   "SELECT table_id, name FROM table_info WHERE table_id > ?1 AND kind = 'samples'"
                   " AND ?2 > 0 ORDER BY table_id LIMIT 1",
                   aging->table, ret_table, name, TABLE_NAME_MAX + 1);
}

static int next_stream(struct aging *aging, int64_t *ret_stream) {
    return next_id(aging,
                   "SELECT s.stream FROM stream s JOIN host h USING(host) WHERE s.stream > ?1"
                   " AND h.run = ?2 AND s.period_ns <> 0 ORDER BY s.stream LIMIT 1",
                   aging->stream, ret_stream, NULL, 0);
}

/* Frames of the table that are blocks already: this process knows its own, and finds those of an
 * earlier one in the file. */
static int packed_until(struct aging *aging, int64_t table, int64_t stream, int64_t *ret_frame) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    *ret_frame = aging->done;
    if (aging->done)
        return 0;
    int r = sql_prepare(aging->store,
                        "SELECT coalesce(max(until_frame), 0) FROM block WHERE stream = ? AND"
                        " table_id = ?",
                        &statement);
    if (!r)
        r = sql_bind(statement, "ii", stream, table);
    if (!r && sqlite3_step(statement) == SQLITE_ROW)
        *ret_frame = sqlite3_column_int64(statement, 0);
    return r ? r : sql_reset(statement);
}

/* A savepoint: values that no block can hold cost the packing of that table and stream alone. */
static int pack_one(struct aging *aging, struct cooling *cooling, int64_t table, int64_t stream) {
    int64_t after = 0, n = 0;
    int r = packed_until(aging, table, stream, &after);
    if (!r)
        r = sql_exec(aging->store, "SAVEPOINT age");
    if (r)
        return r;
    r = cooling_frames(cooling, stream, after, aging->until, &n);
    if (!r && n)
        r = mark_set(aging->store);
    if (r == -ERANGE)
        r = sql_exec(aging->store, "ROLLBACK TO age");
    return r ? r : sql_exec(aging->store, "RELEASE age");
}

/* At least one stream. 1: all of the table are packed; 0: the time is over. */
static int pack_table(struct aging *aging, int64_t table, const char *name, int64_t until_ns) {
    struct cooling *cooling = NULL;
    int64_t stream = 0;
    int r = cooling_new(aging->store, name, &cooling);
    for (bool over = false; !r && !over; over = clock_monotonic_ns() >= until_ns) {
        int found = next_stream(aging, &stream);
        r = found > 0 ? pack_one(aging, cooling, table, stream) : found < 0 ? found : 1;
        if (!r)
            aging->stream = stream;
    }
    cooling_free(cooling);
    return r;
}

static int pack_some(struct aging *aging, int64_t until_ns) {
    char name[TABLE_NAME_MAX + 1];
    int64_t table = 0;
    int r = 1;
    while (r > 0 && (r = next_table(aging, &table, name)) > 0) {
        r = pack_table(aging, table, name, until_ns);
        if (r <= 0)
            return r;
        aging->table = table;
        aging->stream = 0;
    }
    if (!r) { /* there is no further table */
        aging->in_round = false;
        aging->done = aging->until;
    }
    return r;
}

int aging_step(struct aging *aging, int64_t now_ns, int64_t budget_ns) {
    const struct aging before = *aging;
    int r = store_begin(aging->store);
    if (r)
        return r;
    r = pack_some(aging, now_ns + budget_ns);
    if (!r)
        r = store_commit(aging->store);
    if (!r)
        return 0;
    store_rollback(aging->store);
    *aging = before;
    return r;
}
