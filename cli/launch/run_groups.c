/* SPDX-License-Identifier: MIT */
/* Hosts whose first agents are started together (launch_group.h). */
#include "cli/launch/bare_hosts.h"
#include "cli/launch/launch_group.h"
#include "cli/launch/run_session.h"
#include "common/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define GROUP_MIN                                                                                  \
    2 /* a single host is served by a launcher of its own, which can bring an agent                \
       */

/* A host that is silent holds up all others of its group: half of the time is left for launchers of
 * their own. */
static int64_t silence_ns(const struct run_session *s) {
    return s->options->start_timeout_ns / 2;
}

static bool can_join(const struct run_session *s, const struct launch *launch) {
    return launch_can_join(launch) && launch->address[0] && !launch->attempted &&
           !s->options->separate_launchers && !bare_hosts_has(launch->host);
}

static void start_group(struct run_session *s, struct launch_group *group) {
    char urls[LAUNCH_GROUP_MAX][64];
    const char *pointers[LAUNCH_GROUP_MAX];
    int64_t now_ns = clock_monotonic_ns();
    for (size_t i = 0; i < group->n; i++) {
        backoff_started(&group->members[i]->back, now_ns);
        collect_child_url(&s->collector, group->members[i]->address, urls[i], sizeof urls[i]);
        pointers[i] = urls[i];
    }
    if (launch_group_start(group, &s->plan, pointers) == 0)
        group->give_up_ns = now_ns + silence_ns(s);
}

void session_start_groups(struct run_session *s) {
    struct launch_group *group = NULL;
    s->groups = calloc(s->n_launches / LAUNCH_GROUP_MAX + 1, sizeof *s->groups);
    for (size_t i = 0; i < s->n_launches && s->groups; i++) {
        if (!can_join(s, &s->launches[i]))
            continue;
        if (!group || group->n == LAUNCH_GROUP_MAX) {
            group = &s->groups[s->n_groups++];
            *group = (struct launch_group){.output.fd = -1};
        }
        group->members[group->n++] = &s->launches[i];
    }
    for (size_t i = 0; i < s->n_groups; i++)
        if (s->groups[i].n >= GROUP_MIN)
            start_group(s, &s->groups[i]);
}

static void needs_own(void *ctx, struct launch *launch, bool bare) {
    struct run_session *s = ctx;
    if (bare)
        bare_hosts_add(launch->host);
    if (!s->stopping)
        session_start_agent(s, launch);
}

static void has_ended(void *ctx, struct launch *launch) {
    session_take_end(ctx, launch);
}

void session_check_groups(struct run_session *s) {
    const struct launch_group_listener listener = {.agent_says = session_take_agent_line,
                                                   .needs_own = needs_own,
                                                   .ended = has_ended,
                                                   .ctx = s};
    int64_t now_ns = clock_monotonic_ns();
    for (size_t i = 0; i < s->n_groups; i++)
        launch_group_check(&s->groups[i], now_ns, &listener);
}

void session_signal_groups(const struct run_session *s, int signal) {
    for (size_t i = 0; i < s->n_groups; i++)
        launch_group_signal(&s->groups[i], signal);
}

bool session_has_groups(const struct run_session *s) {
    for (size_t i = 0; i < s->n_groups; i++)
        if (s->groups[i].pid)
            return true;
    return false;
}

void session_release_groups(struct run_session *s) {
    for (size_t i = 0; i < s->n_groups; i++)
        launch_group_release(&s->groups[i]);
    free(s->groups);
    s->groups = NULL;
    s->n_groups = 0;
}
