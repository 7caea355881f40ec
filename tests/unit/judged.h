/* SPDX-License-Identifier: MIT */
/* Shared by the tests of verdicts: a judged run model with all its parts. */
#ifndef CHOKEPOINT_TESTS_JUDGED_H
#define CHOKEPOINT_TESTS_JUDGED_H

#include <stdlib.h>

#include "analysis/causes/causes.h"
#include "analysis/verdict/judgement.h"
#include "reports/says/verdict_words.h"

/* tests/tools/move_thresholds sets these to find out whether a test notices another number. */
static struct judge asked_judge;
__attribute__((constructor)) static void ask_judge(void) {
    const char *text = getenv("CHOKEPOINT_JUDGE"), *bad;
    if (text && judge_read(text, &asked_judge, &bad) < 0)
        abort();
}
__attribute__((destructor)) static void forget_judge(void) {
    judge_release(&asked_judge);
}

static inline int model_build_as_asked(struct recording *recording, struct run_model *model) {
    recording->judge = &asked_judge;
    return model_build(recording, model);
}
#define model_build(recording, model) model_build_as_asked(recording, model)

struct judged {
    struct recording recording; /* filled if the test keeps the recording here */
    struct run_model model;
    struct verdict verdict;
    struct verdict_words words;
    struct candidates candidates;
    struct stragglers stragglers;
    struct whatif *whatif;
};

static inline void judge_model(const struct run_model *model, struct judged *j) {
    struct judgement made;
    assert_int_equal(judgement_make(model, &made), 0);
    j->verdict = made.verdict;
    j->candidates = made.candidates;
    j->stragglers = made.stragglers;
    j->whatif = made.whatif;
    assert_int_equal(verdict_say(model, &j->verdict, &(struct caller){0}, &j->words), 0);
}

/* No host, rank or process is to blame: the run is balanced, or only computing limits it. */
static inline bool blames_nobody(const struct verdict *v) {
    return v->state == VERDICT_BALANCED || v->kind == CAUSE_COMPUTE_BOUND ||
           v->kind == CAUSE_SINGLE_THREAD;
}

/* Releases all but the model. */
static inline void judged_release(struct judged *j) {
    struct judgement made = {.verdict = j->verdict,
                             .candidates = j->candidates,
                             .stragglers = j->stragglers,
                             .whatif = j->whatif};
    verdict_words_release(&j->words);
    judgement_release(&made);
}

static inline void find_stragglers(const struct run_model *model, struct stragglers *found) {
    struct whatif *whatif;
    assert_int_equal(whatif_new(model, &whatif), 0);
    assert_int_equal(straggler_find(model, whatif, found), 0);
    whatif_free(whatif);
}

#endif
