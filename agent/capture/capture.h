/* SPDX-License-Identifier: MIT */
/*
 * The heads of packets on all interfaces of this network namespace, as they come and go. This
 * header has two implementations: capture_pcap.c, and capture_without.c for a build without
 * libpcap's headers.
 */
#ifndef CHOKEPOINT_AGENT_CAPTURE_H
#define CHOKEPOINT_AGENT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;

struct captured {
    int interface;     /* index */
    bool sent;         /* by this host, not to it */
    uint16_t protocol; /* of Ethernet: 0x0800 IPv4, 0x86dd IPv6 ... */
    uint32_t bytes; /* on the wire, as the interface counts them; a large segment is one packet */
    const uint8_t *head;
    size_t head_size; /* from the protocol's header on; cut */
};

typedef void capture_take(void *ctx, const struct captured *packet);

#define CAPTURE_ABSENT 1 /* not installed, or not permitted: why says what would help */

/* ring_bytes: where packets wait until they are drained. 0, CAPTURE_ABSENT or negative errno with
 * one line in why. */
int capture_open(size_t head_bytes, size_t ring_bytes, struct capture **ret_capture, char *why,
                 size_t why_size);
void capture_close(struct capture *capture); /* takes NULL */

/* Hands on what has come since, without waiting. Negative errno. */
int capture_drain(struct capture *capture, capture_take *take, void *ctx);

/* Packets that found no room in the ring since it was opened. */
uint64_t capture_dropped(struct capture *capture);

#endif
