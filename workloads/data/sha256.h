/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), for fetched files. */
#ifndef CHOKEPOINT_WORKLOADS_DATA_SHA256_H
#define CHOKEPOINT_WORKLOADS_DATA_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_TEXT 65 /* 64 digits and a NUL */

struct sha256 {
    uint32_t state[8];
    uint64_t n;
    uint8_t block[64];
};

void sha256_init(struct sha256 *ret);
void sha256_add(struct sha256 *sha, const void *bytes, size_t n);
void sha256_text(struct sha256 *sha, char ret_text[SHA256_TEXT]); /* ends the computation */

#endif
