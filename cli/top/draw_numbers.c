/* SPDX-License-Identifier: MIT */
/* Numbers that are read at a glance, and the strip of cores. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/top/draw.h"
#include "common/error.h"

/* Three digits at most. */
static int digits(double value) {
    return value > 0 && value < 9.95 ? 1 : 0;
}

const char *top_rate(char text[TOP_NUMBER_SIZE], double mb_s) {
    if (isnan(mb_s))
        return strcpy(text, "-");
    if (mb_s < 0.05)
        return strcpy(text, mb_s > 0.0005 ? "<.1" : "0");
    if (mb_s < 999.5)
        snprintf(text, TOP_NUMBER_SIZE, "%.*f", digits(mb_s), mb_s);
    else
        snprintf(text, TOP_NUMBER_SIZE, "%.*fG", digits(mb_s / 1e3), fmin(mb_s / 1e3, 9e5));
    return text;
}

const char *top_size(char text[TOP_NUMBER_SIZE], double gb) {
    if (isnan(gb))
        return strcpy(text, "-");
    if (gb > 0 && gb < 0.0005)
        return strcpy(text, "<1M");
    if (gb < 0.9995)
        snprintf(text, TOP_NUMBER_SIZE, "%.0fM", fmax(gb, 0) * 1e3);
    else if (gb < 999.5)
        snprintf(text, TOP_NUMBER_SIZE, "%.*fG", gb < 99.95, gb);
    else
        snprintf(text, TOP_NUMBER_SIZE, "%.*fT", digits(gb / 1e3), fmin(gb / 1e3, 9e5));
    return text;
}

const char *top_percent(char text[TOP_NUMBER_SIZE], double pct) {
    if (isnan(pct))
        return strcpy(text, "-");
    snprintf(text, TOP_NUMBER_SIZE, "%.0f", fmin(fmax(pct, 0), 1e6));
    return text;
}

const char *top_time(char text[TOP_NUMBER_SIZE], double seconds) {
    long s = isnan(seconds) || seconds < 0 ? 0 : seconds > 1e9 ? 1000000000 : lround(seconds);
    if (isnan(seconds))
        return strcpy(text, "-");
    if (s < 60)
        snprintf(text, TOP_NUMBER_SIZE, "%ld s", s);
    else if (s < 3600)
        snprintf(text, TOP_NUMBER_SIZE, "%ld:%02ld min", s / 60, s % 60);
    else if (s < 86400)
        snprintf(text, TOP_NUMBER_SIZE, "%ld:%02ld h", s / 3600, s / 60 % 60);
    else
        snprintf(text, TOP_NUMBER_SIZE, "%ld d %02ld h", s / 86400, s / 3600 % 24);
    return text;
}

/* In eighths; without UTF-8 in tenths. */
static const char *level_of(bool utf8, double pct) {
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const tenths[] = {".", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    if (isnan(pct))
        return "?";
    double part = fmin(fmax(pct, 0), 100) / 100;
    if (!utf8)
        return tenths[(size_t)fmin(part * 10, 9)];
    return eighths[part < 0.03 ? 0 : (size_t)fmax(1, lround(part * 8))];
}

void top_draw_strip(struct canvas *canvas, size_t row, size_t column, size_t width,
                    const struct live_host *host) {
    size_t n = host->n_cores < width ? host->n_cores : width;
    for (size_t i = 0; i < n; i++) {
        size_t begin = i * host->n_cores / n, end = (i + 1) * host->n_cores / n;
        double most = host->core_pct[begin];
        for (size_t c = begin; c < end; c++)
            most = fmax(most, host->core_pct[c]);
        canvas_put(canvas, row, column + i, 1, ROLE_COMPUTING, level_of(canvas->utf8, most));
    }
}

double top_history_peak(const struct live_values *values) {
    double most = NAN;
    for (int s = 0; s < LIVE_HISTORY_S; s++)
        most = fmax(most, (double)values->value[s]);
    return most;
}

/* The highest value of the seconds of a cell; NAN: none is known. */
static double highest(const struct live_values *values, size_t cell, size_t cells) {
    size_t end = (cell + 1) * LIVE_HISTORY_S / cells;
    double most = NAN;
    for (size_t s = cell * LIVE_HISTORY_S / cells; s < end; s++)
        most = fmax(most, (double)values->value[s]);
    return most;
}

/* Nothing is known where nothing is drawn: the lowest level has a line, too. */
void top_draw_history(struct canvas *canvas, size_t row, size_t column, size_t width,
                      enum role role, const struct live_values *values, double most) {
    if (width > LIVE_HISTORY_S)
        width = LIVE_HISTORY_S;
    if (!(most > 0))
        most = top_history_peak(values);
    for (size_t i = 0; i < width; i++) {
        double value = highest(values, i, width);
        double pct = most > 0 ? 100 * value / most : 0;
        if (isnan(value))
            continue;
        const char *level = level_of(canvas->utf8, pct);
        canvas_put(canvas, row, column + i, 1, role, *level == ' ' ? "▁" : level);
    }
}

enum role top_term_role(enum budget_term term) {
    static const uint8_t roles[BUDGET_TERMS] = {
        [BUDGET_CPU] = ROLE_COMPUTING,       [BUDGET_RUN_QUEUE] = ROLE_CORE_WAIT,
        [BUDGET_QUOTA] = ROLE_CORE_WAIT,     [BUDGET_STEAL] = ROLE_CORE_WAIT,
        [BUDGET_DISK] = ROLE_DISK,           [BUDGET_MEMORY] = ROLE_MEMORY,
        [BUDGET_STOPPED] = ROLE_ASLEEP,      [BUDGET_IDLE] = ROLE_ASLEEP,
        [BUDGET_PEER_WAIT] = ROLE_PEER_WAIT, [BUDGET_TRANSFER] = ROLE_TRANSFER,
        [BUDGET_FILE] = ROLE_DISK,           [BUDGET_OVERHEAD] = ROLE_PEER_WAIT,
        [BUDGET_UNSPLIT] = ROLE_PEER_WAIT,   [BUDGET_GPU] = ROLE_GPU,
        [BUDGET_GPU_COPY] = ROLE_GPU};
    return (enum role)roles[term];
}
