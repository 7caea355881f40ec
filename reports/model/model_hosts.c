/* SPDX-License-Identifier: MIT */
/* Which host of the input is meant. */
#include <string.h>

#include "reports/model/input.h"

int report_host_index(const struct report_input *input, int64_t id) {
    for (size_t i = 0; i < input->n_hosts; i++)
        if (input->hosts[i].id == id)
            return (int)i;
    return -1;
}

int report_host_named(const struct report_input *input, const char *name) {
    for (size_t h = 0; name && h < input->n_hosts; h++)
        if (strcmp(input->hosts[h].name, name) == 0)
            return (int)h;
    return -1;
}
