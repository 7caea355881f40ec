/* SPDX-License-Identifier: MIT */
/* State of the hosts, from the kernel and not from the file of `up`. */
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The host runs and has its address; the calling process is in its network. */
static const char *judge_link(const struct testbed *t, unsigned host) {
    struct ifreq request = {.ifr_name = TESTBED_INTERFACE};
    struct sockaddr_in address = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return "broken: no socket in its network";
    bool runs = ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) &&
                (request.ifr_flags & IFF_RUNNING);
    if (ioctl(fd, SIOCGIFADDR, &request) == 0)
        memcpy(&address, &request.ifr_addr, sizeof address);
    close(fd);
    if (!runs)
        return "broken: " TESTBED_INTERFACE " is down";
    return ntohl(address.sin_addr.s_addr) == t->network + host ? "up"
                                                               : "broken: " TESTBED_INTERFACE
                                                                 " lost its address";
}

static const char *judge_network(const struct testbed *t, unsigned host) {
    int fd = testbed_namespace_open(t, host);
    if (fd < 0)
        return "broken: no network namespace";
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    const char *verdict = "unknown: only root can look inside";
    if (home >= 0 && setns(fd, CLONE_NEWNET) == 0) {
        verdict = judge_link(t, host);
        if (setns(home, CLONE_NEWNET) < 0)
            verdict = "unknown: cannot come back from its network";
    }
    if (home >= 0)
        close(home);
    close(fd);
    return verdict;
}

static const char *judge(const struct testbed *t, unsigned host) {
    if (!testbed_cgroup_complete(t, host))
        return "broken: no cgroup";
    if (!testbed_namespace_exists(t, "switch"))
        return "broken: no switch";
    return judge_network(t, host);
}

static void print_host(const struct testbed *t, unsigned host) {
    char name[16], address[16], rate[32];
    pid_t *pids = NULL;
    size_t n = 0;
    snprintf(name, sizeof name, "vm%u", host);
    testbed_address(t, host, address);
    if (t->rate_bits_per_s)
        snprintf(rate, sizeof rate, "%.6g Mbit/s", (double)t->rate_bits_per_s / 1e6);
    else
        snprintf(rate, sizeof rate, "not shaped");
    if (testbed_cgroup_pids(t, host, &pids, &n) == 0)
        free(pids);
    printf("%-6s %-15s %-10s %-13s %9zu  %s\n", name, address,
           t->cpus[host - 1][0] ? t->cpus[host - 1] : "all", rate, n, judge(t, host));
}

int testbed_status(struct testbed *t) {
    if (!testbed_exists(t)) {
        printf("no testbed '%s' is up\n", t->name);
        return 0;
    }
    int r = testbed_load(t);
    if (r)
        return r;
    printf("testbed '%s'%s, hostfile %s/hostfile\n", t->name,
           t->phase == TESTBED_UP ? "" : " (half made: `chokepoint testbed down` removes it)",
           t->directory);
    printf("%-6s %-15s %-10s %-13s %9s  %s\n", "host", "address", "cpus", "link", "processes",
           "state");
    for (unsigned host = 1; host <= t->n_hosts; host++)
        print_host(t, host);
    return 0;
}
