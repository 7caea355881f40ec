/* SPDX-License-Identifier: MIT */
/* Checks a database against its seals (store_seal.h), page by page. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_VERIFY_H
#define CHOKEPOINT_COLLECTOR_STORE_VERIFY_H

#include "collector/store.h"
#include "collector/store_seal.h"

#define VERIFY_LISTED_MAX 1000

struct verify_damage {
    uint32_t page;                    /* counted from 1 */
    char object[TABLE_NAME_MAX + 40]; /* "table cpu", "index x"; "" if not known */
};

struct verification {
    enum seal_state seal;
    uint32_t page_size;
    uint64_t n_pages;              /* pages checked; all pages of a file without seals */
    uint64_t n_damaged;            /* damaged ones of these */
    uint64_t n_missing;            /* pages that the file should have and lacks */
    uint64_t log_bytes;            /* of a journal or log: recorded, and not sealed yet */
    struct verify_damage *damages; /* owned: the first VERIFY_LISTED_MAX */
    size_t n_damages;
    char structure[256]; /* without seals: the fault in the structure of pages */
};

/* 0: it was checked. A negative errno, STORE_FOREIGN or STORE_OTHER_VERSION: it could not be
 * checked, and `why` says so. */
int store_verify(const char *path, struct verification *ret, char *why, size_t why_size);
bool verification_is_good(const struct verification *verification);
void verification_release(struct verification *verification);

#endif
