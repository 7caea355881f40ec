/* SPDX-License-Identifier: MIT */
/* Verdict, ranking, stragglers, arithmetic: what analysis found, in the model's form. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"
#include "reports/says/commands.h"
#include "reports/says/remark_words.h"
#include "reports/says/verdict_words.h"

#define LEVELS_MOST 4 /* times the share that the verdict says */

static void take_texts(struct text_list *from, char ***items, size_t *n) {
    *items = from->items;
    *n = from->n;
    *from = (struct text_list){0};
}

static int say_remarks(const struct remarks *from, char ***items, size_t *n) {
    struct text_list said = {0};
    remarks_say(from, &said);
    int result = said.error;
    take_texts(&said, items, n);
    return result;
}

/* Advice names commands, which are to work as pasted. */
static int complete_commands(const struct report *report, char **texts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char *text = commands_complete(texts[i], report->run_id);
        if (!text)
            return -ENOMEM;
        free(texts[i]);
        texts[i] = text;
    }
    return 0;
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
    return complete_commands(report, to->next, to->n_next);
}

static int fill_phase_verdicts(struct report *report, const struct verdict *verdict,
                               struct verdict_words *words) {
    report->phase_verdicts = calloc(verdict->n_phases + 1, sizeof *report->phase_verdicts);
    if (!report->phase_verdicts)
        return -ENOMEM;
    for (size_t i = 0; i < verdict->n_phases; i++) {
        const struct verdict_phase *from = &verdict->phases[i];
        struct report_phase_verdict *to = &report->phase_verdicts[report->n_phase_verdicts++];
        *to = (struct report_phase_verdict){.phase = strdup(report->resources[from->group].phase),
                                            .state = from->state,
                                            .host = from->host,
                                            .rank = from->rank,
                                            .resource = strdup(resource_name(from->resource)),
                                            .cause_kind = cause_name(from->kind),
                                            .blocked_pct = 100 * from->blocked,
                                            .summary = words->phases.items[i]};
        words->phases.items[i] = NULL;
        if (!to->phase || !to->resource)
            return -ENOMEM;
    }
    return 0;
}

/* Candidates of other phases than where they count most are left to the phases' own verdicts. */
static int fill_ranking(struct report *report, const struct candidates *candidates) {
    report->ranking = calloc(candidates->n + 1, sizeof *report->ranking);
    if (!report->ranking)
        return -ENOMEM;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        const struct gain *gain = candidate_gain(c);
        bool told = gain->replayed || gain->counted;
        if (c->repeated)
            continue;
        report->ranking[report->n_ranking] = (struct report_rank_entry){
            .host = c->host,
            .rank = c->rank,
            .cause_kind = cause_name(c->kind),
            .resource = strdup(resource_name(c->resource)),
            .state = c->saturated ? VERDICT_SATURATED : VERDICT_SUSPECTED,
            .gain_pct = told ? 100 * gain->estimate : NAN,
            .blocked_pct = 100 * c->run_share};
        report->n_ranking++;
        if (!report->ranking[report->n_ranking - 1].resource)
            return -ENOMEM;
    }
    return 0;
}

static int fill_stragglers(struct report *report, const struct stragglers *stragglers) {
    report->stragglers = calloc(stragglers->n + 1, sizeof *report->stragglers);
    if (!report->stragglers)
        return -ENOMEM;
    report->stragglers_judged = stragglers->judged;
    if (stragglers->note.code && !(report->straggler_note = remark_words(&stragglers->note)))
        return -ENOMEM;
    for (size_t i = 0; i < stragglers->n; i++) {
        const struct straggler *from = &stragglers->items[i];
        struct report_straggler *to = &report->stragglers[report->n_stragglers++];
        *to = (struct report_straggler){.host = from->host,
                                        .rank = from->rank,
                                        .kind = from->kind,
                                        .slowdown = from->slowdown,
                                        .iterations_pct = 100 * from->flagged,
                                        .explained_pct = 100 * from->explained,
                                        .severity = from->severity,
                                        .severity_max = from->severity_max,
                                        .cause = remark_words(&from->cause),
                                        .cause_kind = cause_name(from->cause_kind),
                                        .culprit_pid = from->culprit_pid};
        if (!to->cause || (from->culprit && !(to->culprit = strdup(from->culprit))) ||
            say_remarks(&from->evidence, &to->evidence, &to->n_evidence) < 0)
            return -ENOMEM;
    }
    return 0;
}

const char *report_arithmetic_rate(enum arithmetic_rate known) {
    static const char *const names[] = {
        [ARITHMETIC_SEEN] = "seen", [ARITHMETIC_SET] = "set", [ARITHMETIC_MEASURED] = "measured"};
    return names[known];
}

static int fill_arithmetic(struct report *report, const struct candidates *candidates) {
    report->arithmetic = calloc(candidates->n_arithmetic + 1, sizeof *report->arithmetic);
    if (!report->arithmetic)
        return -ENOMEM;
    for (size_t i = 0; i < candidates->n_arithmetic; i++) {
        const struct arithmetic *a = &candidates->arithmetic[i];
        report->arithmetic[i] = (struct report_arithmetic){
            .host = a->host,
            .direction = a->direction == METRIC_NET_SEND ? "send" : "receive",
            .phase = strdup(report->resources[a->group].phase),
            .bytes_per_iteration = a->bytes_per_iteration,
            .bandwidth_mb_s = a->bandwidth_mb_s,
            .known = a->known,
            .bound_s = a->bound_s,
            .iteration_s = a->iteration_s,
            .share_pct = 100 * a->share};
        report->n_arithmetic++;
        if (!report->arithmetic[i].phase)
            return -ENOMEM;
    }
    return 0;
}

static int fill_judged(struct report *report, const struct judgement *judgement) {
    struct verdict_words words;
    int result = verdict_say(judgement->model, &judgement->verdict, &words);
    if (result < 0)
        return result;
    result = fill_verdict(report, &judgement->verdict, &words);
    if (result == 0)
        result = fill_phase_verdicts(report, &judgement->verdict, &words);
    verdict_words_release(&words);
    return result;
}

/* Times of processes beside the path, which a limit may have, too, would contradict the verdict's
 * share: then they are not shown. */
static void fill_levels(struct report *report, const struct judgement *judgement) {
    const struct candidate *c = judgement->verdict.candidate;
    struct report_levels *levels = &report->limit_levels;
    double sum = 0;
    for (size_t i = 0; c && i < REPORT_LEVELS; i++) {
        levels->share[i] = fmin(fmax(candidate_level(judgement->model, c, i), 0), 1);
        levels->known |= levels->share[i] > 0;
        sum += isnan(levels->share[i]) ? 0 : levels->share[i];
    }
    if (c && sum / REPORT_LEVELS > LEVELS_MOST * c->run_share)
        levels->known = false;
}

int report_fill_findings(struct report *report, const struct judgement *judgement) {
    int result = fill_ranking(report, &judgement->candidates);
    fill_levels(report, judgement);
    if (result == 0)
        result = report_fill_changes(report, judgement);
    if (result == 0)
        result = fill_arithmetic(report, &judgement->candidates);
    if (result == 0)
        result = fill_judged(report, judgement);
    return result < 0 ? result : fill_stragglers(report, &judgement->stragglers);
}
