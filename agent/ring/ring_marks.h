/* SPDX-License-Identifier: MIT */
/*
 * Which recorded processes were the job, by what was recorded of them: the column `job` of their
 * rows is set for a cut, and cleared in all others; without a choice all of them are. Ports, which
 * a ring does not know, match nothing.
 */
#ifndef CHOKEPOINT_AGENT_RING_MARKS_H
#define CHOKEPOINT_AGENT_RING_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/job_choice.h"
#include "common/wire.h"

struct ring_marks;

/* Choices are borrowed. -ENOMEM. */
int ring_marks_new(const struct job_choice *choices, size_t n, struct ring_marks **ret_marks);
void ring_marks_free(struct ring_marks *marks); /* takes NULL */

/* Takes the content of a block of lineages, which may be anybody's. -EBADMSG, -ENOMEM. */
int ring_marks_take(struct ring_marks *marks, const void *data, size_t size);

/* Sets the column in a frame that was just read from these bytes, and its checksum. Returns how
 * many rows of the job it has. */
size_t ring_marks_set(const struct ring_marks *marks, const struct wire_reader *reader,
                      struct wire_record record, uint8_t *bytes);

#endif
