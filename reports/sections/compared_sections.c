/* SPDX-License-Identifier: MIT */
/* The sections of a comparison, in the order of its document and in that of its page. */
#include "common/error.h"
#include "reports/sections/compared.h"

static comparison_section *const of_comparison[] = {
    section_compared,        section_compared_groups,  section_compared_parts,
    section_compared_runs,   section_compared_hosts,   section_compared_tests,
    section_compared_curves, section_compared_details, section_compared_figures,
};

static const struct compared_part {
    const char *id, *title;
    comparison_section *section;
} compared_parts[] = {
    {"times", "Run times", section_compared_times},
    {"limits", "Limits of each", section_compared_groups},
    {"differences", "Differences", section_compared_tests},
    {"runs", "The runs as a whole", section_compared_runs},
    {"hosts", "Host by host", section_compared_hosts},
    {"progress", "Progress", section_compared_curves},
    {"all", "All of each", section_compared_details},
};

static void put_compared_page(const struct comparison *comparison, struct page *page) {
    compared_put_head(comparison, page);
    for (size_t i = 0; i < ARRAY_SIZE(compared_parts); i++) {
        page_part(page, compared_parts[i].id, compared_parts[i].title);
        compared_parts[i].section(comparison, page);
    }
}

void sections_put_comparison(const struct comparison *comparison, struct page *page) {
    if (page_draws(page)) {
        put_compared_page(comparison, page);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(of_comparison); i++)
        of_comparison[i](comparison, page);
}
