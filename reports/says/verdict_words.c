/* SPDX-License-Identifier: MIT */
#include "reports/says/verdict_words.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/says/candidate_words.h"
#include "reports/says/refusal_words.h"
#include "reports/says/remark_words.h"
#include "reports/says/scenario_words.h"
#include "reports/says/verdict_lines.h"
#include "reports/says/verdict_private.h"

/* Appends an owned text; NULL means no memory. */
static void add_owned(struct text_list *to, char *text) {
    if (text)
        text_list_add(to, "%s", text);
    else
        to->error = -ENOMEM;
    free(text);
}

/* ---- what it is ---- */

static char *say_cause(const struct verdict *v) {
    return remark_words(v->candidate   ? &v->candidate->cause
                        : v->straggler ? &v->straggler->cause
                                       : &v->cause);
}

static char *joined(char *first, char *second) {
    char *text = first && second ? text_format("%s%s%s", first, *first ? " " : "", second) : NULL;
    free(first);
    free(second);
    return text;
}

/* The sentence of a verdict without a candidate; "" if all is said already. */
static char *say_remarks(const struct verdict *v, const char *cause) {
    char *text = text_format("%s", "");
    for (size_t i = 0; i < v->summary.n; i++) {
        char *words = remark_words(&v->summary.items[i]);
        if (words && v->summary.items[i].code == REMARK_NONE_STANDS_OUT) {
            char *whole = text_format("%s: %s.", words, cause);
            free(words);
            words = whole;
        }
        text = joined(text, words);
    }
    return text;
}

static char *say_too_little(const struct verdict *v, const char *so_far) {
    char *why = remark_words(&v->too_little);
    char *text =
        why ? text_format("%s.%s%s", why, *so_far ? " So far it looks like this: " : "", so_far)
            : NULL;
    free(why);
    return text;
}

static char *say_looks(const struct run_model *model, const struct verdict *v, const char *cause) {
    return v->candidate ? verdict_candidate_sentence(model, v) : say_remarks(v, cause ? cause : "");
}

/* Whether the line of the limit says all of the summary. */
static bool is_all_in_limit(const struct verdict *v, const char *looks) {
    return !*looks || (!v->candidate && !v->too_little.code && v->state != VERDICT_BALANCED);
}

/* The findings, whatever ended the command. */
static char *say_seen(const struct run_model *model, const struct verdict *v,
                      struct verdict_words *words) {
    char *looks = say_looks(model, v, words->cause);
    words->all_in_limit = looks && is_all_in_limit(v, looks);
    if (!looks || !v->too_little.code)
        return looks;
    char *seen = say_too_little(v, looks);
    free(looks);
    return seen;
}

/* "Ended: killed by SIGKILL after 12 s. The run waits for vm1's disk." */
static char *say_summary(const struct verdict *v, const char *seen) {
    if (!v->ended.code)
        return text_format("%s", seen);
    AUTO(text_free) char *ended = remark_words(&v->ended);
    return ended ? text_format("Ended: %s.%s%s", ended, *seen ? " " : "", seen) : NULL;
}

/* ---- why, and why not ---- */

/* "runner-up: vm3's disk (the device is busy), 12 % of the run; less is to be gained there" */
static char *say_runner_up(const struct run_model *model, const struct verdict *v,
                           const char *words) {
    static const char *const lost[] = {[VERDICT_LOST_UNPROVEN] = "nothing shows that it ran out",
                                       [VERDICT_LOST_CLOSE] =
                                           "hardly less is to be gained there, so look at both",
                                       [VERDICT_LOST_LESS] = "less is to be gained there"};
    const struct candidate *c = v->runner_up;
    bool same = c->group == v->candidate->group;
    char *what = candidate_words(model, c);
    char *text =
        what ? text_format("%s: %s%s%s%s, %.0f %% of the run; %s", words, what,
                           same ? "" : " during ", same ? "" : group_before(model, c->group),
                           same ? "" : group_words(model, c->group), 100 * c->run_share,
                           lost[v->lost])
             : NULL;
    free(what);
    return text;
}

/* A remark followed by more words, which are freed. */
static char *with(const char *words, char *more) {
    char *text = more ? text_format("%s: %s", words, more) : NULL;
    free(more);
    return text;
}

