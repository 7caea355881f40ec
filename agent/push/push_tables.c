/* SPDX-License-Identifier: MIT */
#include "agent/push/push_tables.h"

#include <string.h>

#include "common/wire.h"

void push_tables_release(struct push_tables *tables) {
    buffer_release(&tables->block);
}

static bool is_block(const struct push_tables *tables, struct span found) {
    return found.size == tables->block.size &&
           memcmp(found.data, tables->block.data, found.size) == 0;
}

/* A segment from before an update may describe other tables than this agent's. */
void push_tables_shorten(struct push_tables *tables, struct buffer *body) {
    struct span found;
    tables->left_out = false;
    if (!wire_find_tables(body->data, body->size, &found))
        return;
    if (is_block(tables, found)) {
        if (tables->id) {
            wire_replace_tables(body, found, tables->id);
            tables->left_out = true;
        }
        return;
    }
    tables->id = 0;
    buffer_reset(&tables->block);
    buffer_put(&tables->block, found.data, found.size);
    if (tables->block.error)
        buffer_reset(&tables->block);
}

void push_tables_learn(struct push_tables *tables, uint64_t id) {
    if (!tables->left_out && tables->block.size)
        tables->id = id;
}

bool push_tables_forget(struct push_tables *tables) {
    bool sent = tables->left_out;
    tables->id = 0;
    return sent;
}
