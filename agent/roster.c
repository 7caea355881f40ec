/* SPDX-License-Identifier: MIT */
/* Entries are never removed while there is room: what is plugged again is an old acquaintance. */
#include "agent/roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int roster_init(struct roster *roster, size_t capacity) {
    struct roster_entry *entries = calloc(capacity, sizeof *entries);
    if (!entries)
        return -ENOMEM;
    *roster = (struct roster){.entries = entries, .capacity = capacity};
    return 0;
}

void roster_release(struct roster *roster) {
    free(roster->entries);
    *roster = (struct roster){0};
}

void roster_begin(struct roster *roster) {
    roster->came = false;
    roster->n_seen_before = roster->n_seen;
    roster->n_seen = 0;
    roster->next = 0;
    roster->sample++;
}

bool roster_end(const struct roster *roster) {
    return roster->came || roster->n_seen != roster->n_seen_before;
}

static bool entry_is(const struct roster_entry *entry, const char *name, size_t size) {
    return entry->size == size && memcmp(entry->name, name, size) == 0;
}

static struct roster_entry *find(struct roster *roster, const char *name, size_t size) {
    for (size_t i = 0; i < roster->n; i++) {
        size_t at = roster->next + i;
        at = at < roster->n ? at : at - roster->n;
        if (entry_is(&roster->entries[at], name, size))
            return &roster->entries[at];
    }
    return NULL;
}

/* A free entry, or one whose name has not been there for two samples. */
static struct roster_entry *place(struct roster *roster) {
    if (roster->n < roster->capacity)
        return &roster->entries[roster->n++];
    for (size_t i = 0; i < roster->n; i++)
        if (roster->entries[i].seen + 2 < roster->sample)
            return &roster->entries[i];
    return NULL;
}

static struct roster_entry *add(struct roster *roster, const char *name, size_t size) {
    struct roster_entry *entry = size && size <= ROSTER_NAME_MAX ? place(roster) : NULL;
    if (!entry)
        return NULL;
    *entry = (struct roster_entry){.size = (uint8_t)size};
    memcpy(entry->name, name, size);
    return entry;
}

struct roster_entry *roster_see(struct roster *roster, const char *name, size_t size,
                                uint64_t growth) {
    struct roster_entry *entry = find(roster, name, size);
    bool known = entry != NULL;
    if (!known)
        entry = add(roster, name, size);
    if (!entry || (known && entry->seen == roster->sample))
        return NULL;
    bool was_here = known && entry->seen + 1 >= roster->sample;
    entry->born = roster->sample > 1 && !was_here && (!known || growth < entry->growth);
    roster->came |= !was_here;
    entry->seen = roster->sample;
    entry->growth = growth;
    roster->n_seen++;
    roster->next = (size_t)(entry - roster->entries) + 1;
    return entry;
}
