/* SPDX-License-Identifier: MIT */
/*
 * A comparison on one screen: the run times, what was changed, where the time went, the limits, and
 * what else changed most. Sentences stand whole: one for which there is no room is left out, and
 * figures take the lines that sentences leave.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/comparison/comparison.h"
#include "reports/formats/terminal.h"
#include "reports/model/layout.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"
#include "reports/text/compared_rows.h"
#include "reports/writer.h"

#define LINES_MAX 25
#define HEAD_LINES 6  /* of what was compared */
#define LIMIT_LINES 2 /* of each limit */
#define CHANGED_LINES 3
#define NOTE_LINES 3
#define NOTES_MAX 2
#define SAID_MAX 24
#define ROWS_RESERVED 9 /* lines of figures that no note takes */
#define GATES_MAX                                                                                  \
    3 /* groups whose gate has a line each; of more, those that passed are counted                 \
       */

static const char no_label[] = "          ";

/* ---- sentences ---- */

struct said {
    const char *label;
    char *text; /* owned */
};

/* Sentences before and after the figures, with the lines that are left. */
struct screen {
    FILE *out;
    struct said items[SAID_MAX];
    size_t n, left;
    int error;
};

/* Ends the text behind its first sentences that take at most `lines` lines, or behind its first. */
static void keep_whole(FILE *out, const char *label, char *text, size_t lines) {
    char *kept = NULL;
    for (char *p = text; *p; p++) {
        char next = p[1];
        if (next && !(p[0] == '.' && next == ' ' && p[2] >= 'A' && p[2] <= 'Z'))
            continue;
        p[1] = '\0';
        bool fits = terminal_paragraph_lines(out, label, text) <= lines;
        p[1] = next;
        if (kept && !fits)
            break;
        kept = p + 1;
    }
    if (kept)
        *kept = '\0';
}

static void forget_from(struct screen *screen, size_t first) {
    while (screen->n > first)
        free(screen->items[--screen->n].text);
}

/* Takes over the text. It is left out if that leaves less than `reserve` lines. */
static void say(struct screen *screen, const char *label, char *owned_text, size_t lines,
                size_t reserve) {
    if (!owned_text)
        screen->error = -ENOMEM;
    if (!owned_text || screen->n == SAID_MAX) {
        free(owned_text);
        return;
    }
    keep_whole(screen->out, label, owned_text, lines);
    size_t taken = terminal_paragraph_lines(screen->out, label, owned_text);
    if (reserve && taken + reserve > screen->left) {
        free(owned_text);
        return;
    }
    screen->left -= taken < screen->left ? taken : screen->left;
    screen->items[screen->n++] = (struct said){label, owned_text};
}

static void put_said(struct screen *screen, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        terminal_paragraph(screen->out, screen->items[i].label, screen->items[i].text, 0);
}

/* A label stands at the first of its sentences. */
static const char *label_once(const struct screen *screen, size_t first, const char *label) {
    return screen->n > first ? no_label : label;
}

static void say_changed(struct screen *screen, const struct comparison *c,
                        const struct compared_shown *shown) {
    size_t first = screen->n;
    for (size_t i = 1; i < shown->n; i++) {
        const struct comparison_group *group = &c->groups[shown->group[i]];
        if (group->changed)
            say(screen, label_once(screen, first, "changed   "),
                text_format("%.40s: %s", group->label, group->changed), CHANGED_LINES,
                ROWS_RESERVED);
    }
}

static void say_limits(struct screen *screen, const struct comparison *c,
                       const struct compared_shown *shown) {
    for (size_t i = 0; i < shown->n; i++) {
        const struct comparison_group *group = &c->groups[shown->group[i]];
        const char *limit = c->runs[group->typical]->verdict.limit;
        say(screen, i ? no_label : "limits    ",
            text_format("%.40s: %s", group->label, limit ? limit : "not known"), LIMIT_LINES, 0);
    }
}

