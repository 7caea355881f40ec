/* SPDX-License-Identifier: MIT */
#include "reports/model/budget_words.h"

#include <stdio.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/model/reported.h"

size_t budget_of_phase(const struct report *report, size_t phase, size_t *ret_first) {
    size_t n = 0;
    *ret_first = 0;
    for (size_t i = 0; phase < report->n_resources && i < report->n_budget; i++)
        if (strcmp(report->budget[i].phase, report->resources[phase].phase) == 0) {
            *ret_first = n ? *ret_first : i;
            n++;
        } else if (n) {
            break;
        }
    return n;
}

bool budget_term_shown(const struct report_budget *budgets, size_t n, enum budget_term term) {
    for (size_t i = 0; i < n; i++)
        if (budgets[i].term_s[term] >= BUDGET_SHOWN_MIN * budgets[i].wall_s)
            return true;
    return false;
}

void budget_whose(const struct report *report, const struct report_budget *b, char *text,
                  size_t size) {
    if (b->rank >= 0)
        snprintf(text, size, "rank %d on %s", b->rank, layout_host(report, b->host));
    else
        snprintf(text, size, "%s on %s", b->process, layout_host(report, b->host));
}

const char *budget_owner(const struct report *report) {
    for (size_t i = 0; i < report->n_budget; i++)
        if (report->budget[i].rank >= 0)
            return "rank";
    return "process";
}

const char *budget_phase_before(const struct report *report) {
    return report->main_phase && report->run->model.phases_detected ? "phase " : "";
}

const char *budget_source_words(const struct report_budget *b) {
    return strcmp(b->source, "events") == 0   ? "calls"
           : strcmp(b->source, "clocks") == 0 ? "wait clocks"
           : strcmp(b->source, "totals") == 0 ? "totals"
                                              : "kernel";
}
