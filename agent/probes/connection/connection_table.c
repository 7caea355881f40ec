/* SPDX-License-Identifier: MIT */
/* Open addressing at half load; cookies are consecutive, so they are their own hash. */
#include <string.h>

#include "agent/probes/connection/connection.h"

struct connection *connections_find(struct connections *all, uint64_t cookie) {
    for (size_t slot = cookie % CONNECTION_SLOTS; all->slots[slot];
         slot = (slot + 1) % CONNECTION_SLOTS)
        if (all->items[all->slots[slot] - 1].cookie == cookie)
            return &all->items[all->slots[slot] - 1];
    return NULL;
}

static void place(struct connections *all, size_t at) {
    size_t slot = all->items[at].cookie % CONNECTION_SLOTS;
    while (all->slots[slot])
        slot = (slot + 1) % CONNECTION_SLOTS;
    all->slots[slot] = (uint16_t)(at + 1);
}

struct connection *connections_add(struct connections *all, uint64_t cookie) {
    if (all->n == CONNECTIONS_MAX)
        return NULL;
    struct connection *connection = &all->items[all->n];
    *connection = (struct connection){.cookie = cookie, .rank = -1};
    place(all, all->n++);
    return connection;
}

void connections_keep(struct connections *all, uint64_t sample) {
    size_t kept = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].seen >= sample)
            all->items[kept++] = all->items[i];
    if (kept == all->n)
        return;
    all->n = kept;
    memset(all->slots, 0, sizeof all->slots);
    for (size_t i = 0; i < kept; i++)
        place(all, i);
}
