/* SPDX-License-Identifier: MIT */
/*
 * The sentence of a remark. Its kind has the template. A template is no printf format: its
 * conversions take the remark's numbers and names in turn. Templates of other codes
 * (refusal_words.c) use the same language.
 *
 *   %d            the next number, whole        %.0f %.2f   with so many digits behind the point
 *   %.3g          with so many digits           %s          the next name
 *   %[a|b|c]      the next number chooses: "a" if it is 1, "b" if it is 2; else the last
 *   %t            the next number is a term of the budget: "waiting for a core"
 *   %S            the next number is a signal: "SIGSEGV (segmentation fault)"
 *   %w            the next number and the next name: "rank 3", or the name if the number is below 0
 *   %{VERB WORDS} a command of this program, in backticks: "{run}" in it is the run
 *   %%            a percent sign
 */
#ifndef CHOKEPOINT_REPORTS_SAYS_REMARK_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_REMARK_WORDS_H

#include "analysis/causes/remark.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"

/* Owned; NULL: no memory. REMARK_NONE has "". */
char *remark_words(const struct remark *remark);
/* As remark_words, for a remark that may contain a command. */
char *remark_words_by(const struct remark *remark, const struct caller *caller);
/* The sentence of a template, with the values of a code that is no remark. */
char *template_words(const char *template, const double *numbers, const char *const *names,
                     const struct caller *caller);
/* Appends the sentence of each remark; lack of memory is an error of the list. */
void remarks_say(const struct remarks *remarks, struct text_list *to);

/* The template of a kind, whether a cause or the verdict has it; static. NULL: there is none. */
const char *remark_sentence(const struct remark_kind *kind);
/* The template of a code that the verdict adds; NULL: the code is none of these. */
const char *verdict_template(enum remark_code code);

/* A conversion of a template, which begins with '%': the values that it takes, and its end. */
enum remark_takes {
    REMARK_TAKES_NOTHING,
    REMARK_TAKES_NUMBER,
    REMARK_TAKES_NAME,
    REMARK_TAKES_BOTH,
    REMARK_TAKES_BAD /* not a conversion */
};
enum remark_takes remark_conversion(const char *from, const char **ret_end);

#endif
