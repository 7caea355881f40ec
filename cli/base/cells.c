/* SPDX-License-Identifier: MIT */
#include "cli/base/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text.h"

#define REST_WIDTH 60 /* of a line that is no terminal's */

size_t cell_width(const char *text) {
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

void cell_start(int64_t wall_ns, char *to, size_t size) {
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm tm;
    if (!localtime_r(&seconds, &tm) || !strftime(to, size, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(to, size, "?");
}

void cell_duration(double seconds, char *to, size_t size) {
    int64_t s = seconds >= 0 && seconds < 1e12 ? (int64_t)seconds : -1;
    if (s < 0)
        snprintf(to, size, "-");
    else if (s < 60)
        snprintf(to, size, "%.1f s", seconds);
    else if (s < 3600)
        snprintf(to, size, "%" PRId64 ":%02d min", s / 60, (int)(s % 60));
    else
        snprintf(to, size, "%" PRId64 ":%02d:%02d h", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
}

size_t cell_fit(const char *text, size_t room, bool *ret_cut) {
    size_t end = 0;
    *ret_cut = cell_width(text) > room;
    for (size_t n = 0; text[end] && (!*ret_cut || n < room - 1); n++)
        do
            end++;
        while ((text[end] & 0xc0) == 0x80);
    return end;
}

void cell_print(const char *text, size_t width, bool right) {
    int pad = (int)(width - cell_width(text));
    printf("%*s%s%*s  ", right ? pad : 0, "", text, right ? 0 : pad, "");
}

void cell_print_rest(const char *text, size_t used, bool whole) {
    struct winsize window;
    size_t size = strlen(text), room = whole ? SIZE_MAX : REST_WIDTH;
    char *clean = malloc(size + 1);
    bool cut;
    if (!clean)
        return;
    text_sanitize(clean, size + 1, text, size);
    if (!whole && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 &&
        window.ws_col)
        room = window.ws_col > used + 8 ? window.ws_col - used : 8;
    size_t end = cell_fit(clean, room, &cut);
    printf("%.*s%s\n", (int)end, clean, cut ? "…" : "");
    free(clean);
}
