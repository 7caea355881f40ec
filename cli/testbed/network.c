/* SPDX-License-Identifier: MIT */
/*
 * Namespaces, links and their rates, made with `ip` and `tc` (run without a shell).
 *
 * Both ends of a host's link have a token bucket: the host's sending is shaped on its own
 * interface, its receiving on the port of the switch, so a server that receives from all others is
 * limited as by a real port. The bucket holds 2 ms of traffic: with less, the timer that refills it
 * costs throughput as soon as the CPUs are busy. The MTU is 9000, as in networks of cloud
 * providers, so that 99 % of the rate is payload.
 */
#include "cli/base/file.h"
#include "cli/base/spawn.h"
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct netns_name {
    char text[64];
};

static struct netns_name host_netns(const struct testbed *t, unsigned host) {
    struct netns_name name;
    snprintf(name.text, sizeof name.text, "%s-vm%u", t->name, host);
    return name;
}

static struct netns_name switch_netns(const struct testbed *t) {
    struct netns_name name;
    snprintf(name.text, sizeof name.text, "%s-switch", t->name);
    return name;
}

/* In the namespace `netns` (a name); NULL: the present one. */
static int run_tool(struct testbed *t, const char *netns, const char *const argv[]) {
    char complaint[300] = "", words[120] = "", path[128];
    int r = path_format(path, sizeof path, "/run/netns/%s", netns ? netns : "");
    if (r == 0)
        r = spawn_tool(netns ? path : NULL, argv, complaint, sizeof complaint);
    if (r == 0)
        return 0;
    for (size_t i = 0, n = 0; argv[i] && n < sizeof words - 1; i++)
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%s", i ? " " : "", argv[i]);
    if (r == -ENOENT)
        return testbed_trouble(t, TESTBED_UNABLE,
                               "there is no program `%s`; install the package iproute2", argv[0]);
    return testbed_trouble(t, TESTBED_FAILED, "`%s`%s%s: %s", words, netns ? " in " : "",
                           netns ? netns : "", complaint);
}

#define RUN(t, netns, ...) run_tool(t, netns, (const char *const[]){__VA_ARGS__, NULL})

bool testbed_namespace_exists(const struct testbed *t, const char *what) {
    return path_exists("/run/netns/%s-%s", t->name, what);
}

int testbed_namespace_open(const struct testbed *t, unsigned host) {
    char path[128];
    int r = path_format(path, sizeof path, "/run/netns/%s", host_netns(t, host).text);
    int fd = r == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    return r < 0 ? r : fd < 0 ? negative_errno() : fd;
}

/* --- shaping --- */

static int shape(struct testbed *t, const char *netns, const char *interface) {
    char rate[32], burst[32], limit[32];
    uint64_t bytes_per_s = t->rate_bits_per_s / 8;
    uint64_t burst_bytes = bytes_per_s / 500;
    uint64_t limit_bytes = bytes_per_s / 100;
    if (!t->rate_bits_per_s)
        return 0;
    if (burst_bytes < 2 * (uint64_t)t->mtu)
        burst_bytes = 2 * (uint64_t)t->mtu;
    if (limit_bytes < 256 * 1024)
        limit_bytes = 256 * 1024;
    snprintf(rate, sizeof rate, "%jubit", (uintmax_t)t->rate_bits_per_s);
    snprintf(burst, sizeof burst, "%ju", (uintmax_t)burst_bytes);
    snprintf(limit, sizeof limit, "%ju", (uintmax_t)(limit_bytes + burst_bytes));
    return RUN(t, netns, "tc", "qdisc", "add", "dev", interface, "root", "tbf", "rate", rate,
               "burst", burst, "limit", limit);
}

/* --- making --- */

/* Without IPv6 addresses no router is solicited, and counters show the programs' bytes alone. A
 * kernel without IPv6 refuses, which is as good. */
static void silence(struct testbed *t, const char *netns, const char *interface) {
    RUN(t, netns, "ip", "link", "set", interface, "addrgenmode", "none");
    t->trouble[0] = '\0';
}

