/* SPDX-License-Identifier: MIT */
/* Addresses and connections; link_flow.c sends over them. */
#include "workloads/calibrate/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MEET_S 5.0      /* limit for all to connect */
#define INTRODUCE_S 0.5 /* limit for the token after the connection */
#define READY 'r'

static bool is_loopback(uint32_t ipv4) {
    return ntohl(ipv4) >> 24 == 127;
}

static uint32_t resolve(const char *name) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list;
    uint32_t ipv4 = 0;
    if (getaddrinfo(name, NULL, &hints, &list) != 0)
        return 0;
    for (struct addrinfo *a = list; a && !ipv4; a = a->ai_next) {
        uint32_t found = ((struct sockaddr_in *)(void *)a->ai_addr)->sin_addr.s_addr;
        ipv4 = is_loopback(found) ? 0 : found;
    }
    freeaddrinfo(list);
    return ipv4;
}

bool link_interface(uint32_t ipv4, char ret_name[IF_NAMESIZE]) {
    struct ifaddrs *list;
    bool found = false;
    if (getifaddrs(&list) < 0)
        return false;
    for (struct ifaddrs *a = list; a && !found; a = a->ifa_next)
        if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET &&
            ((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr.s_addr == ipv4) {
            snprintf(ret_name, IF_NAMESIZE, "%s", a->ifa_name);
            ret_name[strcspn(ret_name, ":")] = '\0'; /* an alias is counted with its interface */
            found = true;
        }
    freeifaddrs(list);
    return found;
}

/* Sends nothing: it asks the kernel for the route. */
static uint32_t address_towards(uint32_t ipv4) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {ipv4}};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && connect(fd, (struct sockaddr *)&address, size) == 0 &&
                getsockname(fd, (struct sockaddr *)&address, &size) == 0;
    if (fd >= 0)
        close(fd);
    return good && !is_loopback(address.sin_addr.s_addr) ? address.sin_addr.s_addr : 0;
}

uint32_t link_own_address(const char *own_name, const char *const *names, int n) {
    char interface[IF_NAMESIZE];
    uint32_t own = resolve(own_name);
    if (own && link_interface(own, interface))
        return own;
    for (int i = 0; i < n; i++) {
        uint32_t other = strcmp(names[i], own_name) == 0 ? 0 : resolve(names[i]);
        if (other && !link_interface(other, interface) && (own = address_towards(other)))
            return own;
    }
    return 0;
}

double link_interface_bytes(const char *interface, bool sent) {
    FILE *file = fopen("/proc/net/dev", "re");
    char line[512];
    unsigned long long in, out;
    double bytes = -1;
    while (file && bytes < 0 && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':'), *name = line + strspn(line, " ");
        if (!colon)
            continue;
        *colon = '\0';
        if (strcmp(name, interface) == 0 &&
            sscanf(colon + 1, "%llu %*u %*u %*u %*u %*u %*u %*u %llu", &in, &out) == 2)
            bytes = (double)(sent ? out : in);
    }
    if (file)
        fclose(file);
    return bytes;
}

int link_listen(struct link_address *address) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = {address->ipv4}};
    socklen_t size = sizeof own;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&own, size) < 0 || listen(fd, 2 * LINKS_MAX) < 0 ||
        getsockname(fd, (struct sockaddr *)&own, &size) < 0) {
        int r = -errno;
        close(fd);
        return r;
    }
    address->port = own.sin_port;
    return fd;
}

static int await_socket(int fd, short events, double deadline) {
    for (;;) {
        double left = deadline - now_s();
        struct pollfd p = {.fd = fd, .events = events};
        int n = left > 0 ? poll(&p, 1, (int)(left * 1e3) + 1) : 0;
        if (n > 0)
            return 0;
        if (n == 0)
            return -ETIME;
        if (errno != EINTR)
            return -errno;
    }
}

/* Reads all bytes or fails: -ECONNRESET at the end of the stream. */
static int read_all(int fd, void *to, size_t size, double deadline) {
    for (size_t done = 0; done < size;) {
        ssize_t n = recv(fd, (char *)to + done, size - done, 0);
        if (n == 0)
            return -ECONNRESET;
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR && errno != EAGAIN)
            return -errno;
        int r = n < 0 ? await_socket(fd, POLLIN, deadline) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int introduce(int fd, const struct link_address *to, const uint8_t *token) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = to->port, .sin_addr = {to->ipv4}};
    double deadline = now_s() + MEET_S;
    int error = 0, on = 1;
    socklen_t size = sizeof error;
    char ready;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)
        return -errno;
    int r = await_socket(fd, POLLOUT, deadline);
    if (r == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error)
        r = -error;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (r == 0 && send(fd, token, LINK_TOKEN_SIZE, MSG_NOSIGNAL) != LINK_TOKEN_SIZE)
        r = -EIO;
    return r < 0 ? r : read_all(fd, &ready, 1, deadline);
}

int link_connect(const struct link_address *to, const uint8_t token[LINK_TOKEN_SIZE]) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int r = fd < 0 ? -errno : introduce(fd, to, token);
    if (r == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return r;
}

static bool has_token(int fd, const uint8_t *token) {
    uint8_t shown[LINK_TOKEN_SIZE], difference = 0;
    if (read_all(fd, shown, sizeof shown, now_s() + INTRODUCE_S) < 0)
        return false;
    for (size_t i = 0; i < sizeof shown; i++) /* takes the same time for every wrong token */
        difference |= shown[i] ^ token[i];
    return difference == 0;
}

static int accept_one(int listener, const uint8_t *token, double deadline) {
    for (;;) {
        int on = 1, r = await_socket(listener, POLLIN, deadline);
        if (r < 0)
            return r;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            return -errno;
        if (fd >= 0 && has_token(fd, token)) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return fd;
        }
        if (fd >= 0)
            close(fd);
    }
}

int link_accept(int listener, const uint8_t token[LINK_TOKEN_SIZE], int *ret_fds, int n) {
    double deadline = now_s() + MEET_S;
    int made = 0, r = 0;
    const char ready = READY;
    while (r == 0 && made < n) {
        int fd = accept_one(listener, token, deadline);
        if (fd < 0)
            r = fd;
        else
            ret_fds[made++] = fd;
    }
    for (int i = 0; r == 0 && i < made; i++)
        if (send(ret_fds[i], &ready, 1, MSG_NOSIGNAL) != 1)
            r = -EIO;
    if (r < 0)
        link_close(ret_fds, made);
    return r;
}

void link_close(int *fds, int n) {
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    for (int i = 0; i < n; i++) {
        setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fds[i]);
    }
}
