/* SPDX-License-Identifier: MIT */
#include "analysis/facts/iteration/iteration.h"

int iterations_find(const struct recording *recording, struct iterations *ret_iterations) {
    int (*const sources[])(const struct recording *, struct iterations *) = {
        iterations_from_marks, iterations_from_calls, iterations_from_counters};
    int result = 0;
    *ret_iterations = (struct iterations){0};
    for (size_t i = 0; result == 0 && ret_iterations->n == 0 && i < 3; i++) {
        iterations_release(ret_iterations);
        result = sources[i](recording, ret_iterations);
    }
    return result;
}
