/* SPDX-License-Identifier: MIT */
/* Open addressing at half load. A packet too short for its own header goes to its protocol's row.
 */
#include "agent/probes/flow.h"

#include <arpa/inet.h>
#include <string.h>

#include "tables/keys.h"

#define PROTOCOL_IPV4 0x0800
#define PROTOCOL_IPV6 0x86dd

/* ---- packets ---- */

static void put_addresses(struct flow_key *key, const struct captured *packet, size_t at,
                          size_t size) {
    const uint8_t *source = packet->head + at, *destination = source + size;
    memcpy(key->local, packet->sent ? source : destination, size);
    memcpy(key->remote, packet->sent ? destination : source, size);
}

void flow_key_of(const struct captured *packet, struct flow_key *ret_key) {
    uint8_t version = packet->head_size ? packet->head[0] >> 4 : 0;
    memset(ret_key, 0, sizeof *ret_key);
    ret_key->interface = packet->interface;
    ret_key->protocol = packet->protocol;
    if (packet->protocol == PROTOCOL_IPV4 && version == 4 && packet->head_size >= 20)
        put_addresses(ret_key, packet, 12, 4);
    else if (packet->protocol == PROTOCOL_IPV6 && version == 6 && packet->head_size >= 40)
        put_addresses(ret_key, packet, 8, 16);
}

size_t flow_name(const struct flow_key *key, const char *interface, char name[INSTANCE_MAX + 1]) {
    int family = key->protocol == PROTOCOL_IPV4   ? AF_INET
                 : key->protocol == PROTOCOL_IPV6 ? AF_INET6
                                                  : 0;
    struct table_key to = {.form = KEY_FLOW, .interface = text_span(interface)};
    to.protocol = key->protocol;
    for (size_t i = 0; family && i < 2; i++)
        to.ends[i].address = key_address_of(family, i ? key->remote : key->local);
    return key_write(&to, name);
}

void flow_count(struct flow_counts *counts, const struct captured *packet) {
    *(packet->sent ? &counts->send_bytes : &counts->receive_bytes) += packet->bytes;
    *(packet->sent ? &counts->send_packets : &counts->receive_packets) += 1;
}

/* ---- table ---- */

/* Addresses differ only in the highest bits of their last words: so the bits are rotated in, and
 * mixed at the end as in MurmurHash3. The key has no gaps. */
static size_t flow_slot(const struct flow_key *key) {
    uint32_t words[sizeof *key / 4], hash = 0;
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = ((hash << 13 | hash >> 19) ^ words[i]) * 0x9e3779b1u;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return (hash ^ hash >> 16) % FLOW_SLOTS;
}

struct flow *flows_find(struct flows *all, const struct flow_key *key) {
    for (size_t slot = flow_slot(key); all->slots[slot]; slot = (slot + 1) % FLOW_SLOTS) {
        struct flow *flow = &all->items[all->slots[slot] - 1];
        if (memcmp(&flow->key, key, sizeof *key) == 0)
            return flow;
    }
    return NULL;
}

static void place(struct flows *all, size_t at) {
    size_t slot = flow_slot(&all->items[at].key);
    while (all->slots[slot])
        slot = (slot + 1) % FLOW_SLOTS;
    all->slots[slot] = (uint16_t)(at + 1);
}

struct flow *flows_add(struct flows *all, const struct flow_key *key) {
    if (all->n == FLOWS_MAX)
        return NULL;
    struct flow *flow = &all->items[all->n];
    *flow = (struct flow){.key = *key};
    place(all, all->n++);
    return flow;
}

void flows_keep(struct flows *all, int64_t since_ns) {
    size_t kept = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (all->items[i].active_ns < since_ns)
            continue;
        if (kept != i)
            all->items[kept] = all->items[i];
        kept++;
    }
    if (kept == all->n)
        return;
    all->n = kept;
    memset(all->slots, 0, sizeof all->slots);
    for (size_t i = 0; i < kept; i++)
        place(all, i);
}