int testbed_network_make_switch(struct testbed *t) {
    struct netns_name netns = switch_netns(t);
    int r = RUN(t, NULL, "ip", "netns", "add", netns.text);
    if (r == 0)
        r = RUN(t, netns.text, "ip", "link", "add", TESTBED_BRIDGE, "type", "bridge", "stp_state",
                "0", "mcast_snooping", "0");
    if (r)
        return r;
    silence(t, netns.text, TESTBED_BRIDGE);
    return RUN(t, netns.text, "ip", "link", "set", TESTBED_BRIDGE, "up");
}

static int make_cable(struct testbed *t, const char *netns, const char *port) {
    struct netns_name sw = switch_netns(t);
    char mtu[16];
    snprintf(mtu, sizeof mtu, "%u", t->mtu);
    int r = RUN(t, sw.text, "ip", "link", "add", port, "mtu", mtu, "type", "veth", "peer", "name",
                TESTBED_INTERFACE, "mtu", mtu, "netns", netns);
    if (r)
        return r;
    silence(t, sw.text, port);
    silence(t, netns, TESTBED_INTERFACE);
    r = RUN(t, sw.text, "ip", "link", "set", port, "master", TESTBED_BRIDGE, "up");
    return r ? r : shape(t, sw.text, port);
}

int testbed_network_make_host(struct testbed *t, unsigned host) {
    struct netns_name netns = host_netns(t, host);
    char port[16], address[16], cidr[24];
    snprintf(port, sizeof port, "vm%u", host);
    testbed_address(t, host, address);
    snprintf(cidr, sizeof cidr, "%s/%u", address, t->prefix);
    int r = RUN(t, NULL, "ip", "netns", "add", netns.text);
    if (r == 0)
        r = make_cable(t, netns.text, port);
    if (r == 0)
        r = RUN(t, netns.text, "ip", "addr", "add", cidr, "dev", TESTBED_INTERFACE);
    if (r == 0)
        r = RUN(t, netns.text, "ip", "link", "set", "lo", "up");
    if (r == 0)
        r = RUN(t, netns.text, "ip", "link", "set", TESTBED_INTERFACE, "up");
    return r ? r : shape(t, netns.text, TESTBED_INTERFACE);
}

static int remove_namespace(struct testbed *t, struct netns_name name) {
    return path_exists("/run/netns/%s", name.text) ? RUN(t, NULL, "ip", "netns", "del", name.text)
                                                   : 0;
}

int testbed_network_remove(struct testbed *t) {
    int result = 0;
    for (unsigned host = 1; host <= t->n_hosts; host++) {
        int r = remove_namespace(t, host_netns(t, host));
        result = result ? result : r;
    }
    int r = remove_namespace(t, switch_netns(t));
    return result ? result : r;
}

/* --- abilities of this machine --- */

/* Tries each kind of link once in a namespace that vanishes with this process. */
static int try_links(struct testbed *t) {
    if (unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS) < 0)
        return testbed_trouble(t, TESTBED_UNABLE,
                               "emulated hosts need root (CAP_SYS_ADMIN, CAP_NET_ADMIN): %s",
                               strerror(errno));
    int r = RUN(t, NULL, "ip", "link", "add", "try0", "type", "veth", "peer", "name", "try1");
    if (r == 0)
        r = RUN(t, NULL, "ip", "link", "add", "try2", "type", "bridge");
    if (r == 0 && t->rate_bits_per_s)
        r = RUN(t, NULL, "tc", "qdisc", "add", "dev", "try0", "root", "tbf", "rate", "1gbit",
                "burst", "65536", "limit", "65536");
    return r ? TESTBED_UNABLE : 0;
}

static int read_trouble(struct testbed *t, int fd) {
    size_t size = 0;
    ssize_t n;
    while ((n = read(fd, t->trouble + size, sizeof t->trouble - 1 - size)) > 0)
        size += (size_t)n;
    t->trouble[size] = '\0';
    return size ? TESTBED_UNABLE : 0;
}

int testbed_network_probe(struct testbed *t) {
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return testbed_trouble(t, TESTBED_FAILED, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        int r = try_links(t);
        if (r && write(pipe_fds[1], t->trouble, strlen(t->trouble)) < 0)
            _exit(1);
        _exit(r ? 1 : 0);
    }
    close(pipe_fds[1]);
    int r = pid < 0 ? testbed_trouble(t, TESTBED_FAILED, "fork: %s", strerror(errno))
                    : read_trouble(t, pipe_fds[0]);
    close(pipe_fds[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return r;
}
