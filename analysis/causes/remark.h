/* SPDX-License-Identifier: MIT */
/*
 * A remark: what a cause or the verdict observed, as a kind with numbers and names. A kind carries
 * the template of its sentence, which reports/says makes; a remark that is added with another
 * number of numbers or names does not compile. A cause has kinds of its own in its file (own.h);
 * remarks.def lists those of several causes, and those of the verdict.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_REMARK_H
#define CHOKEPOINT_ANALYSIS_CAUSES_REMARK_H

#include <stdbool.h>
#include <stddef.h>

#define REMARK_NUMBERS 8 /* at most */
#define REMARK_NAMES 4

/* Which of remarks.def it is. */
enum remark_code {
    REMARK_NONE,     /* nothing is said */
    REMARK_OF_CAUSE, /* of a cause's own: its kind tells */
#define REMARK(code, sentence, numbers, names, ...) REMARK_##code,
#include "analysis/causes/remarks.def"
#undef REMARK
    REMARK_COUNT_
};

struct remark_kind {
    enum remark_code code;
    const char *name;     /* static, as all of these */
    const char *sentence; /* its template; NULL: reports/ has it by its code */
    int n_numbers, n_names;
    const char *numbers[1 + REMARK_NUMBERS], *names[1 + REMARK_NAMES]; /* [1] on: "waited, %" */
    const char *label; /* how the sentence begins: words that one with its own subject leaves out */
    bool is_clause; /* with a subject, of a rank that is known: "rank 1 sleeps in its own code" */
};

/* REMARK_x_NUMBERS, REMARK_x_NAMES: how many of them the kind x carries. */
#define REMARK_COUNT(...)                                                                          \
    ((int)(sizeof((const char *const[]){NULL, __VA_ARGS__}) / sizeof(char *)) - 1)
/* Slots begin with a NULL, since C has no empty initializer. */
#define REMARK_SLOTS(...)                                                                          \
    { NULL, __VA_ARGS__ }
#define SLOTS REMARK_COUNT
enum remark_slots {
#define REMARK(code, sentence, numbers, names, ...)                                                \
    REMARK_##code##_NUMBERS = numbers, REMARK_##code##_NAMES = names,
#include "analysis/causes/remarks.def"
#undef REMARK
};
#undef SLOTS

#define REMARK(code, sentence, numbers, names, ...) extern const struct remark_kind remark_##code;
#include "analysis/causes/remarks.def"
#undef REMARK

/* Those of remarks.def; NULL at the end. */
extern const struct remark_kind *const remarks_shared[];

struct remark {
    const struct remark_kind *kind; /* NULL: nothing is said */
    enum remark_code code;          /* of the kind */
    double numbers[REMARK_NUMBERS];
    char *names[REMARK_NAMES]; /* owned */
};

struct remarks {
    struct remark *items;
    size_t n;
    int error; /* 0, or -ENOMEM once an append failed: checked once at the end */
};

/* Arguments of remarks_add() and remark_set(): the values in the order of its slots. */
#define NUMBERS(...) ((const double[]){0, __VA_ARGS__})
#define NAMES(...) ((const char *const[]){NULL, __VA_ARGS__})

#define REMARK_HOLDS_(code, given_numbers, given_names)                                            \
    (sizeof(given_numbers) / sizeof(double) - 1 == REMARK_##code##_NUMBERS &&                      \
     sizeof(given_names) / sizeof(char *) - 1 == REMARK_##code##_NAMES)
#define REMARK_KIND_(code, numbers, names)                                                         \
    (&remark_##code + 0 * sizeof(char[REMARK_HOLDS_(code, numbers, names) ? 1 : -1]))

/* remarks_add(&c.evidence, QUOTA_THROTTLED, NUMBERS(12.5), NAMES()): appends. Names are copied. */
#define remarks_add(remarks, code, numbers, names)                                                 \
    remarks_append(remarks, REMARK_KIND_(code, numbers, names), numbers, names)
/* The same of a single remark, in place of what it was. REMARK_NONE: no memory. */
#define remark_set(remark, code, numbers, names)                                                   \
    remark_fill(remark, REMARK_KIND_(code, numbers, names), numbers, names)

/* Behind the macros: values begin at index 1, since C has no empty array. */
void remarks_append(struct remarks *remarks, const struct remark_kind *kind, const double *numbers,
                    const char *const *names);
void remark_fill(struct remark *remark, const struct remark_kind *kind, const double *numbers,
                 const char *const *names);

/* Replaces by a copy. REMARK_NONE: no memory. */
void remark_copy(struct remark *to, const struct remark *from);
void remark_release(struct remark *remark);

/* Appends copies of all. */
void remarks_copy(struct remarks *to, const struct remarks *from);
/* Moves all of `from` to the end of `to`. */
void remarks_move(struct remarks *to, struct remarks *from);
void remarks_release(struct remarks *remarks);

#endif
