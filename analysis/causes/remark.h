/* SPDX-License-Identifier: MIT */
/*
 * A remark: what a rule observed, as a code with numbers and names. The sentence is made of it in
 * reports/says. remarks.def lists the codes and what each carries; a remark that is added with
 * another number of numbers or names does not compile.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_REMARK_H
#define CHOKEPOINT_ANALYSIS_CAUSES_REMARK_H

#include <stdbool.h>
#include <stddef.h>

#define REMARK_NUMBERS 8 /* at most */
#define REMARK_NAMES 4

enum remark_code {
    REMARK_NONE, /* nothing is said */
#define REMARK(code, meaning, numbers, names) REMARK_##code,
#include "analysis/causes/remarks.def"
#undef REMARK
    REMARK_COUNT_
};

/* REMARK_x_NUMBERS, REMARK_x_NAMES: how many of them the code x carries. */
#define SLOTS(...) ((int)(sizeof((const char *const[]){NULL, __VA_ARGS__}) / sizeof(char *)) - 1)
enum remark_slots {
#define REMARK(code, meaning, numbers, names)                                                      \
    REMARK_##code##_NUMBERS = numbers, REMARK_##code##_NAMES = names,
#include "analysis/causes/remarks.def"
#undef REMARK
};
#undef SLOTS

struct remark {
    enum remark_code code;
    double numbers[REMARK_NUMBERS];
    char *names[REMARK_NAMES]; /* owned */
};

struct remarks {
    struct remark *items;
    size_t n;
    int error; /* 0, or -ENOMEM once an append failed: checked once at the end */
};

/* Arguments of remarks_add() and remark_set(): the values in the order of remarks.def. */
#define NUMBERS(...) ((const double[]){0, __VA_ARGS__})
#define NAMES(...) ((const char *const[]){NULL, __VA_ARGS__})

#define REMARK_HOLDS_(code, given_numbers, given_names)                                            \
    (sizeof(given_numbers) / sizeof(double) - 1 == REMARK_##code##_NUMBERS &&                      \
     sizeof(given_names) / sizeof(char *) - 1 == REMARK_##code##_NAMES)
#define REMARK_CODE_(code, numbers, names)                                                         \
    ((enum remark_code)(REMARK_##code +                                                            \
                        0 * sizeof(char[REMARK_HOLDS_(code, numbers, names) ? 1 : -1])))

/* remarks_add(&c.evidence, QUOTA_THROTTLED, NUMBERS(12.5), NAMES()): appends. Names are copied. */
#define remarks_add(remarks, code, numbers, names)                                                 \
    remarks_append(remarks, REMARK_CODE_(code, numbers, names), numbers, names)
/* The same of a single remark, in place of what it was. REMARK_NONE: no memory. */
#define remark_set(remark, code, numbers, names)                                                   \
    remark_fill(remark, REMARK_CODE_(code, numbers, names), numbers, names)

/* Behind the macros: values begin at index 1, since C has no empty array. */
void remarks_append(struct remarks *remarks, enum remark_code code, const double *numbers,
                    const char *const *names);
void remark_fill(struct remark *remark, enum remark_code code, const double *numbers,
                 const char *const *names);

/* Replaces by a copy. REMARK_NONE: no memory. */
void remark_copy(struct remark *to, const struct remark *from);
void remark_release(struct remark *remark);

/* Appends copies of all. */
void remarks_copy(struct remarks *to, const struct remarks *from);
/* Moves all of `from` to the end of `to`. */
void remarks_move(struct remarks *to, struct remarks *from);
void remarks_release(struct remarks *remarks);

/* The arguments of a code, for callers that have it as a value. */
struct remark_info {
    const char *code, *meaning; /* static */
    int n_numbers, n_names;
    const char *numbers[REMARK_NUMBERS], *names[REMARK_NAMES]; /* "the group was throttled, %" */
};

/* REMARK_NONE has none. */
struct remark_info remark_info(enum remark_code code);

#endif
