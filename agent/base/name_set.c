/* SPDX-License-Identifier: MIT */
/* Entries are kept while there is room: a device that is plugged in again is known. */
#include "agent/base/name_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int name_set_init(struct name_set *names, size_t capacity) {
    struct name_set_entry *entries = calloc(capacity, sizeof *entries);
    if (!entries)
        return -ENOMEM;
    *names = (struct name_set){.entries = entries, .capacity = capacity};
    return 0;
}

void name_set_release(struct name_set *names) {
    free(names->entries);
    *names = (struct name_set){0};
}

void name_set_begin(struct name_set *names) {
    names->came = false;
    names->n_seen_before = names->n_seen;
    names->n_seen = 0;
    names->next = 0;
    names->sample++;
}

bool name_set_end(const struct name_set *names) {
    return names->came || names->n_seen != names->n_seen_before;
}

static bool entry_is(const struct name_set_entry *entry, const char *name, size_t size) {
    return entry->size == size && memcmp(entry->name, name, size) == 0;
}

static struct name_set_entry *find_entry(struct name_set *names, const char *name, size_t size) {
    for (size_t i = 0; i < names->n; i++) {
        size_t at = names->next + i;
        at = at < names->n ? at : at - names->n;
        if (entry_is(&names->entries[at], name, size))
            return &names->entries[at];
    }
    return NULL;
}

/* A free entry, or one whose name two samples lacked. */
static struct name_set_entry *choose_entry(struct name_set *names) {
    if (names->n < names->capacity)
        return &names->entries[names->n++];
    for (size_t i = 0; i < names->n; i++)
        if (names->entries[i].seen + 2 < names->sample)
            return &names->entries[i];
    return NULL;
}

static struct name_set_entry *add(struct name_set *names, const char *name, size_t size) {
    struct name_set_entry *entry = size && size <= NAME_SET_NAME_MAX ? choose_entry(names) : NULL;
    if (!entry)
        return NULL;
    *entry = (struct name_set_entry){.size = (uint8_t)size};
    memcpy(entry->name, name, size);
    return entry;
}

struct name_set_entry *name_set_see(struct name_set *names, const char *name, size_t size,
                                    uint64_t growth) {
    struct name_set_entry *entry = find_entry(names, name, size);
    bool known = entry != NULL;
    if (!known)
        entry = add(names, name, size);
    if (!entry || (known && entry->seen == names->sample))
        return NULL;
    bool was_here = known && entry->seen + 1 >= names->sample;
    entry->born = names->sample > 1 && !was_here && (!known || growth < entry->growth);
    names->came |= !was_here;
    entry->seen = names->sample;
    entry->growth = growth;
    names->n_seen++;
    names->next = (size_t)(entry - names->entries) + 1;
    return entry;
}
