/* SPDX-License-Identifier: MIT */
/*
 * The kernel is asked for the one socket (sock_diag(7)). Reading its whole table, which may have a
 * hundred thousand lines, for each request would let strangers keep the server busy; this is done
 * only on kernels that cannot be asked.
 *
 * A line of the table has both addresses in the kernel's order, each 32 bits as a number in the
 * machine's order, the state (1: established), and the user who made the socket. A socket that its
 * program has closed has no user any more (0 stands there), and is not established.
 */
#include "cli/serve/peer.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

#define ESTABLISHED 1u
#define ENDPOINT_SIZE 40
#define LOOKS 3 /* tries: a table that changes during the read may lack a line */

/* ---- asking ---- */

static int put_endpoint(const struct sockaddr_storage *address, __be16 *ret_port, __be32 words[4]) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    if (address->ss_family == AF_INET) {
        *ret_port = in->sin_port;
        words[0] = in->sin_addr.s_addr;
        return 0;
    }
    *ret_port = in6->sin6_port;
    memcpy(words, &in6->sin6_addr, sizeof in6->sin6_addr);
    return address->ss_family == AF_INET6 ? 0 : -EAFNOSUPPORT;
}

static int read_answer(const void *bytes, ssize_t size, const struct inet_diag_sockid *asked,
                       uid_t *ret_uid) {
    const struct nlmsghdr *head = bytes;
    const struct nlmsgerr *error = NLMSG_DATA(head);
    const struct inet_diag_msg *found = NLMSG_DATA(head);
    if (size < (ssize_t)NLMSG_LENGTH(sizeof error->error))
        return -EPROTO;
    if (head->nlmsg_type == NLMSG_ERROR)
        return error->error < 0 ? error->error : -EPROTO;
    if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || size < (ssize_t)NLMSG_LENGTH(sizeof *found))
        return -EPROTO;
    size_t ends = offsetof(struct inet_diag_sockid, idiag_if); /* ports and addresses */
    if (found->idiag_state != ESTABLISHED || memcmp(&found->id, asked, ends) != 0)
        return -ENOENT;
    return *ret_uid = found->idiag_uid, 0;
}

int peer_ask(const struct sockaddr_storage *theirs, const struct sockaddr_storage *ours,
             uid_t *ret_uid) {
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } request = {.head = {.nlmsg_len = sizeof request,
                          .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                          .nlmsg_flags = NLM_F_REQUEST},
                 .body = {.sdiag_family = (__u8)ours->ss_family,
                          .sdiag_protocol = IPPROTO_TCP,
                          .idiag_states = UINT32_MAX}};
    struct inet_diag_sockid *id = &request.body.id;
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    _Alignas(struct nlmsghdr) char answer[4096];
    if (put_endpoint(theirs, &id->idiag_sport, id->idiag_src) < 0 ||
        put_endpoint(ours, &id->idiag_dport, id->idiag_dst) < 0)
        return -EAFNOSUPPORT;
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return negative_errno();
    ssize_t n =
        sendto(fd, &request, sizeof request, 0, (const struct sockaddr *)&kernel, sizeof kernel);
    if (n >= 0) /* it has answered already */
        n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    int r = n < 0 ? negative_errno() : read_answer(answer, n, id, ret_uid);
    close(fd);
    return r;
}

/* ---- the table ---- */

/* "0100007F:B949" */
static int format_endpoint(const struct sockaddr_storage *address, char to[ENDPOINT_SIZE]) {
    uint32_t words[4];
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        snprintf(to, ENDPOINT_SIZE, "%08X:%04X", in->sin_addr.s_addr, ntohs(in->sin_port));
        return 0;
    }
    if (address->ss_family != AF_INET6)
        return -EAFNOSUPPORT;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    memcpy(words, &in6->sin6_addr, sizeof words);
    snprintf(to, ENDPOINT_SIZE, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
             ntohs(in6->sin6_port));
    return 0;
}

int peer_find(FILE *table, const struct sockaddr_storage *theirs,
              const struct sockaddr_storage *ours, uid_t *ret_uid) {
    char line[512], from[ENDPOINT_SIZE], to[ENDPOINT_SIZE], local[ENDPOINT_SIZE],
        remote[ENDPOINT_SIZE];
    unsigned state, uid;
    int r = format_endpoint(theirs, from);
    if (r == 0)
        r = format_endpoint(ours, to);
    while (r == 0 && fgets(line, sizeof line, table))
        if (sscanf(line, " %*d: %39s %39s %x %*s %*s %*s %u", local, remote, &state, &uid) == 4 &&
            state == ESTABLISHED && strcmp(local, from) == 0 && strcmp(remote, to) == 0)
            return *ret_uid = uid, 0;
    return r < 0 ? r : -ENOENT;
}

static int look(const struct sockaddr_storage *theirs, const struct sockaddr_storage *ours,
                uid_t *ret_uid) {
    FILE *table = fopen(ours->ss_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp", "re");
    if (!table)
        return negative_errno();
    int r = peer_find(table, theirs, ours, ret_uid);
    fclose(table);
    return r;
}

int peer_uid(int fd, uid_t *ret_uid) {
    struct sockaddr_storage ours = {0}, theirs = {0};
    socklen_t ours_size = sizeof ours, theirs_size = sizeof theirs;
    if (getsockname(fd, (struct sockaddr *)&ours, &ours_size) < 0 ||
        getpeername(fd, (struct sockaddr *)&theirs, &theirs_size) < 0)
        return negative_errno();
    int r = peer_ask(&theirs, &ours, ret_uid);
    if (r == 0 || r == -ENOENT)
        return r;
    r = -ENOENT;
    for (int i = 0; i < LOOKS && r == -ENOENT; i++)
        r = look(&theirs, &ours, ret_uid);
    return r;
}
