/* SPDX-License-Identifier: MIT */
/*
 * The rows of a section: a table whose columns know their names, units and kinds and whose cells
 * are values, not texts. A section makes it once; every format renders any table.
 *
 * One table serves readers and programs: a column with a name is shown to readers, one with a key
 * is a member of the JSON document or a field of the CSV file. Readers see a value times its scale,
 * in few digits; programs see it as it is. A column that is too wide for a terminal says so.
 *
 * A table owns its cells' texts that were made with table_text; texts from records are borrowed and
 * must live until the table is written. Nothing here fails on its own: a table without memory is
 * `failed`, and the page that takes it says so.
 */
#ifndef CHOKEPOINT_REPORTS_TABLE_H
#define CHOKEPOINT_REPORTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model/model.h"

/* How much room a format must have to show something. */
enum report_room {
    ROOM_SCREEN, /* any: a terminal of 100 columns, too */
    ROOM_PAGE,   /* a page that scrolls */
    ROOM_FULL,   /* one that scrolls both ways and has pictures */
    ROOM_NONE    /* for programs only */
};

enum kind {
    KIND_TEXT,
    KIND_WORD,    /* a word of ours: CSV needs no quotes around it */
    KIND_PROSE,   /* sentences: they wrap */
    KIND_DRAWN,   /* characters of one width that draw something */
    KIND_STATE,   /* of a verdict */
    KIND_FIGURES, /* a text of figures: "2.02 (1.9 to 2.2)" */
    KIND_NUMBER,
    KIND_COUNT,
    KIND_FLAG,
    KIND_HOST,     /* index of a host of the table's report; below 0: none */
    KIND_RANK,     /* below 0: none */
    KIND_INSTANT,  /* wall clock, ns since 1970 */
    KIND_DURATION, /* s, shown as h:mm:ss */
    KIND_LIST,     /* texts */
    KIND_NUMBERS,  /* of double; like the next two for programs only */
    KIND_COUNTS,   /* of size_t */
    KIND_TABLE
};

enum field_type {
    FIELD_NONE, /* not in the record: set cell by cell */
    FIELD_DOUBLE,
    FIELD_INT,
    FIELD_UNSIGNED,
    FIELD_LONG,
    FIELD_SIZE,
    FIELD_BOOL,
    FIELD_TEXT,
    FIELD_CHARACTERS, /* an array in the record itself */
    FIELD_TEXTS       /* with their number at count_at */
};

/* Where a column's value is in a record: FIELD(report_process, cpu_pct). */
#define FIELD(record, member)                                                                      \
    .type = _Generic(((struct record *)0)->member, double: FIELD_DOUBLE, int: FIELD_INT,           \
                     unsigned: FIELD_UNSIGNED, long: FIELD_LONG, size_t: FIELD_SIZE,               \
                     bool: FIELD_BOOL, char *: FIELD_TEXT, const char *: FIELD_TEXT),              \
    .at = offsetof(struct record, member)
