/* SPDX-License-Identifier: MIT */
/*
 * The rows of a section as a table. Columns have names, units and kinds; cells are values, not
 * texts. A section makes a table once; every format can write it.
 *
 * One table serves readers and programs: a column with a name is shown to readers, one with a key
 * is a member of the JSON document or a field of the CSV file. Readers see a value times its scale,
 * in few digits; programs see the value itself. A column's room says whether a terminal can show
 * it.
 *
 * A table owns texts that were made with table_text; texts from records are borrowed and must live
 * until the table is written. No function here returns an error: a table without memory is
 * `failed`, and the page that takes it reports that.
 */
#ifndef CHOKEPOINT_REPORTS_TABLE_H
#define CHOKEPOINT_REPORTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model/model.h"

/* The room that a format needs to show something. */
enum report_room {
    ROOM_SCREEN, /* any format: also a terminal of 100 columns */
    ROOM_PAGE,   /* a page that scrolls */
    ROOM_FULL,   /* a page that scrolls both ways and has pictures */
    ROOM_NONE    /* for programs only */
};

enum kind {
    KIND_TEXT,
    KIND_WORD,    /* a word of our own: CSV needs no quotes around it */
    KIND_PROSE,   /* sentences, which wrap */
    KIND_DRAWN,   /* a drawing in characters of one width */
    KIND_STATE,   /* state of a verdict */
    KIND_FIGURES, /* a text with figures: "2.02 (1.9 to 2.2)" */
    KIND_NUMBER,
    KIND_COUNT,
    KIND_FLAG,
    KIND_HOST,     /* index of a host of the table's report; negative: none */
    KIND_RANK,     /* negative: none */
    KIND_INSTANT,  /* wall clock, ns since 1970 */
    KIND_DURATION, /* s, shown as h:mm:ss */
    KIND_LIST,     /* texts */
    KIND_NUMBERS,  /* of double; this and the next two are for programs only */
    KIND_COUNTS,   /* of size_t */
    KIND_TABLE
};

enum field_type {
    FIELD_NONE, /* not in the record: the section sets each cell */
    FIELD_DOUBLE,
    FIELD_INT,
    FIELD_UNSIGNED,
    FIELD_LONG,
    FIELD_SIZE,
    FIELD_BOOL,
    FIELD_TEXT,
    FIELD_CHARACTERS, /* an array of characters inside the record */
    FIELD_TEXTS       /* a list, with its length at count_at */
};

/* The place of a column's value in a record: FIELD(report_process, cpu_pct). */
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

/* In a key: the member lies in an object of that name; that object is null if all its members
 * are. */
#define INTO "\037"
#define INTO_OR_NULL "\036"

#define DIGITS_NONE (-1) /* a number without decimals; 0: as in layout_number */

struct report_column {
    enum kind kind;
    const char *key;  /* NULL: programs do not get it */
    const char *name; /* NULL: readers do not see it */
    const char *unit; /* as readers see it; NULL: none */
    enum field_type type;
    size_t at, count_at;
    double scale; /* 0: 1 */
    int digits;
    enum report_room room;
    bool shrinks; /* is shortened first if a terminal is too narrow */
    bool names;   /* is repeated, like the first column, in each piece of a table that is cut */
};

struct report_cell {
    union {
        double number;
        int64_t integer;
        const char *text;
        const void *items; /* a list, or a struct report_table * */
    };
    size_t n;                   /* number of items */
    bool known;                 /* false: "-" and null */
    const char *before, *after; /* static: "<= ", " !" */
    const char *mark;           /* static: one word for the cell's meaning: "muted", "CRITICAL" */
    const char *hint;           /* borrowed: more about the cell */
    char *owned;
};

struct report_row {
    enum report_room room;
    char *group;    /* owned: a line above this row and those that follow; NULL */
    bool reference; /* figures from somewhere else */
};

enum shape {
    SHAPE_ROWS,  /* an array of objects */
    SHAPE_ONE,   /* an object, the only row; null without rows */
    SHAPE_ARRAYS /* an array of arrays: the columns have their names elsewhere */
};

enum audience { FOR_READERS = 1, FOR_DOCUMENT = 2, FOR_CSV = 4 };

struct report_table {
    const char *id; /* the member of the document, INTO allowed; "": the document's own members */
    enum shape shape;
    unsigned audience;  /* bits of enum audience; unless set, readers and the document */
    int level;          /* of its heading: 2, or 3 if it belongs to the section above it */
    char *title, *note; /* owned; NULL: none */
    const char *empty;  /* what readers see without rows; NULL: nothing, not even the title */
    bool picture_text;  /* replaces a picture where there are none */
    struct report_column *columns;
    size_t n_columns, n_rows, rows_room;
    struct report_row *rows;
    struct report_cell *cells;   /* n_rows * n_columns */
    const struct report *report; /* the report with the hosts */
    char **texts;                /* owned: names of columns made at run time */
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

/* Adds a column before there are rows; returns its index. Its texts are borrowed. */
size_t table_add_column(struct report_table *table, const struct report_column *column);
/* Adds a column of numbers that programs do not get. */
size_t table_add_number_column(struct report_table *table, const char *name, const char *unit);
/* A text that lives as long as the table, for names and keys of columns; "" if memory is short. */
const char *table_keep(struct report_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a row from a record (NULL: all cells are unknown); returns its index. */
size_t table_add(struct report_table *table, const void *record);
void table_add_all(struct report_table *table, const void *records, size_t n, size_t size);
#define TABLE_ADD_ALL(table, records, n) table_add_all(table, records, n, sizeof *(records))
/* Puts a line above the next row. */
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
/* Puts the inner table into a cell and takes it over. */
void table_inner(struct report_table *table, size_t row, size_t column, struct report_table *inner);

/* ---- for formats ---- */

#define CELL_TEXT_SIZE 64
/* The text of a cell for a reader, not escaped. It is written to `text` unless the cell has its
 * own. */
const char *cell_text(const struct report_table *table, size_t row, size_t column,
                      char text[CELL_TEXT_SIZE]);
/* "CPU (%)" */
const char *column_heading(const struct report_column *column, char text[CELL_TEXT_SIZE * 4]);
bool column_is_of_words(const struct report_column *column);
bool column_is_shown(const struct report_column *column, enum report_room room);
/* The number of rows that are shown. */
size_t table_rows_shown(const struct report_table *table, enum report_room room);

#endif
