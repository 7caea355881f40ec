/* SPDX-License-Identifier: MIT */
/*
 * Transactions and frames: the frames that came, and those that are missing. One transaction holds
 * rows, counts and last absolute values together, so that no crash can separate them.
 */
#include "collector/store_private.h"

#include <errno.h>

int store_begin(struct store *store) {
    int r = store_check_file(store);
    store->stream = NULL;
    return r ? r : sql_run(store, SQL_BEGIN, "");
}

void store_rollback(struct store *store) {
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    streams_free(store);
    tables_free(store);
}

int store_commit(struct store *store) {
    int r = blocks_save(store);
    for (size_t i = 0; !r && i < store->n_streams; i++) {
        struct stream *stream = store->streams[i];
        if (!stream->dirty)
            continue;
        r = flush_stream(store, stream);
        if (!r)
            r = joined_save(store, stream);
        if (!r)
            r = stream_save(store, stream);
    }
    store->stream = NULL;
    if (!r)
        r = batches_save(store);
    if (!r)
        r = sql_run(store, SQL_TOUCH_FIRST_PAGE, "");
    if (!r)
        r = sql_run(store, SQL_COMMIT, "");
    store->has_frames |= r == 0;
    return r ? r : store_check_file(store);
}

/* ---- a frame ---- */

static void add_count(int64_t *sum, int64_t n) {
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

/* No stream lives long enough to skip more slots; a larger number is an error. */
#define COUNT_MAX (INT64_C(1) << 53)

static int64_t head_count(uint64_t count) {
    return count > (uint64_t)COUNT_MAX ? COUNT_MAX : (int64_t)count;
}

static int64_t head_growth(uint64_t count, int64_t before) {
    int64_t now = head_count(count);
    return now >= before ? now - before : now;
}

/* Periods since the last frame; 1 if this one follows at once. */
static int64_t periods_since(const struct stream *stream, int64_t mono_ns) {
    int64_t passed = mono_ns - stream->last_mono_ns;
    if (stream->period_ns <= 0 || passed <= 0)
        return 1;
    return passed / stream->period_ns + (passed % stream->period_ns >= stream->period_ns / 2);
}

struct frame_growth {
    int64_t missed, lost;
};

/* The time of the frame's slot: a late frame has not skipped the time it was late. */
static int64_t due_ns(const struct frame_head *head) {
    bool known = head->late_ns != VALUE_ABSENT && head->late_ns > 0;
    return known && head->late_ns < head->mono_ns ? head->mono_ns - head->late_ns : head->mono_ns;
}

/* Gaps: missing sequence numbers, and slots that the stream does not explain (the agent was not
 * running). */
static void count_holes(struct stream *stream, const struct frame_head *head,
                        struct frame_growth *growth) {
    int64_t skipped = (int64_t)head->seq - stream->last_seq - 1;
    int64_t unexplained = 0;
    if (stream->last_mono_ns != VALUE_ABSENT && skipped <= COUNT_MAX)
        unexplained = periods_since(stream, due_ns(head)) - 1 - skipped - growth->missed;
    if (unexplained > 1) {
        growth->missed += unexplained;
        stream->restarts++;
    }
    add_count(&stream->gaps, skipped);
    add_count(&stream->missed, growth->missed);
    add_count(&stream->lost, growth->lost);
}

static void stream_advance(struct stream *stream, const struct frame_head *head,
                           struct frame_growth *growth) {
    growth->missed = head_growth(head->missed, stream->head_missed);
    growth->lost = head_growth(head->lost, stream->head_lost);
    count_holes(stream, head, growth);
    if (stream->first_mono_ns == VALUE_ABSENT) {
        stream->first_mono_ns = head->mono_ns;
        if (__builtin_add_overflow(head->wall_ns - head->mono_ns, stream->wall_to_run,
                                   &stream->clock_default_ns))
            stream->clock_default_ns = 0;
    }
    stream->head_missed = head_count(head->missed);
    stream->head_lost = head_count(head->lost);
    stream->last_seq = (int64_t)head->seq;
    stream->last_mono_ns = head->mono_ns;
    stream->frames++;
    stream->dirty = true;
}

int store_frame(struct store *store, int64_t stream_id, const struct frame_head *head) {
    int r = 0;
    struct frame_growth growth;
    struct stream *stream = stream_get(store, stream_id, &r);
    store->stream = NULL;
    if (!stream)
        return r;
    if (head->seq > INT64_MAX || head->mono_ns < 0 || head->wall_ns < 0)
        return -EINVAL;
    if ((int64_t)head->seq <= stream->last_seq) {
        stream->duplicates++;
        stream->dirty = true;
        return -EALREADY;
    }
    stream_advance(stream, head, &growth);
    r = sql_run(store, SQL_FRAME_INSERT, "iiiiiii", stream->home, (int64_t)head->seq, head->mono_ns,
                head->wall_ns, head->late_ns == VALUE_ABSENT ? 0 : head->late_ns, growth.missed,
                growth.lost);
    if (r)
        return r;
    store->frame = sqlite3_last_insert_rowid(store->db);
    store->mono_ns = head->mono_ns;
    store->stream = stream;
    return 0;
}
