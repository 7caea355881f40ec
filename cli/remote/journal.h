/* SPDX-License-Identifier: MIT */
/*
 * How far a run was sent to an address, in a file of the folder DATABASE-remote. The bodies that
 * are on their way stand in it before the first of them is sent: a sender that was killed sends the
 * very same bytes again, which an engine recognizes, and goes on behind them.
 *
 * A file is replaced as a whole; only the number of bodies that were taken is written in place.
 */
#ifndef CHOKEPOINT_CLI_REMOTE_JOURNAL_H
#define CHOKEPOINT_CLI_REMOTE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/cursor.h"

struct journal;

#define JOURNAL_IN_USE 1 /* another process sends this run there */

struct journal_place {         /* what the bodies lead to */
    int64_t identity;          /* of the run */
    int64_t frame;             /* all frames up to it are in the bodies and what was sent before */
    uint64_t samples, refused; /* in all */
    bool done;                 /* the run has ended, and all of it is sent or in the bodies */
};

/* layout: a number that changes with what `memory` means. Fills in what was saved, or zeros.
 * Negative errno (-EPERM: its folder is a link, or open to others); JOURNAL_IN_USE. */
int journal_open(const char *database, int64_t run, const char *url, uint32_t layout,
                 struct journal **ret_journal, struct journal_place *ret_place);
void journal_close(struct journal *journal); /* takes NULL */

/* The memory that was saved with the place; *ret_usable false: of another layout. Borrowed. */
struct cursor journal_memory(const struct journal *journal, bool *ret_usable);

/* Forgets everything saved: it is of another run. */
void journal_forget(struct journal *journal, struct journal_place *ret_place);

/* Saves; none of the bodies is taken. journal_add_body collects them before. */
void journal_add_body(struct journal *journal, const struct buffer *body, size_t n_samples);
int journal_save(struct journal *journal, const struct journal_place *place,
                 const struct buffer *memory);

/* The next body that is on its way; false: none. */
bool journal_next_body(const struct journal *journal, struct span *ret_body, size_t *ret_samples);
/* It is taken, or given up. */
int journal_took_body(struct journal *journal);

#endif