static void say_notes(struct screen *screen, const struct comparison *c) {
    size_t first = screen->n;
    for (size_t i = 0; i < c->n_notes && screen->n < first + NOTES_MAX; i++)
        say(screen, label_once(screen, first, "mind      "), strdup(c->notes[i]), NOTE_LINES,
            ROWS_RESERVED);
}

/* ---- the gate ---- */

/* "4.21 % longer", "as fast" */
static void say_slower(char *text, size_t size, double slower) {
    char number[LAYOUT_NUMBER_SIZE];
    if (fabs(slower) < 0.00005)
        snprintf(text, size, "as fast");
    else
        snprintf(text, size, "%s %% %s", layout_number(number, fabs(100 * slower)),
                 slower > 0 ? "longer" : "shorter");
}

static char *say_gated(const struct comparison *c, size_t group) {
    const struct gated *gated = &c->gate.each[group];
    const char *name = c->groups[group].label;
    char slower[LAYOUT_NUMBER_SIZE + 16];
    if (isnan(gated->slower))
        return text_format("%.40s: failed, its run time is not known", name);
    say_slower(slower, sizeof slower, gated->slower);
    bool by_test = gated->passed && gated->slower > c->gate.limit;
    return text_format("%.40s: %s, %s%s (limit %g %%)%s", name, gated->passed ? "passed" : "failed",
                       slower, gated->per_work ? " for the same work" : "", 100 * c->gate.limit,
                       by_test ? "; the runs do not establish it" : "");
}

static size_t n_passed(const struct comparison *c) {
    size_t n = 0;
    for (size_t g = 0; g < c->n_groups; g++)
        n += g != c->baseline_group && c->gate.each[g].passed;
    return n;
}

/* Groups that passed are counted if there are many. */
static void say_gates(struct screen *screen, const struct comparison *c) {
    size_t first = screen->n, passed, n = 0;
    if (!c->gate.each)
        return;
    passed = n_passed(c);
    bool many = c->n_groups - 1 > GATES_MAX;
    for (size_t g = 0; g < c->n_groups && n < GATES_MAX; g++)
        if (g != c->baseline_group && !(many && c->gate.each[g].passed)) {
            say(screen, label_once(screen, first, "gate      "), say_gated(c, g), 2, 0);
            n++;
        }
    if (many)
        say(screen, label_once(screen, first, "gate      "),
            text_format("%zu of %zu groups passed (limit %g %%)", passed, c->n_groups - 1,
                        100 * c->gate.limit),
            1, 0);
}

static int put_full_command(FILE *out, const struct comparison *c, const char *words) {
    AUTO(text_free) char *arguments = text_format("%s -v", words);
    AUTO(text_free)
    char *command = arguments ? command_words(&c->runs[c->baseline]->caller,
                                              (struct command){"compare", arguments})
                              : NULL;
    if (!command)
        return -ENOMEM;
    fprintf(out, "more      %s\n", command);
    return 0;
}

int comparison_write_lines(const struct comparison *c, const char *words, FILE *out) {
    struct compared_shown shown = compared_choose(c);
    struct screen screen = {.out = out, .left = LINES_MAX - 1};
    if (c->headline)
        say(&screen, "compared  ", strdup(c->headline), HEAD_LINES, 0);
    size_t head = screen.n;
    say_limits(&screen, c, &shown);
    say_gates(&screen, c);
    size_t optional = screen.n;
    say_changed(&screen, c, &shown);
    size_t notes = screen.n;
    say_notes(&screen, c);
    int result = screen.error;
    put_said(&screen, 0, head);
    put_said(&screen, optional, notes);
    if (result == 0)
        result = compared_put_rows(out, c, &shown, screen.left);
    put_said(&screen, head, optional);
    put_said(&screen, notes, screen.n);
    forget_from(&screen, 0);
    if (result == 0)
        result = put_full_command(out, c, words);
    return result == 0 && ferror(out) ? -EIO : result;
}
