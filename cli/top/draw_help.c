/* SPDX-License-Identifier: MIT */
#include "cli/top/draw.h"
#include "common/error.h"

static const char *const keys[][2] = {
    {"q", "one screen back, and out of the first one"},
    {"Enter, a number", "one host in detail: the marked one, or that one"},
    {"up, down, PgUp, PgDn", "mark another host; in a list, scroll it"},
    {"p", "all processes"},
    {"P  M  N", "sort by CPU, memory, network; < > other orders, R turns"},
    {"space", "pause, and go on"},
    {"d", "seconds between pictures"},
    {"h  ?", "this"},
};

static const struct {
    enum role role;
    const char *name, *words;
} colours[] = {
    {ROLE_COMPUTING, "green", "computing"},
    {ROLE_CORE_WAIT, "amber", "waiting for a core (WAIT%: threads of a process)"},
    {ROLE_PEER_WAIT, "grey", "waiting for a peer"},
    {ROLE_TRANSFER, "blue", "transfer, network"},
    {ROLE_DISK, "purple", "disk"},
    {ROLE_MEMORY, "pink", "memory"},
    {ROLE_ASLEEP, "white", "asleep"},
    {ROLE_LIMIT, "red", "the limit, and the host that has it (marked with !)"},
};

void top_draw_help(struct top_area *area) {
    struct canvas *c = area->canvas;
    size_t row = area->row;
    canvas_stripe(c, row, ROLE_HEAD);
    canvas_put(c, row++, 1, c->columns, ROLE_HEAD, "KEYS");
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++, row++) {
        canvas_put(c, row, 1, 21, ROLE_BOLD, keys[i][0]);
        canvas_put(c, row, 23, c->columns, ROLE_PLAIN, keys[i][1]);
    }
    canvas_stripe(c, row, ROLE_HEAD);
    canvas_put(c, row++, 1, c->columns, ROLE_HEAD,
               "COLOURS   rates in MB/s; CPU% of all cores, of processes of one");
    for (size_t i = 0; i < ARRAY_SIZE(colours); i++, row++) {
        canvas_put(c, row, 1, 21, colours[i].role, colours[i].name);
        canvas_put(c, row, 23, c->columns, ROLE_PLAIN, colours[i].words);
    }
}
