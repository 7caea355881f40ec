/* SPDX-License-Identifier: MIT */
#include "cli/top/screen.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/top/view.h"
#include "common/error.h"

/* Colours for terminals of 256 colours, and of 8. */
static const short palette[ROLE_COUNT_][2] = {
    [ROLE_COMPUTING] = {40, COLOR_GREEN},  [ROLE_CORE_WAIT] = {214, COLOR_YELLOW},
    [ROLE_PEER_WAIT] = {245, COLOR_WHITE}, [ROLE_TRANSFER] = {33, COLOR_BLUE},
    [ROLE_DISK] = {135, COLOR_MAGENTA},    [ROLE_MEMORY] = {212, COLOR_MAGENTA},
    [ROLE_GPU] = {137, COLOR_CYAN},        [ROLE_ASLEEP] = {255, COLOR_WHITE},
    [ROLE_LIMIT] = {196, COLOR_RED}};

static SCREEN *terminal; /* a process has one terminal */
static bool coloured;

static void start_colours(void) {
    if (start_color() == ERR || use_default_colors() == ERR)
        return;
    for (int role = 0; role < ROLE_COUNT_; role++)
        if (palette[role][0])
            init_pair((short)role, palette[role][COLORS < 256], -1);
    coloured = true;
}

int screen_open(bool colours, char *why, size_t why_size) {
    const char *type = getenv("TERM");
    terminal = newterm(NULL, stdout, stdin);
    if (terminal && !tigetstr("cup")) { /* the terminal cannot move its cursor */
        endwin();
        delscreen(terminal);
        terminal = NULL;
    }
    if (!terminal) {
        snprintf(why, why_size, "a terminal of type '%s' cannot be drawn on; -b prints text",
                 type ? type : "");
        return -ENOTTY;
    }
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    set_escdelay(50);
    if (colours && has_colors())
        start_colours();
    return 0;
}

void screen_close(void) {
    if (!terminal)
        return;
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

void screen_size(size_t *ret_rows, size_t *ret_columns) {
    *ret_rows = LINES > 0 ? (size_t)LINES : 1;
    *ret_columns = COLS > 0 ? (size_t)COLS : 1;
}

static attr_t attributes_of(const struct cell *cell, bool chosen) {
    attr_t attributes = A_NORMAL;
    if (cell->role == ROLE_BOLD || cell->role == ROLE_LIMIT)
        attributes |= A_BOLD;
    if (cell->role == ROLE_DIM)
        attributes |= A_DIM;
    if (cell->role == ROLE_MEMORY && COLORS < 256)
        attributes |= A_BOLD;
    if (cell->role == ROLE_HEAD || chosen || (cell->solid && coloured))
        attributes |= A_REVERSE;
    return attributes;
}

/* Cells of the same look are one write. */
static void show_row(const struct canvas *canvas, size_t row) {
    const struct cell *cells = canvas->cells + row * canvas->columns;
    char text[1024];
    for (size_t c = 0; c < canvas->columns;) {
        size_t used = 0, begin = c;
        const struct cell *first = &cells[c];
        for (; c < canvas->columns && cells[c].role == first->role &&
               cells[c].solid == first->solid && used + CELL_BYTES < sizeof text;
             c++) {
            size_t size = strlen(cells[c].text);
            memcpy(text + used, cells[c].text, size);
            used += size;
        }
        text[used] = '\0';
        attr_set(attributes_of(first, row == canvas->chosen),
                 coloured && palette[first->role][0] ? (short)first->role : 0, NULL);
        mvaddstr((int)row, (int)begin, text);
    }
}

void screen_show(const struct canvas *canvas) {
    for (size_t r = 0; r < canvas->rows; r++)
        show_row(canvas, r);
    attr_set(A_NORMAL, 0, NULL);
    refresh();
}

int screen_key(int timeout_ms) {
    static const struct {
        int curses, key;
    } keys[] = {{KEY_UP, TOP_KEY_UP},
                {KEY_DOWN, TOP_KEY_DOWN},
                {KEY_PPAGE, TOP_KEY_PAGE_UP},
                {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
                {KEY_HOME, TOP_KEY_HOME},
                {KEY_END, TOP_KEY_END},
                {KEY_ENTER, TOP_KEY_ENTER},
                {'\r', TOP_KEY_ENTER},
                {'\n', TOP_KEY_ENTER},
                {27, TOP_KEY_ESCAPE},
                {KEY_BACKSPACE, TOP_KEY_ERASE},
                {127, TOP_KEY_ERASE},
                {8, TOP_KEY_ERASE}};
    timeout(timeout_ms);
    int got = getch();
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (got == keys[i].curses)
            return keys[i].key;
    return got > 0 && got < 127 ? got : TOP_KEY_NONE;
}
