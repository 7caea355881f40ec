/* SPDX-License-Identifier: MIT */
/*
 * An entry in bytes: pid, start (zigzag), user, session, number of ancestors, these, and the text
 * of the groups with its size; all numbers are varints.
 */
#include "agent/base/lineage.h"

#include <string.h>

static bool is_at(const struct lineage *lineage, size_t place, int32_t pid, int64_t start_ns) {
    return place < lineage->n && lineage->entries[place].pid == pid &&
           lineage->entries[place].start_ns == start_ns;
}

static bool find(const struct lineage *lineage, size_t *place, int32_t pid, int64_t start_ns) {
    if (is_at(lineage, *place, pid, start_ns))
        return true;
    for (*place = 0; *place < lineage->n; ++*place)
        if (is_at(lineage, *place, pid, start_ns))
            return true;
    return false;
}

struct lineage_entry *lineage_report(struct lineage *lineage, size_t *place, int32_t pid,
                                     int64_t start_ns, bool again) {
    bool known = find(lineage, place, pid, start_ns);
    if (!known && lineage->n == LINEAGE_MAX)
        return NULL;
    struct lineage_entry *entry = &lineage->entries[*place];
    if (!known) {
        *entry = (struct lineage_entry){.pid = pid, .start_ns = start_ns, .is_new = true};
        lineage->n++;
    }
    bool needs = !known || again || entry->seen != lineage->round;
    entry->seen = lineage->round;
    return needs ? entry : NULL;
}

void lineage_set_groups(struct lineage_entry *entry, const char *text, size_t size) {
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t next = end ? (size_t)(end + 1 - text) : size;
        if (kept + (next - at) <= sizeof entry->groups) {
            memcpy(entry->groups + kept, text + at, next - at);
            kept += next - at;
        }
        at = next;
    }
    entry->groups_size = (uint16_t)kept;
}

static void put(struct buffer *to, const struct lineage_entry *entry) {
    buffer_put_varint(to, (uint64_t)entry->pid);
    buffer_put_zigzag(to, entry->start_ns);
    buffer_put_varint(to, entry->user);
    buffer_put_varint(to, (uint64_t)entry->session);
    buffer_put_varint(to, entry->n_above);
    for (size_t i = 0; i < entry->n_above; i++)
        buffer_put_varint(to, (uint64_t)entry->above[i]);
    buffer_put_varint(to, entry->groups_size);
    buffer_put(to, entry->groups, entry->groups_size);
}

size_t lineage_take_new(struct lineage *lineage, struct buffer *to) {
    size_t n = 0;
    for (size_t i = 0; i < lineage->n; i++) {
        if (!lineage->entries[i].is_new)
            continue;
        lineage->entries[i].is_new = false;
        put(to, &lineage->entries[i]);
        n++;
    }
    return n;
}

size_t lineage_put_round(const struct lineage *lineage, struct buffer *to) {
    size_t n = 0;
    for (size_t i = 0; i < lineage->n; i++) {
        if (lineage->entries[i].seen != lineage->round)
            continue;
        put(to, &lineage->entries[i]);
        n++;
    }
    return n;
}

void lineage_next_round(struct lineage *lineage) {
    size_t kept = 0;
    for (size_t i = 0; i < lineage->n; i++) {
        if (lineage->entries[i].seen != lineage->round)
            continue;
        if (kept != i)
            lineage->entries[kept] = lineage->entries[i];
        lineage->entries[kept++].is_new = false;
    }
    lineage->n = kept;
    lineage->round++;
}

static int32_t read_id(struct cursor *c) {
    uint64_t id = cursor_varint(c);
    c->bad |= id > INT32_MAX;
    return c->bad ? 0 : (int32_t)id;
}

void lineage_read(struct cursor *c, struct lineage_entry *ret_entry) {
    ret_entry->pid = read_id(c);
    ret_entry->start_ns = cursor_zigzag(c);
    uint64_t user = cursor_varint(c);
    ret_entry->user = (uint32_t)user;
    ret_entry->session = read_id(c);
    uint64_t n = cursor_varint(c);
    c->bad |= user > UINT32_MAX || n > LINEAGE_ABOVE_MAX;
    ret_entry->n_above = c->bad ? 0 : (uint8_t)n;
    for (size_t i = 0; i < ret_entry->n_above; i++)
        ret_entry->above[i] = read_id(c);
    struct span groups = cursor_string(c);
    c->bad |= groups.size > LINEAGE_GROUPS_MAX;
    ret_entry->groups_size = c->bad ? 0 : (uint16_t)groups.size;
    memcpy(ret_entry->groups, groups.data, ret_entry->groups_size);
}
