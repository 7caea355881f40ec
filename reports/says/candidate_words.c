/* SPDX-License-Identifier: MIT */
#include "reports/says/candidate_words.h"

#include <stdbool.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "common/error.h"
#include "reports/says/remark_words.h"
#include "reports/says/text_list.h"

const char *resource_words(enum resource resource) {
    static const char *const words[RESOURCE_COUNT_] = {
#define RESOURCE(code, name, words) [RESOURCE_##code] = words,
#include "analysis/causes/causes.def"
    };
    return words[resource];
}

const char *group_words(const struct run_model *model, size_t group) {
    return group ? model->groups[group].name : "the whole run";
}

const char *group_before(const struct run_model *model, size_t group) {
    return group && model->phases_detected ? "phase " : "";
}

/* ---- who and what ---- */

const char *cause_label(const struct remark_kind *cause) {
    return cause && cause->label ? cause->label : "";
}

bool cause_is_clause(const struct remark *cause) {
    return cause->kind && cause->kind->is_clause && cause->numbers[0] >= 0;
}

static char *words_of_resource(const struct candidate *c, const char *host, const char *cause) {
    const char *words = resource_words(c->resource), *close = strrchr(words, ')');
    if (c->cause.code == REMARK_LINK) /* REMARK_LINK says no more than the resource */
        return text_format("%s's %s", host, words);
    if (close) /* shares one pair of parentheses */
        return text_format("%s's %.*s: %s)", host, (int)(close - words), words, cause);
    return text_format("%s's %s (%s)", host, words, cause);
}

static char *words_with(const struct candidate *c, const char *host, const char *cause) {
    const char *bare = cause + strlen(cause_label(c->cause.kind));
    if (c->subject == SUBJECT_MACHINE)
        return text_format("the machine that the hosts share (%s)", cause);
    if (c->subject == SUBJECT_MESSAGES)
        return text_format("the latency of messages (%s)", cause);
    if (c->fallback)
        return text_format("computing (%s)", cause);
    if (candidate_is_of_program(c) && cause_is_clause(&c->cause))
        return text_format("%s, where %s", host, bare);
    return candidate_is_of_program(c) ? text_format("%s (%s)", host, bare)
                                      : words_of_resource(c, host, bare);
}

char *candidate_words(const struct run_model *model, const struct candidate *c) {
    AUTO(text_free) char *cause = remark_words(&c->cause);
    return cause ? words_with(c, model->hosts[c->host].name, cause) : NULL;
}
