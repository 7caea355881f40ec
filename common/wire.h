/* SPDX-License-Identifier: MIT */
/*
 * The byte form of frames: the same in a spool file and in an HTTP body, with this one encoder
 * and this one decoder.
 *
 *     stream := "CHKPNT1\n" record*
 *     record := type:u8  size:varint  payload[size]  crc32c:u32le of all before it
 *     'S'    := host, boot id: string; stream id: u64le; period_ns: varint        (once, first)
 *               period_ns 0: a stream of events, which comes at no pace
 *     'T'    := index: varint; name, instance, help: string; kind: u8; n: varint; n columns of
 *               name: string, unit: u8, kind: u8, help: string
 *     'R'    := run's id, its name, its command: string       (once at most, behind the tables)
 *     'F'    := seq: varint; wall_ns, mono_ns, slot_ns, late_ns: zigzag; missed, lost: varint;
 *               n: varint; n sections of table index: varint, m: varint, m rows of
 *               flags: u8, instance: string, one zigzag a column of the table.
 *               m = 0: the table was sampled, and there was nothing
 *     'P'    := as 'F', packed for many like events: n sections of table index, m, k: varint,
 *               k names: string, m rows of name (place in the k), presence, changes: varint, and a
 *               zigzag for each change. A bit of presence: the column is known in this row and was
 *               not in the one before, or the other way round. A bit of changes: it is known and
 *               differs, by so much (modulo 2^64), from what was last known of that column in this
 *               section. Before the first row nothing is known, and every column stood at 0.
 *     'K'    := id: u64le, in the place of all 'T': tables that the reader numbered (in pushes)
 *     string := size: varint, bytes
 *
 * A stream opens with the descriptors of its tables, so a reader needs no knowledge of them. A
 * record of unknown type is skipped if its checksum holds: later versions may add types.
 */
#ifndef CHOKEPOINT_COMMON_WIRE_H
#define CHOKEPOINT_COMMON_WIRE_H

#include <stdint.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "common/rows.h"
#include "common/table.h"
#include "common/text.h"

#define WIRE_MAGIC "CHKPNT1\n"
#define WIRE_MAGIC_SIZE 8
#define WIRE_RECORD_MAX (8u << 20) /* bytes of one record's payload */
#define BOOT_ID_SIZE 36            /* text of a UUID, as the kernel gives it */

/* The sender: one agent on one host since one start. */
struct wire_stream {
    char host[INSTANCE_MAX + 1];
    char boot_id[BOOT_ID_SIZE + 1];
    uint64_t stream_id; /* random, new for each spool; survives a restart of the agent */
    int64_t period_ns;  /* of the fastest tables; 0: single events, at any time */
};

#define WIRE_RUN_ID_MAX 128
#define WIRE_COMMAND_MAX 512

/* The run of a stream, so that it can be rebuilt from the agents' spools. Only the agent beside
 * `run` knows name and command; elsewhere they are empty. */
struct wire_run {
    char id[WIRE_RUN_ID_MAX + 1], name[INSTANCE_MAX + 1], command[WIRE_COMMAND_MAX + 1];
};

/* One instant of one host. */
struct frame_head {
    uint64_t seq;    /* 1, 2, 3 ... within the stream */
    int64_t wall_ns; /* when the sampling began */
    int64_t mono_ns; /* the same instant on the host's CLOCK_MONOTONIC */
    int64_t slot_ns; /* the wall-clock slot, a multiple of the period */
    int64_t late_ns; /* wall_ns - slot_ns */
    uint64_t missed; /* slots skipped since the stream began */
    uint64_t lost;   /* frames dropped from the spool unsent since the stream began */
};

/* ---- encoder ---- */

void wire_put_stream(struct buffer *out, const struct wire_stream *stream); /* magic and 'S' */
void wire_put_run(struct buffer *out, const struct wire_run *run);          /* 'R' */
void wire_put_table(struct buffer *out, unsigned index, const struct table *table);

/* Writes a frame of the rows of `n` tables; tables[i] is the index of rows[i]->table. A NULL entry
 * of rows, and one that is empty and not sampled, is left out. Allocates only to grow `out` and
 * `scratch`. Errors are kept in out->error. */
void wire_put_frame(struct buffer *out, struct buffer *scratch, const struct frame_head *head,
                    struct rows *const *rows, const unsigned *tables, size_t n);

#define WIRE_NAMES_MAX ROW_NAMES_MAX

/* Writes a frame in the packed form, which takes a fifth of the size. For events only, since flags
 * of rows are lost. The rows must be packed already (rows_init_packed). -E2BIG with more than
 * WIRE_NAMES_MAX different instances in a table. */
void wire_put_packed_frame(struct buffer *out, struct buffer *scratch,
                           const struct frame_head *head, struct rows *const *rows,
                           const unsigned *tables, size_t n);

/* ---- decoder ---- */

/* WIRE_FRAME also stands for packed frames. */
enum wire_record_type {
    WIRE_STREAM = 'S',
    WIRE_TABLE = 'T',
    WIRE_KNOWN = 'K',
    WIRE_RUN = 'R',
    WIRE_FRAME = 'F',
    WIRE_PACKED = 'P'
};

