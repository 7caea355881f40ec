/* SPDX-License-Identifier: MIT */
/*
 * The files of cgroups v1 and v2, and the units in them: cpu.stat counts ns (throttled_time, v1)
 * or us (throttled_usec, v2), cpuacct.usage ns, quotas us, memory bytes. "max", -1, and on v1 the
 * largest number of whole pages stand for no limit.
 */
#include "agent/probes/cgroup.h"

#include <string.h>

#include "agent/base/counter.h"

#define NO_LIMIT ((int64_t)1 << 62) /* v1 shows 2^63 less a page */

enum {
    CPU_STAT,
    CPU_QUOTA,
    CPU_PERIOD,
    CPUACCT_USAGE,
    MEMORY_USAGE,
    MEMORY_LIMIT,
    MEMORY_FAILCNT,
    MEMORY_OOM_CONTROL,
    BLKIO_BYTES,
    BLKIO_READ_LIMIT,
    BLKIO_WRITE_LIMIT,
    V2_CPU_STAT,
    V2_CPU_MAX,
    V2_MEMORY_CURRENT,
    V2_MEMORY_MAX,
    V2_MEMORY_EVENTS,
    V2_IO_STAT,
    V2_IO_MAX,
    BLKIO_BYTES_RECURSIVE, /* with groups below, if the kernel has it */
    BLKIO_OPERATIONS,
    BLKIO_OPERATIONS_RECURSIVE,
    BLKIO_READS_LIMIT,
    BLKIO_WRITES_LIMIT,
};

const struct cgroup_file cgroup_files[CGROUP_N_FILES] = {
    [CPU_STAT] = {"cpu", "cpu.stat", false},
    [CPU_QUOTA] = {"cpu", "cpu.cfs_quota_us", true},
    [CPU_PERIOD] = {"cpu", "cpu.cfs_period_us", true},
    [CPUACCT_USAGE] = {"cpuacct", "cpuacct.usage", false},
    [MEMORY_USAGE] = {"memory", "memory.usage_in_bytes", false},
    [MEMORY_LIMIT] = {"memory", "memory.limit_in_bytes", true},
    [MEMORY_FAILCNT] = {"memory", "memory.failcnt", false},
    [MEMORY_OOM_CONTROL] = {"memory", "memory.oom_control", false},
    [BLKIO_BYTES] = {"blkio", "blkio.throttle.io_service_bytes", false},
    [BLKIO_READ_LIMIT] = {"blkio", "blkio.throttle.read_bps_device", true},
    [BLKIO_WRITE_LIMIT] = {"blkio", "blkio.throttle.write_bps_device", true},
    [V2_CPU_STAT] = {"", "cpu.stat", false},
    [V2_CPU_MAX] = {"", "cpu.max", true},
    [V2_MEMORY_CURRENT] = {"", "memory.current", false},
    [V2_MEMORY_MAX] = {"", "memory.max", true},
    [V2_MEMORY_EVENTS] = {"", "memory.events", false},
    [V2_IO_STAT] = {"", "io.stat", false},
    [V2_IO_MAX] = {"", "io.max", true},
    [BLKIO_BYTES_RECURSIVE] = {"blkio", "blkio.throttle.io_service_bytes_recursive", false},
    [BLKIO_OPERATIONS] = {"blkio", "blkio.throttle.io_serviced", false},
    [BLKIO_OPERATIONS_RECURSIVE] = {"blkio", "blkio.throttle.io_serviced_recursive", false},
    [BLKIO_READS_LIMIT] = {"blkio", "blkio.throttle.read_iops_device", true},
    [BLKIO_WRITES_LIMIT] = {"blkio", "blkio.throttle.write_iops_device", true},
};

static const struct key cpu_keys[] = {
    {"usage_usec", CGROUP_CPU, NS_PER_US},           {"nr_periods", CGROUP_PERIODS, 1},
    {"nr_throttled", CGROUP_THROTTLED_PERIODS, 1},   {"throttled_time", CGROUP_THROTTLED, 1},
    {"throttled_usec", CGROUP_THROTTLED, NS_PER_US},
};

static const struct key memory_keys[] = {
    {"max", CGROUP_LIMIT_HITS, 1},
    {"oom_kill", CGROUP_OOM_KILLS, 1},
};