#define FIELD_INLINE(record, member) .type = FIELD_CHARACTERS, .at = offsetof(struct record, member)
#define FIELD_TEXTS(record, member)                                                                \
    .type = FIELD_TEXTS, .at = offsetof(struct record, member),                                    \
    .count_at = offsetof(struct record, n_##member)

#define COMPUTED .type = FIELD_NONE

/* In a key: the member lies in an object of that name; in one that is null if all of it is. */
#define INTO "\037"
#define INTO_OR_NULL "\036"

#define DIGITS_NONE (-1) /* a number without decimals; 0: as layout_number has it */

struct report_column {
    enum kind kind;
    const char *key;  /* NULL: not for programs */
    const char *name; /* NULL: not for readers */
    const char *unit; /* of what readers see; NULL: none */
    enum field_type type;
    size_t at, count_at;
    double scale; /* 0: 1 */
    int digits;
    enum report_room room;
    bool shrinks; /* is cut first where a terminal is too narrow */
    bool names;   /* like the first one: stands in each piece of a table that is cut */
};

struct report_cell {
    union {
        double number;
        int64_t integer;
        const char *text;
        const void *items; /* of a list; a struct report_table * */
    };
    size_t n;                   /* items */
    bool known;                 /* else "-" and null */
    const char *before, *after; /* static: "<= ", " !" */
    const char *mark;           /* static: what the cell is, one word: "muted", "CRITICAL" */
    const char *hint;           /* borrowed: what else there is to say */
    char *owned;
};

struct report_row {
    enum report_room room;
    char *group;    /* owned: a line over this row and those after it; NULL */
    bool reference; /* figures of somebody else */
};

enum shape {
    SHAPE_ROWS,  /* an array of objects */
    SHAPE_ONE,   /* an object: its only row; null without one */
    SHAPE_ARRAYS /* an array of arrays: the columns are named elsewhere */
};

enum audience { FOR_READERS = 1, FOR_DOCUMENT = 2, FOR_CSV = 4 };

struct report_table {
    const char
        *id; /* the member of the document, INTO allowed; "": members of the document itself */
    enum shape shape;
    unsigned audience;  /* of enum audience: readers and the document */
    int level;          /* of its heading: 2, or 3 for one that belongs to what is above it */
    char *title, *note; /* owned; NULL: none */
    const char *empty;  /* what readers see without rows; NULL: nothing, not even the title */
    bool picture_text;  /* stands for a picture: not where there are pictures */
    struct report_column *columns;
    size_t n_columns, n_rows, rows_room;
    struct report_row *rows;
    struct report_cell *cells;   /* n_rows * n_columns */
    const struct report *report; /* whose hosts are meant */
    char **texts;                /* owned: names of columns that are made */
    size_t n_texts;
    bool failed;
};

void table_init(struct report_table *table, const char *id, const struct report *report,
                const struct report_column *columns, size_t n_columns);
#define TABLE_INIT(table, id, report, columns)                                                     \
    table_init(table, id, report, columns, sizeof(columns) / sizeof *(columns))
void table_release(struct report_table *table);

void table_title(struct report_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_note(struct report_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A further column, before there are rows; its index. Its texts are borrowed. */
size_t table_add_column(struct report_table *table, const struct report_column *column);
/* A text that lives as long as the table, for names and keys of columns; "" without memory. */
const char *table_keep(struct report_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A further row of a record (NULL: all cells are unknown); its index. */
size_t table_add(struct report_table *table, const void *record);
void table_add_all(struct report_table *table, const void *records, size_t n, size_t size);
#define TABLE_ADD_ALL(table, records, n) table_add_all(table, records, n, sizeof *(records))
/* Gives the next row a line over it. */
void table_group(struct report_table *table, size_t row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Never NULL. */
struct report_cell *table_cell(struct report_table *table, size_t row, size_t column);
void table_text(struct report_table *table, size_t row, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void table_borrow(struct report_table *table, size_t row, size_t column, const char *text);
struct report_cell *table_number(struct report_table *table, size_t row, size_t column,
                                 double value);
void table_integer(struct report_table *table, size_t row, size_t column, int64_t value);
void table_items(struct report_table *table, size_t row, size_t column, const void *items,
                 size_t n);
/* Takes the inner table over. */
void table_inner(struct report_table *table, size_t row, size_t column, struct report_table *inner);

/* ---- for formats ---- */

#define CELL_TEXT_SIZE 64
/* The text for a reader; not escaped. It is written to text if it is not the cell's own. */
const char *cell_text(const struct report_table *table, size_t row, size_t column,
                      char text[CELL_TEXT_SIZE]);
/* "CPU (%)" */
const char *column_heading(const struct report_column *column, char text[CELL_TEXT_SIZE * 4]);
bool column_is_of_words(const struct report_column *column);
bool column_is_shown(const struct report_column *column, enum report_room room);
/* Rows that are shown. */
size_t table_rows_shown(const struct report_table *table, enum report_room room);

#endif
