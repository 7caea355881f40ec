/* SPDX-License-Identifier: MIT */
/*
 * Asks for the known connections of the job one by one: by their ends and the cookie of their
 * socket, so that no other socket between the same ends can answer. A dump walks all slots of the
 * kernel's table, however few sockets there are, and then all sockets of all processes.
 *
 * The kernel's counters of opened connections tell whether there may be new ones. They stand in
 * /proc/net/snmp, one for each direction, IPv6 included.
 */
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>

#include "agent/probes/connection/connection.h"
#include "common/text.h"

#define TOGETHER 64
#define TCP "Tcp:"

static bool word_is(struct span word, const char *name) {
    return word.size == strlen(name) && memcmp(word.data, name, word.size) == 0;
}

/* Adds the numbers in `values` under ActiveOpens and PassiveOpens in `names`; both must be
 * there. */
static bool sum_opens(struct span names, struct span values, uint64_t *ret_opens) {
    const char *p = names.data, *end = names.data + names.size;
    const char *q = values.data, *values_end = values.data + values.size;
    struct span name, value;
    uint64_t sum = 0, number;
    int found = 0;
    while (text_word(&p, end, &name) && text_word(&q, values_end, &value)) {
        const char *digits = value.data;
        if (!word_is(name, "ActiveOpens") && !word_is(name, "PassiveOpens"))
            continue;
        if (!text_u64(&digits, value.data + value.size, &number))
            return false;
        sum += number;
        found++;
    }
    *ret_opens = sum;
    return found == 2;
}

bool connection_read_opens(const char *text, size_t size, uint64_t *ret_opens) {
    const char *end = text + size;
    struct span names, values;
    while (text_line(&text, end, &names))
        if (span_starts(names, TCP))
            return text_line(&text, end, &values) && span_starts(values, TCP) &&
                   sum_opens(names, values, ret_opens);
    return false;
}

/* ---- questions ---- */

struct asker {
    netlink_take *take;
    void *ctx;
};

static void answer(void *ctx, size_t at, unsigned type, struct bytes payload) {
    const struct asker *asker = ctx;
    (void)at;
    asker->take(asker->ctx, type, payload);
}

static struct inet_diag_req_v2 question(const struct connection *connection) {
    return (struct inet_diag_req_v2){.sdiag_family = connection->family,
                                     .sdiag_protocol = IPPROTO_TCP,
                                     .idiag_ext = 1u << (INET_DIAG_INFO - 1) |
                                                  1u << (INET_DIAG_SKMEMINFO - 1),
                                     .idiag_states = UINT32_MAX,
                                     .id = connection->id};
}

int connections_ask(struct netlink *netlink, const struct connections *all, size_t most,
                    netlink_take *take, void *ctx) {
    struct inet_diag_req_v2 questions[TOGETHER];
    struct asker asker = {take, ctx};
    size_t n = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < all->n && most > 0; i++) {
        if (!all->items[i].pid)
            continue;
        questions[n++] = question(&all->items[i]);
        if (--most > 0 && n < TOGETHER)
            continue;
        r = netlink_ask_many(netlink, SOCK_DIAG_BY_FAMILY, questions, sizeof *questions, n, answer,
                             &asker);
        n = 0;
    }
    return r < 0 || n == 0 ? r
                           : netlink_ask_many(netlink, SOCK_DIAG_BY_FAMILY, questions,
                                              sizeof *questions, n, answer, &asker);
}
