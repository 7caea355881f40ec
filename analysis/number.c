/* SPDX-License-Identifier: MIT */
#include "analysis/number.h"

#define NUMBER(name, value, unit, cause, reason)                                                   \
    const struct number number_##name = {#name, value, unit, reason, cause};
#include "analysis/thresholds.def"
#undef NUMBER

const struct number *const numbers_shared[] = {
#define NUMBER(name, value, unit, cause, reason) &number_##name,
#include "analysis/thresholds.def"
#undef NUMBER
    NULL};

/* If a list sets a number twice, the later value counts. */
double judge_number(const struct judge *judge, const struct number *number) {
    for (size_t i = judge ? judge->n_set : 0; i-- > 0;)
        if (judge->set[i].number == number)
            return judge->set[i].value;
    return number->usual;
}
