/* SPDX-License-Identifier: MIT */
/*
 * Hosts that had no agent of this version when they were asked. Such a host is sent one by a
 * launcher of its own, so asking it together with others (launch_group.h) is in vain; the next run
 * does not. Kept for a week in ~/.cache/chokepoint, in a directory that only root and this user can
 * change; where there is none, nothing is kept. Best effort: a wrong answer costs time alone.
 */
#ifndef CHOKEPOINT_CLI_BARE_HOSTS_H
#define CHOKEPOINT_CLI_BARE_HOSTS_H

#include <stdbool.h>

bool bare_hosts_has(const char *host);
void bare_hosts_add(const char *host);

#endif
