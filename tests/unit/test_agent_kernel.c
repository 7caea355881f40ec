/* SPDX-License-Identifier: MIT */
/*
 * The system probes on this machine against the kernel's own counters, read in other ways just
 * before and just after: a probe's value must lie between the two.
 */
#include "tests/unit/probe_test.h"

#include "agent/base/source.h"
#include <arpa/inet.h>

#include <dirent.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

static bool read_number(int64_t *ret, const char *format, const char *name, int field) {
    char path[SCOPE_PATH_MAX + 64];
    unsigned long long value = 0;
    snprintf(path, sizeof path, format, name);
    FILE *file = fopen(path, "r");
    bool good = file != NULL;
    for (int i = 0; good && i <= field; i++)
        good = fscanf(file, "%llu", &value) == 1;
    if (file)
        fclose(file);
    *ret = (int64_t)value;
    return good;
}

#define ITEMS_MAX 256
struct bracket {
    char names[ITEMS_MAX][64];
    int64_t before[ITEMS_MAX];
    size_t n;
};

/* ---- reading ---- */

static size_t count_lines(const char *path) {
    char line[4096];
    size_t n = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        n++;
    fclose(file);
    return n;
}

/* The kernel returns a long file a page at a time: here the map of a child that does not run. */
static void a_file_in_pieces_is_read_whole(void **state) {
    struct source source;
    char directory[64], path[96];
    size_t whole = 0;
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(pause());
    }
    snprintf(directory, sizeof directory, "/proc/%d", pid);
    snprintf(path, sizeof path, "%s/smaps", directory);
    assert_int_equal(source_open(&source, directory, "smaps"), 0);
    assert_int_equal(source_read(&source), 0);
    for (size_t i = 0; i < source.size; i++)
        whole += source.data[i] == '\n';
    assert_true(source.size > 3 * 4096);
    assert_int_equal(whole, count_lines(path));
    assert_false(source.cut);
    source_close(&source);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* ---- interfaces: /sys/class/net ---- */

static void interfaces_agree_with_sysfs(void **state) {
    static const char *const pairs[][2] = {
        {"receive_bytes", "/sys/class/net/%s/statistics/rx_bytes"},
        {"receive_packets", "/sys/class/net/%s/statistics/rx_packets"},
        {"send_bytes", "/sys/class/net/%s/statistics/tx_bytes"},
        {"send_packets", "/sys/class/net/%s/statistics/tx_packets"},
        {"send_drops", "/sys/class/net/%s/statistics/tx_dropped"},
    };
    struct harness h;
    size_t compared = 0;
    (void)state;
    probe_start(&h, "", SCOPE_HOST, &probe_net, clock_monotonic_ns());
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        struct bracket bracket = {.n = 0};
        for (size_t i = 0; i < h.rows.n && bracket.n < ITEMS_MAX; i++)
            if (read_number(&bracket.before[bracket.n], pairs[p][1], h.rows.items[i].name, 0))
                snprintf(bracket.names[bracket.n++], 64, "%.63s", h.rows.items[i].name);
        assert_int_equal(harness_sample(&h), 0);
        for (size_t i = 0; i < bracket.n; i++) {
            int64_t after, value = harness_value(&h, bracket.names[i], pairs[p][0]);
            if (!read_number(&after, pairs[p][1], bracket.names[i], 0))
                continue;
            assert_in_range(value, bracket.before[i], after);
            compared++;
        }
    }
    harness_close(&h);
    if (!compared)
        skip(); /* /sys belongs to another network namespace */
}

/* In a separate network namespace nothing else moves: a transfer must show to the byte. */
static int send_in_own_namespace(void) {
    struct harness h;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    struct ifreq request = {.ifr_flags = IFF_UP};
    static char data[1000];
    if (unshare(CLONE_NEWNET) < 0)
        return 77;
    int from = socket(AF_INET, SOCK_DGRAM, 0), to = socket(AF_INET, SOCK_DGRAM, 0);
    strcpy(request.ifr_name, "lo");
    if (from < 0 || to < 0 || ioctl(from, SIOCSIFFLAGS, &request) < 0 ||
        bind(to, (struct sockaddr *)&address, sizeof address) < 0 ||
        getsockname(to, (struct sockaddr *)&address, &length) < 0)
        return 77;
    if (harness_init(&h, "", SCOPE_HOST) < 0 || harness_open(&h, &probe_net) != 0 ||
        harness_sample(&h) != 0)
        return 1;
    int64_t bytes = harness_value(&h, "lo", "send_bytes");
    int64_t packets = harness_value(&h, "lo", "receive_packets");
    for (int i = 0; i < 50; i++)
        if (sendto(from, data, sizeof data, 0, (struct sockaddr *)&address, sizeof address) < 0 ||
            recv(to, data, sizeof data, 0) != sizeof data)
            return 2;
    if (harness_sample(&h) != 0)
        return 3;
    /* 1000 bytes and the headers, 8 of UDP and 20 of IP; the loopback counts no others */
    bool good = harness_value(&h, "lo", "send_bytes") == bytes + 50 * 1028 &&
                harness_value(&h, "lo", "receive_packets") == packets + 50;
    harness_close(&h);
    return good ? 0 : 4;
}

