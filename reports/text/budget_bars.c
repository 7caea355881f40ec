/* SPDX-License-Identifier: MIT */
#include "reports/text/budget_bars.h"

#include <math.h>
#include <string.h>

#include "reports/formats/terminal.h"
#include "reports/model/budget_words.h"
#include "reports/model/layout.h"
#include "reports/says/term_words.h"

#define BAR_WIDTH 24

static const char letters[BUDGET_TERMS] = {
    [BUDGET_CPU] = 'C',      [BUDGET_RUN_QUEUE] = 'Q', [BUDGET_QUOTA] = 'L',
    [BUDGET_STEAL] = 'S',    [BUDGET_DISK] = 'D',      [BUDGET_MEMORY] = 'M',
    [BUDGET_STOPPED] = 'X',  [BUDGET_IDLE] = 'i',      [BUDGET_PEER_WAIT] = 'w',
    [BUDGET_TRANSFER] = 't', [BUDGET_FILE] = 'f',      [BUDGET_OVERHEAD] = 'o',
    [BUDGET_UNSPLIT] = 'u',  [BUDGET_GPU] = 'G',       [BUDGET_GPU_COPY] = 'g'};

char budget_letter(enum budget_term term) {
    return letters[term];
}

static double share_of(const struct report_budget *b, enum budget_term term) {
    return b->wall_s > 0 && !isnan(b->term_s[term]) ? b->term_s[term] / b->wall_s : 0;
}

/* Repeats each letter by its share, rounded so that the bar has its full length. */
static void draw_bar(const struct report_budget *b, char bar[BAR_WIDTH + 1]) {
    double sum = 0;
    size_t used = 0;
    for (int term = 0; term < BUDGET_TERMS; term++) {
        sum += share_of(b, (enum budget_term)term);
        size_t until = (size_t)lround(fmin(sum, 1) * BAR_WIDTH);
        while (used < until)
            bar[used++] = letters[term];
    }
    while (used < BAR_WIDTH)
        bar[used++] = '?';
    bar[used] = '\0';
}

static int next_largest(const struct report_budget *b, unsigned *taken) {
    int best = -1;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (!(*taken >> term & 1) && share_of(b, (enum budget_term)term) >= 0.02 &&
            (best < 0 || share_of(b, (enum budget_term)term) > share_of(b, (enum budget_term)best)))
            best = term;
    if (best >= 0)
        *taken |= 1u << best;
    return best;
}

/* "waiting for a peer (rank 0) 41 %, computing 38 %, transfer 12 %": as many terms as fit whole. */
static void describe(const struct report_budget *b, int max, bool brief, char *text, size_t size) {
    unsigned taken = 0;
    size_t used = 0;
    text[0] = '\0';
    if (brief)
        used = (size_t)snprintf(text, size, "of the %.2g s it was seen: ", b->wall_s);
    for (int i = 0, term; i < max && (term = next_largest(b, &taken)) >= 0; i++) {
        char whom[24] = "", item[80];
        if (term == BUDGET_PEER_WAIT && b->awaited_rank >= 0)
            snprintf(whom, sizeof whom, " (rank %d)", b->awaited_rank);
        int n = snprintf(item, sizeof item, "%s%s%s %.0f %%", i ? ", " : "",
                         budget_term_words((enum budget_term)term), whom,
                         100 * share_of(b, (enum budget_term)term));
        if (n < 0 || (size_t)n >= sizeof item || used + (size_t)n >= size)
            return;
        memcpy(text + used, item, (size_t)n + 1);
        used += (size_t)n;
    }
}

#define BAR_NAME_MIN 12 /* width of the names: of the widest, within these bounds */
#define BAR_NAME_MAX 28
#define BAR_BESIDE 8 /* blanks, and the mark of a doubtful bar */
#define BAR_WORDS_MAX (TERMINAL_COLUMNS - BAR_BESIDE - BAR_NAME_MIN - BAR_WIDTH)

#define BRIEF 0.1 /* of its phase: a bar of less covers a moment, and says so */

struct bar {
    char who[96];
    bool brief;
    struct report_budget budget;
};

static size_t name_width(FILE *out, const struct bar *bars, size_t n) {
    size_t width = BAR_NAME_MIN, most = terminal_columns(out) < 80 ? BAR_NAME_MIN : BAR_NAME_MAX;
    for (size_t i = 0; i < n; i++)
        width = terminal_width(bars[i].who) > width ? terminal_width(bars[i].who) : width;
    return width < most ? width : most;
}

