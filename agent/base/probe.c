/* SPDX-License-Identifier: MIT */
#include "agent/base/probe.h"

#include "agent/mark/ring_stale.h"

bool probe_may_remove_rings(const struct probe_env *env, const char *directory) {
    enum probe_end end = env->ending ? *env->ending : ENDING_ALONE;
    return end == ENDING_WITH_RUN || (end == ENDING_ALONE && !mark_directory_is_used(directory));
}
