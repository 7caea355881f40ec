/* SPDX-License-Identifier: MIT */
/* make-ring FROM TO HOST SECONDS: fills the ring TO with SECONDS of samples that end now, made of
 * the ring FROM of a real agent: its samples are repeated, a second apart, and counters go on
 * growing as they grew there. Prints the samples, the rows and the bytes of the ring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/lineage.h"
#include "agent/ring/ring.h"
#include "agent/ring/ring_marks.h"
#include "agent/ring/ring_read.h"
#include "agent/spool/spool.h"
#include "common/clock.h"
#include "common/error.h"

#define FRAMES_MAX 600
#define LIMIT (UINT64_C(4) << 30)

/* An instance of a table: its values when it was first and last seen. */
struct seen {
    unsigned table;
    char name[INSTANCE_MAX + 1];
    int64_t first[TABLE_COLUMNS_MAX], last[TABLE_COLUMNS_MAX];
};

struct source {
    struct buffer body; /* one stream: its opening and its frames */
    struct wire_reader reader;
    struct wire_record frames[FRAMES_MAX];
    size_t n;
    struct seen *seen;
    size_t n_seen;
    struct buffer lineages;
};

static void die(const char *what) {
    fprintf(stderr, "make-ring: %s\n", what);
    exit(1);
}

static void keep_frames(struct source *source, const struct ring_piece *piece) {
    struct wire_reader reader;
    struct wire_record record;
    wire_reader_init(&reader, piece->data, piece->size);
    while (wire_next(&reader, &record) == 0) {
        if (record.type == WIRE_FRAME || !source->body.size)
            buffer_put(&source->body, piece->data + (source->body.size ? record.offset : 0),
                       record.size + (source->body.size ? 0 : record.offset));
        else if (source->n == 0 && record.type == WIRE_TABLE)
            buffer_put(&source->body, piece->data + record.offset, record.size);
        source->n += record.type == WIRE_FRAME;
    }
    wire_reader_release(&reader);
}

static struct seen *find_seen(struct source *source, unsigned table, struct span name) {
    for (size_t i = 0; i < source->n_seen; i++)
        if (source->seen[i].table == table && span_equal(name, source->seen[i].name))
            return &source->seen[i];
    source->seen = realloc(source->seen, (source->n_seen + 1) * sizeof *source->seen);
    if (!source->seen)
        die("no memory");
    struct seen *seen = &source->seen[source->n_seen++];
    *seen = (struct seen){.table = table};
    memcpy(seen->name, name.data, name.size);
    return seen;
}

static void look_at_rows(struct source *source, struct wire_record record) {
    const struct table *table;
    struct wire_row row;
    unsigned index;
    while (wire_frame_row(&source->reader, &record, &table, &index, &row)) {
        size_t before = source->n_seen;
        struct seen *seen = find_seen(source, index, row.name);
        if (source->n_seen != before)
            memcpy(seen->first, row.values, table->n_columns * sizeof *row.values);
        memcpy(seen->last, row.values, table->n_columns * sizeof *row.values);
    }
}

static void read_source(struct source *source, const char *dir) {
    struct ring_reader *ring;
    struct ring_piece piece;
    struct wire_record record;
    if (ring_reader_open(dir, 0, INT64_MAX, &ring) < 0)
        die("no such ring");
    while (ring_reader_next(ring, &piece) == 0)
        if (piece.kind == RING_FRAMES)
            keep_frames(source, &piece);
        else
            buffer_put(&source->lineages, piece.data, piece.size);
    ring_reader_close(ring);
    source->n = 0;
    wire_reader_init(&source->reader, source->body.data, source->body.size);
    while (wire_next(&source->reader, &record) == 0 && source->n < FRAMES_MAX)
        if (record.type == WIRE_FRAME) {
            look_at_rows(source, record);
            source->frames[source->n++] = record;
        }
    if (source->n < 2)
        die("the ring has too few samples");
}

static void take_lineages(struct lineage *to, const struct buffer *lineages) {
    struct cursor c = {lineages->data, lineages->data + lineages->size, false};
    while (c.p != c.end && !c.bad && to->n < LINEAGE_MAX) {
        struct lineage_entry *entry = &to->entries[to->n];
        lineage_read(&c, entry);
        entry->seen = to->round;
        to->n += !c.bad;
    }
}