/* Positive results of wire_next. */
#define WIRE_END 1       /* a clean end of the stream */
#define WIRE_TRUNCATED 2 /* the data ends inside a record: a write was cut short */

struct wire_column_text {
    char name[TABLE_NAME_MAX + 1];
    char help[TABLE_HELP_MAX + 1];
};

/* A table as a stream described it. `table` points into this struct. */
struct wire_table {
    struct table table;
    struct column columns[TABLE_COLUMNS_MAX];
    struct wire_column_text texts[TABLE_COLUMNS_MAX];
    char name[TABLE_NAME_MAX + 1], instance[TABLE_NAME_MAX + 1], help[TABLE_HELP_MAX + 1];
};

struct wire_reader {
    const uint8_t *data, *p, *end; /* borrowed bytes; p: the next record */
    struct wire_stream stream;     /* valid after the first record */
    bool have_stream;
    struct wire_run run;                   /* empty: not sent */
    struct wire_table *tables[TABLES_MAX]; /* NULL: not described */
    uint64_t borrowed;                     /* bit set of tables that are not owned */
    char why[128];                         /* why the last -EBADMSG, one line */
};

struct wire_record {
    enum wire_record_type type;
    size_t offset, size;               /* position of the whole record in the data */
    unsigned table;                    /* WIRE_TABLE: its index */
    uint64_t known;                    /* WIRE_KNOWN: the id, not 0 */
    struct frame_head head;            /* WIRE_FRAME */
    bool packed;                       /* WIRE_FRAME: the record is packed */
    const uint8_t *p, *end;            /* WIRE_FRAME: sections not read yet */
    uint64_t sampled;                  /* WIRE_FRAME: bit set of tables that have a section */
    uint64_t sections;                 /* WIRE_FRAME: sections left */
    const struct table *section_table; /* the section being read */
    uint64_t section_rows;             /* rows left in this section */
};

struct wire_row {
    uint8_t flags;
    struct span name;
    int64_t values[TABLE_COLUMNS_MAX]; /* one for each column of the section */
    /* State of the decoder for packed frames: */
    uint64_t present;
    int64_t known[TABLE_COLUMNS_MAX];
    struct span names[WIRE_NAMES_MAX];
    size_t n_names;
};

/* data is borrowed and must outlive the reader. */
void wire_reader_init(struct wire_reader *reader, const void *data, size_t size);
void wire_reader_release(struct wire_reader *reader);

/* Moves to the next record and checks all of it, a frame down to its last row, so that reading its
 * rows cannot fail later. 0, WIRE_END, WIRE_TRUNCATED, -EBADMSG (see `why`; p then stays at the bad
 * record), -ENOMEM. */
int wire_next(struct wire_reader *reader, struct wire_record *ret_record);

/* ---- tables that a reader knows already (wire_tables.c) ---- */

/* The records of tables behind the stream record. Only their framing is checked; the first other
 * record ends them. False: there are none. */
bool wire_find_tables(const void *data, size_t size, struct span *ret_tables);

/* Replaces `tables`, which lie in the body, by 'K'. Allocates nothing. */
void wire_replace_tables(struct buffer *body, struct span tables, uint64_t id);

/* Gives the tables of an earlier reader to one that has none yet; they must outlive it. */
void wire_borrow_tables(struct wire_reader *reader, struct wire_table *const tables[TABLES_MAX]);

/* Iterates the rows of a frame over all its sections; *ret_table and *ret_index are the row's
 * table. False at the end. All calls for one frame need the same row struct: a packed row builds on
 * the one before. */
bool wire_frame_row(const struct wire_reader *reader, struct wire_record *frame,
                    const struct table **ret_table, unsigned *ret_index, struct wire_row *ret_row);

/* ---- packed frames by columns (wire_section.c): a fifth of the work of rows ---- */

/* A section of a packed frame. */
struct wire_section {
    const struct table *table;
    unsigned index; /* of the table */
    uint64_t rows;  /* not read yet */
    struct span names[WIRE_NAMES_MAX];
    size_t n_names;
    /* state of the decoder */
    const uint8_t *p, *end;
    uint64_t present;
    int64_t known[TABLE_COLUMNS_MAX];
};

/* Moves to the next section of a packed frame, which must not be read by rows as well; rows that
 * are left of the section before are skipped. *section is zero at first. False at the end. */
bool wire_next_section(const struct wire_reader *reader, struct wire_record *frame,
                       struct wire_section *section);

/* Reads up to `max` rows and returns their number: value r of column c goes to columns[c][r], and
 * the place of its name in section->names to names[r]. */
size_t wire_section_rows(struct wire_section *section, size_t max, int64_t *const *columns,
                         uint8_t *names);

/* For the checker. Walks the head of a section behind its number of rows, and the rows of one that
 * was begun; c->bad if any is invalid. */
void wire_section_begin(struct cursor *c, struct wire_section *section);
void wire_section_walk(struct cursor *c, struct wire_section *section);

#endif
