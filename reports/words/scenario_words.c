/* SPDX-License-Identifier: MIT */
#include "reports/words/scenario_words.h"

#include <string.h>

#include "analysis/run_model.h"
#include "reports/words/text_list.h"

static const char *const terms[BUDGET_TERMS] = {
    [BUDGET_RUN_QUEUE] = "contention", [BUDGET_QUOTA] = "quota",
    [BUDGET_STEAL] = "steal",          [BUDGET_DISK] = "disk",
    [BUDGET_MEMORY] = "memory",        [BUDGET_IDLE] = "sleep",
    [BUDGET_STOPPED] = "stop",         [BUDGET_FILE] = "files",
};

const char *scenario_term(enum budget_term term) {
    return terms[term];
}

bool scenario_term_of(const char *name, enum budget_term *ret_term) {
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (terms[term] && strcmp(terms[term], name) == 0) {
            *ret_term = term;
            return true;
        }
    return false;
}

char *scenario_options(const struct run_model *model, const struct whatif_scenario *s) {
    static const char *const ways[] = {
        [WHATIF_BOTH] = "", [WHATIF_SEND] = ":egress", [WHATIF_RECEIVE] = ":ingress"};
    const char *host = s->host < 0 ? "all" : model->hosts[s->host].name;
    const char *term = s->kind == WHATIF_WITHOUT ? scenario_term(s->term) : NULL;
    switch (s->kind) {
    case WHATIF_LINK:
        return text_format("--link %s%s=%.4gx", host, ways[s->direction], s->factor);
    case WHATIF_LATENCY:
        return text_format("--latency %.4gx", s->factor);
    case WHATIF_CPU:
        return text_format("--cpu %s=%.4gx", host, s->factor);
    case WHATIF_WITHOUT:
        return term ? text_format("--without %s:%s", host, term) : NULL;
    case WHATIF_LIKE_PEERS:
        return s->rank >= 0 ? text_format("--without-straggler %d", s->rank)
                            : text_format("--without-straggler %s", host);
    default:
        return NULL;
    }
}
