/* SPDX-License-Identifier: MIT */
#include "reports/words/candidate_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "common/error.h"
#include "reports/words/remark_words.h"
#include "reports/words/text_list.h"

const char *resource_words(enum resource resource) {
    static const char *const words[RESOURCE_COUNT_] = {
        [RESOURCE_NONE] = "nothing",
        [RESOURCE_CPU] = "CPU",
        [RESOURCE_CPU_QUOTA] = "CPU quota",
        [RESOURCE_STEAL] = "CPU (stolen by the hypervisor)",
        [RESOURCE_MEMORY] = "memory",
        [RESOURCE_MEM_BANDWIDTH] = "memory bandwidth",
        [RESOURCE_DISK] = "disk",
        [RESOURCE_DISK_THROTTLE] = "disk (throttled or remote)",
        [RESOURCE_NET_EGRESS] = "network (sending)",
        [RESOURCE_NET_INGRESS] = "network (receiving)",
        [RESOURCE_IMBALANCE] = "share of the work",
        [RESOURCE_APPLICATION] = "own code",
    };
    return words[resource];
}

const char *group_words(const struct run_model *model, size_t group) {
    return group ? model->groups[group].name : "the whole run";
}

/* ---- who and what ---- */

/* Causes of links: "link" is none, "the link, shared with ..." begins with what was said. */
static const char *link_cause(const struct candidate *c, const char *cause) {
    static const char said[] = "the link, ";
    if (c->cause.code == REMARK_LINK)
        return NULL;
    return strncmp(cause, said, strlen(said)) == 0 ? cause + strlen(said) : cause;
}

/* Where one rank is to blame and no resource ran out: "vm2, where rank 1 sleeps in its own code" */
static char *words_of_rank(const char *host, const char *cause) {
    static const char serial[] = "serial: ";
    if (strncmp(cause, serial, strlen(serial)) == 0)
        cause += strlen(serial);
    bool clause = strncmp(cause, "rank ", 5) == 0 || strncmp(cause, "one process ", 12) == 0;
    return clause ? text_format("%s, where %s", host, cause) : text_format("%s (%s)", host, cause);
}

char *candidate_words(const struct run_model *model, const struct candidate *c) {
    const char *host = model->hosts[c->host].name;
    AUTO(text_free) char *of = remark_words(&c->cause);
    if (!of)
        return NULL;
    if (c->subject == SUBJECT_MACHINE)
        return text_format("the machine that the hosts share (%s)", of);
    if (c->subject == SUBJECT_MESSAGES)
        return text_format("the latency of messages (%s)", of);
    if (c->fallback)
        return text_format("computing (%s)", of);
    if (candidate_is_of_program(c))
        return words_of_rank(host, of);
    const char *cause = candidate_is_link(c) ? link_cause(c, of) : of;
    const char *words = resource_words(c->resource), *close = strrchr(words, ')');
    if (!cause)
        return text_format("%s's %s", host, words);
    if (close) /* one pair of parentheses */
        return text_format("%s's %.*s: %s)", host, (int)(close - words), words, cause);
    return text_format("%s's %s (%s)", host, words, cause);
}
