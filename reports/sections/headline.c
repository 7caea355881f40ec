/* SPDX-License-Identifier: MIT */
/* The verdict of a page: the limit of the run, the gain of a change, what to do, and where to read
 * more. */
#include "common/error.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"
#include "reports/sections/sections.h"

static char *recording_of(const struct report *report) {
    char words[REPORT_MISSING_SIZE];
    size_t missing = 0;
    for (size_t h = 0; h < report->n_hosts; h++)
        missing += report->hosts[h].missing;
    if (missing)
        return text_format("grade %c; nothing was recorded of %zu of %zu hosts",
                           report->quality.grade ? report->quality.grade : '-', missing,
                           report->n_hosts);
    if (*report_missing(report, words))
        return text_format("grade %c; %s", report->quality.grade ? report->quality.grade : '-',
                           words);
    return text_format("complete, grade %c", report->quality.grade ? report->quality.grade : '-');
}

void section_headline(const struct report *report, struct page *page) {
    const struct report_verdict *v = &report->verdict;
    AUTO(text_free) char *recording = recording_of(report);
    AUTO(text_free)
    char *why = command_words(&report->caller, (struct command){"report", "{run} --why"});
    AUTO(text_free) char *more = why ? text_format("`%s`, in a terminal", why) : NULL;
    const struct page_field fields[] = {{"limit", v->too_short ? NULL : v->limit},
                                        {"costs", v->cost && *v->cost ? v->cost : NULL},
                                        {"worth", v->worth && *v->worth ? v->worth : NULL},
                                        {"do", v->n_next ? v->next[0] : NULL},
                                        {"more", v->too_short ? NULL : more},
                                        {"recording", recording}};
    page_statement(page, verdict_state_name(v->state), v->confidence, "");
    page_fields(page, fields, ARRAY_SIZE(fields));
    if (!v->cost && (v->too_short || !v->all_in_limit))
        page_paragraph(page, v->too_short ? STYLE_LEAD : STYLE_PLAIN, "%s", v->summary);
}

void section_evidence(const struct report *report, struct page *page) {
    const struct report_verdict *v = &report->verdict;
    page_list(page, "evidence", v->evidence, v->n_evidence);
    page_list(page, "against it, and what was not visible", v->against, v->n_against);
    page_list(page, "ruled out", v->ruled_out, v->n_ruled_out);
    page_list(page, "next", v->next, v->n_next);
}
