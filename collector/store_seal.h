/* SPDX-License-Identifier: MIT */
/*
 * Sealed pages: each page of a database ends in a checksum, which readers check with every page. A
 * byte that was changed on the disk is noticed and no report uses it.
 *
 * The seal takes the last SEAL_BYTES of a page, which SQLite leaves unused: a mark, and the CRC-32
 * of the page's number and of all bytes before the CRC (both little endian). The mark of page 1 is
 * the file's change counter when a store wrote it; all other pages have mark 0. Another program
 * that writes increments the counter and leaves the mark: the seal is then broken for good, which
 * is not called damage.
 *
 * Only pages of the database file are sealed. Its log has checksums of its own.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_SEAL_H
#define CHOKEPOINT_COLLECTOR_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_BYTES 8
#define SEAL_VFS "chokepoint-seal"
#define SEAL_HEADER_BYTES 100 /* size of the header in a database's first page */

enum seal_state {
    SEAL_NONE,   /* recorded without seals */
    SEAL_BROKEN, /* another program has written to the file since */
    SEAL_HOLDS
};

/* Facts about a file's pages, from its header. */
struct seal_header {
    uint32_t page_size; /* 0: not a header */
    uint32_t n_pages;   /* 0: the header does not say */
    uint32_t counter, free_page;
    bool sealed; /* pages end in a seal */
};

struct seal_header seal_header_read(const uint8_t header[SEAL_HEADER_BYTES]);
/* first: the whole of page 1. */
enum seal_state seal_state_of(const struct seal_header *header, const uint8_t *first);
bool seal_matches(const uint8_t *page, size_t size, uint32_t number);

/* Registers SEAL_VFS, once. Negative errno. */
int seal_register(void);

#endif
