/* SPDX-License-Identifier: MIT */
/* Open addressing at half load; ids are consecutive, so they are their own hash. */
#include "agent/base/idmap.h"

#include <string.h>

static size_t first_slot(int32_t id) {
    return (uint32_t)id % IDMAP_SLOTS;
}

int idmap_find(const struct idmap *map, int32_t id) {
    for (size_t slot = first_slot(id); map->slots[slot]; slot = (slot + 1) % IDMAP_SLOTS)
        if (map->ids[map->slots[slot] - 1] == id)
            return map->slots[slot] - 1;
    return -1;
}

static void put_in_slot(struct idmap *map, int32_t id, size_t at) {
    size_t slot = first_slot(id);
    while (map->slots[slot])
        slot = (slot + 1) % IDMAP_SLOTS;
    map->slots[slot] = (uint16_t)(at + 1);
}

int idmap_add(struct idmap *map, int32_t id) {
    if (map->n == IDMAP_CAPACITY)
        return -1;
    map->ids[map->n] = id;
    put_in_slot(map, id, map->n);
    return (int)map->n++;
}

void idmap_rebuild(struct idmap *map) {
    memset(map->slots, 0, sizeof map->slots);
    for (size_t i = 0; i < map->n; i++)
        put_in_slot(map, map->ids[i], i);
}
