/* SPDX-License-Identifier: MIT */
/*
 * The sentence of a remark. Its template stands with its kind; a template is no format of
 * printf: its conversions take the remark's numbers and names in turn. Other codes
 * (refusal_words.c) have templates of the same language.
 *
 *   %d            the next number, whole        %.0f %.2f   with so many digits behind the point
 *   %.3g          with so many digits           %s          the next name
 *   %[a|b|c]      the next number chooses: "a" if it is 1, "b" if it is 2; else the last
 *   %t            the next number is a term of the budget: "waiting for a core"
 *   %w            the next number and the next name: "rank 3", or the name if the number is below 0
 *   %{VERB WORDS} a command of this program, in backticks: "{run}" in it is the run
 *   %%            a percent sign
 */
#ifndef CHOKEPOINT_REPORTS_SAYS_REMARK_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_REMARK_WORDS_H

#include "analysis/causes/remark.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"

/* Owned; NULL: no memory. "" of REMARK_NONE. */
char *remark_words(const struct remark *remark);
/* The same of one that may hold a command. */
char *remark_words_by(const struct remark *remark, const struct caller *caller);
/* A template with the values of a code that is no remark. */
char *template_words(const char *template, const double *numbers, const char *const *names,
                     const struct caller *caller);
/* Appends the sentence of each; no memory is an error of the list. */
void remarks_say(const struct remarks *remarks, struct text_list *to);

/* The template of a kind, of a cause or of the verdict; static. NULL: of none. */
const char *remark_sentence(const struct remark_kind *kind);
/* The same of those codes that the verdict adds; NULL: it is none of these. */
const char *verdict_template(enum remark_code code);

/* A conversion of a template, which begins with '%': what it takes, and where it ends. */
enum remark_takes {
    REMARK_TAKES_NOTHING,
    REMARK_TAKES_NUMBER,
    REMARK_TAKES_NAME,
    REMARK_TAKES_BOTH,
    REMARK_TAKES_BAD /* it is no conversion */
};
enum remark_takes remark_conversion(const char *from, const char **ret_end);

#endif
