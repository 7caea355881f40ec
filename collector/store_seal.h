/* SPDX-License-Identifier: MIT */
/*
 * Sealed pages: each page of a database ends in a checksum of it, which readers check with every
 * page they read, so that a byte that was changed on a disk is noticed and not reported from.
 *
 * The last SEAL_BYTES of a page, which SQLite leaves alone: a mark, and the CRC-32 of the page's
 * number and of all before the CRC (both little endian). The mark of page 1 is the file's change
 * counter when a store wrote it, of all other pages 0. Any other program that writes counts on and
 * leaves the mark: the seal of that file holds no longer, which is not called damage, and stays so.
 *
 * Only the file is sealed, as pages are written into it. Its log has checksums of its own.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_SEAL_H
#define CHOKEPOINT_COLLECTOR_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_BYTES 8
#define SEAL_VFS "chokepoint-seal"
#define SEAL_HEADER_BYTES 100 /* of a database's first page */

enum seal_state {
    SEAL_NONE,   /* recorded without */
    SEAL_BROKEN, /* another program has written to the file since */
    SEAL_HOLDS
};

/* Facts about a file's pages from its header. */
struct seal_header {
    uint32_t page_size; /* 0: this is no header */
    uint32_t n_pages;   /* 0: it does not say */
    uint32_t counter, free_page;
    bool sealed; /* pages end in a seal */
};

struct seal_header seal_header_read(const uint8_t header[SEAL_HEADER_BYTES]);
/* first: page 1, whole. */
enum seal_state seal_state_of(const struct seal_header *header, const uint8_t *first);
bool seal_matches(const uint8_t *page, size_t size, uint32_t number);

/* Registers SEAL_VFS, once. Negative errno. */
int seal_register(void);

#endif
