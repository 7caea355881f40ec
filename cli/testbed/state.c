/* SPDX-License-Identifier: MIT */
/*
 * State of a testbed in /run, as lines "key value". The file is written before anything is made, so
 * that `down` knows everything that may exist even if `up` ended half-way.
 */
#include "cli/base/file.h"
#include "cli/testbed/testbed.h"
#include "common/error.h"
#include "common/own_program.h"
#include "common/text.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_VERSION "chokepoint-testbed 1"
#define STATE_SIZE (16 * 1024)

int testbed_trouble(struct testbed *t, int condition, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->trouble, sizeof t->trouble, format, arguments);
    va_end(arguments);
    return condition;
}

static bool name_is_good(const char *name) {
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return n > 0 && n < 24 && !name[n] && name[0] != '-';
}

int testbed_init(struct testbed *t, const char *name) {
    const char *fallback = getenv("CHOKEPOINT_TESTBED");
    if (!name)
        name = fallback && *fallback ? fallback : "chokepoint";
    *t = (struct testbed){.mtu = 9000, .prefix = 24, .network = 0x0a4d0000};
    if (!name_is_good(name))
        return testbed_trouble(t, TESTBED_USAGE,
                               "a testbed's name is up to 23 of a-z 0-9 -, not '%.40s'", name);
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(t->directory, sizeof t->directory, TESTBED_ROOT "/%s", name);
    return 0;
}

bool testbed_exists(const struct testbed *t) {
    return path_exists("%s/state", t->directory);
}

void testbed_address(const struct testbed *t, unsigned host, char ret_text[16]) {
    struct in_addr address = {htonl(t->network + host)};
    inet_ntop(AF_INET, &address, ret_text, 16);
}

/* --- writing --- */

int testbed_make_directory(struct testbed *t) {
    if ((mkdir(TESTBED_ROOT, 0755) == 0 || errno == EEXIST) &&
        (mkdir(t->directory, 0755) == 0 || errno == EEXIST))
        return 0;
    return testbed_trouble(t, TESTBED_UNABLE, "cannot make %s: %s", t->directory, strerror(errno));
}

int testbed_save(struct testbed *t) {
    char *text = NULL, network[16];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return testbed_trouble(t, TESTBED_FAILED, "out of memory");
    testbed_address(t, 0, network);
    fprintf(out, STATE_VERSION "\nphase %s\nhosts %u\nnetwork %s\nprefix %u\nmtu %u\n",
            t->phase == TESTBED_UP ? "up" : "making", t->n_hosts, network, t->prefix, t->mtu);
    fprintf(out, "rate_bits_per_s %ju\nmemory_bytes %ju\n", (uintmax_t)t->rate_bits_per_s,
            (uintmax_t)t->memory_bytes);
    for (unsigned host = 1; host <= t->n_hosts; host++)
        if (t->cpus[host - 1][0])
            fprintf(out, "cpus %u %s\n", host, t->cpus[host - 1]);
    int r = fclose(out) == 0 ? 0 : negative_errno();
    if (r == 0)
        r = file_replace(text, "%s/state", t->directory);
    free(text);
    return r ? testbed_trouble(t, TESTBED_FAILED, "cannot write %s/state: %s", t->directory,
                               strerror(-r))
             : 0;
}

