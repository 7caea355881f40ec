/* SPDX-License-Identifier: MIT */
#include "analysis/causes/remark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REMARK(code, ...)                                                                          \
    _Static_assert(REMARK_##code##_NUMBERS <= REMARK_NUMBERS &&                                    \
                       REMARK_##code##_NAMES <= REMARK_NAMES,                                      \
                   #code);
#include "analysis/causes/remarks.def"
#undef REMARK

#define SLOTS REMARK_SLOTS
#define REMARK(x, sentence_, numbers_, names_, ...)                                                \
    const struct remark_kind remark_##x = {.code = REMARK_##x,                                     \
                                           .name = #x,                                             \
                                           .sentence = sentence_,                                  \
                                           .n_numbers = REMARK_##x##_NUMBERS,                      \
                                           .n_names = REMARK_##x##_NAMES,                          \
                                           .numbers = numbers_,                                    \
                                           .names = names_,                                        \
                                           __VA_ARGS__};
#include "analysis/causes/remarks.def"
#undef REMARK
#undef SLOTS

const struct remark_kind *const remarks_shared[] = {
#define REMARK(code, ...) &remark_##code,
#include "analysis/causes/remarks.def"
#undef REMARK
    NULL};

void remark_release(struct remark *remark) {
    for (int i = 0; i < REMARK_NAMES; i++)
        free(remark->names[i]);
    *remark = (struct remark){0};
}

/* Returns 0 or -ENOMEM. */
static int make(const struct remark_kind *kind, const double *numbers, const char *const *names,
                struct remark *ret_remark) {
    struct remark made = {.kind = kind, .code = kind->code};
    memcpy(made.numbers, numbers, (size_t)kind->n_numbers * sizeof *numbers);
    for (int i = 0; i < kind->n_names; i++)
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

void remarks_append(struct remarks *remarks, const struct remark_kind *kind, const double *numbers,
                    const char *const *names) {
    struct remark made;
    int result = make(kind, numbers + 1, names + 1, &made);
    if (result < 0)
        remarks->error = result;
    else
        append(remarks, &made);
}

void remark_fill(struct remark *remark, const struct remark_kind *kind, const double *numbers,
                 const char *const *names) {
    remark_release(remark);
    make(kind, numbers + 1, names + 1, remark); /* without memory the remark is empty */
}

void remark_copy(struct remark *to, const struct remark *from) {
    remark_release(to);
    if (from->kind)
        make(from->kind, from->numbers, (const char *const *)from->names, to);
}

void remarks_copy(struct remarks *to, const struct remarks *from) {
    for (size_t i = 0; i < from->n; i++) {
        struct remark made = {0};
        remark_copy(&made, &from->items[i]);
        if (made.kind == from->items[i].kind)
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
