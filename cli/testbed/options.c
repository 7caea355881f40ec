/* SPDX-License-Identifier: MIT */
/* The words of `chokepoint testbed up`. */
#include "cli/testbed/testbed.h"
#include "common/error.h"
#include "common/text.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "0-2,5" as the kernel writes CPU lists: ascending ranges of CPUs this machine has. */
static bool cpu_list_is_good(const char *text) {
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    const char *p = text, *end = text + strlen(text);
    for (;;) {
        uint64_t first, last;
        if (p == end || *p < '0' || *p > '9' || !text_u64(&p, end, &first))
            return false;
        last = first;
        if (p < end && *p == '-' &&
            (++p == end || *p < '0' || *p > '9' || !text_u64(&p, end, &last)))
            return false;
        if (last < first || last >= (uint64_t)n_cpus)
            return false;
        if (p == end)
            return true;
        if (*p++ != ',')
            return false;
    }
}

static int bad_cpus(struct testbed *t, const char *text) {
    return testbed_trouble(t, TESTBED_USAGE,
                           "--cpus %.60s: not CPUs of this machine (0-%ld); examples: `0,1` a CPU "
                           "for each host in turn, `0-1;2-3` sets, `none` all CPUs for all",
                           text, sysconf(_SC_NPROCESSORS_CONF) - 1);
}

int testbed_parse_cpus(const char *text, struct testbed *t) {
    char copy[4096], *rest = copy, *sets[TESTBED_HOSTS_MAX];
    size_t n = 0;
    memset(t->cpus, 0, sizeof t->cpus);
    if (strcmp(text, "none") == 0)
        return 0;
    if (strlen(text) >= sizeof copy)
        return bad_cpus(t, text);
    strcpy(copy, text);
    const char *separator = strchr(text, ';') ? ";" : ",";
    while (rest && n < ARRAY_SIZE(sets)) {
        char *set = strsep(&rest, separator);
        if (!cpu_list_is_good(set) || strlen(set) >= sizeof t->cpus[0])
            return bad_cpus(t, text);
        sets[n++] = set;
    }
    for (size_t i = 0; i < ARRAY_SIZE(t->cpus); i++)
        strcpy(t->cpus[i], sets[i % n]);
    return 0;
}

int testbed_parse_subnet(const char *text, struct testbed *t) {
    char copy[32], *slash;
    struct in_addr address;
    uint64_t prefix;
    if (strlen(text) < sizeof copy && (slash = strchr(strcpy(copy, text), '/'))) {
        *slash = '\0';
        if (inet_pton(AF_INET, copy, &address) == 1 && text_parse_u64(slash + 1, &prefix) == 0 &&
            prefix >= 8 && prefix <= 30 && (ntohl(address.s_addr) & (0xffffffffu >> prefix)) == 0) {
            t->network = ntohl(address.s_addr);
            t->prefix = (unsigned)prefix;
            return 0;
        }
    }
    return testbed_trouble(t, TESTBED_USAGE, "--subnet %.40s: not a network like 10.77.0.0/24",
                           text);
}

static int parse_rate(const char *text, struct testbed *t) {
    t->rate_bits_per_s = 0;
    if (strcmp(text, "none") == 0)
        return 0;
    if (text_parse_bit_rate(text, &t->rate_bits_per_s) == 0 && t->rate_bits_per_s >= 64000 &&
        t->rate_bits_per_s <= 100000000000)
        return 0;
    return testbed_trouble(t, TESTBED_USAGE,
                           "--rate %.40s: not a rate from 64kbit to 100gbit like 1.8gbit, or none",
                           text);
}

static int parse_memory(const char *text, struct testbed *t) {
    if (text_parse_bytes(text, &t->memory_bytes) == 0 && t->memory_bytes >= 16 << 20)
        return 0;
    return testbed_trouble(t, TESTBED_USAGE, "--memory %.40s: not a size of 16m or more like 2g",
                           text);
}

static int parse_mtu(const char *text, struct testbed *t) {
    uint64_t value;
    if (text_parse_u64(text, &value) < 0 || value < 576 || value > 65535)
        return testbed_trouble(t, TESTBED_USAGE, "--mtu %.40s: not 576 to 65535", text);
    t->mtu = (unsigned)value;
    return 0;
}

static int parse_hosts(const char *text, struct testbed *t) {
    uint64_t value;
    if (text_parse_u64(text, &value) < 0 || value < 1 || value > TESTBED_HOSTS_MAX)
        return testbed_trouble(t, TESTBED_USAGE, "'%.40s' is not a number of hosts (1 to %d)", text,
                               TESTBED_HOSTS_MAX);
    t->n_hosts = (unsigned)value;
    return 0;
}

static int check_room(struct testbed *t) {
    if (!t->n_hosts)
        return testbed_trouble(t, TESTBED_USAGE, "up: how many hosts? `chokepoint testbed up 5`");
    if (t->n_hosts > (0xffffffffu >> t->prefix) - 1)
        return testbed_trouble(t, TESTBED_USAGE, "a /%u network has no room for %u hosts",
                               t->prefix, t->n_hosts);
    return 0;
}

static int parse_option(int option, struct testbed_options *options) {
    struct testbed *t = &options->testbed;
    switch (option) {
    case 'r':
        return parse_rate(optarg, t);
    case 'c':
        return testbed_parse_cpus(optarg, t);
    case 'm':
        return parse_memory(optarg, t);
    case 'u':
        return parse_mtu(optarg, t);
    case 's':
        options->subnet_given = true;
        return testbed_parse_subnet(optarg, t);
    case 'R':
        options->replace = true;
        return 0;
    default:
        return testbed_trouble(t, TESTBED_USAGE,
                               "up: unknown or incomplete option; see `chokepoint testbed --help`");
    }
}

int testbed_parse_up(int argc, char **argv, struct testbed_options *ret_options) {
    static const struct option long_options[] = {{"rate", required_argument, NULL, 'r'},
                                                 {"cpus", required_argument, NULL, 'c'},
                                                 {"memory", required_argument, NULL, 'm'},
                                                 {"mtu", required_argument, NULL, 'u'},
                                                 {"subnet", required_argument, NULL, 's'},
                                                 {"replace", no_argument, NULL, 'R'},
                                                 {NULL, 0, NULL, 0}};
    struct testbed *t = &ret_options->testbed;
    int r = parse_rate("1.8gbit", t), option;
    opterr = 0;
    optind = 0; /* getopt starts afresh: main has read words of its own */
    while (r == 0 && (option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        r = parse_option(option, ret_options);
    for (; r == 0 && optind < argc; optind++)
        r = t->n_hosts ? testbed_trouble(t, TESTBED_USAGE, "up: '%.40s' is one word too many",
                                         argv[optind])
                       : parse_hosts(argv[optind], t);
    return r ? r : check_room(t);
}
