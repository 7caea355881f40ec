/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/flow_ends.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Copies an address that leads out of its host. */
static bool keep_address(const char *begin, size_t length, char address[FLOW_ADDRESS_SIZE]) {
    if (length == 0 || length >= FLOW_ADDRESS_SIZE)
        return false;
    memcpy(address, begin, length);
    address[length] = '\0';
    return strncmp(address, "127.", 4) != 0 && strcmp(address, "::1") != 0 &&
           strcmp(address, "[::1]") != 0;
}

/* Reads the address of an end from a name: 0 the local end, 1 the far end. */
typedef bool address_reader(const char *name, int end, char address[FLOW_ADDRESS_SIZE]);

/* "10.0.0.1:1025>10.0.0.2:56031", "[fe80::1]:1025>..." */
static bool address_of(const char *name, int end, char address[FLOW_ADDRESS_SIZE]) {
    const char *arrow = strchr(name, '>');
    if (!arrow)
        return false;
    const char *begin = end ? arrow + 1 : name, *stop = end ? name + strlen(name) : arrow;
    while (stop > begin && *stop != ':')
        stop--;
    return keep_address(begin, (size_t)(stop - begin), address);
}

/* A broadcast or multicast packet has its sender's host as the far end, and no host as its own. */
static bool is_for_all(const char *address) {
    unsigned first = (unsigned)strtoul(address, NULL, 10);
    size_t size = strlen(address);
    bool last_is_255 = size > 4 && strcmp(address + size - 4, ".255") == 0;
    return strncasecmp(address, "ff", 2) == 0 ||
           (!strchr(address, ':') && ((first >= 224 && first <= 239) || last_is_255));
}

/* "eth0 10.0.0.1 10.0.0.2"; "eth0 arp" and "eth0 protocol 0x88cc" have none. */
static bool packet_address_of(const char *name, int end, char address[FLOW_ADDRESS_SIZE]) {
    const char *local = strchr(name, ' '), *remote = local ? strchr(local + 1, ' ') : NULL;
    if (!remote || strncmp(local, " protocol ", strlen(" protocol ")) == 0)
        return false;
    return end ? keep_address(remote + 1, strlen(remote + 1), address)
               : keep_address(local + 1, (size_t)(remote - local - 1), address) &&
                     !is_for_all(address);
}

struct address {
    char text[FLOW_ADDRESS_SIZE];
    int host;
};

static int compare_addresses(const void *a, const void *b) {
    return strcmp(((const struct address *)a)->text, ((const struct address *)b)->text);
}

/* Local ends show the addresses of each host. Sorts them; of doubles one stays: the one of the
 * lower host, though with two hosts neither is right.
 */
static size_t collect_addresses(const struct series_set *set, address_reader *read,
                                struct address *to) {
    size_t n = 0, kept = 0;
    for (size_t s = 0; s < set->n; s++)
        if (read(set->items[s].name, 0, to[n].text))
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

static int find_ends(const struct series_set *set, address_reader *read, int *ret_to) {
    struct address *addresses = malloc((set->n + 1) * sizeof *addresses);
    char far_end[FLOW_ADDRESS_SIZE];
    if (!addresses)
        return -ENOMEM;
    size_t n = collect_addresses(set, read, addresses);
    for (size_t s = 0; s < set->n; s++) {
        const struct series *series = &set->items[s];
        ret_to[s] = read(series->name, 1, far_end) ? host_of(addresses, n, far_end) : -1;
        if (ret_to[s] == series->host)
            ret_to[s] = -1;
    }
    free(addresses);
    return 0;
}

int flow_ends(const struct series_set *connections, int *ret_to) {
    return find_ends(connections, address_of, ret_to);
}

int flow_ends_of_packets(const struct series_set *flows, int *ret_to) {
    return find_ends(flows, packet_address_of, ret_to);
}

bool flow_far_end(const char *connection, char ret_address[FLOW_ADDRESS_SIZE]) {
    char near_end[FLOW_ADDRESS_SIZE];
    return address_of(connection, 0, near_end) && address_of(connection, 1, ret_address) &&
           strcmp(near_end, ret_address) != 0;
}

bool flow_far_end_of_packets(const char *flow, char ret_interface[FLOW_ADDRESS_SIZE],
                             char ret_address[FLOW_ADDRESS_SIZE]) {
    char near_end[FLOW_ADDRESS_SIZE];
    return packet_address_of(flow, 0, near_end) && packet_address_of(flow, 1, ret_address) &&
           strcmp(near_end, ret_address) != 0 &&
           keep_address(flow, strcspn(flow, " "), ret_interface);
}
