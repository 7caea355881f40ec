/* SPDX-License-Identifier: MIT */
/* A run that did not end well: its report covers the time that it ran. The rank that ended first is
 * not named: only busy processes are recorded, so a waiting process looks like one that is gone. */
#include <string.h>

#include "common/error.h"
#include "reports/model/model_private.h"

int report_note_end(struct report *report, bool limit_says_it) {
    static const struct {
        const char *state, *words;
        bool in_limit; /* the limit begins with what ended the run */
    } ends[] = {{"failed", "the command failed", true},
                {"killed", "the command was killed", true},
                {"interrupted", "the run was interrupted", false},
                {"unfinished", "the run has no end: the last sample came", false},
                {"not-started", "the command was not started", false}};
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        if (strcmp(ends[i].state, report->state) == 0 && ends[i].in_limit == limit_says_it)
            return report_add_note(report, text_format("%s after %.1f s; this covers those %.1f s",
                                                       ends[i].words, report->duration_s,
                                                       report->duration_s));
    return 0;
}
