/* SPDX-License-Identifier: MIT */
/* T2, T3 and T5 of groups of runs: a row per quantity, a column per group, and its difference from
 * the baseline. A star marks established differences. */
#include <math.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/sections/compared.h"

static const char *group_name(struct report_table *table, const struct comparison *c,
                              size_t group) {
    const struct comparison_group *g = &c->groups[group];
    const char *mark = group == c->baseline_group ? ", baseline" : "";
    if (g->n == 1)
        return table_keep(table, "%.40s (run %lld%s)", g->label,
                          (long long)c->runs[g->runs[0]]->run_id, mark);
    return table_keep(table, "%.40s (%zu runs%s)", g->label, g->counted ? g->counted : g->n, mark);
}

void compared_init(struct report_table *table, const struct comparison *c, int digits) {
    table_init(table, NULL, c->runs[c->baseline],
               &(struct report_column){KIND_TEXT, NULL, "", COMPUTED}, 1);
    table->audience = FOR_READERS;
    for (size_t g = 0; g < c->n_groups; g++)
        table_add_column(table, &(struct report_column){KIND_NUMBER, NULL, group_name(table, c, g),
                                                        .digits = digits});
    for (size_t g = 0; g < c->n_groups; g++)
        if (g != c->baseline_group)
            table_add_column(table, &(struct report_column){
                                        KIND_NUMBER, NULL,
                                        c->n_groups == 2 ? "difference"
                                                         : table_keep(table, "difference of %.30s",
                                                                      c->groups[g].label),
                                        .digits = digits});
}

static size_t put_quantity_row(struct report_table *table, const struct comparison *c,
                               const struct comparison_row *of) {
    size_t row = table_add(table, NULL), column = c->n_groups + 1;
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct comparison_cell *compared = &of->groups[g];
        table_number(table, row, g + 1, compared->shown);
        if (g == c->baseline_group)
            continue;
        struct report_cell *cell = table_number(table, row, column++, compared->difference);
        cell->before = compared->difference > 0 ? "+" : NULL;
        cell->after = is_established(compared) ? "*" : NULL;
        cell->mark = is_established(compared) ? "established" : "muted";
        cell->hint = compared->words;
    }
    return row;
}

/* ---- the runs as a whole ---- */

static void name_section(struct report_table *table, size_t row, enum comparison_section section) {
    static const char *const explanations[COMPARISON_SECTIONS] = {
        [COMPARISON_JOB] = " (sums over hosts; CPU 100 % is one core)",
        [COMPARISON_EFFICIENCY] = " (POP, main phase)",
    };
    const char *title = comparison_section_title(section);
    char first = title[0] >= 'a' && title[0] <= 'z' ? (char)(title[0] - 'a' + 'A') : title[0];
    table_group(table, row, "%c%s%s", first, title + 1,
                explanations[section] ? explanations[section] : "");
}

void section_compared_runs(const struct comparison *c, struct page *page) {
    const char *not_alike = NULL;
    struct report_table table;
    compared_init(&table, c, 0);
    table_title(&table, "The runs as a whole%s",
                c->n > c->n_groups ? " (medians of the repeats)" : "");
    for (size_t i = 0; i < c->n_summary; i++) {
        const struct comparison_row *of = &c->summary[i];
        size_t row = put_quantity_row(&table, c, of);
        table_text(&table, row, 0, *of->unit ? "  %s (%s)" : "  %s%s", of->label, of->unit);
        if (i == 0 || of->section != c->summary[i - 1].section)
            name_section(&table, row, of->section);
        not_alike = not_alike ? not_alike : of->not_alike;
    }
    if (not_alike)
        table_note(&table, "Times per iteration are not compared: %s.", not_alike);
    page_table(page, &table);
}

/* ---- T2: under each of T1's rows a line a host ---- */

void section_compared_hosts(const struct comparison *c, struct page *page) {
    struct report_table table;
    compared_init(&table, c, 0);
    table_title(&table, "Averages per host, whole run%s",
                c->n > c->n_groups ? " (means of the repeats)" : "");
    for (size_t i = 0; i < c->n_resources; i++) {
        size_t row = put_quantity_row(&table, c, &c->resources[i]);
        table_text(&table, row, 0, "  %s", layout_host(c->runs[c->baseline], c->resources[i].host));
        if (i % c->n_hosts == 0)
            table_group(&table, row, "%s", c->metrics[i / c->n_hosts].label);
    }
    page_table(page, &table);
}

/* ---- whether it is real ---- */

struct tally {
    size_t established, tested;
    const char *reason; /* why there was no test */
};

static void put_test(struct report_table *table, const struct comparison *c,
                     const struct comparison_row *of, size_t group, struct tally *tally) {
    const struct comparison_cell *cell = &of->groups[group];
    bool established = is_established(cell);
    if (!cell->words || isnan(cell->difference))
        return;
    if (!established && isnan(cell->test.p)) {
        if (!tally->reason && !of->not_alike && !of->of_ceiling)
            tally->reason = cell->words;
        return;
    }
    size_t row = table_add(table, NULL);
    table_borrow(table, row, 0, of->label);
    table_borrow(table, row, 1, c->groups[group].label);
    table_borrow(table, row, 2, cell->words);
    if (!table->failed && !established)
        table->rows[row].room = ROOM_PAGE;
    tally->established += established;
    tally->tested += !established;
}

/* Lists established differences one by one; of the others a terminal shows only the number, or a
 * reason. */
void section_compared_tests(const struct comparison *c, struct page *page) {
    static const struct report_column columns[] = {{KIND_TEXT, NULL, "of what", COMPUTED},
                                                   {KIND_TEXT, NULL, "of whom", COMPUTED},
                                                   {KIND_PROSE, NULL, "finding", COMPUTED}};
    struct tally tally = {0};
    struct report_table table;
    if (!page_is_for(page, FOR_READERS))
        return;
    TABLE_INIT(&table, NULL, c->runs[c->baseline], columns);
    for (size_t i = 0; i < c->n_summary; i++)
        for (size_t g = 0; g < c->n_groups; g++)
            put_test(&table, c, &c->summary[i], g, &tally);
    for (size_t i = 0; i < c->n_resources; i++)
        for (size_t g = 0; g < c->n_groups; g++)
            put_test(&table, c, &c->resources[i], g, &tally);
    page_heading(page, 2, "Whether the differences are real");
    page_table(page, &table);
    if (tally.reason)
        page_paragraph(page, STYLE_PLAIN, "%s%s",
                       tally.established + tally.tested ? "others: " : "", tally.reason);
    if (tally.tested && !page_has_room(page, ROOM_PAGE))
        page_paragraph(page, STYLE_PLAIN,
                       "%zu difference%s tested and not established (--format json has each)",
                       tally.tested, tally.tested == 1 ? "" : "s");
    if (!tally.established && !tally.tested && !tally.reason)
        page_paragraph(page, STYLE_PLAIN, "nothing to compare");
}
