/* SPDX-License-Identifier: MIT */
/*
 * One socket from INET_DIAG: struct inet_diag_msg, then attributes. One attribute is a struct
 * tcp_info, another the memory of the socket's buffers. struct tcp_info has grown with every
 * kernel, so a field counts only if it lies whole within the message.
 */
#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/probes/connection/connection.h"
#include "tables/keys.h"

#define NOT_MEASURED UINT32_MAX /* tcpi_min_rtt before the first measurement */

bool connection_read(unsigned type, struct bytes payload, struct connection_message *ret_message) {
    struct connection_message message = {0};
    if ((type != SOCK_DIAG_BY_FAMILY && type != TCPDIAG_GETSOCK) ||
        payload.size < sizeof message.head)
        return false;
    memcpy(&message.head, payload.data, sizeof message.head);
    const struct inet_diag_sockid *id = &message.head.id;
    if ((message.head.idiag_family != AF_INET && message.head.idiag_family != AF_INET6) ||
        !id->idiag_dport)
        return false;
    message.cookie = (uint64_t)id->idiag_cookie[1] << 32 | id->idiag_cookie[0];
    netlink_find(netlink_after(payload, sizeof message.head), INET_DIAG_INFO, &message.info);
    netlink_find(netlink_after(payload, sizeof message.head), INET_DIAG_SKMEMINFO,
                 &message.buffers);
    *ret_message = message;
    return true;
}

/* ---- its name ---- */

size_t connection_name(const struct connection_message *message, char name[INSTANCE_MAX + 1]) {
    const struct inet_diag_sockid *id = &message->head.id;
    int family = message->head.idiag_family;
    const struct table_key key = {
        .form = KEY_CONNECTION,
        .ends = {key_end_of(family, id->idiag_src, ntohs(id->idiag_sport)),
                 key_end_of(family, id->idiag_dst, ntohs(id->idiag_dport))}};
    return key_write(&key, name);
}

/* ---- its figures ---- */

#define FIELD(name) offsetof(struct tcp_info, name), sizeof((struct tcp_info){0}.name)

static const struct field {
    uint8_t column;
    uint16_t offset, size;
    uint16_t scale;
} fields[] = {
    {CONNECTION_SEND_BYTES, FIELD(tcpi_bytes_acked), 1},
    {CONNECTION_RECEIVE_BYTES, FIELD(tcpi_bytes_received), 1},
    {CONNECTION_SEND_SEGMENTS, FIELD(tcpi_segs_out), 1},
    {CONNECTION_RECEIVE_SEGMENTS, FIELD(tcpi_segs_in), 1},
    {CONNECTION_RETRANSMITS, FIELD(tcpi_total_retrans), 1},
    {CONNECTION_BUSY, FIELD(tcpi_busy_time), NS_PER_US},
    {CONNECTION_RWND_LIMITED, FIELD(tcpi_rwnd_limited), NS_PER_US},
    {CONNECTION_SNDBUF_LIMITED, FIELD(tcpi_sndbuf_limited), NS_PER_US},
    {CONNECTION_RTT, FIELD(tcpi_rtt), NS_PER_US},
    {CONNECTION_MIN_RTT, FIELD(tcpi_min_rtt), NS_PER_US},
    {CONNECTION_DELIVERY_RATE, FIELD(tcpi_delivery_rate), 1},
    {CONNECTION_UNSENT_BYTES, FIELD(tcpi_notsent_bytes), 1},
    {CONNECTION_UNACKED, FIELD(tcpi_unacked), 1},
    {CONNECTION_CWND, FIELD(tcpi_snd_cwnd), 1},
};

static bool read_field(struct bytes info, const struct field *field, uint64_t *ret_number) {
    uint32_t small;
    struct bytes rest = {(const char *)info.data + field->offset, field->size};
    if (info.size < (size_t)field->offset + field->size)
        return false;
    if (field->size == sizeof *ret_number)
        return netlink_u64(rest, ret_number);
    netlink_u32(rest, &small);
    *ret_number = small;
    return true;
}

/* The kernel shows zero or the largest number for figures that it has not measured yet. */
static bool is_measured(int column, uint64_t number) {
    if (column == CONNECTION_MIN_RTT)
        return number != NOT_MEASURED;
    return number || (column != CONNECTION_RTT && column != CONNECTION_DELIVERY_RATE);
}

/* The kernel's figure includes its overhead: it is twice the size that a program asked for. */
static void put_buffer(struct bytes buffers, unsigned variable, int64_t *ret_value) {
    uint32_t number;
    size_t offset = variable * sizeof number;
    if (buffers.size < offset + sizeof number)
        return;
    netlink_u32((struct bytes){(const char *)buffers.data + offset, sizeof number}, &number);
    *ret_value = number;
}

/* The kernel keeps the best rate of start-up while the program has too little to send. The bit that
 * says so lies before all numbers, so every message with a rate has it. */
static void put_app_limited(struct bytes info, int64_t *values) {
    struct tcp_info head = {0};
    memcpy(&head, info.data, info.size < sizeof head ? info.size : sizeof head);
    if (values[CONNECTION_DELIVERY_RATE] != VALUE_ABSENT)
        values[CONNECTION_APP_LIMITED] = head.tcpi_delivery_rate_app_limited;
}

void connection_values(const struct connection_message *message, int64_t *values) {
    uint64_t number;
    values[CONNECTION_STATE] = message->head.idiag_state;
    values[CONNECTION_CONNECTIONS] = 1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int column = fields[i].column;
        if (read_field(message->info, &fields[i], &number) && is_measured(column, number))
            values[column] = counter_value(number, fields[i].scale);
    }
    if (message->info.size)
        put_app_limited(message->info, values);
    put_buffer(message->buffers, SK_MEMINFO_SNDBUF, &values[CONNECTION_SEND_ROOM]);
    put_buffer(message->buffers, SK_MEMINFO_WMEM_QUEUED, &values[CONNECTION_SEND_USED]);
    put_buffer(message->buffers, SK_MEMINFO_RCVBUF, &values[CONNECTION_RECEIVE_ROOM]);
}
