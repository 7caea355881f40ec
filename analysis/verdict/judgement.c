/* SPDX-License-Identifier: MIT */
#include "analysis/verdict/judgement.h"

#include "analysis/causes/causes.h"

int judgement_prepare(const struct run_model *model, struct judgement *ret_judgement) {
    struct judgement j = {.model = model};
    int result = whatif_new(model, &j.whatif);
    if (result == 0)
        result = causes_tell(model, j.whatif);
    if (result == 0)
        result = straggler_find(model, j.whatif, &j.stragglers);
    if (result < 0)
        judgement_release(&j);
    else
        *ret_judgement = j;
    return result;
}

int judgement_make(const struct run_model *model, struct judgement *ret_judgement) {
    struct judgement j;
    int result = judgement_prepare(model, &j);
    if (result < 0)
        return result;
    result = causes_find(model, j.whatif, &j.stragglers, &j.candidates);
    if (result == 0)
        result = verdict_make(model, &j.candidates, &j.stragglers, &j.verdict);
    if (result < 0)
        judgement_release(&j);
    else
        *ret_judgement = j;
    return result;
}

void judgement_release(struct judgement *j) {
    verdict_release(&j->verdict);
    candidates_release(&j->candidates);
    stragglers_release(&j->stragglers);
    whatif_free(j->whatif);
    *j = (struct judgement){0};
}
