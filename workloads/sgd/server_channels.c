/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/server.h"

bool server_step(struct server *s) {
    bool moved = false;
    for (int i = 0; i < s->n_channels; i++)
        moved |= channel_step(&s->channels[i]);
    return moved;
}

bool server_all(const struct server *s, enum channel_state state) {
    for (int i = 0; i < s->n_channels; i++)
        if (s->channels[i].state != state)
            return false;
    return true;
}

bool server_any(const struct server *s, enum channel_state state) {
    for (int i = 0; i < s->n_channels; i++)
        if (s->channels[i].state == state)
            return true;
    return false;
}