static int write_host_files(const struct testbed *t) {
    char hosts[TESTBED_HOSTS_MAX * 48 + 128], hostfile[TESTBED_HOSTS_MAX * 24], address[16];
    int n = snprintf(hosts, sizeof hosts,
                     "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
    int m = 0;
    for (unsigned host = 1; host <= t->n_hosts; host++) {
        testbed_address(t, host, address);
        n += snprintf(hosts + n, sizeof hosts - (size_t)n, "%s vm%u\n", address, host);
        m += snprintf(hostfile + m, sizeof hostfile - (size_t)m, "vm%u slots=1\n", host);
    }
    int r = file_replace(hosts, "%s/hosts", t->directory);
    return r ? r : file_replace(hostfile, "%s/hostfile", t->directory);
}

/* OpenMPI splits its launch agent at blanks, and scripts cannot run from /run (noexec): so a link
 * with a plain name leads to this program. Hydra's launcher is one word without options: a second
 * link, whose name tells this program its role. */
static int link_this_program(const struct testbed *t, const char *name) {
    char target[PATH_MAX], path[PATH_MAX];
    int r = own_program_path(target);
    if (r == 0)
        r = path_format(path, sizeof path, "%s/%s", t->directory, name);
    if (r < 0)
        return r;
    unlink(path);
    return symlink(target, path) < 0 ? negative_errno() : 0;
}

int testbed_write_files(struct testbed *t) {
    int r = write_host_files(t);
    if (r == 0)
        r = link_this_program(t, "chokepoint");
    if (r == 0)
        r = link_this_program(t, TESTBED_SSH);
    return r ? testbed_trouble(t, TESTBED_FAILED, "cannot write under %s: %s", t->directory,
                               strerror(-r))
             : 0;
}

int testbed_remove_state(struct testbed *t) {
    static const char *const names[] = {"hosts", "hostfile", "chokepoint", TESTBED_SSH, "state"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char path[PATH_MAX];
        int r = path_format(path, sizeof path, "%s/%s", t->directory, names[i]);
        if (r == 0 && unlink(path) < 0 && errno != ENOENT)
            return testbed_trouble(t, TESTBED_FAILED, "cannot remove %s: %s", path,
                                   strerror(errno));
    }
    if (rmdir(t->directory) < 0 && errno != ENOENT)
        return testbed_trouble(t, TESTBED_FAILED, "cannot remove %s: %s", t->directory,
                               strerror(errno));
    rmdir(TESTBED_ROOT); /* stays while another testbed is up */
    return 0;
}

/* --- reading --- */

static bool line_u64(struct span line, const char *key, uint64_t *ret_value) {
    const char *p = line.data, *end = line.data + line.size;
    struct span word;
    uint64_t value;
    if (!text_word(&p, end, &word) || !span_equal(word, key) || !text_u64(&p, end, &value) ||
        p != end)
        return false;
    *ret_value = value;
    return true;
}

static bool line_word(struct span line, const char *key, char *ret_text, size_t capacity) {
    const char *p = line.data, *end = line.data + line.size;
    struct span word, value;
    if (!text_word(&p, end, &word) || !span_equal(word, key) || !text_word(&p, end, &value) ||
        p != end || value.size >= capacity)
        return false;
    memcpy(ret_text, value.data, value.size);
    ret_text[value.size] = '\0';
    return true;
}

static bool line_cpus(struct span line, struct testbed *t) {
    const char *p = line.data, *end = line.data + line.size;
    struct span word, value;
    uint64_t host;
    if (!text_word(&p, end, &word) || !span_equal(word, "cpus") || !text_u64(&p, end, &host) ||
        !text_word(&p, end, &value) || p != end || host < 1 || host > TESTBED_HOSTS_MAX ||
        value.size >= sizeof t->cpus[0])
        return false;
    memcpy(t->cpus[host - 1], value.data, value.size);
    t->cpus[host - 1][value.size] = '\0';
    return true;
}

static bool read_line(struct testbed *t, struct span line) {
    uint64_t value;
    char word[32];
    struct in_addr address;
    if (line_u64(line, "hosts", &value) && value >= 1 && value <= TESTBED_HOSTS_MAX)
        return t->n_hosts = (unsigned)value, true;
    if (line_u64(line, "prefix", &value) && value >= 8 && value <= 30)
        return t->prefix = (unsigned)value, true;
    if (line_u64(line, "mtu", &value) && value >= 576 && value <= 65535)
        return t->mtu = (unsigned)value, true;
    if (line_u64(line, "rate_bits_per_s", &t->rate_bits_per_s) ||
        line_u64(line, "memory_bytes", &t->memory_bytes) || line_cpus(line, t))
        return true;
    if (line_word(line, "network", word, sizeof word) && inet_pton(AF_INET, word, &address) == 1)
        return t->network = ntohl(address.s_addr), true;
    if (!line_word(line, "phase", word, sizeof word))
        return false;
    t->phase = strcmp(word, "up") == 0 ? TESTBED_UP : TESTBED_MAKING;
    return true;
}

int testbed_load(struct testbed *t) {
    char text[STATE_SIZE];
    int r = file_read(text, sizeof text, "%s/state", t->directory);
    if (r == -ENOENT)
        return testbed_trouble(t, TESTBED_USAGE,
                               "no testbed '%s' is up; make one with `chokepoint testbed up N`",
                               t->name);
    if (r < 0)
        return testbed_trouble(t, TESTBED_FAILED, "cannot read %s/state: %s", t->directory,
                               strerror(-r));
    const char *p = text, *end = text + strlen(text);
    struct span line = {text, 0};
    bool good = text_line(&p, end, &line) && span_equal(line, STATE_VERSION);
    t->n_hosts = 0;
    while (good && text_line(&p, end, &line))
        good = read_line(t, line);
    if (!good || !t->n_hosts)
        return testbed_trouble(t, TESTBED_FAILED,
                               "%s/state is not a testbed's of this version: '%.*s'", t->directory,
                               (int)(line.size > 60 ? 60 : line.size), line.data);
    return 0;
}

unsigned testbed_find_host(const struct testbed *t, const char *word) {
    const char *at = strrchr(word, '@');
    char name[16], address[16];
    for (unsigned host = 1; host <= t->n_hosts; host++) {
        snprintf(name, sizeof name, "vm%u", host);
        testbed_address(t, host, address);
        if (strcmp(at ? at + 1 : word, name) == 0 || strcmp(at ? at + 1 : word, address) == 0)
            return host;
    }
    return 0;
}

/* --- other testbeds --- */

int testbed_lock(void) {
    int fd = open(TESTBED_ROOT ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return negative_errno();
    if (flock(fd, LOCK_EX) == 0)
        return fd;
    int r = negative_errno();
    close(fd);
    return r;
}

static bool network_is_taken(uint32_t network) {
    DIR *directory = opendir(TESTBED_ROOT);
    struct dirent *entry;
    bool taken = false;
    while (directory && !taken && (entry = readdir(directory))) {
        struct testbed other;
        if (testbed_init(&other, entry->d_name) == 0 && testbed_load(&other) == 0)
            taken = (other.network ^ network) >> 8 == 0;
    }
    if (directory)
        closedir(directory);
    return taken;
}

int testbed_choose_subnet(struct testbed *t) {
    for (unsigned k = 0; k < 256; k++) {
        uint32_t network = 0x0a4d0000 | k << 8;
        if (!network_is_taken(network))
            return t->network = network, t->prefix = 24, 0;
    }
    return testbed_trouble(t, TESTBED_USAGE, "no 10.77.K.0/24 is free; give one with --subnet");
}
