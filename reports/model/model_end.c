/* SPDX-License-Identifier: MIT */
/* A run that did not end well: its report covers the time that it ran. The rank that ended first is
 * not named: only busy processes are recorded, so a waiting process looks like one that is gone. */
#include <string.h>

#include "reports/model/model_private.h"

int report_note_end(struct report *report) {
    static const char *const words[][2] = {
        {"failed", "the command failed"},
        {"killed", "the command was killed"},
        {"interrupted", "the run was interrupted"},
        {"unfinished", "the run has no end: the last sample came"},
        {"not-started", "the command was not started"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], report->state) == 0)
            return report_add_note(report, text_format("%s after %.1f s; this covers those %.1f s",
                                                       words[i][1], report->duration_s,
                                                       report->duration_s));
    return 0;
}
