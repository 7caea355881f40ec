/* SPDX-License-Identifier: MIT */
#include "cli/verbs.h"
#include "common/error.h"

#define VERB(name) extern const struct verb verb_##name;
#include "cli/verbs.def"
#undef VERB

#define VERB(name) &verb_##name,
const struct verb *const verbs[] = {
#include "cli/verbs.def"
};
#undef VERB

const size_t n_verbs = ARRAY_SIZE(verbs);
