/* SPDX-License-Identifier: MIT */
/*
 * Becomes a process of an emulated host. Each process that enters sets the node name in a UTS
 * namespace of its own: the name only distinguishes hosts, so no namespace has to be kept or
 * cleaned up.
 */
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int enter_network(struct testbed *t, unsigned host) {
    int fd = testbed_namespace_open(t, host);
    if (fd < 0)
        return testbed_trouble(t, TESTBED_FAILED,
                               "vm%u has lost its network namespace (%s): "
                               "`chokepoint testbed down`, then up again",
                               host, strerror(-fd));
    int r = setns(fd, CLONE_NEWNET) == 0 ? 0 : errno;
    close(fd);
    return r ? testbed_trouble(t, TESTBED_UNABLE, "cannot enter the network of vm%u: %s", host,
                               strerror(r))
             : 0;
}

static int set_node_name(struct testbed *t, unsigned host) {
    char name[16];
    int n = snprintf(name, sizeof name, "vm%u", host);
    if (unshare(CLONE_NEWUTS) == 0 && sethostname(name, (size_t)n) == 0)
        return 0;
    return testbed_trouble(t, TESTBED_UNABLE, "cannot take the name vm%u: %s", host,
                           strerror(errno));
}

int testbed_enter(struct testbed *t, unsigned host) {
    int r = testbed_cgroup_enter(t, host);
    if (r == 0)
        r = enter_network(t, host);
    if (r == 0)
        r = set_node_name(t, host);
    return r ? r : testbed_mount_private(t);
}
