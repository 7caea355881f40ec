/* SPDX-License-Identifier: MIT */
/* Attributes in the kernel's messages, by its headers. */
#include <linux/netlink.h>
#include <string.h>

#include "agent/base/netlink.h"

struct bytes netlink_after(struct bytes payload, size_t head) {
    head = NLA_ALIGN(head);
    if (payload.size < head)
        return (struct bytes){0};
    return (struct bytes){(const char *)payload.data + head, payload.size - head};
}

bool netlink_find(struct bytes attributes, unsigned type, struct bytes *ret_value) {
    const char *at = attributes.data;
    size_t left = attributes.size < INT32_MAX ? attributes.size : 0;
    while (left >= sizeof(struct nlattr)) {
        const struct nlattr *attribute = (const void *)at;
        if (attribute->nla_len < sizeof *attribute || attribute->nla_len > left)
            return false;
        if ((attribute->nla_type & NLA_TYPE_MASK) == type) {
            *ret_value = (struct bytes){at + NLA_HDRLEN, attribute->nla_len - (size_t)NLA_HDRLEN};
            return true;
        }
        size_t size = netlink_step(attribute->nla_len, left);
        at += size;
        left -= size;
    }
    return false;
}

bool netlink_u32(struct bytes value, uint32_t *ret_number) {
    if (value.size < sizeof *ret_number)
        return false;
    memcpy(ret_number, value.data, sizeof *ret_number);
    return true;
}

bool netlink_u64(struct bytes value, uint64_t *ret_number) {
    if (value.size < sizeof *ret_number)
        return false;
    memcpy(ret_number, value.data, sizeof *ret_number);
    return true;
}
