/* SPDX-License-Identifier: MIT */
/* The bytes of a packed database (store_pack.h): the one file that knows libzstd. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_PACKED_H
#define CHOKEPOINT_COLLECTOR_STORE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* Takes the next bytes of the database; a negative errno ends it. */
typedef int (*packed_sink)(void *ctx, uint64_t offset, const void *data, size_t size);

/* Compresses `size` bytes of `in`, from its start, to `out`. -EIO: `in` has fewer. */
int packed_write(int in, uint64_t size, int out);

/* From the start of `in`, whose bytes are anybody's. -EBADMSG: they are not what packed_write
 * wrote; some may have gone into the sink. *ret_size: of the database. */
int packed_read(int in, packed_sink sink, void *ctx, uint64_t *ret_size);

/* Sinks: the offset's bytes of the descriptor in ctx (int *) are written, or compared: -EBADMSG. */
int packed_to_file(void *ctx, uint64_t offset, const void *data, size_t size);
int packed_compare(void *ctx, uint64_t offset, const void *data, size_t size);

/* The packed file that a name stands for: it is one, or FILE.zst is, and FILE is not there. */
bool store_find_packed(const char *path, char ret_packed[4096]);

/* To read a packed database; the copy has no name any more. */
int packed_connect(const char *path, struct store **ret_store);

/* A private copy, to be removed with its directory. */
struct packed_copy {
    char directory[4096], path[4096 + 8];
};
int packed_copy_make(const char *path, struct packed_copy *ret_copy);
void packed_copy_remove(const struct packed_copy *copy);

#endif
