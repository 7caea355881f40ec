/* SPDX-License-Identifier: MIT */
/*
 * The series of a run's hosts: rows become samples, growth becomes counters that begin at 0. All
 * samples of a series rise in time; a row that does not is counted into the next one.
 *
 * The memory between samples (how far each counter has come, what has ended) can be saved and
 * restored, so that a sender that was killed goes on with the same numbers.
 */
#ifndef CHOKEPOINT_CLI_REMOTE_SERIES_H
#define CHOKEPOINT_CLI_REMOTE_SERIES_H

#include "cli/remote/hosts.h"
#include "cli/remote/message.h"
#include "collector/store_follow.h"
#include "common/cursor.h"

struct remote_set;

/* The run that the series are of: texts for its info series. Borrowed. */
struct remote_run {
    int64_t id;
    const char *name, *command;
};

/* Names of hosts and instances come from `follow`, which must outlive the set. NULL: without
 * memory. */
struct remote_set *remote_new(const struct remote_run *run, struct store_follow *follow);
void remote_free(struct remote_set *set); /* takes NULL */

/* For store_follow_next; ctx is the set. */
int remote_take(void *set, const struct store_followed *row);
/* After the last row of a reading. */
int remote_taken(struct remote_set *set);

/* Adds the mark of an end to all series of hosts whose newest sample is older than before_ms.
 * INT64_MAX: of all hosts. */
int remote_end(struct remote_set *set, int64_t before_ms);

/* The newest sample of any host; 0: none. */
int64_t remote_newest_ms(const struct remote_set *set);

/* The samples since the last remote_clear, series by series. The arrays belong to the set. */
size_t remote_list(struct remote_set *set, const struct message_series **ret_series);
void remote_clear(struct remote_set *set);

/* How many series there are; how many were left out, of which host first (NULL: none). */
size_t remote_count(const struct remote_set *set);
size_t remote_left_out(const struct remote_set *set, const char **ret_host);

void remote_save(const struct remote_set *set, struct buffer *to);
/* Into a new set. -EBADMSG, -ENOMEM, errors of the store. */
int remote_restore(struct remote_set *set, struct cursor *from);

#endif
