/* SPDX-License-Identifier: MIT */
#include "reports/sections/sections.h"

#include <string.h>

#include "common/error.h"
#include "reports/model/budget_words.h"

enum part {
    PART_VERDICT,
    PART_MAP,
    PART_BUDGET,
    PART_CHANGES,
    PART_ITERATIONS,
    PART_OVER_TIME,
    PART_PAIRS,
    PART_PROCESSES,
    PART_EVIDENCE,
    PART_TABLES,
    NO_PART
};

/* The parts of a page from the top: the limit, full resources over time, where time went, advice;
 * then ranks and processes, the data behind these, and the tables. */
static const struct part_words {
    const char *id, *title;
} parts[] = {[PART_VERDICT] = {"verdict", "Verdict"},
             [PART_MAP] = {"map", "Full resources over time"},
             [PART_BUDGET] = {"budget", "Where each rank's time went"},
             [PART_CHANGES] = {"changes", "Gains of changes"},
             [PART_ITERATIONS] = {"iterations", "Iterations"},
             [PART_OVER_TIME] = {"over-time", "Over time"},
             [PART_PAIRS] = {"pairs", "Traffic between hosts"},
             [PART_PROCESSES] = {"processes", "Processes"},
             [PART_EVIDENCE] = {"evidence", "Evidence, and its gaps"},
             [PART_TABLES] = {"tables", "Tables"}};

enum stands { IN_HEAD, IN_DETAILS, ON_PAGES };

static const struct section {
    report_section *put;
    enum stands stands;
    enum part part;
    int place; /* in the part, from 1 on */
} sections[] = {
#define SECTION_HEAD(name, part, place) {section_##name, IN_HEAD, part, place},
#define SECTION(name, part, place) {section_##name, IN_DETAILS, part, place},
#define SECTION_PAGE(name, part, place) {section_##name, ON_PAGES, part, place},
#include "reports/sections/sections.def"
#undef SECTION_HEAD
#undef SECTION
#undef SECTION_PAGE
};

/* The section at that place; NULL: the part has no more. */
static report_section *section_at(enum part part, int place) {
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        if (sections[i].part == part && sections[i].place == place)
            return sections[i].put;
    return NULL;
}

static const char *title_of(const struct report *report, enum part part) {
    bool of_processes = strcmp(budget_owner(report), "process") == 0;
    return part == PART_BUDGET && of_processes ? "Where each process's time went"
                                               : parts[part].title;
}

/* Drawing pictures takes as long as all else: they are drawn while the page is written. */
static void begin_pictures(const struct report *report, struct page *page) {
    int result = pictures_make(report, NULL, &page->pictures);
    page->error = page->error ? page->error : result;
    plot_free(pictures_take(&page->pictures, "budget")); /* its bars are text on a page */
    pictures_begin(&page->pictures);
}

static void put_page(const struct report *report, struct page *page) {
    report_section *put;
    begin_pictures(report, page);
    section_run(report, page);
    for (enum part part = 0; part < NO_PART; part++) {
        page_part(page, parts[part].id, title_of(report, part));
        for (int place = 1; (put = section_at(part, place)); place++)
            put(report, page);
    }
    page_data(page, report);
}

static void put_all(const struct report *report, struct page *page, enum stands first) {
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        if (sections[i].stands >= first && sections[i].stands <= IN_DETAILS)
            sections[i].put(report, page);
}

void sections_put_report(const struct report *report, struct page *page) {
    if (page_draws(page))
        put_page(report, page);
    else
        put_all(report, page, IN_HEAD);
}

void sections_put_alerts(const struct report *report, struct page *page) {
    run_put_head(report, page, 1);
    alerts_put(report, page, FOR_READERS | FOR_DOCUMENT | FOR_CSV);
}

void sections_put_details(const struct report *report, struct page *page) {
    put_all(report, page, IN_DETAILS);
}
