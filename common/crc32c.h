/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli), as in RFC 3720: of the byte form's records. */
#ifndef CHOKEPOINT_COMMON_CRC32C_H
#define CHOKEPOINT_COMMON_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `size` bytes that follow bytes whose checksum is `crc` (0 at the start). */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