static void a_transfer_shows_to_the_byte(void **state) {
    int status;
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(send_in_own_namespace());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* no right to make a network namespace */
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- cores ---- */

static void read_core(int core, unsigned long long times[8]) {
    char name[16], found[64];
    FILE *file = fopen("/proc/stat", "r");
    assert_non_null(file);
    snprintf(name, sizeof name, "cpu%d", core);
    while (fscanf(file, "%63s", found) == 1)
        if (strcmp(found, name) == 0)
            break;
    for (int i = 0; i < 8; i++)
        assert_int_equal(fscanf(file, "%llu", &times[i]), 1);
    fclose(file);
}

static void cores_agree_with_proc_stat(void **state) {
    static const char *const columns[8] = {"user_ns",   "nice_ns", "system_ns",  "idle_ns",
                                           "iowait_ns", "irq_ns",  "softirq_ns", "steal_ns"};
    struct harness h;
    unsigned long long before[8], after[8];
    (void)state;
    probe_start(&h, "", SCOPE_HOST, &probe_cpu, clock_monotonic_ns());
    for (int i = 0; i < 50; i++) {
        read_core(0, before);
        assert_int_equal(harness_sample(&h), 0);
        read_core(0, after);
        for (int c = 0; c < 8; c++) /* a core's idle times may step back by a tick */
            assert_in_range(harness_value(&h, "cpu0", columns[c]) / 10000000 + 1, before[c],
                            after[c] + 2);
    }
    assert_int_equal(h.rows.n, sysconf(_SC_NPROCESSORS_ONLN));
    harness_close(&h);
}

/* ---- disks: /sys/block/NAME/stat ---- */

static void disks_agree_with_sysfs(void **state) {
    static const struct {
        const char *column;
        int field;
        int64_t scale;
    } pairs[] = {{"reads", 0, 1},         {"read_bytes", 2, 512},    {"writes", 4, 1},
                 {"write_bytes", 6, 512}, {"busy_ns", 9, NS_PER_MS}, {"read_ns", 3, NS_PER_MS}};
    struct harness h;
    (void)state;
    probe_start(&h, "", SCOPE_HOST, &probe_disk, clock_monotonic_ns());
    size_t n = h.rows.n;
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        for (size_t i = 0; i < n; i++) {
            char name[96];
            int64_t before, after;
            snprintf(name, sizeof name, "%s", h.rows.items[i].name);
            if (!read_number(&before, "/sys/block/%s/stat", name, pairs[p].field))
                continue;
            assert_int_equal(harness_sample(&h), 0);
            assert_true(read_number(&after, "/sys/block/%s/stat", name, pairs[p].field));
            assert_in_range(harness_value(&h, name, pairs[p].column), before * pairs[p].scale,
                            after * pairs[p].scale);
        }
    harness_close(&h);
    if (!n)
        skip(); /* no disks here */
}

static void no_partition_is_among_the_disks(void **state) {
    struct harness h;
    struct stat st;
    char path[256];
    (void)state;
    probe_start(&h, "", SCOPE_HOST, &probe_disk, clock_monotonic_ns());
    for (size_t i = 0; i < h.rows.n; i++) {
        snprintf(path, sizeof path, "/sys/class/block/%s/partition", h.rows.items[i].name);
        assert_int_equal(stat(path, &st), -1);
    }
    harness_close(&h);
}

/* ---- memory ---- */

static void memory_agrees_with_sysinfo(void **state) {
    struct harness h;
    struct sysinfo info;
    (void)state;
    probe_start(&h, "", SCOPE_HOST, &probe_memory, clock_monotonic_ns());
    assert_int_equal(sysinfo(&info), 0);
    int64_t total = (int64_t)info.totalram * info.mem_unit;
    int64_t free_bytes = (int64_t)info.freeram * info.mem_unit;
    expect(&h, "memory", "total_bytes", total);
    expect(&h, "memory", "swap_total_bytes", (int64_t)info.totalswap * info.mem_unit);
    /* Other programs allocate meanwhile: free memory must be within a tenth of the total. */
    assert_in_range(harness_value(&h, "memory", "free_bytes") + total / 10, free_bytes,
                    free_bytes + total / 5);
    harness_close(&h);
}

static void page_faults_are_counted(void **state) {
    struct harness h;
    const size_t pages = 5000, size = pages * 4096;
    (void)state;
    probe_start(&h, "", SCOPE_HOST, &probe_vmstat, clock_monotonic_ns());
    int64_t before = harness_value(&h, "vm", "faults");
    char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(data != MAP_FAILED);
    madvise(data, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        data[i * 4096] = 1;
    assert_int_equal(harness_sample(&h), 0);
    int64_t grown = harness_value(&h, "vm", "faults") - before;
    munmap(data, size);
    assert_true(grown >= (int64_t)pages);
    harness_close(&h);
}

/* ---- pressure ---- */

static bool read_total(const char *resource, int64_t *ret_us) {
    char path[64];
    double averages[3];
    long long total = 0;
    snprintf(path, sizeof path, "/proc/pressure/%s", resource);
    FILE *file = fopen(path, "r");
    bool good = file && fscanf(file, "some avg10=%lf avg60=%lf avg300=%lf total=%lld", &averages[0],
                               &averages[1], &averages[2], &total) == 4;
    if (file)
        fclose(file);
    *ret_us = total;
    return good;
}

static void pressure_agrees_with_the_kernel(void **state) {
    struct harness h;
    int64_t before, after;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    if (harness_open(&h, &probe_psi) == PROBE_ABSENT) {
        harness_close(&h);
        skip(); /* this kernel has no PSI */
    }
    static const char *const names[] = {"cpu", "memory", "io"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(read_total(names[i], &before));
        assert_int_equal(harness_sample(&h), 0);
        assert_true(read_total(names[i], &after));
        assert_in_range(harness_value(&h, names[i], "some_ns"), before * 1000, after * 1000);
    }
    harness_close(&h);
}

/* ---- the agent's own group ---- */

static int64_t group_used(const struct scope *scope) {
    int64_t user = 0, system = 0;
    char word[64];
    long long value;
    char path[sizeof scope->cpu + sizeof "/cpu.stat"];
    if (!scope->v2_cpu) {
        assert_true(read_number(&user, "%s/cpuacct.usage", scope->cpu, 0));
        return user;
    }
    snprintf(path, sizeof path, "%s/cpu.stat", scope->cpu);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%63s %lld", word, &value) == 2) {
        user = strcmp(word, "user_usec") == 0 ? value : user;
        system = strcmp(word, "system_usec") == 0 ? value : system;
    }
    fclose(file);
    return (user + system) * 1000;
}

static void the_groups_cpu_time_agrees_with_its_total(void **state) {
    struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_CGROUP), 0);
    if (!*h.scope.cpu || harness_open(&h, &probe_cpu) != 0) {
        harness_close(&h);
        skip(); /* in no cgroup that accounts for CPU time */
    }
    int64_t before_ns = group_used(&h.scope), used_ns = 0;
    assert_int_equal(harness_sample(&h), 0);
    int64_t after_ns = group_used(&h.scope);
    for (size_t i = 0; i < h.rows.n; i++)
        used_ns += harness_value(&h, h.rows.items[i].name, "user_ns") +
                   harness_value(&h, h.rows.items[i].name, "system_ns");
    int64_t slack_ns = 2000; /* v2 counts microseconds */
    assert_in_range(used_ns + slack_ns, before_ns, after_ns + 2 * slack_ns);
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_in_pieces_is_read_whole),
        cmocka_unit_test(interfaces_agree_with_sysfs),
        cmocka_unit_test(a_transfer_shows_to_the_byte),
        cmocka_unit_test(cores_agree_with_proc_stat),
        cmocka_unit_test(disks_agree_with_sysfs),
        cmocka_unit_test(no_partition_is_among_the_disks),
        cmocka_unit_test(memory_agrees_with_sysinfo),
        cmocka_unit_test(page_faults_are_counted),
        cmocka_unit_test(pressure_agrees_with_the_kernel),
        cmocka_unit_test(the_groups_cpu_time_agrees_with_its_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
