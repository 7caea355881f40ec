/* SPDX-License-Identifier: MIT */
/* Converts the verdict to the report's form. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"
#include "reports/says/verdict_words.h"

static void take_texts(struct text_list *from, char ***items, size_t *n) {
    *items = from->items;
    *n = from->n;
    *from = (struct text_list){0};
}

static int fill_verdict(struct report *report, const struct verdict *from,
                        struct verdict_words *words) {
    struct report_verdict *to = &report->verdict;
    *to = (struct report_verdict){.state = from->state,
                                  .subject = subject_name(from->subject),
                                  .host = from->host,
                                  .rank = from->rank,
                                  .cause_kind = cause_name(from->kind),
                                  .culprit_pid = from->culprit_pid,
                                  .start_s = from->start_s,
                                  .end_s = from->end_s,
                                  .resource = strdup(resource_name(from->resource)),
                                  .too_short = from->too_short,
                                  .all_in_limit = words->all_in_limit,
                                  .cause = words->cause,
                                  .summary = words->summary,
                                  .limit = words->limit,
                                  .worth = words->worth,
                                  .cost = words->cost,
                                  .confidence = from->confidence,
                                  .confidence_computed = from->computed,
                                  .gain_pct = 100 * from->gain,
                                  .gain_low_pct = 100 * from->gain_low,
                                  .gain_high_pct = 100 * from->gain_high,
                                  .gain_source = from->gain_source};
    words->cause = words->summary = words->limit = words->worth = NULL;
    words->cost = NULL;
    take_texts(&words->evidence, &to->evidence, &to->n_evidence);
    take_texts(&words->against, &to->against, &to->n_against);
    take_texts(&words->ruled_out, &to->ruled_out, &to->n_ruled_out);
    take_texts(&words->next, &to->next, &to->n_next);
    if (!to->resource || (from->culprit && !(to->culprit = strdup(from->culprit))))
        return -ENOMEM;
    return 0;
}

const char *report_arithmetic_rate(enum arithmetic_rate known) {
    static const char *const names[] = {
        [ARITHMETIC_SEEN] = "seen", [ARITHMETIC_SET] = "set", [ARITHMETIC_MEASURED] = "measured"};
    return names[known];
}

/* The bars under a verdict are of its phase. */
static size_t phase_of(const struct judgement *judgement) {
    const struct verdict *v = &judgement->verdict;
    bool blames = v->candidate && verdict_blames(v->state);
    return blames ? v->candidate->group : judgement->model->main_group;
}

int report_fill_findings(struct report *report, const struct judgement *judgement) {
    struct verdict_words words;
    int result = verdict_say(judgement->model, &judgement->verdict, &report->caller, &words);
    if (result < 0)
        return result;
    report->shown_phase = phase_of(judgement);
    result = fill_verdict(report, &judgement->verdict, &words);
    verdict_words_release(&words);
    return result;
}
