/* SPDX-License-Identifier: MIT */
/* Open addressing; four bytes of a name are enough for the hash. */
#include "agent/base/keys.h"

#include <stdbool.h>
#include <string.h>

#include "agent/base/counter.h"

static uint8_t key_slot(const char *name, size_t size) {
    const unsigned char *s = (const unsigned char *)name;
    return (uint8_t)(size * 37 + s[0] * 5 + s[size / 2] * 11 + s[size - 1] * 19 +
                     s[size * 3 / 4] * 7);
}

void keys_init(struct keys *keys, const struct key *list, size_t n) {
    memset(keys->slots, 0, sizeof keys->slots);
    keys->list = list;
    for (size_t i = 0; i < n; i++) {
        uint8_t slot = key_slot(list[i].name, strlen(list[i].name));
        while (keys->slots[slot])
            slot++;
        keys->slots[slot] = (uint8_t)(i + 1);
    }
}

static const struct key *find_key(const struct keys *keys, const char *name, size_t size) {
    for (uint8_t slot = key_slot(name, size); keys->slots[slot]; slot++) {
        const struct key *key = &keys->list[keys->slots[slot] - 1];
        if (strlen(key->name) == size && memcmp(key->name, name, size) == 0)
            return key;
    }
    return NULL;
}

static const char *name_end(const char *p, const char *end) {
    while (p < end && *p != ' ' && *p != ':' && *p != '\n')
        p++;
    return p;
}

void keys_read(const struct keys *keys, const char *text, const char *end, int64_t page_size,
               int64_t *values) {
    uint64_t overflowed = 0, number;
    while (text < end) {
        const char *p = name_end(text, end);
        const struct key *key = p > text ? find_key(keys, text, (size_t)(p - text)) : NULL;
        if (p < end && *p == ':')
            p++;
        if (key && text_u64(&p, end, &number) && !(overflowed >> key->column & 1)) {
            int64_t *value = &values[key->column];
            *value =
                counter_add(*value, counter_value(number, key->scale ? key->scale : page_size));
            overflowed |= (uint64_t)(*value == VALUE_ABSENT) << key->column;
        }
        const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        text = newline ? newline + 1 : end;
    }
}
