/* SPDX-License-Identifier: MIT */
/* Advice for a verdict: from the cause that found its candidate, and a way to check whether it
 * helped. */
#include "analysis/causes/cause.h"
#include "analysis/verdict/verdict_private.h"

void verdict_next_for(const struct run_model *model, const struct candidate *c, struct verdict *v) {
    struct advised a = {.model = model,
                        .c = c,
                        .host = model->hosts[c->host].name,
                        .windows = phase_windows(&model->groups[c->group]),
                        .next = &v->next};
    if (c->next)
        remarks_append(&v->next, c->next, NUMBERS(), NAMES());
    if (c->by && c->by->advise)
        c->by->advise(&a);
    if (c->answered) /* the reported gain is the answer */
        remarks_add(&v->next, ADVISE_ASK, NUMBERS(), NAMES());
    remarks_add(&v->next, ADVISE_COMPARE, NUMBERS(), NAMES());
}
