/* SPDX-License-Identifier: MIT */
#include "agent/relay/relay.h"

#define TOP 0x80000000u
#define POLYNOMIAL 0x04c11db7u /* the polynomial of Ethernet, most significant bit first */

struct table {
    uint32_t remainders[256]; /* the table: remainder of each byte */
};

static void fill(struct table *table) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte << 24;
        for (int bit = 0; bit < 8; bit++)
            crc = crc << 1 ^ (crc & TOP ? POLYNOMIAL : 0);
        table->remainders[byte] = crc;
    }
}

static uint32_t add(const struct table *table, uint32_t crc, uint8_t byte) {
    return crc << 8 ^ table->remainders[crc >> 24 ^ byte];
}

/* The length follows the bytes, least significant byte first, without trailing zeros. */
uint32_t relay_cksum(const struct program *programs, size_t n) {
    struct table table;
    uint32_t crc = 0;
    size_t size = 0;
    fill(&table);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bytes = programs[i].data;
        for (size_t at = 0; at < programs[i].size; at++)
            crc = add(&table, crc, bytes[at]);
        size += programs[i].size;
    }
    for (; size; size >>= 8)
        crc = add(&table, crc, (uint8_t)size);
    return ~crc;
}
