/* SPDX-License-Identifier: MIT */
#include "reports/text/budget_bars.h"

#include <math.h>
#include <string.h>

#include "reports/formats/terminal.h"
#include "reports/model/budget_words.h"
#include "reports/says/term_words.h"
#include "reports/text/budget_rows.h"

#define BAR_WIDTH 24     /* on lines of NARROW columns or more */
#define BAR_WIDTH_LOW 16 /* on others, so that words have room */
#define NARROW 90

static const char letters[BUDGET_TERMS] = {
    [BUDGET_CPU] = 'C',      [BUDGET_RUN_QUEUE] = 'Q', [BUDGET_QUOTA] = 'L',
    [BUDGET_STEAL] = 'S',    [BUDGET_DISK] = 'D',      [BUDGET_MEMORY] = 'M',
    [BUDGET_STOPPED] = 'X',  [BUDGET_IDLE] = 'i',      [BUDGET_PEER_WAIT] = 'w',
    [BUDGET_TRANSFER] = 't', [BUDGET_FILE] = 'f',      [BUDGET_OVERHEAD] = 'o',
    [BUDGET_UNSPLIT] = 'u',  [BUDGET_GPU] = 'G',       [BUDGET_GPU_COPY] = 'g'};

char budget_letter(enum budget_term term) {
    return letters[term];
}

/* Repeats each letter by its share, rounded so that the bar has its full length. */
static void draw_bar(const struct report_budget *b, size_t width, char bar[BAR_WIDTH + 1]) {
    double sum = 0;
    size_t used = 0;
    for (int term = 0; term < BUDGET_TERMS; term++) {
        sum += budget_row_share(b, (enum budget_term)term);
        size_t until = (size_t)lround(fmin(sum, 1) * (double)width);
        while (used < until)
            bar[used++] = letters[term];
    }
    while (used < width)
        bar[used++] = '?';
    bar[used] = '\0';
}

static int next_largest(const struct report_budget *b, unsigned *taken) {
    int best = -1;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (!(*taken >> term & 1) && budget_row_share(b, (enum budget_term)term) >= 0.02 &&
            (best < 0 || budget_row_share(b, (enum budget_term)term) >
                             budget_row_share(b, (enum budget_term)best)))
            best = term;
    if (best >= 0)
        *taken |= 1u << best;
    return best;
}

/* "waiting for a peer (rank 0) 41 %, computing 38 %, transfer 12 %": as many terms as fit whole. A
 * bar of a moment says so: "in its 0.3 s: computing 90 %". */
static void describe(const struct budget_row *row, int max, char *text, size_t size) {
    const struct report_budget *b = &row->budget;
    unsigned taken = 0;
    size_t used = 0;
    text[0] = '\0';
    if (row->brief)
        used = (size_t)snprintf(text, size, "in %s %.2g s: ", row->processes > 1 ? "their" : "its",
                                b->wall_s);
    for (int i = 0, term; i < max && (term = next_largest(b, &taken)) >= 0; i++) {
        char whom[24] = "", item[80];
        if (term == BUDGET_PEER_WAIT && b->awaited_rank >= 0)
            snprintf(whom, sizeof whom, " (rank %d)", b->awaited_rank);
        int n = snprintf(item, sizeof item, "%s%s%s %.0f %%", i ? ", " : "",
                         budget_term_words((enum budget_term)term), whom,
                         100 * budget_row_share(b, (enum budget_term)term));
        if (n < 0 || (size_t)n >= sizeof item || used + (size_t)n >= size) {
            if (i == 0 && used)
                text[used - 2] = '\0'; /* "in its 0.3 s" alone */
            return;
        }
        memcpy(text + used, item, (size_t)n + 1);
        used += (size_t)n;
    }
}

#define BAR_NAME_MIN 12 /* width of the names: of the widest, within these bounds */
#define BAR_NAME_MAX 28
#define BAR_BESIDE 8 /* blanks, and the mark of a doubtful bar */
#define BAR_WORDS_MAX (TERMINAL_COLUMNS - BAR_BESIDE - BAR_NAME_MIN - BAR_WIDTH_LOW)

static size_t bar_width(FILE *out) {
    return terminal_columns(out) < NARROW ? BAR_WIDTH_LOW : BAR_WIDTH;
}

static size_t name_width(FILE *out, const struct budget_row *rows, size_t n) {
    size_t width = BAR_NAME_MIN, most = terminal_columns(out) < 80 ? BAR_NAME_MIN : BAR_NAME_MAX;
    for (size_t i = 0; i < n; i++)
        width = terminal_width(rows[i].who) > width ? terminal_width(rows[i].who) : width;
    return width < most ? width : most;
}

static void put_bar(FILE *out, size_t name, const struct budget_row *row) {
    char letters_of_it[BAR_WIDTH + 1], words[BAR_WORDS_MAX + 1];
    size_t room = terminal_columns(out) - BAR_BESIDE - name - bar_width(out);
    draw_bar(&row->budget, bar_width(out), letters_of_it);
    describe(row, 3, words, room + 1);
    fputs("  ", out);
    terminal_put_cell(out, row->who, name, false);
    fprintf(out, " %s ", letters_of_it);
    terminal_put(out, words, room);
    fputs(row->budget.trusted ? "\n" : " (!)\n", out);
}

size_t budget_put_bars(FILE *out, const struct report *report) {
    struct budget_row rows[BUDGET_LINES_MAX];
    size_t n = budget_rows_make(report, BAR_NAME_MAX, rows);
    for (size_t i = 0; out && i < n; i++)
        put_bar(out, name_width(out, rows, n), &rows[i]);
    return n;
}

size_t budget_put_legend(FILE *out, const struct report *report) {
    struct budget_row rows[BUDGET_LINES_MAX];
    size_t n = budget_rows_make(report, BAR_NAME_MAX, rows), used = 0;
    char text[400] = "", drawn[BUDGET_LINES_MAX][BAR_WIDTH + 1];
    for (size_t i = 0; i < n; i++)
        draw_bar(&rows[i].budget, bar_width(out), drawn[i]);
    for (int term = 0; term < BUDGET_TERMS; term++) {
        bool shown = false;
        for (size_t i = 0; i < n; i++)
            shown |= strchr(drawn[i], letters[term]) != NULL;
        if (shown)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%c %s", used ? ", " : "",
                                     letters[term], budget_term_words((enum budget_term)term));
    }
    return used ? terminal_paragraph(out, "  ", text, 2) : 0;
}
