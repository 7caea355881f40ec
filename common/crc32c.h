/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli, RFC 3720), the checksum of records in the byte form. */
#ifndef CHOKEPOINT_COMMON_CRC32C_H
#define CHOKEPOINT_COMMON_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum: `crc` is that of the bytes before, 0 at the start. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
