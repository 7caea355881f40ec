/* SPDX-License-Identifier: MIT */
#include "cli/launch/address.h"
#include "common/error.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static int resolve(const char *host, struct sockaddr_in *ret_address, const char **ret_why) {
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(host, "9", &hints, &found);
    if (error || !found || found->ai_addrlen != sizeof *ret_address) {
        *ret_why = error ? gai_strerror(error) : "no IPv4 address";
        if (found)
            freeaddrinfo(found);
        return -ENOENT;
    }
    memcpy(ret_address, found->ai_addr, sizeof *ret_address);
    freeaddrinfo(found);
    return 0;
}

static bool is_on_an_interface(struct in_addr address) {
    struct ifaddrs *all;
    if (getifaddrs(&all) < 0)
        return false;
    bool found = false;
    for (struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
        struct sockaddr_in own;
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
            continue;
        memcpy(&own, i->ifa_addr, sizeof own);
        found = own.sin_addr.s_addr == address.s_addr;
    }
    freeifaddrs(all);
    return found;
}

bool address_is_ours(const char *host) {
    char name[HOST_NAME_MAX + 1] = "";
    struct sockaddr_in address;
    const char *why;
    if (gethostname(name, sizeof name - 1) == 0 && strcasecmp(host, name) == 0)
        return true;
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (resolve(host, &address, &why) < 0)
        return false;
    return ntohl(address.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ||
           is_on_an_interface(address.sin_addr);
}

int address_towards(const char *host, char ret_address[ADDRESS_SIZE], const char **ret_why) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int r = resolve(host, &address, ret_why);
    if (r < 0)
        return r;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, size) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        r = negative_errno();
    if (fd >= 0)
        close(fd);
    if (r < 0)
        *ret_why = strerrordesc_np(-r);
    else
        inet_ntop(AF_INET, &address.sin_addr, ret_address, ADDRESS_SIZE);
    return r;
}
