/* SPDX-License-Identifier: MIT */
/*
 * The `note` table: remarks of an agent on its own samples (a source that this kernel lacks, a
 * probe that began to fail), one line a row, for the report's notes on quality.
 */
#ifndef CHOKEPOINT_AGENT_NOTE_H
#define CHOKEPOINT_AGENT_NOTE_H

#include "common/rows.h"

enum note_level { NOTE_INFO = 1, NOTE_WARNING = 2 };

#define NOTES_A_FRAME 48 /* further ones are dropped */

/* Appends the line "SUBJECT: TEXT", cut to the size of an instance, unless the frame has it
 * already. */
void note_append(struct rows *rows, enum note_level level, const char *subject, const char *text);

#endif
