/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/flow_ends.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* "10.0.0.1:1025>10.0.0.2:56031", "[fe80::1]:1025>...": 0 or 1. */
static bool address_of(const char *name, int end, char address[FLOW_ADDRESS_SIZE]) {
    const char *arrow = strchr(name, '>');
    if (!arrow)
        return false;
    const char *begin = end ? arrow + 1 : name, *stop = end ? name + strlen(name) : arrow;
    while (stop > begin && *stop != ':')
        stop--;
    size_t length = (size_t)(stop - begin);
    if (length == 0 || length >= FLOW_ADDRESS_SIZE)
        return false;
    memcpy(address, begin, length);
    address[length] = '\0';
    return strncmp(address, "127.", 4) != 0 && strcmp(address, "::1") != 0 &&
           strcmp(address, "[::1]") != 0;
}

struct address {
    char text[FLOW_ADDRESS_SIZE];
    int host;
};

static int compare_addresses(const void *a, const void *b) {
    return strcmp(((const struct address *)a)->text, ((const struct address *)b)->text);
}

/* The local ends tell which addresses a host has. Sorted; of doubles one stays, of two hosts none
 * would be right, so the lower. */
static size_t collect_addresses(const struct series_set *set, struct address *to) {
    size_t n = 0, kept = 0;
    for (size_t s = 0; s < set->n; s++)
        if (address_of(set->items[s].name, 0, to[n].text))
            to[n++].host = set->items[s].host;
    if (n)
        qsort(to, n, sizeof *to, compare_addresses);
    for (size_t i = 0; i < n; i++)
        if (!kept || strcmp(to[kept - 1].text, to[i].text) != 0)
            to[kept++] = to[i];
    return kept;
}

static int host_of(const struct address *addresses, size_t n, const char *text) {
    struct address key = {.host = -1};
    memcpy(key.text, text, strlen(text) + 1);
    const struct address *found =
        n ? bsearch(&key, addresses, n, sizeof *addresses, compare_addresses) : NULL;
    return found ? found->host : -1;
}

int flow_ends(const struct series_set *connections, int *ret_to) {
    struct address *addresses = malloc((connections->n + 1) * sizeof *addresses);
    char far_end[FLOW_ADDRESS_SIZE];
    if (!addresses)
        return -ENOMEM;
    size_t n = collect_addresses(connections, addresses);
    for (size_t s = 0; s < connections->n; s++) {
        const struct series *series = &connections->items[s];
        ret_to[s] = address_of(series->name, 1, far_end) ? host_of(addresses, n, far_end) : -1;
        if (ret_to[s] == series->host)
            ret_to[s] = -1;
    }
    free(addresses);
    return 0;
}

bool flow_far_end(const char *connection, char ret_address[FLOW_ADDRESS_SIZE]) {
    char near_end[FLOW_ADDRESS_SIZE];
    return address_of(connection, 0, near_end) && address_of(connection, 1, ret_address) &&
           strcmp(near_end, ret_address) != 0;
}
