/* SPDX-License-Identifier: MIT */
/*
 * A line of the table has both addresses as the kernel keeps them, each 32 bits of it as a number
 * of the machine's order, the state (1: established), and the user who made the socket. One that
 * its program has closed has no user any more (0 stands there), and is no longer established.
 */
#include "cli/serve/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"

#define ESTABLISHED 1u
#define ENDPOINT_SIZE 40
#define LOOKS 3 /* a table that changes while it is read may lack a line */

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
    int r = -ENOENT;
    for (int i = 0; i < LOOKS && r == -ENOENT; i++)
        r = look(&theirs, &ours, ret_uid);
    return r;
}
