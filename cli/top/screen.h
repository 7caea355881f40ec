/* SPDX-License-Identifier: MIT */
/* The terminal: the one file that knows ncurses is screen.c. */
#ifndef CHOKEPOINT_CLI_TOP_SCREEN_H
#define CHOKEPOINT_CLI_TOP_SCREEN_H

#include "cli/top/canvas.h"

/* Takes the terminal over. -ENOTTY with one line in `why`: it cannot be drawn on. screen_close
 * gives it back as it was, and may be called without. */
int screen_open(bool colours, char *why, size_t why_size);
void screen_close(void);
void screen_size(size_t *ret_rows, size_t *ret_columns);
void screen_show(const struct canvas *canvas);
/* A key as view.h has them; TOP_KEY_NONE: none came in that time, or the size changed, or a signal
 * did. */
int screen_key(int timeout_ms);

#endif
