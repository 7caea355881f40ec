/* SPDX-License-Identifier: MIT */
#include "cli/top/draw.h"
#include "common/error.h"

static const char *const keys[][2] = {
    {"q  h  ?", "one screen back, and out of the first one; h and ?: this"},
    {"Enter, a number", "one host in detail: the marked one, or that one"},
    {"up, down, PgUp, PgDn", "mark another host; in a list, scroll it"},
    {"/", "only what has these letters; Esc ends it"},
    {"p  t  j", "all processes; by program; only those of the job"},
    {"P  M  N  <  >  R", "sort by CPU, memory, network, others; turn the order"},
    {"g  space  d", "the last 60 s of hosts; pause; seconds between pictures"},
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
    {"SM%  BUSY%", "of a GPU: its multiprocessors; time with any work on it"},
    {"WAIT%", "time that threads are ready to run and have no core"},
    {"NET IN/of  OUT/of", "MB/s, of what the link is known to carry"},
};

/* A line, unless it is scrolled away. */
static void draw_line(struct top_area *area, size_t *line, bool head, enum role role,
                      const char *left, const char *right) {
    struct canvas *c = area->canvas;
    size_t at = (*line)++, label = c->columns < TOP_COLUMNS_USUAL ? 17 : 22;
    if (at < area->view->scroll || at - area->view->scroll >= area->rows)
        return;
    size_t row = area->row + at - area->view->scroll;
    if (head)
        canvas_stripe(c, row, ROLE_HEAD);
    canvas_put(c, row, 1, label - 1, role, left);
    canvas_put(c, row, label + 1, c->columns, head ? ROLE_HEAD : ROLE_PLAIN, right);
}

#define LINES (3 + ARRAY_SIZE(keys) + ARRAY_SIZE(colours) + ARRAY_SIZE(columns))

void top_draw_help(struct top_area *area) {
    size_t line = 0, most = LINES > area->rows ? LINES - area->rows : 0;
    if (area->view->scroll > most)
        area->view->scroll = most;
    area->view->page = area->rows;
    draw_line(area, &line, true, ROLE_HEAD, "KEYS", "");
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        draw_line(area, &line, false, ROLE_BOLD, keys[i][0], keys[i][1]);
    draw_line(area, &line, true, ROLE_HEAD, "COLOURS", "and the letters of bars");
    for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
        draw_line(area, &line, false, colours[i].role, colours[i].name, colours[i].words);
    draw_line(area, &line, true, ROLE_HEAD, "COLUMNS", "rates are MB/s");
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        draw_line(area, &line, false, ROLE_BOLD, columns[i][0], columns[i][1]);
}
