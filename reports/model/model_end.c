/* SPDX-License-Identifier: MIT */
/* A run that did not end well: its report holds for the time it ran. The rank that ended first is
 * not named: processes are recorded while they are busy, so one that waits looks like one gone.
 */
#include <string.h>

#include "reports/model/model_private.h"

int report_note_end(struct report *report) {
    static const char *const words[][2] = {{"failed", "the command failed"},
                                           {"killed", "the command was killed"},
                                           {"interrupted", "the run was interrupted"},
                                           {"unfinished", "the run has no end"},
                                           {"not-started", "the command was not started"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], report->state) == 0)
            return report_add_note(report,
                                   text_format("%s: what is said is of the %.1f s until then",
                                               words[i][1], report->duration_s));
    return 0;
}
