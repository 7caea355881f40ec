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
uint32_t relay_cksum(const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint32_t crc = 0;
    for (size_t i = 0; i < size; i++)
        crc = add(crc, bytes[i]);
    for (size_t rest = size; rest; rest >>= 8)
        crc = add(crc, (uint8_t)rest);
    return ~crc;
}
