/* SPDX-License-Identifier: MIT */
/* All words of a verdict, made of its codes, its numbers and its candidates. */
#ifndef CHOKEPOINT_REPORTS_SAYS_VERDICT_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_VERDICT_WORDS_H

#include "analysis/verdict/verdict.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"

struct verdict_words {
    char *cause, *summary;
    bool all_in_limit;   /* the limit says all of the summary */
    char *limit, *worth; /* the verdict in two lines (verdict_lines.h) */
    char *cost;          /* NULL: the summary has the rest */
    struct text_list evidence, against, ruled_out, next;
};

/* Makes the words; the verdict's candidates must still exist. -ENOMEM. */
int verdict_say(const struct run_model *model, const struct verdict *verdict,
                const struct caller *caller, struct verdict_words *ret_words);
void verdict_words_release(struct verdict_words *words);

/* The sentence of the verdict on one phase. Owned; NULL: no memory. */
char *verdict_say_phase(const struct run_model *model, const struct verdict_phase *phase);

#endif
