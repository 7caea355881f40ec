/* SPDX-License-Identifier: MIT */
/*
 * Every text that probes read from the kernel. The first byte says which file the rest is. The
 * probe is then opened on a tree of its own and sampled twice, the second time with only the latter
 * half of the text. The output must be a frame that the decoder accepts.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/process_files.h"
#include "common/error.h"
#include "common/wire.h"
#include "tests/probe_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define V1 "sys/fs/cgroup/v1/"
#define V2 "sys/fs/cgroup/v2/"
#define LUSTRE "sys/kernel/debug/lustre/"
#define BEEGFS "proc/fs/beegfs/c1/"
#define PORT "sys/class/infiniband/x/ports/1/"

static const struct subject {
    const char *file; /* the file that gets the text */
    const struct probe *probe;
    enum scope_kind scope;
    const char *groups; /* /proc/self/cgroup */
} subjects[] = {
    {"proc/stat", &probe_cpu, SCOPE_HOST, ""},
    {"proc/meminfo", &probe_memory, SCOPE_HOST, ""},
    {"proc/vmstat", &probe_vmstat, SCOPE_HOST, ""},
    {"proc/diskstats", &probe_disk, SCOPE_HOST, ""},
    {"proc/net/dev", &probe_net, SCOPE_HOST, ""},
    {"proc/pressure/cpu", &probe_psi, SCOPE_HOST, ""},
    {"proc/7/stat", &probe_process, SCOPE_HOST, ""},
    {"proc/7/environ", &probe_process, SCOPE_HOST, ""},
    {"proc/7/task/7/schedstat", &probe_process, SCOPE_HOST, ""},
    {"proc/7/task/7/status", &probe_process, SCOPE_HOST, ""},
    {"proc/7/io", &probe_process, SCOPE_HOST, ""},
    {"proc/7/cgroup", &probe_process, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/cpuacct.usage_all", &probe_cpu, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/cpuacct.usage_percpu", &probe_cpu, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/memory.stat", &probe_memory, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/memory.usage_in_bytes", &probe_memory, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/blkio.throttle.io_service_bytes", &probe_disk, SCOPE_CGROUP,
     "1:cpuacct,memory,blkio:/g\n"},
    {V2 "g/cpu.stat", &probe_cpu, SCOPE_CGROUP, "0::/g\n"},
    {V2 "g/memory.stat", &probe_memory, SCOPE_CGROUP, "0::/g\n"},
    {V2 "g/memory.max", &probe_memory, SCOPE_CGROUP, "0::/g\n"},
    {V2 "g/memory.events", &probe_vmstat, SCOPE_CGROUP, "0::/g\n"},
    {V2 "g/io.stat", &probe_disk, SCOPE_CGROUP, "0::/g\n"},
    {V1 "g/cpu.stat", &probe_cgroup, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/cpu.cfs_quota_us", &probe_cgroup, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/memory.usage_in_bytes", &probe_cgroup, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n"},
    {V1 "g/blkio.throttle.io_service_bytes", &probe_cgroup, SCOPE_CGROUP,
     "1:cpuacct,memory,blkio:/g\n"},
    {V2 "g/cpu.stat", &probe_cgroup, SCOPE_CGROUP, "0::/g\n"},
    {V2 "g/memory.max", &probe_cgroup, SCOPE_CGROUP, "0::/g\n"},
    {V2 "g/memory.events", &probe_cgroup, SCOPE_CGROUP, "0::/g\n"},
    {V2 "g/io.stat", &probe_cgroup, SCOPE_CGROUP, "0::/g\n"},
    {"proc/self/cgroup", &probe_cgroup, SCOPE_CGROUP, NULL},
    {V2 "g/cpuset.cpus.effective", &probe_cpu, SCOPE_CGROUP, "0::/g\n"},
    {"proc/self/cgroup", &probe_cpu, SCOPE_CGROUP, NULL},
    {"proc/self/mountinfo", &probe_cpu, SCOPE_CGROUP, "1:cpuacct,memory,blkio:/g\n0::/g\n"},
    {"proc/self/status", &probe_cpu, SCOPE_CGROUP, "0::/\n"},
    {"proc/self/mountstats", &probe_nfs, SCOPE_HOST, ""},
    {LUSTRE "llite/a-ffff1/stats", &probe_lustre, SCOPE_HOST, ""},
    {LUSTRE "osc/a-OST0-osc-ffff1/stats", &probe_lustre_target, SCOPE_HOST, ""},
    {LUSTRE "osc/a-OST0-osc-ffff1/import", &probe_lustre_target, SCOPE_HOST, ""},
    {BEEGFS "storage_nodes", &probe_beegfs, SCOPE_HOST, ""},
    {BEEGFS "storage_target_state", &probe_beegfs, SCOPE_HOST, ""},
    {PORT "rate", &probe_fabric, SCOPE_HOST, ""},
    {PORT "counters/port_xmit_data", &probe_fabric, SCOPE_HOST, ""},
};

static const char mounts[] = "1 0 0:1 / /sys/fs/cgroup/v1 rw - cgroup cgroup "
                             "rw,cpuacct,memory,blkio\n"
                             "2 0 0:2 / /sys/fs/cgroup/v2 rw - cgroup2 cgroup2 rw\n";

/* Files beside the one under test. */
static const char *const surroundings[][2] = {
    {"proc/stat", "cpu0 1 2 3 4 5 6 7 8\n"},
    {"proc/meminfo", "MemTotal: 1000 kB\n"},
    {"proc/vmstat", "pgfault 1\n"},
    {"proc/diskstats", "8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n"},
    {"proc/net/dev", ""},
    {"proc/pressure/cpu", ""},
    {"proc/self/mountinfo", mounts},
    {"proc/self/status", ""},
    {"proc/self/mountstats", ""},
    {"proc/7/stat", "7 (x) S 1 1 1 0 -1 0 1 0 0 0 5 5 0 0 20 0 1 0 9 1 1 1\n"},
    {"proc/7/environ", ""},
    {"proc/7/task/7/schedstat", "1 2 3\n"},
    {"proc/7/task/7/status", ""},
    {"proc/7/io", ""},
    {"proc/7/cgroup", ""},
    {"sys/block/sda/dev", "8:0\n"},
    {V1 "g/cpuacct.usage_all", ""},
    {V1 "g/cpuacct.usage_percpu", "1 2\n"},
    {V1 "g/cpuacct.stat", "user 1\nsystem 2\n"},
    {V1 "g/memory.stat", ""},
    {V1 "g/memory.usage_in_bytes", "5\n"},
    {V1 "g/blkio.throttle.io_service_bytes", ""},
    {V1 "g/blkio.throttle.io_serviced", "8:0 Read 1\n"},
    {V2 "g/cpu.stat", ""},
    {V2 "g/memory.current", "5\n"},
    {V2 "g/memory.stat", ""},
    {V2 "g/memory.max", "max\n"},
    {V2 "g/memory.events", ""},
    {V2 "g/io.stat", ""},
    {V2 "g/cpuset.cpus.effective", ""},
    {LUSTRE "llite/a-ffff1/stats", ""},
    {LUSTRE "osc/a-OST0-osc-ffff1/stats", ""},
    {LUSTRE "osc/a-OST0-osc-ffff1/import", ""},
    {BEEGFS "storage_nodes", ""},
    {BEEGFS "storage_target_state", ""},
    {PORT "rate", ""},
    {PORT "link_layer", "InfiniBand\n"},
    {PORT "counters/port_xmit_data", "1\n"},
};

static char root[64];

static void write_file(const char *name, const void *text, size_t size) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void remove_tree(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", root);
}

static void restore(const char *file) {
    for (size_t i = 0; i < ARRAY_SIZE(surroundings); i++)
        if (strcmp(surroundings[i][0], file) == 0)
            write_file(file, surroundings[i][1], strlen(surroundings[i][1]));
    if (strcmp(file, "proc/7/environ") == 0)
        write_file(file, "CHOKEPOINT_RUN=r", sizeof "CHOKEPOINT_RUN=r");
}

static void make_surroundings(void) {
    for (size_t i = 0; i < ARRAY_SIZE(surroundings); i++)
        restore(surroundings[i][0]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    strcpy(root, access("/dev/shm", W_OK) == 0 ? "/dev/shm/chokepoint-fuzz-XXXXXX"
                                               : "/tmp/chokepoint-fuzz-XXXXXX");
    if (!mkdtemp(root))
        abort();
    atexit(remove_tree);
    make_surroundings();
    return 0;
}

static void check_frame(const struct harness *h) {
    struct wire_stream stream = {.host = "h", .stream_id = 1, .period_ns = 1};
    struct frame_head head = {.seq = 1};
    struct rows *rows[] = {(struct rows *)&h->rows};
    const unsigned tables[] = {0};
    struct buffer out, scratch;
    struct wire_reader reader;
    struct wire_record record;
    memset(stream.boot_id, '0', BOOT_ID_SIZE);
    buffer_init(&out);
    buffer_init(&scratch);
    wire_put_stream(&out, &stream);
    wire_put_table(&out, 0, h->probe->table);
    wire_put_frame(&out, &scratch, &head, rows, tables, 1);
    wire_reader_init(&reader, out.data, out.size);
    for (int i = 0; i < 3; i++)
        if (wire_next(&reader, &record) != 0) {
            fprintf(stderr, "%s\n", reader.why);
            abort();
        }
    wire_reader_release(&reader);
    buffer_release(&out);
    buffer_release(&scratch);
}

static void sample(struct harness *h, int64_t mono_ns) {
    if (harness_sample_at(h, mono_ns) == 0)
        check_frame(h);
}

static void try_subject(const struct subject *subject, const uint8_t *text, size_t size) {
    static struct harness h;
    if (subject->groups)
        write_file("proc/self/cgroup", subject->groups, strlen(subject->groups));
    write_file(subject->file, text, size);
    if (harness_init(&h, root, subject->scope) == 0) {
        h.env.run_token_id = "r";
        if (harness_open(&h, subject->probe) == 0) {
            sample(&h, 100 * NS_PER_S);
            write_file(subject->file, text + size / 2, size - size / 2);
            sample(&h, 101 * NS_PER_S);
        }
        harness_close(&h);
    }
    restore(subject->file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size)
        try_subject(&subjects[data[0] % ARRAY_SIZE(subjects)], data + 1, size - 1);
    return 0;
}
