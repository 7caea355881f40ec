/* SPDX-License-Identifier: MIT */
/* The verdict of a page: what limits the run, what that is worth, what to do, where there is more.
 */
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/sections/sections.h"
#include "reports/words/text_list.h"

/* "-45 % run time (44 to 47), by replay of the recorded calls". NULL: not known. */
static char *worth_of(const struct report_verdict *v) {
    static const struct {
        const char *source, *words;
    } sources[] = {{"replay", "by replay of the recorded MPI calls"},
                   {"iterations", "by the iterations of ranks that run freely"},
                   {"counters", "by counters"},
                   {"bound", "at most"}};
    const char *how = "";
    if (isnan(v->gain_pct) || !v->gain_source)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
        if (strcmp(sources[i].source, v->gain_source) == 0)
            how = sources[i].words;
    if (isnan(v->gain_low_pct) || v->gain_high_pct - v->gain_low_pct < 1)
        return text_format("-%.0f %% run time without this limit, %s", v->gain_pct, how);
    return text_format("-%.0f %% run time without this limit (%.0f to %.0f), %s", v->gain_pct,
                       v->gain_low_pct, v->gain_high_pct, how);
}

static char *recording_of(const struct report *report) {
    unsigned long long missed = 0;
    size_t missing = 0;
    for (size_t h = 0; h < report->n_hosts; h++) {
        missed += report->hosts[h].samples_missed;
        missing += report->hosts[h].missing;
    }
    if (missing)
        return text_format("grade %c; nothing was recorded of %zu of %zu hosts",
                           report->grade ? report->grade : '-', missing, report->n_hosts);
    if (missed)
        return text_format("grade %c; %llu samples are missing",
                           report->grade ? report->grade : '-', missed);
    return text_format("complete, grade %c", report->grade ? report->grade : '-');
}

void section_headline(const struct report *report, struct page *page) {
    const struct report_verdict *v = &report->verdict;
    AUTO(text_free) char *worth = worth_of(v);
    AUTO(text_free) char *recording = recording_of(report);
    const struct page_field fields[] = {
        {"worth", worth},
        {"do", v->n_next ? v->next[0] : NULL},
        {"more", v->too_short
                     ? NULL
                     : "evidence, what speaks against it, and what was ruled out, are below"},
        {"recording", recording}};
    page_statement(page, verdict_state_name(v->state), v->confidence, v->summary);
    page_fields(page, fields, ARRAY_SIZE(fields));
}

void section_evidence(const struct report *report, struct page *page) {
    const struct report_verdict *v = &report->verdict;
    page_list(page, "evidence", v->evidence, v->n_evidence);
    page_list(page, "against it, and what was not visible", v->against, v->n_against);
    page_list(page, "ruled out", v->ruled_out, v->n_ruled_out);
    page_list(page, "next", v->next, v->n_next);
}
