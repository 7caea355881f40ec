/* SPDX-License-Identifier: MIT */
/* Checks a body before its first row is written: frames, and the tables that they name. */
#include "collector/ingest_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

static int refuse_body(struct ingest_push *push, const char *why) {
    snprintf(push->why, sizeof push->why, "%s", why);
    return -EBADMSG;
}

static int grow_frames(struct ingest *ingest) {
    size_t capacity = ingest->frames_capacity ? 2 * ingest->frames_capacity : 64;
    struct wire_record *frames = realloc(ingest->frames, capacity * sizeof *frames);
    if (!frames)
        return -ENOMEM;
    ingest->frames = frames;
    ingest->frames_capacity = capacity;
    return 0;
}

static int keep_frame(struct ingest *ingest, struct ingest_push *push,
                      const struct wire_record *record) {
    if (ingest->n_frames == INGEST_FRAMES_MAX)
        return refuse_body(push, "more than 32768 frames in one body");
    if (ingest->n_frames && record->head.seq <= ingest->frames[ingest->n_frames - 1].head.seq)
        return refuse_body(push, "sequence numbers do not rise");
    if (ingest->n_frames == ingest->frames_capacity) {
        int r = grow_frames(ingest);
        if (r)
            return r;
    }
    ingest->frames[ingest->n_frames++] = *record;
    return 0;
}

static int borrow_by_id(struct ingest *ingest, struct ingest_push *push, uint64_t id) {
    ingest->block = known_tables_by_id(ingest->known, id);
    if (!ingest->block) {
        snprintf(push->why, sizeof push->why, "its tables are not known: they are to be sent");
        return -ENODATA;
    }
    wire_borrow_tables(&ingest->reader, ingest->block->tables);
    return 0;
}

/* Reads the tables behind the stream record; tables that equal known ones byte for byte are not
 * read again. */
static void borrow_by_bytes(struct ingest *ingest, struct span tables) {
    ingest->block = known_tables_by_bytes(ingest->known, tables);
    if (!ingest->block)
        return;
    wire_borrow_tables(&ingest->reader, ingest->block->tables);
    ingest->reader.p += tables.size;
}

static int take_record(struct ingest *ingest, struct ingest_push *push,
                       const struct wire_record *record, struct span tables) {
    if (record->type == WIRE_STREAM && tables.size)
        borrow_by_bytes(ingest, tables);
    if (record->type == WIRE_KNOWN)
        return borrow_by_id(ingest, push, record->known);
    if (record->type == WIRE_TABLE &&
        ingest->reader.p == (const uint8_t *)tables.data + tables.size)
        ingest->block = known_tables_keep(ingest->known, tables, &ingest->reader);
    return record->type == WIRE_FRAME ? keep_frame(ingest, push, record) : 0;
}

static int check_records(struct ingest *ingest, struct ingest_push *push) {
    struct wire_record record;
    struct span tables = {0};
    int r;
    wire_find_tables(push->body, push->size, &tables);
    while ((r = wire_next(&ingest->reader, &record)) == 0)
        if ((r = take_record(ingest, push, &record, tables)))
            return r;
    if (r == WIRE_TRUNCATED)
        return refuse_body(push, "the body ends inside a record");
    if (r == -EBADMSG)
        return refuse_body(push, ingest->reader.why);
    if (r == WIRE_END && !ingest->reader.have_stream)
        return refuse_body(push, "no stream record");
    return r == WIRE_END ? 0 : r;
}

int ingest_check(struct ingest *ingest, struct ingest_push *push) {
    wire_reader_release(&ingest->reader);
    wire_reader_init(&ingest->reader, push->body, push->size);
    ingest->n_frames = 0;
    ingest->block = NULL;
    int r = check_records(ingest, push);
    if (r == 0 && push->sender[0] && strcmp(push->sender, ingest->reader.stream.host) != 0)
        r = refuse_body(push, "a host sends samples of itself only");
    if (r)
        ingest->n_frames = 0;
    else
        memcpy(push->host, ingest->reader.stream.host, sizeof push->host);
    push->tables = r == 0 && ingest->block ? ingest->block->id : 0;
    push->events = r == 0 && ingest->reader.stream.period_ns == 0;
    return r;
}
