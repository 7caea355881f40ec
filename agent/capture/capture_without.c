/* SPDX-License-Identifier: MIT */
/* Without libpcap there is no capture: not in the static agent, since D-Bus and systemd cannot be
 * linked into it, and not in a build without libpcap's headers. */
#include "agent/capture/capture.h"

#include <errno.h>
#include <stdio.h>

int capture_open(size_t head_bytes, size_t ring_bytes, struct capture **ret_capture, char *why,
                 size_t why_size) {
    (void)head_bytes, (void)ring_bytes, (void)ret_capture;
    snprintf(
        why, why_size,
        "this agent is built without libpcap: --flows needs the package chokepoint-agent there");
    return CAPTURE_ABSENT;
}

void capture_close(struct capture *capture) {
    (void)capture;
}

int capture_drain(struct capture *capture, capture_take *take, void *ctx) {
    (void)capture, (void)take, (void)ctx;
    return -ENOSYS;
}

uint64_t capture_dropped(struct capture *capture) {
    (void)capture;
    return 0;
}
