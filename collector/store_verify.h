/* SPDX-License-Identifier: MIT */
/* Whether a database is as it was written: all its pages against their seals (store_seal.h). */
#ifndef CHOKEPOINT_COLLECTOR_STORE_VERIFY_H
#define CHOKEPOINT_COLLECTOR_STORE_VERIFY_H

#include "collector/store.h"
#include "collector/store_seal.h"

#define VERIFY_LISTED_MAX 1000

struct verify_damage {
    uint32_t page;                    /* from 1 */
    char object[TABLE_NAME_MAX + 40]; /* "table cpu", "index x"; "" if it is not known */
};

struct verification {
    enum seal_state seal;
    uint32_t page_size;
    uint64_t n_pages;              /* that were looked at; of a file without a seal all */
    uint64_t n_damaged;            /* of them */
    uint64_t n_missing;            /* that the file should have and has not */
    uint64_t log_bytes;            /* of a journal or log: recorded, and not sealed yet */
    struct verify_damage *damages; /* owned: the first VERIFY_LISTED_MAX */
    size_t n_damages;
    char structure[256]; /* what is wrong with how pages hang together, where no seal holds */
};

/* 0: it was looked at. A negative errno, STORE_FOREIGN, STORE_OTHER_VERSION: it could not be, and
 * why says so. */
int store_verify(const char *path, struct verification *ret, char *why, size_t why_size);
bool verification_is_good(const struct verification *verification);
void verification_release(struct verification *verification);

#endif
