/* SPDX-License-Identifier: MIT */
/* The terminal; only screen.c includes ncurses. */
#ifndef CHOKEPOINT_CLI_TOP_SCREEN_H
#define CHOKEPOINT_CLI_TOP_SCREEN_H

#include "cli/top/canvas.h"

/* Takes the terminal over. -ENOTTY with one line in `why`: it cannot be drawn on. screen_close
 * restores it, and may be called without. */
int screen_open(bool colours, char *why, size_t why_size);
void screen_close(void);
void screen_size(size_t *ret_rows, size_t *ret_columns);
void screen_show(const struct canvas *canvas);
/* A key, as in view.h; TOP_KEY_NONE: no key came in that time, the size changed, or a signal
 * came. */
int screen_key(int timeout_ms);

#endif
