/* SPDX-License-Identifier: MIT */
/* The words of `chokepoint testbed up`, and the help of the verb. */
#include "common/options.h"
#include "cli/testbed/testbed.h"
#include "common/error.h"
#include "common/text.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: chokepoint testbed [--name NAME] up N [OPTIONS]\n"
    "       chokepoint testbed [--name NAME] status | down\n"
    "       chokepoint testbed [--name NAME] exec [HOST] -- COMMAND...\n"
    "       chokepoint testbed [--name NAME] ssh HOST COMMAND...\n"
    "\n"
    "Emulated hosts vm1 to vmN on this machine, each with a network address, a node name and a\n"
    "cgroup of its own, on a switch that is connected to nothing else. Needs root.\n"
    "\n"
    "  up N              makes N hosts\n";

static const char end[] =
    "  status            says what each host is and whether it works\n"
    "  down              ends what runs inside and removes everything\n"
    "  exec [HOST] --    runs COMMAND inside HOST (default vm1), with $CHOKEPOINT_HOSTFILE for\n"
    "                    mpirun --hostfile and OpenMPI set up to reach the other hosts\n"
    "  ssh HOST          runs COMMAND by sh inside HOST, as ssh would; $CHOKEPOINT_RSH inside\n"
    "\n"
    "Testbeds of different names (default: $CHOKEPOINT_TESTBED, else chokepoint) live side by\n"
    "side. Exit status: 0; 1 failed; 2 wrong words, up already, or not up (exec, ssh); 3 this\n"
    "machine or user cannot have a testbed; exec and ssh: the command's own.\n";

/* "0-2,5" as the kernel writes CPU lists: ascending ranges of CPUs this machine has. */
static bool cpu_list_is_good(const char *text) {
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    const char *p = text, *stop = text + strlen(text);
    for (;;) {
        uint64_t first, last;
        if (p == stop || *p < '0' || *p > '9' || !text_u64(&p, stop, &first))
            return false;
        last = first;
        if (p < stop && *p == '-' &&
            (++p == stop || *p < '0' || *p > '9' || !text_u64(&p, stop, &last)))
            return false;
        if (last < first || last >= (uint64_t)n_cpus)
            return false;
        if (p == stop)
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

/* Says what is wrong with a value in testbed.trouble. */
static int take_value(const struct option_word *word, void *to) {
    static const struct {
        const char *name;
        int (*parse)(const char *text, struct testbed *t);
    } parsers[] = {{"rate", parse_rate},
                   {"cpus", testbed_parse_cpus},
                   {"memory", parse_memory},
                   {"mtu", parse_mtu},
                   {"subnet", testbed_parse_subnet}};
    struct testbed *t = &((struct testbed_options *)to)->testbed;
    size_t i = 0;
    while (strcmp(word->name, parsers[i].name) != 0)
        i++;
    return parsers[i].parse(word->text, t) ? option_refuse(word, "%s", t->trouble) : 0;
}

void testbed_fill_options(struct testbed_options *to, struct option_row rows[TESTBED_OPTIONS],
                          struct option_table *ret_table) {
    const struct option_row list[TESTBED_OPTIONS] = {
        {"--name NAME", .to = NULL}, /* take_name() reads it, wherever it stands */
        {"--rate R", "speed of each link, both ways (default 1.8gbit; none: not shaped)",
         .take = take_value, .to = to},
        {"--cpus LIST",
         "`0,1`: CPU 0, CPU 1, CPU 0 ... in turn; `0-1;2-3`: sets of CPUs in\n"
         "turn; none: all share all (default)",
         .take = take_value, .to = to},
        {"--memory BYTES", "limit of each host (256m, 2g)", .take = take_value, .to = to},
        {"--mtu BYTES", "largest packet (default 9000)", .take = take_value, .to = to},
        {"--subnet NET/P", "default: the first free of 10.77.0.0/24, 10.77.1.0/24, ...",
         .take = take_value, .to = to, .given = to ? &to->subnet_given : NULL},
        {"--replace", "takes down the testbed of this name first",
         .flag = to ? &to->replace : NULL},
    };
    memcpy(rows, list, sizeof list);
    *ret_table = (struct option_table){usage, rows, TESTBED_OPTIONS, end, 4, 20, false};
}

int testbed_parse_up(int argc, char **argv, struct testbed_options *ret_options) {
    struct testbed *t = &ret_options->testbed;
    struct option_row rows[TESTBED_OPTIONS];
    struct option_table table;
    struct option_trouble trouble;
    char **words = NULL;
    int r = parse_rate("1.8gbit", t);
    testbed_fill_options(ret_options, rows, &table);
    if (r == 0 && options_read(&table, argc, argv, &words, &trouble) < 0)
        return trouble.wrong == OPTION_WRONG_IN_ALL
                   ? TESTBED_USAGE
                   : testbed_trouble(t, TESTBED_USAGE,
                                     "up: unknown or incomplete option; see `chokepoint testbed "
                                     "--help`");
    for (; r == 0 && *words; words++)
        r = t->n_hosts
                ? testbed_trouble(t, TESTBED_USAGE, "up: '%.40s' is one word too many", *words)
                : parse_hosts(*words, t);
    return r ? r : check_room(t);
}
