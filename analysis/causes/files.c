/* SPDX-License-Identifier: MIT */
/* Files that a rank accesses through MPI: they explain why it is slower than its peers, never why a
 * run is slow. */
#include "analysis/causes/causes_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(FILES_TAKE_LONGER, "reading and writing files through MPI takes it longer", SLOTS(),    \
           SLOTS())
#include "analysis/causes/own.h"

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    (void)slowed;
    s->cause_kind = CAUSE_FILES;
    remark_set(&s->cause, FILES_TAKE_LONGER, NUMBERS(), NAMES());
}

const struct cause cause_files = {
    .name = "files",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_FILES,
    .needs = 1u << SOURCE_CALLS,
    .remarks = own_remarks,
    .reason = "peers wait for a rank that its files keep longer than theirs keep them",
    .slows = BUDGET_FILE,
    .explain = explain_slow,
};
