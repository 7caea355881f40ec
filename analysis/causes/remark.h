/* SPDX-License-Identifier: MIT */
/*
 * A remark: an observation of a cause or the verdict, as a kind with numbers and names. A kind has
 * the template from which reports/says makes its sentence. Code that adds a remark with a wrong
 * number of numbers or names does not compile. A cause has its own kinds in its file (own.h);
 * remarks.def lists those that several causes share, and those of the verdict.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_REMARK_H
#define CHOKEPOINT_ANALYSIS_CAUSES_REMARK_H

#include <stdbool.h>
#include <stddef.h>

#define REMARK_NUMBERS 8 /* at most */
#define REMARK_NAMES 4

/* The entry of remarks.def. */
enum remark_code {
    REMARK_NONE,     /* no remark */
    REMARK_OF_CAUSE, /* a cause's own remark: see its kind */
#define REMARK(code, sentence, numbers, names, ...) REMARK_##code,
#include "analysis/causes/remarks.def"
#undef REMARK
    REMARK_COUNT_
};

struct remark_kind {
    enum remark_code code;
    const char *name;     /* static, like all of these */
    const char *sentence; /* its template; NULL: reports/ finds it by the code */
    int n_numbers, n_names;
    const char *numbers[1 + REMARK_NUMBERS], *names[1 + REMARK_NAMES]; /* [1] on: "waited, %" */
    const char *label; /* its first words; a sentence with its own subject omits them */
    bool is_clause;    /* a clause whose subject is a known rank: "rank 1 sleeps in its own code" */
};

/* REMARK_x_NUMBERS, REMARK_x_NAMES: how many values the kind x has. */
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

/* The kinds of remarks.def; ends with NULL. */
extern const struct remark_kind *const remarks_shared[];

struct remark {
    const struct remark_kind *kind; /* NULL: no remark */
    enum remark_code code;          /* copied from the kind */
    double numbers[REMARK_NUMBERS];
    char *names[REMARK_NAMES]; /* owned */
};

struct remarks {
    struct remark *items;
    size_t n;
    int error; /* 0, or -ENOMEM after a failed append: checked once at the end */
};

/* Arguments of remarks_add() and remark_set(): values in the order of the kind's slots. */
#define NUMBERS(...) ((const double[]){0, __VA_ARGS__})
#define NAMES(...) ((const char *const[]){NULL, __VA_ARGS__})

#define REMARK_HOLDS_(code, given_numbers, given_names)                                            \
    (sizeof(given_numbers) / sizeof(double) - 1 == REMARK_##code##_NUMBERS &&                      \
     sizeof(given_names) / sizeof(char *) - 1 == REMARK_##code##_NAMES)
#define REMARK_KIND_(code, numbers, names)                                                         \
    (&remark_##code + 0 * sizeof(char[REMARK_HOLDS_(code, numbers, names) ? 1 : -1]))

/* remarks_add(&c.evidence, QUOTA_THROTTLED, NUMBERS(12.5), NAMES()) appends a remark. Names are
 * copied. */
#define remarks_add(remarks, code, numbers, names)                                                 \
    remarks_append(remarks, REMARK_KIND_(code, numbers, names), numbers, names)
/* Replaces a single remark. REMARK_NONE: no memory. */
#define remark_set(remark, code, numbers, names)                                                   \
    remark_fill(remark, REMARK_KIND_(code, numbers, names), numbers, names)

/* Used by the macros: values begin at index 1, since C has no empty array. */
void remarks_append(struct remarks *remarks, const struct remark_kind *kind, const double *numbers,
                    const char *const *names);
void remark_fill(struct remark *remark, const struct remark_kind *kind, const double *numbers,
                 const char *const *names);

/* Replaces `to` by a copy. REMARK_NONE: no memory. */
void remark_copy(struct remark *to, const struct remark *from);
void remark_release(struct remark *remark);

/* Appends copies of all. */
void remarks_copy(struct remarks *to, const struct remarks *from);
/* Moves all of `from` to the end of `to`. */
void remarks_move(struct remarks *to, struct remarks *from);
void remarks_release(struct remarks *remarks);

#endif
