/* SPDX-License-Identifier: MIT */
/*
 * The `note` table: what an agent has to say about its own samples (a source this kernel lacks, a
 * probe that began to fail), one line a row, so that it reaches the report's notes on quality.
 */
#ifndef CHOKEPOINT_AGENT_NOTE_H
#define CHOKEPOINT_AGENT_NOTE_H

#include "common/rows.h"

enum note_level { NOTE_INFO = 1, NOTE_WARNING = 2 };

#define NOTES_A_FRAME 48 /* more of them are dropped */

extern const struct table note_table;

/* Appends the line "SUBJECT: TEXT", cut to what an instance may hold, unless the frame already has
 * it. */
void note_append(struct rows *rows, enum note_level level, const char *subject, const char *text);

#endif
