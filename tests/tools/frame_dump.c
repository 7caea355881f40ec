/* SPDX-License-Identifier: MIT */
/*
 * frame-dump FILE: prints the content of a spool segment or HTTP body as text, one record or row a
 * line, for tests and for a person with a segment that was left behind. Ends with "end", or says
 * where and why the stream becomes invalid (exit 1).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/wire.h"

static int read_all(const char *path, struct buffer *content) {
    FILE *file = fopen(path, "rb");
    uint8_t piece[65536];
    size_t n;
    if (!file)
        return -errno;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        buffer_put(content, piece, n);
    int r = ferror(file) ? -EIO : content->error;
    fclose(file);
    return r;
}

static void print_stream(const struct wire_stream *stream) {
    printf("stream host=%s boot_id=%s stream_id=%016" PRIx64 " period_ns=%" PRId64 "\n",
           stream->host, stream->boot_id, stream->stream_id, stream->period_ns);
}

static void print_table(unsigned index, const struct table *table) {
    printf("table %u %s instance=%s %s", index, table->name, table->instance,
           table->kind == TABLE_EVENTS ? "events" : "samples");
    for (size_t i = 0; i < table->n_columns; i++)
        printf(" %s:%c", table->columns[i].name,
               table->columns[i].kind == COLUMN_COUNTER ? 'C' : 'L');
    putchar('\n');
}

static void print_row(uint64_t seq, const struct table *table, const struct wire_row *row) {
    printf("row %" PRIu64 " %s [%.*s]%s", seq, table->name, (int)row->name.size, row->name.data,
           row->flags & ROW_BORN ? " born" : "");
    for (size_t i = 0; i < table->n_columns; i++)
        if (row->values[i] == VALUE_ABSENT)
            printf(" %s=-", table->columns[i].name);
        else
            printf(" %s=%" PRId64, table->columns[i].name, row->values[i]);
    putchar('\n');
}

static void print_frame(const struct wire_reader *reader, struct wire_record *record) {
    const struct frame_head *head = &record->head;
    const struct table *table;
    struct wire_row row;
    unsigned index;
    printf("frame seq=%" PRIu64 " wall_ns=%" PRId64 " mono_ns=%" PRId64 " slot_ns=%" PRId64
           " late_ns=%" PRId64 " missed=%" PRIu64 " lost=%" PRIu64 " bytes=%zu\n",
           head->seq, head->wall_ns, head->mono_ns, head->slot_ns, head->late_ns, head->missed,
           head->lost, record->size);
    while (wire_frame_row(reader, record, &table, &index, &row))
        print_row(head->seq, table, &row);
}

static int dump(const struct buffer *content) {
    struct wire_reader reader;
    struct wire_record record;
    int r;
    wire_reader_init(&reader, content->data, content->size);
    while ((r = wire_next(&reader, &record)) == 0) {
        if (record.type == WIRE_STREAM)
            print_stream(&reader.stream);
        else if (record.type == WIRE_TABLE)
            print_table(record.table, &reader.tables[record.table]->table);
        else
            print_frame(&reader, &record);
    }
    if (r == WIRE_END)
        puts("end");
    else if (r == WIRE_TRUNCATED)
        printf("truncated after byte %zu\n", (size_t)(reader.p - reader.data));
    else
        printf("bad: %s\n", r == -EBADMSG ? reader.why : strerror(-r));
    wire_reader_release(&reader);
    return r == WIRE_END ? 0 : 1;
}

int main(int argc, char **argv) {
    struct buffer content = {0};
    if (argc != 2) {
        fputs("usage: frame-dump FILE\n", stderr);
        return 2;
    }
    int r = read_all(argv[1], &content);
    if (r < 0) {
        fprintf(stderr, "frame-dump: %s: %s\n", argv[1], strerror(-r));
        return 2;
    }
    r = dump(&content);
    buffer_release(&content);
    return r;
}
