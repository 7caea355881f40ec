/* SPDX-License-Identifier: MIT */
/*
 * A database that nobody writes to any more, as one compressed file beside its place: FILE.zst. It
 * is read like any other (store_open_read), through a private copy that is gone with its reader,
 * and can be unpacked again. `zstd -d` reads it, too.
 *
 *     a skippable frame of zstd: "CHKPACK1", size of the database: u64le
 *     frames of zstd with a checksum: the database, whose pages are sealed as ever
 *
 * Either file stays until the other one is on the disk as a whole and was compared with it.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_PACK_H
#define CHOKEPOINT_COLLECTOR_STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_ENDING ".zst"

struct pack_result {
    char path[4096]; /* of the file that is there now */
    uint64_t plain_bytes, packed_bytes;
};

/* Whether the file begins like a packed one. */
bool store_is_packed(const char *path);

/* Checks all seals, packs, compares, and removes the plain file. Negative errno or STORE_FOREIGN,
 * and why: nothing has changed then. -EBUSY: another program has it open. */
int store_pack(const char *path, struct pack_result *ret, char *why, size_t why_size);

/* The reverse: the name without its ending, or with ".db" in its place. */
int store_unpack(const char *path, struct pack_result *ret, char *why, size_t why_size);

#endif
