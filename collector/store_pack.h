/* SPDX-License-Identifier: MIT */
/*
 * A finished database as one compressed file beside the original's place: FILE.zst. It is read like
 * any other (store_open_read), through a private copy that vanishes with its reader, and can be
 * unpacked again. Samples are columns in it (store_cold.h), and rows again in the unpacked file.
 *
 *     a skippable frame of zstd: "CHKPACK2", size of the database: u64le
 *     frames of zstd with a checksum: the database, whose pages are sealed as ever, with
 *     "Chokepoint cold" in the place of "SQLite format 3"
 *
 * "CHKPACK1": from older versions, or with samples that no block can hold: the database as it is,
 * with rows.
 *
 * The old file stays until the new one is on the disk and was compared with it.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_PACK_H
#define CHOKEPOINT_COLLECTOR_STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_ENDING ".zst"

struct pack_result {
    char path[4096]; /* of the resulting file */
    uint64_t plain_bytes, packed_bytes;
};

/* Whether the file begins like a packed one. */
bool store_is_packed(const char *path);

/* Checks all seals, packs, compares, and removes the plain file. Negative errno or STORE_FOREIGN,
 * with `why`: nothing has changed then. -EBUSY: another program has it open. */
int store_pack(const char *path, struct pack_result *ret, char *why, size_t why_size);

/* Unpacks a file to its name without the ending; a name without the ending gets ".db". */
int store_unpack(const char *path, struct pack_result *ret, char *why, size_t why_size);

#endif