static void put_bar(FILE *out, size_t name, const struct bar *bar) {
    char letters_of_it[BAR_WIDTH + 1], words[BAR_WORDS_MAX + 1];
    size_t room = terminal_columns(out) - BAR_BESIDE - name - BAR_WIDTH;
    draw_bar(&bar->budget, letters_of_it);
    describe(&bar->budget, 3, bar->brief, words, room + 1);
    fputs("  ", out);
    terminal_put_cell(out, bar->who, name, false);
    fprintf(out, " %s ", letters_of_it);
    terminal_put(out, words, room);
    fputs(bar->budget.trusted ? "\n" : " (!)\n", out);
}

/* A process without a rank that slept all the time: the launcher, a shell around the program. */
static bool is_bystander(const struct report_budget *b) {
    return b->rank < 0 && share_of(b, BUDGET_IDLE) >= 0.98;
}

/* The budgets of a phase that are worth a bar: all except bystanders, or all if there are only
 * those. */
struct worth {
    const struct report_budget *budgets;
    size_t n, n_worth;
};

static struct worth worth_of(const struct report_budget *budgets, size_t n) {
    struct worth worth = {budgets, n, 0};
    for (size_t i = 0; i < n; i++)
        worth.n_worth += !is_bystander(&budgets[i]);
    return worth;
}

/* Returns the next budget from *at on and moves *at behind it; NULL: none. */
static const struct report_budget *next_worth(const struct worth *worth, size_t *at) {
    while (*at < worth->n) {
        const struct report_budget *b = &worth->budgets[(*at)++];
        if (!worth->n_worth || !is_bystander(b))
            return b;
    }
    return NULL;
}

static struct report_budget mean_budget(const struct worth *worth) {
    struct report_budget mean = {.awaited_rank = -1, .awaited_host = -1, .trusted = true};
    const struct report_budget *b;
    for (size_t at = 0; (b = next_worth(worth, &at));) {
        mean.wall_s += b->wall_s;
        mean.trusted &= b->trusted;
        for (int term = 0; term < BUDGET_TERMS; term++)
            if (!isnan(b->term_s[term]))
                mean.term_s[term] += b->term_s[term];
    }
    return mean;
}

/* Share of time without waits for a peer: the rank with the largest holds the others up; if two are
 * equal, computing decides. */
static double own_share(const struct report_budget *b) {
    return 1 - share_of(b, BUDGET_PEER_WAIT) + 1e-3 * share_of(b, BUDGET_CPU);
}

static struct bar bar_of(const struct report *report, const struct report_budget *b) {
    double phase_s = report->resources[report->shown_phase].duration_s;
    struct bar bar = {.brief = b->wall_s < BRIEF * phase_s, .budget = *b};
    if (b->rank >= 0)
        snprintf(bar.who, sizeof bar.who, "rank %d %s", b->rank, layout_host(report, b->host));
    else
        snprintf(bar.who, sizeof bar.who, "%s %s", b->process, layout_host(report, b->host));
    return bar;
}

/* Finds the mean, the rank that holds the others up most, and the one that holds them up least. */
static size_t extremes_of(const struct report *report, const struct worth *worth,
                          struct bar bars[3]) {
    size_t at = 0;
    const struct report_budget *b, *most = next_worth(worth, &at), *least = most;
    while ((b = next_worth(worth, &at))) {
        most = own_share(b) > own_share(most) ? b : most;
        least = own_share(b) < own_share(least) ? b : least;
    }
    bars[0] = (struct bar){.budget = mean_budget(worth)};
    snprintf(bars[0].who, sizeof bars[0].who, "mean of %zu",
             worth->n_worth ? worth->n_worth : worth->n);
    bars[1] = bar_of(report, most);
    bars[2] = bar_of(report, least);
    return most == least ? 2 : 3;
}

static size_t make_bars(const struct report *report, struct bar bars[BUDGET_LINES_MAX]) {
    size_t first, n = budget_of_phase(report, report->shown_phase, &first), made = 0, at = 0;
    struct worth worth = worth_of(report->budget + first, n);
    const struct report_budget *b;
    if ((worth.n_worth ? worth.n_worth : n) > BUDGET_LINES_MAX)
        return extremes_of(report, &worth, bars);
    while ((b = next_worth(&worth, &at)))
        bars[made++] = bar_of(report, b);
    return made;
}

size_t budget_put_bars(FILE *out, const struct report *report) {
    struct bar bars[BUDGET_LINES_MAX];
    size_t n = make_bars(report, bars);
    for (size_t i = 0; out && i < n; i++)
        put_bar(out, name_width(out, bars, n), &bars[i]);
    return n;
}

size_t budget_put_legend(FILE *out, const struct report *report) {
    struct bar bars[BUDGET_LINES_MAX];
    size_t n = make_bars(report, bars), used = 0;
    char text[400] = "", drawn[BUDGET_LINES_MAX][BAR_WIDTH + 1];
    for (size_t i = 0; i < n; i++)
        draw_bar(&bars[i].budget, drawn[i]);
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
