/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson and Bernstein, 2012): a code that authenticates short messages, in a tenth
 * of a microsecond and without a library. */
#ifndef CHOKEPOINT_COMMON_SIPHASH_H
#define CHOKEPOINT_COMMON_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t size);

#endif
