/* SPDX-License-Identifier: MIT */
#include "agent/probes/net_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/source.h"
#include "common/error.h"

enum { NAME, DESTINATION, GATEWAY, MASK = 7, WORDS };

/* Eight hexadecimal digits, in the order of bytes that the kernel has in memory. */
static bool parse_address(struct span word, uint32_t *ret_address) {
    uint32_t value = 0;
    if (word.size != 8)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        static const char digits[] = "0123456789ABCDEF";
        const char *digit = word.data[i] ? strchr(digits, word.data[i]) : NULL;
        if (!digit)
            return false;
        value = value << 4 | (uint32_t)(digit - digits);
    }
    *ret_address = ntohl(value);
    return true;
}

/* "eth0 0001A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0"; routes to a single host and default routes
 * name no network. */
static bool parse_route(struct span line, const char *interface, int64_t *ret_network) {
    const char *p = line.data, *end = p + line.size;
    struct span words[WORDS];
    uint32_t address, gateway, mask;
    for (size_t i = 0; i < WORDS; i++)
        if (!text_word(&p, end, &words[i]))
            return false;
    if (!span_equal(words[NAME], interface) || !parse_address(words[DESTINATION], &address) ||
        !parse_address(words[GATEWAY], &gateway) || !parse_address(words[MASK], &mask) || gateway ||
        !address || !mask || mask == UINT32_MAX || (~mask & (~mask + 1)))
        return false;
    *ret_network = (int64_t)(address & mask) << 8 | __builtin_popcount(mask);
    return true;
}

int64_t net_network_parse(const char *text, const char *end, const char *interface) {
    int64_t network = VALUE_ABSENT;
    struct span line;
    while (text_line(&text, end, &line))
        if (parse_route(line, interface, &network))
            return network;
    return VALUE_ABSENT;
}

/* Whether sysfs has that file or folder for the interface. */
static bool has(const struct probe_env *env, const char *interface, const char *what) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/class/net/%s/%s", env->sys, interface, what);
    return n > 0 && n < (int)sizeof path && access(path, F_OK) == 0;
}

static bool is_linked(const struct probe_env *env, const char *interface) {
    char path[PATH_MAX], text[8];
    int n = snprintf(path, sizeof path, "%s/class/net/%s/carrier", env->sys, interface);
    return n > 0 && n < (int)sizeof path &&
           file_read_small(AT_FDCWD, path, text, sizeof text) == 1 && text[0] == '1';
}

int64_t net_network_of(const struct probe_env *env, const char *routes, const char *end,
                       const char *interface) {
    if (strchr(interface, '/') || has(env, interface, "bridge") ||
        has(env, interface, "tun_flags") || !is_linked(env, interface))
        return VALUE_ABSENT;
    return net_network_parse(routes, end, interface);
}
