/* SPDX-License-Identifier: MIT */
/* The programs of this project that a launch needs, found from the path of the command. */
#include "cli/launch/launch.h"
#include "common/error.h"
#include "common/own_program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The relay, which brings agents to hosts without one, lies beside this program (a build), or where
 * `make install` puts it. A build without a static C library has none. */
static void find_relay(struct launch_plan *plan, const char *program, int length) {
    static const char *const places[] = {"", CHOKEPOINT_LIBEXEC_FROM_BIN "/"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        int n = snprintf(plan->agents, sizeof plan->agents, "%.*s/%sagents", length, program,
                         places[i]);
        int m = snprintf(plan->relay, sizeof plan->relay, "%.*s/%schokepoint-relay", length,
                         program, places[i]);
        if (n > 0 && (size_t)n < sizeof plan->agents && m > 0 && (size_t)m < sizeof plan->relay &&
            access(plan->agents, X_OK) == 0 && access(plan->relay, X_OK) == 0)
            return;
    }
    plan->relay[0] = '\0';
}

int launch_find_programs(struct launch_plan *plan, char ret_program[PATH_MAX], char *why,
                         size_t why_size) {
    int r = own_program_path(ret_program);
    if (r < 0)
        return snprintf(why, why_size, "/proc/self/exe: %s", strerror(-r)), r;
    const char *slash = strrchr(ret_program, '/');
    int length = slash ? (int)(slash - ret_program) : 0;
    int size =
        snprintf(plan->agent, sizeof plan->agent, "%.*s/chokepoint-agent", length, ret_program);
    if (size < 0 || (size_t)size >= sizeof plan->agent)
        return snprintf(why, why_size, "a path is too long"), -ENAMETOOLONG;
    if (access(plan->agent, X_OK) < 0)
        return snprintf(why, why_size, "%s: %s; it belongs beside chokepoint", plan->agent,
                        strerror(errno)),
               negative_errno();
    find_relay(plan, ret_program, length);
    return 0;
}
