/* SPDX-License-Identifier: MIT */
/* An IPv6 socket takes IPv6 only: [::] does not open IPv4 as well. */
#include "collector/server_listen.h"

#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"
#include "common/text.h"

#define BACKLOG 4096

static int split(const char *spec, char *host, size_t host_size, const char **ret_port) {
    const char *colon = strrchr(spec, ':'), *end = colon;
    if (!colon || colon[1] == '\0')
        return -EINVAL;
    if (*spec == '[') {
        spec++;
        end = colon - 1;
        if (end <= spec || *end != ']')
            return -EINVAL;
    } else if (memchr(spec, ':', (size_t)(colon - spec))) {
        return -EINVAL;
    }
    if (end <= spec || (size_t)(end - spec) >= host_size)
        return -EINVAL;
    memcpy(host, spec, (size_t)(end - spec));
    host[end - spec] = '\0';
    *ret_port = colon + 1;
    return 0;
}

static int resolve(const char *spec, struct addrinfo **ret_info) {
    char host[64];
    const char *port;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    int r = split(spec, host, sizeof host, &port);
    /* getaddrinfo would accept "*" as every address, and take the port modulo 65536. */
    uint64_t number;
    if (r < 0 || strcmp(host, "*") == 0 || text_parse_u64(port, &number) < 0 || number > UINT16_MAX)
        return -EINVAL;
    return getaddrinfo(host, port, &hints, ret_info) == 0 ? 0 : -EINVAL;
}

static int bind_and_listen(int fd, const struct addrinfo *info) {
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
        return negative_errno();
    if (info->ai_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0)
        return negative_errno();
    if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        return negative_errno();
    return 0;
}

static int name_of(int fd, char *ret_text, size_t size) {
    struct sockaddr_storage address;
    socklen_t address_size = sizeof address;
    char host[64], port[8];
    if (getsockname(fd, (struct sockaddr *)&address, &address_size) < 0)
        return negative_errno();
    if (getnameinfo((struct sockaddr *)&address, address_size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return -EINVAL;
    snprintf(ret_text, size, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return 0;
}

/* A socket of the parent process. Both share it, so the port stays open when this process ends. */
static int adopt(const char *number) {
    uint64_t fd;
    int listens = 0;
    socklen_t size = sizeof listens;
    if (text_parse_u64(number, &fd) < 0 || fd <= STDERR_FILENO || fd > INT_MAX)
        return -EINVAL;
    if (getsockopt((int)fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0)
        return negative_errno();
    if (!listens || fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0 ||
        fcntl((int)fd, F_SETFL, O_NONBLOCK) < 0)
        return -EINVAL;
    return (int)fd;
}

static int open_listener(const char *spec, char *why, size_t why_size) {
    struct addrinfo *info;
    int r = resolve(spec, &info);
    if (r < 0) {
        snprintf(why, why_size, "'%s' is not a numeric ADDR:PORT", spec);
        return r;
    }
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    r = fd < 0 ? negative_errno() : bind_and_listen(fd, info);
    freeaddrinfo(info);
    if (r == 0)
        return fd;
    snprintf(why, why_size, "cannot listen on %s: %s", spec, strerror(-r));
    if (fd >= 0)
        close(fd);
    return r;
}

int listen_on(const char *spec, char *ret_text, size_t text_size, char *why, size_t why_size) {
    static const char inherited[] = "fd:";
    bool is_open = strncmp(spec, inherited, sizeof inherited - 1) == 0;
    int fd = is_open ? adopt(spec + sizeof inherited - 1) : open_listener(spec, why, why_size);
    int r = fd < 0 ? fd : name_of(fd, ret_text, text_size);
    if (r == 0)
        return fd;
    if (is_open || fd >= 0)
        snprintf(why, why_size, "cannot listen on %s: %s", spec, strerror(-r));
    if (fd >= 0)
        close(fd);
    return r;
}
