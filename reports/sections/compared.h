/* SPDX-License-Identifier: MIT */
/* Shared by the sections of a comparison. */
#ifndef CHOKEPOINT_REPORTS_COMPARED_H
#define CHOKEPOINT_REPORTS_COMPARED_H

#include "reports/sections/sections.h"

/* Begins a table with a column of words, a column per group, and one per difference from the
 * baseline. The names of its columns live as long as the table. digits: of the numbers. */
void compared_init(struct report_table *table, const struct comparison *c, int digits);

/* The document of a comparison: chokepoint.compare/1. */
void compared_put_document(const struct comparison *c, struct page *page);

static inline bool is_established(const struct comparison_cell *cell) {
    return cell->finding == COMPARE_LOWER || cell->finding == COMPARE_HIGHER;
}

static inline const struct report *typical_run(const struct comparison *c, size_t group) {
    return c->runs[c->groups[group].typical];
}

/* The heading of the comparison. */
void compared_put_head(const struct comparison *c, struct page *page);
/* Which words of their commands the groups changed. */
void compared_put_changed(const struct comparison *c, struct page *page);

#endif
