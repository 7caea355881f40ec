/* SPDX-License-Identifier: MIT */
/* The life of a comparison. */
#include "reports/comparison/comparison_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the end of it ---- */

static void rows_free(const struct comparison *c, struct comparison_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t run = 0; rows[i].judgement && run < c->n; run++)
            free(rows[i].judgement[run]);
        for (size_t g = 0; rows[i].groups && g < c->n_groups; g++)
            free(rows[i].groups[g].words);
        free(rows[i].judgement);
        free(rows[i].groups);
        free(rows[i].label);
        free(rows[i].not_alike);
        free(rows[i].value);
        free(rows[i].difference);
    }
    free(rows);
}

void comparison_free(struct comparison *c) {
    if (!c)
        return;
    rows_free(c, c->summary, c->n_summary);
    rows_free(c, c->resources, c->n_resources);
    for (size_t g = 0; c->groups && g < c->n_groups; g++) {
        free(c->groups[g].label);
        free(c->groups[g].changed);
        free(c->groups[g].runs);
    }
    free(c->groups);
    free(c->group_of);
    free(c->hosts);
    for (size_t i = 0; i < c->n_parts; i++) {
        free(c->parts[i].label);
        free(c->parts[i].seconds);
    }
    free(c->parts);
    free(c->gate.each);
    free(c->headline);
    for (size_t i = 0; i < c->n_notes; i++)
        free(c->notes[i]);
    free(c->notes);
    for (size_t i = 0; c->runs && i < c->n; i++)
        report_free(c->runs[i]);
    free(c->runs);
    free(c);
}

void comparison_give_back(struct comparison *c) {
    memset(c->runs, 0, c->n * sizeof(struct report *));
    comparison_free(c);
}

int comparison_add_note(struct comparison *c, char *owned_text) {
    char **notes = realloc(c->notes, (c->n_notes + 1) * sizeof *notes);
    if (notes)
        c->notes = notes;
    if (!notes || !owned_text) {
        free(owned_text);
        return -ENOMEM;
    }
    c->notes[c->n_notes++] = owned_text;
    return 0;
}

static int fill(struct comparison *c, const size_t *group_of, size_t baseline) {
    struct text_list notes = {0};
    int result = comparison_fill_groups(c, group_of, baseline);
    if (result == 0)
        result = comparison_fill_commands(c);
    if (result == 0)
        result = comparison_fill_rows(c);
    if (result == 0)
        result = comparison_judge(c);
    if (result == 0)
        result = comparison_explain(c);
    if (result == 0)
        result = comparison_fill_notes(c, &notes);
    c->notes = notes.items;
    c->n_notes = notes.n;
    return result;
}

int comparison_build(struct report **runs, const size_t *group_of, size_t n, size_t baseline,
                     struct comparison **ret_comparison) {
    struct comparison *c = calloc(1, sizeof *c);
    struct report **copy = calloc(n + 1, sizeof *copy);
    if (!c || !copy) {
        free(c);
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, runs, n * sizeof *copy);
    c->runs = copy;
    c->n = n;
    int result = fill(c, group_of, baseline);
    if (result < 0) {
        comparison_give_back(c);
        return result;
    }
    *ret_comparison = c;
    return 0;
}
