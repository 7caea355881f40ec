/* SPDX-License-Identifier: MIT */
/*
 * struct tcmsg, then attributes. The statistics have grown from a struct to nested attributes
 * (TCA_STATS2, 2.6.9). Packets had 32 bits at first (TCA_STATS_PKT64: 5.5).
 */
#include "agent/probes/qdisc.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "tables/keys.h"

static void read_traffic(struct bytes stats, struct qdisc_message *message) {
    struct gnet_stats_basic basic;
    struct bytes value;
    if (!netlink_find(stats, TCA_STATS_BASIC, &value) ||
        value.size < offsetof(struct gnet_stats_basic, packets) + sizeof basic.packets)
        return;
    memset(&basic, 0, sizeof basic);
    memcpy(&basic, value.data, value.size < sizeof basic ? value.size : sizeof basic);
    message->bytes = basic.bytes;
    message->packets = basic.packets;
    message->has_traffic = true;
    if (netlink_find(stats, TCA_STATS_PKT64, &value))
        netlink_u64(value, &message->packets);
}

static void read_queue(struct bytes stats, struct qdisc_message *message) {
    struct gnet_stats_queue queue;
    struct bytes value;
    if (!netlink_find(stats, TCA_STATS_QUEUE, &value) || value.size < sizeof queue)
        return;
    memcpy(&queue, value.data, sizeof queue);
    message->queue_length = queue.qlen;
    message->backlog_bytes = queue.backlog;
    message->drops = queue.drops;
    message->requeues = queue.requeues;
    message->overlimits = queue.overlimits;
    message->has_queue = true;
}

/* Rates from 4 GiB/s on have their own attribute; the old field then has its largest value. */
static void read_tbf_rate(struct bytes options, struct qdisc_message *message) {
    struct tc_tbf_qopt parameters;
    struct bytes value;
    if (netlink_find(options, TCA_TBF_RATE64, &value) &&
        netlink_u64(value, &message->rate_bytes_per_s)) {
        message->has_rate = true;
    } else if (netlink_find(options, TCA_TBF_PARMS, &value) && value.size >= sizeof parameters) {
        memcpy(&parameters, value.data, sizeof parameters);
        message->rate_bytes_per_s = parameters.rate.rate;
        message->has_rate = true;
    }
}

static void read_cake_rate(struct bytes options, struct qdisc_message *message) {
    struct bytes value;
    message->has_rate = netlink_find(options, TCA_CAKE_BASE_RATE64, &value) &&
                        netlink_u64(value, &message->rate_bytes_per_s) && message->rate_bytes_per_s;
}

bool qdisc_read(unsigned type, struct bytes payload, struct qdisc_message *ret_message) {
    struct qdisc_message message = {0};
    struct tcmsg head;
    struct bytes value, attributes = netlink_after(payload, sizeof head);
    if (type != RTM_NEWQDISC || payload.size < sizeof head ||
        !netlink_find(attributes, TCA_KIND, &value))
        return false;
    memcpy(&head, payload.data, sizeof head);
    message.interface = head.tcm_ifindex;
    message.handle = head.tcm_handle;
    message.parent = head.tcm_parent;
    text_sanitize(message.kind, sizeof message.kind, value.data, strnlen(value.data, value.size));
    if (netlink_find(attributes, TCA_STATS2, &value)) {
        read_traffic(value, &message);
        read_queue(value, &message);
    }
    if (netlink_find(attributes, TCA_OPTIONS, &value)) {
        if (strcmp(message.kind, "tbf") == 0)
            read_tbf_rate(value, &message);
        else if (strcmp(message.kind, "cake") == 0)
            read_cake_rate(value, &message);
    }
    *ret_message = message;
    return true;
}

size_t qdisc_name(const struct qdisc_message *message, const char *interface,
                  char name[INSTANCE_MAX + 1]) {
    char place[16];
    if (message->handle)
        snprintf(place, sizeof place, "%x:", message->handle >> 16);
    else if (message->parent == TC_H_ROOT)
        strcpy(place, "root");
    else if (message->parent >> 16)
        snprintf(place, sizeof place, "%x:%x", message->parent >> 16, message->parent & 0xffff);
    else
        snprintf(place, sizeof place, ":%x", message->parent & 0xffff);
    const struct table_key key = {.form = KEY_QUEUE,
                                  .interface = text_span(interface),
                                  .kind = text_span(message->kind),
                                  .place = text_span(place)};
    return key_write(&key, name);
}