static size_t fill_rows(struct source *source, struct wire_record record, int64_t cycle,
                        struct rows *rows, struct rows **list) {
    const struct table *table;
    struct wire_row from;
    unsigned index;
    size_t n = 0;
    for (size_t i = 0; i < TABLES_MAX && source->reader.tables[i]; i++) {
        rows_reset(&rows[i]);
        rows[i].sampled = record.sampled >> i & 1;
        list[i] = &rows[i];
    }
    while (wire_frame_row(&source->reader, &record, &table, &index, &from)) {
        const struct seen *seen = find_seen(source, index, from.name);
        struct row *row = rows_append(&rows[index], from.name.data, from.name.size);
        if (!row)
            continue;
        row->flags = cycle ? 0 : from.flags;
        for (size_t c = 0; c < table->n_columns; c++) {
            bool grows = table->columns[c].kind == COLUMN_COUNTER &&
                         from.values[c] != VALUE_ABSENT && seen->first[c] != VALUE_ABSENT &&
                         seen->last[c] != VALUE_ABSENT;
            row->values[c] =
                from.values[c] + (grows ? cycle * (seen->last[c] - seen->first[c]) : 0);
        }
        n++;
    }
    return n;
}

int main(int argc, char **argv) {
    static struct source source;
    static struct lineage lineage;
    static struct rows rows[TABLES_MAX];
    struct rows *list[TABLES_MAX];
    const struct table *tables[TABLES_MAX];
    unsigned indexes[TABLES_MAX];
    struct buffer frame = {0}, scratch = {0};
    struct spool *spool;
    struct ring *ring;
    struct ring_status status;
    size_t n = 0, n_rows = 0;
    if (argc != 5)
        die("make-ring FROM TO HOST SECONDS");
    int64_t seconds = strtoll(argv[4], NULL, 10), end_ns = clock_wall_ns();
    read_source(&source, argv[1]);
    struct spool_config spool_config = {
        .dir = argv[2], .limit_bytes = 64 << 20, .stream = source.reader.stream, .tables = tables};
    spool_config.stream.stream_id += 2;
    spool_config.stream.period_ns = NS_PER_S;
    snprintf(spool_config.stream.host, sizeof spool_config.stream.host, "%s", argv[3]);
    for (; n < TABLES_MAX && source.reader.tables[n]; n++) {
        tables[n] = &source.reader.tables[n]->table;
        indexes[n] = (unsigned)n;
        if (rows_init(&rows[n], tables[n], 4096) < 0)
            die("no memory");
    }
    spool_config.n_tables = n;
    const struct ring_config ring_config = {argv[2], LIMIT, 86400 * NS_PER_S, false};
    mkdir(argv[2], 0700);
    if (spool_open(&spool_config, &spool) < 0 ||
        ring_open(&ring_config, spool_config.stream.stream_id, end_ns, &ring) < 0)
        die("cannot write the ring");
    for (int64_t i = 0; i < seconds; i++) {
        size_t at = (size_t)i % source.n;
        int64_t wall_ns = end_ns - (seconds - i) * NS_PER_S;
        struct frame_head head = {.seq = (uint64_t)i + 1,
                                  .wall_ns = wall_ns,
                                  .slot_ns = wall_ns,
                                  .mono_ns = clock_monotonic_ns() - (end_ns - wall_ns)};
        if (head.mono_ns < 0)
            die("this machine was started too short ago");
        n_rows += fill_rows(&source, source.frames[at], i / (int64_t)source.n, rows, list);
        buffer_reset(&frame);
        wire_put_frame(&frame, &scratch, &head, list, indexes, n);
        if (frame.error || spool_append(spool, frame.data, frame.size, head.seq) < 0)
            die("cannot write a frame");
        if (i % 60 && i + 1 < seconds)
            continue;
        lineage.n = 0;
        take_lineages(&lineage, &source.lineages);
        if (ring_pack(ring, spool, &lineage, end_ns) < 0)
            die("cannot pack");
    }
    ring_status(ring, &status);
    printf("%lld samples, %zu rows, %llu bytes\n", (long long)seconds, n_rows,
           (unsigned long long)status.bytes);
    ring_close(ring);
    spool_close(spool, true);
    return 0;
}
