/* SPDX-License-Identifier: MIT */
/*
 * The headers of packets on all interfaces of this network namespace, both directions. There are
 * two implementations: capture_pcap.c, and capture_without.c for builds without libpcap's headers.
 */
#ifndef CHOKEPOINT_AGENT_CAPTURE_H
#define CHOKEPOINT_AGENT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;

struct captured {
    int interface;     /* index of the interface */
    bool sent;         /* true: sent by this host */
    uint16_t protocol; /* Ethernet's type: 0x0800 IPv4, 0x86dd IPv6 ... */
    uint32_t bytes;    /* on the wire, as the interface counts; a large segment is one packet */
    const uint8_t *head;
    size_t head_size; /* from the protocol's header on; cut */
};

typedef void capture_take(void *ctx, const struct captured *packet);

#define CAPTURE_ABSENT 1 /* not installed or not permitted: `why` names a remedy */

/* ring_bytes: memory for packets until they are drained. 0, CAPTURE_ABSENT or negative errno with
 * one line in why. */
int capture_open(size_t head_bytes, size_t ring_bytes, struct capture **ret_capture, char *why,
                 size_t why_size);
void capture_close(struct capture *capture); /* takes NULL */

/* Passes on the packets so far, without waiting. Negative errno. */
int capture_drain(struct capture *capture, capture_take *take, void *ctx);

/* Packets that were dropped since the ring was opened. */
uint64_t capture_dropped(struct capture *capture);

#endif
