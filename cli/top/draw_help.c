/* SPDX-License-Identifier: MIT */
#include "cli/top/draw.h"
#include "common/error.h"

static const char *const keys[][2] = {
    {"q  h  ?", "one screen back, and out of the first one; h and ?: this"},
    {"Enter, a number", "one host in detail: the marked one, or that one"},
    {"up, down, PgUp, PgDn", "mark another host; in a list, scroll it"},
    {"p", "all processes"},
    {"P  M  N", "sort by CPU, memory, network; < > other orders, R turns"},
    {"space  d", "pause, and go on; seconds between pictures"},
};

static const struct {
    enum role role;
    const char *name, *words;
} colours[] = {
    {ROLE_COMPUTING, "green", "C computing"},
    {ROLE_CORE_WAIT, "amber", "Q waiting for a core, L used up its quota, S steal"},
    {ROLE_PEER_WAIT, "grey", "w waiting for a peer, o MPI overhead, u not known why"},
    {ROLE_TRANSFER, "blue", "t transfer, network"},
    {ROLE_DISK, "purple", "D disk, f files of MPI"},
    {ROLE_MEMORY, "pink", "M memory"},
    {ROLE_GPU, "brown", "a GPU at work, G waiting for it, g copying to or from it"},
    {ROLE_ASLEEP, "white", "i asleep or blocked, X stopped"},
    {ROLE_LIMIT, "red", "the limit, and the host that has it (marked with !)"},
};

static const char *const columns[][2] = {
    {"CPU%  MAX%", "of all cores, of the fullest; of a process: of one core"},
    {"SM%  BUSY%", "of a GPU: multiprocessors at work; time with any work on it"},
    {"WAIT%", "time that threads are ready to run and have no core"},
    {"NET IN/of  OUT/of", "MB/s, of what the link is known to carry"},
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
    canvas_put(c, row++, 1, c->columns, ROLE_HEAD, "COLOURS               and the letters of bars");
    for (size_t i = 0; i < ARRAY_SIZE(colours); i++, row++) {
        canvas_put(c, row, 1, 21, colours[i].role, colours[i].name);
        canvas_put(c, row, 23, c->columns, ROLE_PLAIN, colours[i].words);
    }
    canvas_stripe(c, row, ROLE_HEAD);
    canvas_put(c, row++, 1, c->columns, ROLE_HEAD, "COLUMNS               rates are MB/s");
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++, row++) {
        canvas_put(c, row, 1, 21, ROLE_BOLD, columns[i][0]);
        canvas_put(c, row, 23, c->columns, ROLE_PLAIN, columns[i][1]);
    }
}
