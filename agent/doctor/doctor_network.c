/* SPDX-License-Identifier: MIT */
/*
 * The interface towards the other hosts, by the kernel's routes: a job that uses the slow one of
 * two networks is a common fault. Nothing is sent.
 */
#include "agent/doctor/doctor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"
#include "common/text.h"

#define PEERS_MAX 256
#define INTERFACES_MAX 32
#define MTU_LEAST 1500
#define MUCH_FASTER 2 /* ratio of speeds */

struct interface {
    char name[IF_NAMESIZE];
    int mtu;
    int64_t mbits; /* -1: not known */
    bool device;   /* a card, not a bridge or tunnel */
    size_t n_peers;
    char peer[NI_MAXHOST]; /* the first card */
};

struct interfaces {
    struct interface items[INTERFACES_MAX];
    size_t n;
};

static int mtu_of(const char *name) {
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    int r = fd < 0 ? -1 : ioctl(fd, SIOCGIFMTU, &request);
    if (fd >= 0)
        close(fd);
    return r < 0 ? -1 : request.ifr_mtu;
}

static int64_t speed_of(const struct doctor_env *env, const char *name) {
    char path[64], text[32];
    int64_t mbits = -1;
    snprintf(path, sizeof path, "class/net/%s/speed", name);
    if (doctor_read(env->sys, path, text, sizeof text))
        mbits = strtol(text, NULL, 10);
    return mbits > 0 ? mbits : -1;
}

static bool is_device(const struct doctor_env *env, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/class/net/%s/device", env->sys, name);
    return access(path, F_OK) == 0;
}

/* All interfaces that are up, except lo. */
static void list_interfaces(const struct doctor_env *env, struct interfaces *to) {
    struct ifaddrs *list;
    to->n = 0;
    if (getifaddrs(&list) < 0)
        return;
    for (const struct ifaddrs *at = list; at && to->n < INTERFACES_MAX; at = at->ifa_next) {
        bool counts = at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
                      at->ifa_flags & IFF_RUNNING && !(at->ifa_flags & IFF_LOOPBACK);
        for (size_t i = 0; i < to->n && counts; i++)
            counts = strcmp(to->items[i].name, at->ifa_name) != 0;
        if (!counts)
            continue;
        struct interface *item = &to->items[to->n++];
        *item = (struct interface){.mtu = mtu_of(at->ifa_name),
                                   .mbits = speed_of(env, at->ifa_name),
                                   .device = is_device(env, at->ifa_name)};
        snprintf(item->name, sizeof item->name, "%s", at->ifa_name);
    }
    freeifaddrs(list);
}

static int name_of_address(const struct sockaddr_in *address, char name[IF_NAMESIZE]) {
    struct ifaddrs *list;
    int r = -ENODEV;
    if (getifaddrs(&list) < 0)
        return negative_errno();
    for (const struct ifaddrs *at = list; at && r; at = at->ifa_next)
        if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
            ((struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr.s_addr ==
                address->sin_addr.s_addr) {
            snprintf(name, IF_NAMESIZE, "%s", at->ifa_name);
            r = 0;
        }
    freeifaddrs(list);
    return r;
}

#define ROUTE_SELF 1 /* the host is this one */

/* The interface of the route to a host. -EHOSTUNREACH: its name is no address. */
static int find_route(const char *host, char name[IF_NAMESIZE]) {
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found;
    struct sockaddr_in own = {0};
    socklen_t size = sizeof own;
    if (getaddrinfo(host, "9", &hints, &found) != 0)
        return -EHOSTUNREACH;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int r = fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0 ||
                    getsockname(fd, (struct sockaddr *)&own, &size) < 0
                ? negative_errno()
                : 0;
    if (fd >= 0)
        close(fd);
    if (r == 0 &&
        own.sin_addr.s_addr == ((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr.s_addr)
        r = ROUTE_SELF;
    freeaddrinfo(found);
    return r ? r : name_of_address(&own, name);
}

static void follow_route(const struct doctor_env *env, const char *peer, struct interfaces *all) {
    char name[IF_NAMESIZE], mend[400];
    int r = find_route(peer, name);
    if (r == -EHOSTUNREACH) {
        snprintf(mend, sizeof mend, "getent hosts %.100s  # add it to /etc/hosts of this host",
                 peer);
        doctor_say(env, DOCTOR_HINDERS, "network", mend, "the name %.100s is not known here", peer);
    } else if (r < 0) {
        snprintf(mend, sizeof mend, "ip route get $(getent ahostsv4 %.100s | cut -d' ' -f1)", peer);
        doctor_say(env, DOCTOR_HINDERS, "network", mend, "there is no route to %.100s: %s", peer,
                   strerror(-r));
    }
    for (size_t i = 0; i < all->n && r == 0; i++)
        if (strcmp(all->items[i].name, name) == 0 && all->items[i].n_peers++ == 0)
            snprintf(all->items[i].peer, sizeof all->items[i].peer, "%.255s", peer);
}

static void check_mtu(const struct doctor_env *env, const struct interface *used) {
    char mend[80];
    snprintf(mend, sizeof mend, "ip link set dev %s mtu %d", used->name, MTU_LEAST);
    if (used->mtu > 0 && used->mtu < MTU_LEAST)
        doctor_say(
            env, DOCTOR_HINDERS, "mtu", mend,
            "packets of %s are at most %d bytes: small ones cost more CPU time and bandwidth",
            used->name, used->mtu);
    else
        doctor_say(env, DOCTOR_OK, "mtu", "", "packets of %s are at most %d bytes", used->name,
                   used->mtu);
    doctor_fact(env, "mtu", "%s %d", used->name, used->mtu);
}

static void check_speed(const struct doctor_env *env, const struct interface *used,
                        const struct interfaces *all) {
    const struct interface *fastest = used;
    char mend[160];
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].device && all->items[i].mbits > fastest->mbits)
            fastest = &all->items[i];
    snprintf(mend, sizeof mend, "mpirun --mca btl_tcp_if_include %s  # or change the route",
             fastest->name);
    if (used->mbits > 0 && fastest->mbits >= MUCH_FASTER * used->mbits)
        doctor_say(env, DOCTOR_HINDERS, "interface", mend,
                   "traffic to %.100s leaves by %s (%" PRId64 " Mbit/s), while %s (%" PRId64
                   " Mbit/s) is up",
                   used->peer, used->name, used->mbits, fastest->name, fastest->mbits);
    else if (used->mbits > 0)
        doctor_say(env, DOCTOR_OK, "interface", "",
                   "traffic to %.100s leaves by %s, %" PRId64 " Mbit/s", used->peer, used->name,
                   used->mbits);
    else
        doctor_say(env, DOCTOR_OK, "interface", "",
                   "traffic to %.100s leaves by %s, whose speed is not known", used->peer,
                   used->name);
}

void doctor_check_network(const struct doctor_env *env) {
    struct interfaces all;
    char *copy = env->peers ? strdup(env->peers) : NULL, *rest = copy, *peer;
    list_interfaces(env, &all);
    for (size_t n = 0; n < PEERS_MAX && (peer = rest ? strsep(&rest, ",") : NULL); n++)
        if (*peer)
            follow_route(env, peer, &all);
    for (size_t i = 0; i < all.n; i++)
        if (all.items[i].n_peers) {
            check_mtu(env, &all.items[i]);
            check_speed(env, &all.items[i], &all);
        }
    free(copy);
}
