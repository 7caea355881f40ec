/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring_marks.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/lineage.h"
#include "agent/probes/process/process_groups.h"
#include "common/crc32c.h"
#include "common/error.h"
#include "tables/tables.h"

#define MEMBERS_MAX (1u << 20)

/* A process of the job. */
struct member {
    int64_t pid, start_ns;
};

struct ring_marks {
    const struct job_choice *choices;
    size_t n_choices;
    uint32_t users[JOB_CHOICES_MAX]; /* UINT32_MAX: no such user here */
    struct member *members;          /* owned; sorted; `n` of `capacity` */
    size_t n, capacity;
};

static uint32_t find_user(const char *name) {
    uint64_t number;
    if (text_parse_u64(name, &number) == 0)
        return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    const struct passwd *user = getpwnam(name);
    return user ? user->pw_uid : UINT32_MAX;
}

int ring_marks_new(const struct job_choice *choices, size_t n, struct ring_marks **ret_marks) {
    struct ring_marks *marks = calloc(1, sizeof *marks);
    if (!marks)
        return -ENOMEM;
    marks->choices = choices;
    marks->n_choices = n < JOB_CHOICES_MAX ? n : JOB_CHOICES_MAX;
    for (size_t i = 0; i < marks->n_choices; i++)
        marks->users[i] = choices[i].kind == JOB_USER ? find_user(choices[i].value) : UINT32_MAX;
    *ret_marks = marks;
    return 0;
}

void ring_marks_free(struct ring_marks *marks) {
    if (!marks)
        return;
    free(marks->members);
    free(marks);
}

static bool descends(const struct lineage_entry *entry, uint64_t pid) {
    for (size_t i = 0; i < entry->n_above; i++)
        if ((uint64_t)entry->above[i] == pid)
            return true;
    return (uint64_t)entry->pid == pid;
}

static bool matches(const struct ring_marks *marks, size_t i, const struct lineage_entry *entry) {
    const struct job_choice *choice = &marks->choices[i];
    switch (choice->kind) {
    case JOB_PID:
        return descends(entry, choice->number);
    case JOB_SESSION:
        return (uint64_t)entry->session == choice->number || descends(entry, choice->number);
    case JOB_USER:
        return marks->users[i] != UINT32_MAX && entry->user == marks->users[i];
    case JOB_PORT:
        return false;
    default:
        return process_groups_match(choice, entry->groups, entry->groups_size);
    }
}

static int compare(const struct member *a, const struct member *b) {
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The place of a member, or where it would be. */
static size_t place_of(const struct ring_marks *marks, const struct member *member) {
    size_t low = 0, high = marks->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&marks->members[middle], member) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has(const struct ring_marks *marks, const struct member *member) {
    size_t at = place_of(marks, member);
    return at < marks->n && compare(&marks->members[at], member) == 0;
}

static int grow(struct ring_marks *marks) {
    size_t capacity = marks->capacity ? 2 * marks->capacity : 64;
    struct member *members = realloc(marks->members, capacity * sizeof *members);
    if (!members)
        return -ENOMEM;
    marks->members = members;
    marks->capacity = capacity;
    return 0;
}

static int add(struct ring_marks *marks, const struct member *member) {
    size_t at = place_of(marks, member);
    if (has(marks, member) || marks->n == MEMBERS_MAX)
        return 0;
    if (marks->n == marks->capacity && grow(marks) < 0)
        return -ENOMEM;
    memmove(&marks->members[at + 1], &marks->members[at], (marks->n - at) * sizeof *marks->members);
    marks->members[at] = *member;
    marks->n++;
    return 0;
}

int ring_marks_take(struct ring_marks *marks, const void *data, size_t size) {
    struct cursor c = {data, (const uint8_t *)data + size, false};
    struct lineage_entry entry;
    while (c.p != c.end) {
        lineage_read(&c, &entry);
        if (c.bad)
            return -EBADMSG;
        bool is_job = false;
        for (size_t i = 0; i < marks->n_choices && !is_job; i++)
            is_job = matches(marks, i, &entry);
        const struct member member = {entry.pid, entry.start_ns};
        int r = is_job ? add(marks, &member) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- rows ---- */

/* Places of the columns in the table as its stream described it; -1: it has none. */
struct places {
    int job, pid, start;
};

static int find_column(const struct table *table, enum table_id id, size_t column) {
    const char *name = all_tables[id].columns[column].name;
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool find_places(const struct table *table, struct places *ret_places) {
    if (strcmp(table->name, all_tables[TABLE_PROCESS].name) != 0)
        return false;
    *ret_places = (struct places){find_column(table, TABLE_PROCESS, PROCESS_JOB),
                                  find_column(table, TABLE_PROCESS, PROCESS_PID),
                                  find_column(table, TABLE_PROCESS, PROCESS_START)};
    return ret_places->job >= 0 && ret_places->pid >= 0 && ret_places->start >= 0;
}

/* The values follow the name. 0 and 1 have one byte each, so that the row keeps its size. */
static void set_value(const struct wire_row *row, const struct wire_record *record, int column,
                      uint8_t *bytes, const uint8_t *from, bool value) {
    struct cursor c = {(const uint8_t *)row->name.data + row->name.size, record->end, false};
    for (int i = 0; i < column; i++)
        cursor_zigzag(&c);
    if (!c.bad && c.p < c.end && *c.p < 0x80)
        bytes[c.p - from] = value ? 2 : 0;
}

static void put_checksum(uint8_t *record, size_t size) {
    uint32_t crc = crc32c(0, record, size - 4);
    for (int i = 0; i < 4; i++)
        record[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
}

size_t ring_marks_set(const struct ring_marks *marks, const struct wire_reader *reader,
                      struct wire_record record, uint8_t *bytes) {
    const uint8_t *from = reader->data;
    const struct table *table, *known = NULL;
    struct places places;
    struct wire_row row;
    unsigned index;
    bool is_process = false;
    size_t n = 0;
    if (record.packed)
        return 0;
    while (wire_frame_row(reader, &record, &table, &index, &row)) {
        if (table != known)
            is_process = find_places(table, &places);
        known = table;
        if (!is_process)
            continue;
        const struct member member = {row.values[places.pid], row.values[places.start]};
        bool is_job = marks->n_choices ? has(marks, &member) : member.pid != VALUE_ABSENT;
        set_value(&row, &record, places.job, bytes, from, is_job);
        n += is_job;
    }
    put_checksum(bytes + record.offset, record.size);
    return n;
}
