/* SPDX-License-Identifier: MIT */
#include "analysis/causes/remark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REMARK(code, meaning, numbers, names)                                                      \
    _Static_assert(REMARK_##code##_NUMBERS <= REMARK_NUMBERS &&                                    \
                       REMARK_##code##_NAMES <= REMARK_NAMES,                                      \
                   #code);
#include "analysis/causes/remarks.def"
#undef REMARK

/* Slots begin with a NULL, since C has no empty initializer. */
#define SLOTS(...)                                                                                 \
    { NULL, __VA_ARGS__ }
static const struct {
    const char *code, *meaning;
    const char *numbers[1 + REMARK_NUMBERS], *names[1 + REMARK_NAMES];
    int n_numbers, n_names;
} table[REMARK_COUNT_] = {
#define REMARK(code, meaning, numbers, names)                                                      \
    [REMARK_##                                                                                     \
        code] = {#code, meaning, numbers, names, REMARK_##code##_NUMBERS, REMARK_##code##_NAMES},
#include "analysis/causes/remarks.def"
#undef REMARK
};

struct remark_info remark_info(enum remark_code code) {
    struct remark_info info = {table[code].code,
                               table[code].meaning,
                               table[code].n_numbers,
                               table[code].n_names,
                               {NULL},
                               {NULL}};
    memcpy(info.numbers, table[code].numbers + 1, sizeof info.numbers);
    memcpy(info.names, table[code].names + 1, sizeof info.names);
    return info;
}

void remark_release(struct remark *remark) {
    for (int i = 0; i < REMARK_NAMES; i++)
        free(remark->names[i]);
    *remark = (struct remark){REMARK_NONE};
}

/* 0, -ENOMEM. */
static int make(enum remark_code code, const double *numbers, const char *const *names,
                struct remark *ret_remark) {
    struct remark made = {.code = code};
    memcpy(made.numbers, numbers, (size_t)table[code].n_numbers * sizeof *numbers);
    for (int i = 0; i < table[code].n_names; i++)
        if (!(made.names[i] = strdup(names[i] ? names[i] : ""))) {
            remark_release(&made);
            return -ENOMEM;
        }
    *ret_remark = made;
    return 0;
}

static void append(struct remarks *remarks, struct remark *taken) {
    struct remark *items = realloc(remarks->items, (remarks->n + 1) * sizeof *items);
    if (!items) {
        remark_release(taken);
        remarks->error = -ENOMEM;
        return;
    }
    remarks->items = items;
    remarks->items[remarks->n++] = *taken;
}

void remarks_append(struct remarks *remarks, enum remark_code code, const double *numbers,
                    const char *const *names) {
    struct remark made;
    int result = make(code, numbers + 1, names + 1, &made);
    if (result < 0)
        remarks->error = result;
    else
        append(remarks, &made);
}

void remark_fill(struct remark *remark, enum remark_code code, const double *numbers,
                 const char *const *names) {
    remark_release(remark);
    make(code, numbers + 1, names + 1, remark); /* without memory it stays REMARK_NONE */
}

void remark_copy(struct remark *to, const struct remark *from) {
    remark_release(to);
    make(from->code, from->numbers, (const char *const *)from->names, to);
}

void remarks_copy(struct remarks *to, const struct remarks *from) {
    for (size_t i = 0; i < from->n; i++) {
        struct remark made = {REMARK_NONE};
        remark_copy(&made, &from->items[i]);
        if (made.code == from->items[i].code)
            append(to, &made);
        else
            to->error = -ENOMEM;
    }
    if (from->error)
        to->error = from->error;
}

void remarks_move(struct remarks *to, struct remarks *from) {
    for (size_t i = 0; i < from->n; i++)
        append(to, &from->items[i]);
    if (from->error)
        to->error = from->error;
    free(from->items);
    *from = (struct remarks){0};
}

void remarks_release(struct remarks *remarks) {
    for (size_t i = 0; i < remarks->n; i++)
        remark_release(&remarks->items[i]);
    free(remarks->items);
    *remarks = (struct remarks){0};
}