void cgroup_keys_init(struct cgroup_keys *keys) {
    keys_init(&keys->cpu, cpu_keys, sizeof cpu_keys / sizeof *cpu_keys);
    keys_init(&keys->memory, memory_keys, sizeof memory_keys / sizeof *memory_keys);
}

static bool is_disk_limit(size_t column) {
    return column == CGROUP_READ_LIMIT || column == CGROUP_WRITE_LIMIT ||
           column == CGROUP_READS_LIMIT || column == CGROUP_WRITES_LIMIT;
}

bool cgroup_is_limit(size_t column) {
    return column == CGROUP_QUOTA || column == CGROUP_PERIOD || column == CGROUP_MEMORY_LIMIT ||
           is_disk_limit(column);
}

bool cgroup_is_repeated(size_t file, const int *fds) {
    return (file == V2_CPU_STAT && fds[CPU_STAT] >= 0 && fds[CPUACCT_USAGE] >= 0) ||
           (file == BLKIO_BYTES && fds[BLKIO_BYTES_RECURSIVE] >= 0) ||
           (file == BLKIO_OPERATIONS && fds[BLKIO_OPERATIONS_RECURSIVE] >= 0);
}

/* ---- one number ---- */

static void read_scaled(const char *text, const char *end, int64_t scale, int64_t *value) {
    uint64_t number;
    if (text_u64(&text, end, &number))
        *value = counter_value(number, scale);
}

static void read_limit(const char *text, const char *end, int64_t scale, int64_t *value) {
    read_scaled(text, end, scale, value);
    if (*value >= NO_LIMIT)
        *value = VALUE_ABSENT;
}

/* "50000 100000", "max 100000" */
static void read_cpu_max(const char *text, const char *end, int64_t *values) {
    struct span quota;
    if (!text_word(&text, end, &quota))
        return;
    read_limit(quota.data, quota.data + quota.size, NS_PER_US, &values[CGROUP_QUOTA]);
    read_scaled(text, end, NS_PER_US, &values[CGROUP_PERIOD]);
}

/* ---- a line a device ---- */

static void add_counter(int64_t *sum, uint64_t number) {
    *sum = counter_add(*sum, counter_value(number, 1));
}

/* Keeps the tightest limit of several devices. */
static void tighten(int64_t *limit, uint64_t number) {
    int64_t value = counter_value(number, 1);
    if (value != VALUE_ABSENT && (*limit == VALUE_ABSENT || value < *limit))
        *limit = value;
}

/* "8:0 Read 123" */
static void read_blkio_counts(struct span line, int64_t *reads, int64_t *writes) {
    const char *p = line.data, *end = line.data + line.size;
    struct span device, operation;
    uint64_t number;
    if (!text_word(&p, end, &device) || !text_word(&p, end, &operation) ||
        !text_u64(&p, end, &number) || !memchr(device.data, ':', device.size))
        return;
    if (span_equal(operation, "Read"))
        add_counter(reads, number);
    else if (span_equal(operation, "Write"))
        add_counter(writes, number);
}

/* "8:0 1048576" */
static void read_blkio_limit(struct span line, int64_t *limit) {
    const char *p = line.data, *end = line.data + line.size;
    struct span device;
    uint64_t number;
    if (text_word(&p, end, &device) && text_u64(&p, end, &number))
        tighten(limit, number);
}

/* "8:0 rbytes=1 wbytes=2 rios=3 ..." of io.stat, "8:0 rbps=1048576 wbps=max ..." of io.max */
static const struct io_number {
    const char *name;
    uint8_t column;
    bool limit;
} io_numbers[] = {{"rbytes=", CGROUP_READ_BYTES, false}, {"wbytes=", CGROUP_WRITE_BYTES, false},
                  {"rios=", CGROUP_READS, false},        {"wios=", CGROUP_WRITES, false},
                  {"rbps=", CGROUP_READ_LIMIT, true},    {"wbps=", CGROUP_WRITE_LIMIT, true},
                  {"riops=", CGROUP_READS_LIMIT, true},  {"wiops=", CGROUP_WRITES_LIMIT, true}};

