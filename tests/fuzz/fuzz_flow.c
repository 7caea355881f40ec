/* SPDX-License-Identifier: MIT */
/* Packets with any content and length, as a capture would pass them on, into the table of flows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/probes/flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pieces: a length byte, a byte for protocol and direction, and that many bytes of packet. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint16_t protocols[] = {0x0800, 0x86dd, 0x0806, 0x88cc};
    static struct flows all;
    all = (struct flows){0};
    while (size > 2) {
        size_t n = data[0] < size - 2 ? data[0] : size - 2;
        uint8_t *head = malloc(n ? n : 1);
        memcpy(head, data + 2, n);
        struct captured packet = {.interface = data[1] >> 4,
                                  .sent = data[1] & 1,
                                  .protocol = protocols[data[1] >> 1 & 3],
                                  .bytes = (uint32_t)n,
                                  .head = head,
                                  .head_size = n};
        struct flow_key key;
        char name[INSTANCE_MAX + 1];
        flow_key_of(&packet, &key);
        if (flow_name(&key, "interface_of_15", name) > INSTANCE_MAX)
            abort();
        struct flow *flow = flows_find(&all, &key);
        flow = flow ? flow : flows_add(&all, &key);
        flow_count(flow ? &flow->counts : &all.other, &packet);
        if (flow)
            flow->active_ns = (int64_t)size;
        if (data[1] & 0x80)
            flows_keep(&all, (int64_t)size + 64);
        free(head);
        data += 2 + n;
        size -= 2 + n;
    }
    return 0;
}
