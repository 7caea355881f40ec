/* SPDX-License-Identifier: MIT */
/* The bytes of a packed database (store_pack.h): the one file that knows libzstd. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_PACKED_H
#define CHOKEPOINT_COLLECTOR_STORE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* Takes the next bytes of the database; a negative errno stops the caller. */
typedef int (*packed_sink)(void *ctx, uint64_t offset, const void *data, size_t size);

/* PACKED_COLD: samples are in blocks (store_cold.h). The database then begins with other bytes than
 * SQLite's, so that what `zstd -d` makes of the file is not taken for one with fewer samples. */
enum packed_form { PACKED_PLAIN, PACKED_COLD };

/* Compresses the first `size` bytes of `in` to `out`. -EIO: `in` has fewer. */
int packed_write(int in, uint64_t size, enum packed_form form, int out);

/* Unpacks `in` from its start, of either form; its bytes may come from anybody. -EBADMSG:
 * packed_write did not write them; the sink may have got some. *ret_size: of the database, which
 * begins with SQLite's bytes. */
int packed_read(int in, packed_sink sink, void *ctx, uint64_t *ret_size);

/* Sinks for packed_read: they write the bytes to, or compare them with, the descriptor in ctx (int
 * *). -EBADMSG: they differ. */
int packed_to_file(void *ctx, uint64_t offset, const void *data, size_t size);
int packed_compare(void *ctx, uint64_t offset, const void *data, size_t size);

/* The packed file that a path means: the path itself, or FILE.zst if FILE does not exist. */
bool store_find_packed(const char *path, char ret_packed[4096]);

/* Opens a packed database for reading, as a copy that is already unlinked. */
int packed_connect(const char *path, struct store **ret_store);

/* A private copy; the caller removes it with its directory. */
struct packed_copy {
    char directory[4096], path[4096 + 8];
};
int packed_copy_make(const char *path, struct packed_copy *ret_copy);
void packed_copy_remove(const struct packed_copy *copy);

#endif