static void take_io(struct span word, uint64_t number, int64_t *values) {
    for (size_t i = 0; i < sizeof io_numbers / sizeof *io_numbers; i++)
        if (span_starts(word, io_numbers[i].name))
            (io_numbers[i].limit ? tighten : add_counter)(&values[io_numbers[i].column], number);
}

static void read_io(struct span line, int64_t *values) {
    const char *p = line.data, *end = line.data + line.size, *q;
    struct span word;
    uint64_t number;
    while (text_word(&p, end, &word)) {
        q = memchr(word.data, '=', word.size);
        if (!q || (++q, !text_u64(&q, word.data + word.size, &number)))
            continue;
        take_io(word, number, values);
    }
}

static void read_device(size_t file, struct span line, int64_t *values) {
    if (file == BLKIO_BYTES || file == BLKIO_BYTES_RECURSIVE)
        read_blkio_counts(line, &values[CGROUP_READ_BYTES], &values[CGROUP_WRITE_BYTES]);
    else if (file == BLKIO_OPERATIONS || file == BLKIO_OPERATIONS_RECURSIVE)
        read_blkio_counts(line, &values[CGROUP_READS], &values[CGROUP_WRITES]);
    else if (file == BLKIO_READ_LIMIT)
        read_blkio_limit(line, &values[CGROUP_READ_LIMIT]);
    else if (file == BLKIO_WRITE_LIMIT)
        read_blkio_limit(line, &values[CGROUP_WRITE_LIMIT]);
    else if (file == BLKIO_READS_LIMIT)
        read_blkio_limit(line, &values[CGROUP_READS_LIMIT]);
    else if (file == BLKIO_WRITES_LIMIT)
        read_blkio_limit(line, &values[CGROUP_WRITES_LIMIT]);
    else
        read_io(line, values);
}

static void read_devices(size_t file, const char *text, const char *end, int64_t *values) {
    struct span line;
    if (file == BLKIO_BYTES_RECURSIVE)
        values[CGROUP_READ_BYTES] = values[CGROUP_WRITE_BYTES] = VALUE_ABSENT;
    if (file == BLKIO_OPERATIONS_RECURSIVE)
        values[CGROUP_READS] = values[CGROUP_WRITES] = VALUE_ABSENT;
    while (text_line(&text, end, &line))
        read_device(file, line, values);
}

/* ---- any ---- */

void cgroup_read(const struct cgroup_keys *keys, size_t file, const char *text, const char *end,
                 int64_t *values) {
    switch (file) {
    case CPU_STAT:
    case V2_CPU_STAT:
        keys_read(&keys->cpu, text, end, 1, values);
        break;
    case CPU_QUOTA: /* -1 means no limit; the parser takes unsigned numbers */
        read_scaled(text, end, NS_PER_US, &values[CGROUP_QUOTA]);
        break;
    case CPU_PERIOD:
        read_scaled(text, end, NS_PER_US, &values[CGROUP_PERIOD]);
        break;
    case CPUACCT_USAGE:
        read_scaled(text, end, 1, &values[CGROUP_CPU]);
        break;
    case MEMORY_USAGE:
    case V2_MEMORY_CURRENT:
        read_scaled(text, end, 1, &values[CGROUP_MEMORY]);
        break;
    case MEMORY_LIMIT:
    case V2_MEMORY_MAX:
        read_limit(text, end, 1, &values[CGROUP_MEMORY_LIMIT]);
        break;
    case MEMORY_FAILCNT:
        read_scaled(text, end, 1, &values[CGROUP_LIMIT_HITS]);
        break;
    case MEMORY_OOM_CONTROL:
    case V2_MEMORY_EVENTS:
        keys_read(&keys->memory, text, end, 1, values);
        break;
    case V2_CPU_MAX:
        read_cpu_max(text, end, values);
        break;
    default:
        read_devices(file, text, end, values);
    }
}

bool cgroup_is_limited(const int64_t *values) {
    bool disk = false;
    for (size_t c = 0; c < CGROUP_COLUMNS; c++)
        disk |= is_disk_limit(c) && values[c] != VALUE_ABSENT;
    return disk || values[CGROUP_QUOTA] != VALUE_ABSENT ||
           values[CGROUP_MEMORY_LIMIT] != VALUE_ABSENT;
}
