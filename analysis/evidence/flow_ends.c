/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/flow_ends.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The address of an end that leads out of its host: 0 the local end, 1 the far end. NULL if it has
 * none. A broadcast or multicast packet has its sender's host as the far end, and no host as its
 * own.
 */
static const struct key_address *address_of(const struct table_key *key, size_t end) {
    bool flow = key->form == KEY_FLOW;
    const struct key_address *address = &key->ends[end].address;
    if ((!flow && key->form != KEY_CONNECTION) || !address->family ||
        key_address_is_loopback(address) || (flow && end == 0 && key_address_is_shared(address)))
        return NULL;
    return address;
}

struct address_owner {
    struct key_address address;
    int host;
};

static int compare_addresses(const struct key_address *a, const struct key_address *b) {
    return memcmp(a, b, sizeof *a);
}

static int compare_address_owners(const void *a, const void *b) {
    return compare_addresses(&((const struct address_owner *)a)->address,
                             &((const struct address_owner *)b)->address);
}

/* Local ends show the addresses of each host. Sorts them; of doubles one stays: the one of the
 * lower host, though with two hosts neither is right.
 */
static size_t collect_owners(const struct series_set *set, struct address_owner *to) {
    size_t n = 0, kept = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct key_address *own = address_of(&set->items[s].key, 0);
        if (own)
            to[n++] = (struct address_owner){*own, set->items[s].host};
    }
    if (n)
        qsort(to, n, sizeof *to, compare_address_owners);
    for (size_t i = 0; i < n; i++)
        if (!kept || compare_address_owners(&to[kept - 1], &to[i]) != 0)
            to[kept++] = to[i];
    return kept;
}

static int host_of(const struct address_owner *owners, size_t n,
                   const struct key_address *address) {
    struct address_owner key = {*address, -1};
    const struct address_owner *found =
        n ? bsearch(&key, owners, n, sizeof *owners, compare_address_owners) : NULL;
    return found ? found->host : -1;
}

int flow_ends(const struct series_set *set, int *ret_to) {
    struct address_owner *owners = malloc((set->n + 1) * sizeof *owners);
    if (!owners)
        return -ENOMEM;
    size_t n = collect_owners(set, owners);
    for (size_t s = 0; s < set->n; s++) {
        const struct series *series = &set->items[s];
        const struct key_address *far = address_of(&series->key, 1);
        ret_to[s] = far ? host_of(owners, n, far) : -1;
        if (ret_to[s] == series->host)
            ret_to[s] = -1;
    }
    free(owners);
    return 0;
}

const struct key_address *flow_far_end(const struct table_key *key) {
    const struct key_address *own = address_of(key, 0), *far = address_of(key, 1);
    return own && far && compare_addresses(own, far) != 0 ? far : NULL;
}