/* The question of a scenario; "" if no option expresses it. */
static char *say_question(const struct run_model *model, const struct verdict *v, const char *words,
                          const struct caller *caller) {
    AUTO(text_free) char *options = scenario_options(model, candidate_change(v->candidate));
    if (!options)
        return text_format("%s", "");
    AUTO(text_free) char *arguments = text_format("{run} %s", options);
    AUTO(text_free)
    char *command = arguments ? command_words(caller, (struct command){"whatif", arguments}) : NULL;
    return command ? text_format("%s: `%s`", words, command) : NULL;
}

/* Completes a remark with the words of its candidates. Owned; NULL: no memory. */
static char *completed(const struct run_model *model, const struct verdict *v,
                       enum remark_code code, const char *words, const struct caller *caller) {
    switch (code) {
    case REMARK_WOULD_GAIN_MOST:
        return with(words, candidate_words(model, v->closest));
    case REMARK_RUNNER_UP:
        return say_runner_up(model, v, words);
    case REMARK_COUNTED_NOT_REPLAYED:
    case REMARK_BOUND_NOT_REPLAYED:
        return with(words, refusal_words(&v->no_replay));
    case REMARK_ADVISE_ASK:
        return say_question(model, v, words, caller);
    default:
        return text_format("%s", words);
    }
}

static void say(const struct run_model *model, const struct verdict *v,
                const struct remarks *remarks, const struct caller *caller, struct text_list *to) {
    for (size_t i = 0; i < remarks->n; i++) {
        char *words = remark_words_by(&remarks->items[i], caller);
        char *text = words ? completed(model, v, remarks->items[i].code, words, caller) : NULL;
        if (!text || *text)
            add_owned(to, text);
        else
            free(text);
        free(words);
    }
}

static void say_harmless(const struct run_model *model, const struct verdict *v,
                         struct text_list *to) {
    static const char *const why[] = {[VERDICT_NOT_AWAITED] =
                                          "nothing shows that the run waits for it",
                                      [VERDICT_BUSY_HARMLESS] = "busy, but harmless",
                                      [VERDICT_LITTLE_GAIN] = "little to gain"};
    for (size_t i = 0; i < v->n_harmless; i++) {
        const struct verdict_harmless *busy = &v->harmless[i];
        char *what = candidate_words(model, busy->candidate);
        add_owned(to, what ? text_format("%s: %s, %.0f %% of the run at most", what, why[busy->why],
                                         100 * busy->at_most)
                           : NULL);
        free(what);
    }
}

/* ---- of each phase ---- */

char *verdict_say_phase(const struct run_model *model, const struct verdict_phase *p) {
    if (!verdict_blames(p->state))
        return isnan(p->busy)
                   ? text_format("nothing ran out; what it waits for is not visible")
                   : text_format("no host stands out; the ranks computed %.0f %% of the time",
                                 100 * p->busy);
    char *what = candidate_words(model, &p->candidate);
    char *text = what ? text_format("%s: %.0f %% of the phase", what, 100 * p->blocked) : NULL;
    free(what);
    return text;
}

/* ---- all of it ---- */

static int error_of(const struct verdict_words *words) {
    const struct text_list *lists[] = {&words->evidence, &words->against, &words->ruled_out,
                                       &words->next};
    bool whole = words->cause && words->summary && words->limit && words->worth;
    int result = whole ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < sizeof lists / sizeof *lists; i++)
        result = lists[i]->error;
    return result;
}

int verdict_say(const struct run_model *model, const struct verdict *v, const struct caller *caller,
                struct verdict_words *ret_words) {
    struct verdict_words words = {.cause = say_cause(v)};
    AUTO(text_free) char *seen = say_seen(model, v, &words);
    words.summary = seen ? say_summary(v, seen) : NULL;
    words.limit = seen ? verdict_limit(model, v, seen) : NULL;
    words.worth = verdict_worth(model, v);
    if (v->candidate && !v->too_little.code)
        words.cost = verdict_cost(model, v);
    say(model, v, &v->evidence, caller, &words.evidence);
    say(model, v, &v->against, caller, &words.against);
    say_harmless(model, v, &words.ruled_out);
    say(model, v, &v->ruled_out, caller, &words.ruled_out);
    say(model, v, &v->next, caller, &words.next);
    int result = error_of(&words);
    if (result < 0)
        verdict_words_release(&words);
    else
        *ret_words = words;
    return result;
}

void verdict_words_release(struct verdict_words *words) {
    free(words->cause);
    free(words->summary);
    free(words->limit);
    free(words->worth);
    free(words->cost);
    text_list_release(&words->evidence);
    text_list_release(&words->against);
    text_list_release(&words->ruled_out);
    text_list_release(&words->next);
    *words = (struct verdict_words){0};
}
