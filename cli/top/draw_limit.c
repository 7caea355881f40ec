/* SPDX-License-Identifier: MIT */
/*
 * The limit of the run so far, the worth of a change, and advice: the lines that `chokepoint run`
 * ends with, in the same words. A short screen gives each one line and the limit further ones; a
 * tall one shows them whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/draw.h"
#include "common/error.h"
#include "reports/formats/terminal.h"

#define LABEL_COLUMNS 8
#define LINES_MAX 3    /* width of a label */
#define SCREEN_SHARE 4 /* the head takes at most one line in so many */

struct limit_line {
    const char *label, *text;
    char *laid; /* owned: the text in lines; NULL: no memory, nothing is drawn */
    size_t wanted, given;
};
#define LIMIT_LINES 3

/* A running run will be long enough to be judged; one that has ended was too short. */
static const char *words_of(const struct live_limit *limit) {
    if (!limit->known)
        return "not judged yet";
    return limit->too_short && !limit->final ? "too early to say" : limit->words;
}

static void lay(struct limit_line *line, size_t columns, size_t taken, size_t lines_max) {
    size_t size;
    line->laid = NULL;
    line->wanted = 0;
    FILE *out = open_memstream(&line->laid, &size);
    if (!out)
        return;
    line->wanted = terminal_lay(out, columns - LABEL_COLUMNS, taken, line->text, lines_max);
    if (fclose(out) != 0)
        line->wanted = 0;
}

/* "so far (3:15 min), confidence 93 %"; on a narrow screen "93 %" */
static void put_certainty(char *text, size_t size, const struct live_limit *limit, bool narrow) {
    char until[TOP_NUMBER_SIZE];
    size_t used = 0;
    text[0] = '\0';
    if (!limit->known)
        return;
    if (narrow) {
        if (limit->confidence > 0)
            snprintf(text, size, "%.0f %%", 100 * limit->confidence);
        return;
    }
    if (!limit->final)
        used = (size_t)snprintf(text, size, "so far (%s)", top_time(until, limit->at_s));
    if (limit->confidence > 0 && used < size)
        snprintf(text + used, size - used, "%sconfidence %.0f %%", used ? ", " : "",
                 100 * limit->confidence);
}

/* The lines of each text when `room` lines are available: one each, then those that the limit
 * needs, then those of the advice. Empty texts have none. beside: columns at the end of the first
 * line. */
static void lay_out(struct limit_line lines[LIMIT_LINES], size_t columns, size_t beside,
                    size_t room) {
    static const size_t first[LIMIT_LINES] = {0, 2, 1};
    size_t taken[LIMIT_LINES] = {beside ? beside + 2 : 0};
    for (size_t i = 0; i < LIMIT_LINES; i++) {
        if (*lines[i].text && room)
            lay(&lines[i], columns, taken[i], LINES_MAX);
        lines[i].given = lines[i].wanted ? 1 : 0;
        room -= lines[i].given;
    }
    for (size_t k = 0; k < LIMIT_LINES; k++)
        for (struct limit_line *line = &lines[first[k]]; line->given < line->wanted && room; room--)
            line->given++;
    for (size_t i = 0; i < LIMIT_LINES; i++) {
        if (lines[i].given == lines[i].wanted)
            continue;
        free(lines[i].laid);
        lay(&lines[i], columns, taken[i], lines[i].given); /* again, so that it ends in "..." */
    }
}

static void release(struct limit_line lines[LIMIT_LINES]) {
    for (size_t i = 0; i < LIMIT_LINES; i++)
        free(lines[i].laid);
}

static void begin(struct limit_line lines[LIMIT_LINES], const struct live_limit *limit) {
    bool told = limit->known && !limit->too_short;
    lines[0] = (struct limit_line){.label = "limit", .text = words_of(limit)};
    lines[1] = (struct limit_line){.label = "worth", .text = told ? limit->worth : ""};
    lines[2] = (struct limit_line){.label = "do", .text = told ? limit->action : ""};
}

static bool is_narrow(const struct canvas *canvas) {
    return canvas->columns < TOP_COLUMNS_USUAL;
}

size_t top_head_rows(const struct top_area *screen) {
    struct limit_line lines[LIMIT_LINES];
    size_t rows = screen->canvas->rows, used = 1, most = rows / SCREEN_SHARE;
    size_t least = rows < TOP_ROWS_USUAL ? 2 : TOP_HEAD_ROWS;
    char sure[60];
    if (screen->view->own)
        return rows < TOP_ROWS_USUAL ? 2 : TOP_HEAD_ROWS;
    begin(lines, &screen->snapshot->limit);
    put_certainty(sure, sizeof sure, &screen->snapshot->limit, is_narrow(screen->canvas));
    lay_out(lines, screen->canvas->columns, terminal_width(sure),
            (most < least ? least : most) - 1);
    for (size_t i = 0; i < LIMIT_LINES; i++)
        used += lines[i].given;
    release(lines);
    return used < least ? least : used;
}

static size_t draw_text_line(struct top_area *area, size_t row, const struct limit_line *line,
                             enum role role) {
    size_t drawn = 0;
    const char *next;
    canvas_put(area->canvas, row, 0, LABEL_COLUMNS, ROLE_BOLD, line->label);
    for (const char *at = line->laid; at && *at && drawn < line->given; at = next, drawn++) {
        char text[1024];
        size_t size = strcspn(at, "\n");
        next = at + size + (at[size] == '\n');
        snprintf(text, sizeof text, "%.*s", (int)size, at);
        canvas_put(area->canvas, row + drawn, LABEL_COLUMNS, area->canvas->columns - LABEL_COLUMNS,
                   role, text);
    }
    return drawn;
}

void top_draw_limit(struct top_area *area) {
    const struct live_limit *limit = &area->snapshot->limit;
    struct limit_line lines[LIMIT_LINES];
    char sure[60];
    size_t row = area->row;
    begin(lines, limit);
    put_certainty(sure, sizeof sure, limit, is_narrow(area->canvas));
    lay_out(lines, area->canvas->columns, terminal_width(sure), area->rows);
    canvas_put_right(area->canvas, row, area->canvas->columns - terminal_width(sure),
                     terminal_width(sure), ROLE_PLAIN, sure);
    for (size_t i = 0; i < LIMIT_LINES; i++) {
        enum role role = i == 0 && limit->what ? ROLE_LIMIT : ROLE_PLAIN;
        if (lines[i].given)
            row += draw_text_line(area, row, &lines[i], role);
    }
    release(lines);
}
