/* SPDX-License-Identifier: MIT */
#include "cli/base/verb.h"
#include "common/error.h"

/* One line a verb, whatever the formatter thinks. */
/* clang-format off */
const struct verb *const verbs[] = {
    &verb_run,
    &verb_attach,
    &verb_top,
    &verb_report,
    &verb_compare,
    &verb_sweep,
    &verb_whatif,
    &verb_export,
    &verb_import,
    &verb_list,
    &verb_serve,
    &verb_rename,
    &verb_note,
    &verb_rm,
    &verb_verify,
    &verb_pack,
    &verb_unpack,
    &verb_rules,
    &verb_calibrate,
    &verb_doctor,
    &verb_testbed,
    &verb_completion,
    &verb_collector,
};
/* clang-format on */

const size_t n_verbs = ARRAY_SIZE(verbs);
