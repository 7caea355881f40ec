/* SPDX-License-Identifier: MIT */
#include "agent/relay/relay.h"

/* Bit by bit, with the polynomial of Ethernet, most significant bit first. */
static uint32_t add(uint32_t crc, uint8_t byte) {
    crc ^= (uint32_t)byte << 24;
    for (int bit = 0; bit < 8; bit++)
        crc = crc << 1 ^ (crc & 0x80000000u ? 0x04c11db7u : 0);
    return crc;
}

/* The length follows the bytes, least significant byte first, without zeros at its end. */
uint32_t relay_cksum(const struct program *programs, size_t n) {
    uint32_t crc = 0;
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bytes = programs[i].data;
        for (size_t at = 0; at < programs[i].size; at++)
            crc = add(crc, bytes[at]);
        size += programs[i].size;
    }
    for (; size; size >>= 8)
        crc = add(crc, (uint8_t)size);
    return ~crc;
}
