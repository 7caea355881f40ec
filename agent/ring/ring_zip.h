/* SPDX-License-Identifier: MIT */
/* zstd for blocks of rings. A build without it keeps blocks unpacked (ring_zip_without.c). */
#ifndef CHOKEPOINT_AGENT_RING_ZIP_H
#define CHOKEPOINT_AGENT_RING_ZIP_H

#include <stddef.h>
#include <stdint.h>

struct ring_zip;

/* -ENOMEM. */
int ring_zip_new(struct ring_zip **ret_zip);
void ring_zip_free(struct ring_zip *zip); /* takes NULL */

/* Returns the size of the packed bytes, which are the packer's own until the next call; 0: they
 * would not be smaller, or cannot be packed. */
size_t ring_zip_pack(struct ring_zip *zip, const void *data, size_t size, const void **ret_packed);

/* Unpacks into exactly `size` bytes. -EBADMSG; -ENOTSUP: this build cannot. */
int ring_zip_unpack(struct ring_zip *zip, const void *packed, size_t packed_size, void *to,
                    size_t size);

#endif
