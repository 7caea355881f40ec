/* SPDX-License-Identifier: MIT */
/*
 * Evidence that a resource ran out, and figures that are no evidence: each test plants the kernel's
 * figures and examines whom the verdict blames.
 */
#include "analysis/evidence/computed.h"
#include "tests/unit/lockstep.h"

static const struct candidate *find(const struct judged *j, const char *resource) {
    for (size_t i = 0; i < j->candidates.n; i++)
        if (strcmp(resource_name(j->candidates.items[i].resource), resource) == 0 &&
            !j->candidates.items[i].fallback)
            return &j->candidates.items[i];
    return NULL;
}

static void expect_quiet(const struct judged *j) {
    const struct verdict *v = &j->verdict;
    if (!blames_nobody(v) && v->state != VERDICT_INSUFFICIENT)
        fail_msg("%s: %s", verdict_state_name(v->state), j->words.summary);
}

/* ---- waiting for disks ---- */

static struct { double psi_io, psi_memory, busy, refault_mb_s; } host_now;
static bool psi_of_memory;

static double psi_value(size_t column, double t_s) {
    (void)t_s;
    return column == PSI_SOME ? (psi_of_memory ? host_now.psi_memory : host_now.psi_io) * 1e9 : 0;
}
static double disk_value(size_t column, double t_s) {
    (void)t_s;
    return column == DISK_BUSY ? host_now.busy * 1e9 : 1e7;
}
static double vmstat_value(size_t column, double t_s) {
    (void)t_s;
    return column == VMSTAT_REFAULT ? host_now.refault_mb_s * 1e6 : 0;
}
static double memory_value(size_t column, double t_s) {
    (void)t_s;
    return column == MEMORY_TOTAL || column == MEMORY_AVAILABLE ? 8e9 : 0;
}
static double full_group(size_t column, double t_s) {
    (void)t_s;
    return column == CGROUP_MEMORY || column == CGROUP_MEMORY_LIMIT ? 1e8
           : column == CGROUP_LIMIT_HITS                            ? 100
                                                                    : 0;
}

/* A process that reads so many bytes a second, beside waiting for them. */
static double reading_process(size_t column, double t_s) {
    return column == PROCESS_READ           ? 50e6
           : column == PROCESS_MAJOR_FAULTS ? 100
                                            : plant_process_value(column, t_s);
}

/* On each of two hosts a process computes for half of the time; on host 1 it also waits for a disk.
 */
static void plant_waiting(struct recording *r, double waiting) {
    plant_init(r, 2, 20);
    for (int h = 0; h < 2; h++) {
        plant(r, RECORDING_CPU, h, "cpu0", 0.1, 0, quiet_cpu);
        plant_process_now = (struct plant_process){h, 0.5, 0, h == 1 ? waiting : 0};
        plant(r, RECORDING_PROCESS, h, "load", 0.1, PROCESS_LEVELS, reading_process);
    }
    psi_of_memory = false;
    plant(r, RECORDING_PSI, 1, "io", 0.1, 0, psi_value);
    plant(r, RECORDING_DISK, 1, "sda", 0.1, 0, disk_value);
}

static void expect_disk(double busy, const char *resource, enum verdict_state state) {
    struct recording r;
    struct judged j;
    host_now.psi_io = 0.4;
    host_now.busy = busy;
    plant_waiting(&r, 0.4);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), resource);
    assert_int_equal(j.verdict.host, 1);
    assert_int_equal(j.verdict.state, state);
    release(&r, &j);
}

static void an_idle_device_is_throttled_a_full_one_is_not(void **state) {
    (void)state;
    expect_disk(0.01, "disk-throttle", VERDICT_SATURATED);
    expect_disk(0.9, "disk", VERDICT_SATURATED);
}

/* A group's limit on one counter, and what it counts in a second. */
static struct {
    size_t counter, limit;
    double allowed, moved;
} limit_now;

static double limited_group(size_t column, double t_s) {
    (void)t_s;
    return column == limit_now.counter ? limit_now.moved
           : column == limit_now.limit ? limit_now.allowed
                                       : 0;
}

static void expect_limit(const char *said) {
    struct recording r;
    struct judged j;
    host_now.psi_io = 0.4;
    host_now.busy = 0.01;
    plant_waiting(&r, 0.4);
    plant(&r, RECORDING_CGROUP, 1, "/job", 0.1, 1u << limit_now.limit, limited_group);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "disk-throttle");
    assert_string_equal(cause_name(j.verdict.kind), "throttle");
    if (!strstr(j.words.summary, said))
        fail_msg("not '%s': %s", said, j.words.summary);
    release(&r, &j);
}

/* The job waits for 40 % of the time: what is moved in a second is moved in that part of it. */
static void the_limit_that_ran_out_is_said_with_its_number(void **state) {
    (void)state;
    limit_now.counter = CGROUP_WRITE_BYTES;
    limit_now.limit = CGROUP_WRITE_LIMIT;
    limit_now.allowed = 60e6;
    limit_now.moved = 0.4 * 58e6;
    expect_limit("its control group may write 60 MB a second");
    limit_now.moved = 0.4 * 40e6; /* far below */
    expect_limit("its I/O is slow though the device is idle");
    limit_now.counter = CGROUP_READS;
    limit_now.limit = CGROUP_READS_LIMIT;
    limit_now.allowed = 400;
    limit_now.moved = 0.4 * 400;
    expect_limit("its control group may read 400 times a second");
    limit_now.allowed = 1e12; /* a setting that means none */
    limit_now.moved = 1e12;
    expect_limit("its I/O is slow though the device is idle");
}

/* Calls to a file server, in seconds per second: 20 ms each, of which 15 on the network. */
static double calls_now;
static double nfs_value(size_t column, double t_s) {
    (void)t_s;
    return column == NFS_OPERATIONS ? calls_now / 0.02
           : column == NFS_EXECUTE  ? calls_now * 1e9
           : column == NFS_RTT      ? calls_now * 0.75e9
                                    : 0;
}

static void expect_server(double calls, const char *cause, const char *said) {
    struct recording r;
    struct judged j;
    host_now.psi_io = 0.4;
    host_now.busy = 0.01;
    plant_waiting(&r, 0.4);
    calls_now = calls;
    plant(&r, RECORDING_NFS, 1, "store:/data READ", 1, 0, nfs_value);
    calls_now = calls / 10;
    plant(&r, RECORDING_NFS, 1, "store:/home GETATTR", 1, 0, nfs_value);
    calls_now = 1; /* on a host that does not wait */
    plant(&r, RECORDING_NFS, 0, "other:/x READ", 1, 0, nfs_value);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "disk-throttle");
    assert_string_equal(cause_name(j.verdict.kind), cause);
    assert_int_equal(j.verdict.host, 1);
    if (!strstr(j.words.summary, said))
        fail_msg("not '%s': %s", said, j.words.summary);
    release(&r, &j);
}

static void who_waits_for_a_server_of_files_is_told_its_export(void **state) {
    (void)state;
    expect_server(0.35, "remote-storage", "store:/data");
    expect_server(0.01, "throttle", "throttled");
}

/* Calls to Lustre and requests to its servers, in seconds per second. */
static struct {
    double calls, requests, kernel;
    bool timed; /* the version counts the time of calls */
} lustre_now;

static double lustre_value(size_t column, double t_s) {
    (void)t_s;
    return column == LUSTRE_OPERATIONS ? 100
           : column == LUSTRE_BYTES    ? 1e6
           : lustre_now.timed          ? lustre_now.calls * 1e9
                                       : NAN;
}
static double target_value(size_t column, double t_s) {
    (void)t_s;
    return column == LUSTRE_TARGET_REQUESTS    ? 50
           : column == LUSTRE_TARGET_WAIT      ? lustre_now.requests * 1e9
           : column == LUSTRE_TARGET_CONNECTED ? 1
                                               : 0;
}
static double other_target(size_t column, double t_s) {
    return column == LUSTRE_TARGET_WAIT ? 1e8 : target_value(column, t_s);
}
static double kernel_cpu(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_SYSTEM ? lustre_now.kernel * 1e9
           : column == CPU_IDLE ? (1 - lustre_now.kernel) * 1e9
                                : 0;
}

static void expect_lustre(const char *cause, const char *said) {
    struct recording r;
    struct judged j;
    host_now.psi_io = 0.4;
    host_now.busy = 0.01;
    plant_waiting(&r, 0.4);
    plant(&r, RECORDING_CPU, 1, "cpu1", 0.1, 0, kernel_cpu);
    plant(&r, RECORDING_LUSTRE, 1, "scratch read", 1, 0, lustre_value);
    if (lustre_now.requests > 0) {
        plant(&r, RECORDING_LUSTRE_TARGET, 1, "scratch-OST0003", 1, 1u << LUSTRE_TARGET_CONNECTED,
              target_value);
        plant(&r, RECORDING_LUSTRE_TARGET, 1, "scratch-OST0004", 1, 1u << LUSTRE_TARGET_CONNECTED,
              other_target);
    }
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "disk-throttle");
    assert_string_equal(cause_name(j.verdict.kind), cause);
    assert_int_equal(j.verdict.host, 1);
    if (!strstr(j.words.summary, said))
        fail_msg("not '%s': %s", said, j.words.summary);
    if (lustre_now.requests > 0 && strcmp(cause, "remote-storage") == 0)
        assert_true(any_says(&j.words.evidence, "its target scratch-OST0003 took longest: 9"));
    release(&r, &j);
}

static void who_waits_for_lustre_is_told_its_file_system(void **state) {
    (void)state;
    lustre_now.timed = true;
    lustre_now.calls = 0.35;
    lustre_now.requests = 0.9; /* several at a time */
    lustre_now.kernel = 0.3;
    expect_lustre("remote-storage", "the servers of Lustre scratch");
    lustre_now.requests = 0; /* not recorded */
    lustre_now.kernel = 0.05;
    expect_lustre("remote-storage", "the servers of Lustre scratch");
}

static void old_versions_of_lustre_are_known_by_their_requests(void **state) {
    (void)state;
    lustre_now.timed = false;
    lustre_now.requests = 0.9;
    expect_lustre("remote-storage", "the servers of Lustre scratch");
    lustre_now.requests = 0;
    expect_lustre("throttle", "throttled");
}

/* The job waits for something else meanwhile. */
static void calls_that_only_copy_from_memory_wait_for_no_server(void **state) {
    (void)state;
    lustre_now.timed = true;
    lustre_now.calls = 0.4;
    lustre_now.requests = 0;
    lustre_now.kernel = 0.39;
    expect_lustre("throttle", "throttled");
    lustre_now.requests = 0.01; /* recorded, and few */
    lustre_now.kernel = 0;
    expect_lustre("throttle", "throttled");
}

static void requests_that_nobody_waits_for_are_no_wait(void **state) {
    (void)state;
    lustre_now.timed = true;
    lustre_now.calls = 0.01;
    lustre_now.requests = 0.9; /* writing back */
    expect_lustre("throttle", "throttled");
}

/* Busy exactly while the program waits for it: no other program slows it. */
static void a_disk_that_serves_one_reader_has_not_run_out(void **state) {
    (void)state;
    expect_disk(0.4, "disk", VERDICT_SUSPECTED);
}

/* The kernel counts a wait whose begin it did not see from the boot of the machine. */
static void a_wait_longer_than_the_process_has_lived_is_none(void **state) {
    struct recording r;
    struct judged j;
    struct series *load = NULL;
    (void)state;
    host_now.psi_io = host_now.busy = 0.03;
    plant_waiting(&r, 0.01);
    for (size_t s = 0; s < r.tables[RECORDING_PROCESS].n; s++)
        load = r.tables[RECORDING_PROCESS].items[s].host == 1
                   ? &r.tables[RECORDING_PROCESS].items[s]
                   : load;
    load->values[60 * r.tables[RECORDING_PROCESS].n_columns + PROCESS_BLOCK_IO] = 1375 * S;
    recording_settle(&r);
    judge(&r, &j);
    expect_quiet(&j);
    assert_null(find(&j, "disk-throttle"));
    release(&r, &j);
}

/* Now and then the kernel begins a wait where there is none; another clock counts what its host
 * lost to I/O.
 */
static void no_wait_is_longer_than_all_that_its_host_waited(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    host_now.psi_io = host_now.busy = 0.03;
    plant_waiting(&r, 0.5);
    recording_settle(&r);
    judge(&r, &j);
    expect_quiet(&j);
    assert_null(find(&j, "disk-throttle"));
    release(&r, &j);
    host_now.psi_io = 0.45; /* nearly all of it */
    plant_waiting(&r, 0.5);
    recording_settle(&r);
    judge(&r, &j);
    expect(&j, "disk-throttle", "throttle", 1);
    assert_true(fabs(j.candidates.items[0].blocked - 0.45) < 0.01);
    release(&r, &j);
}

/* All bytes read had been in memory before, in a group whose limit is reached. */
static void what_is_read_again_is_for_want_of_memory(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    host_now.psi_io = 0.4;
    host_now.busy = 0;
    host_now.psi_memory = 0.2;
    host_now.refault_mb_s = 50;
    plant_waiting(&r, 0.4);
    psi_of_memory = true;
    plant(&r, RECORDING_PSI, 1, "memory", 0.1, 0, psi_value);
    plant(&r, RECORDING_VMSTAT, 1, "vmstat", 0.1, 0, vmstat_value);
    plant(&r, RECORDING_MEMORY, 1, "memory", 0.1, MEMORY_LEVELS, memory_value);
    plant(&r, RECORDING_CGROUP, 1, "/job", 0.1, 1u << CGROUP_MEMORY | 1u << CGROUP_MEMORY_LIMIT,
          full_group);
    judge(&r, &j);
    expect(&j, "memory", "memory-limit", 1);
    assert_true(j.candidates.items[0].blocked > 0.35);
    assert_null(find(&j, "disk-throttle"));
    release(&r, &j);
}

/* ---- a link that its host holds back ---- */

static struct {
    double mean_mb_s, backlog, overlimits_s, of_others, packet_bytes, segments_s;
} link_now;

static double sent(size_t column, double t_s) {
    (void)t_s;
    return column == NET_SEND_BYTES ? link_now.mean_mb_s * 1e6 : 1e6;
}
static double held_back(size_t column, double t_s) {
    (void)t_s;
    return column == QDISC_BACKLOG      ? link_now.backlog
           : column == QDISC_RATE       ? 40e6
           : column == QDISC_OVERLIMITS ? link_now.overlimits_s
           : column == QDISC_SEND_BYTES ? link_now.mean_mb_s * 1e6
           : column == QDISC_SEND_PACKETS && link_now.packet_bytes > 0
               ? link_now.mean_mb_s * 1e6 / link_now.packet_bytes
               : 0;
}

/* Short messages: TCP's delivery rate is far from the link's, since each arrives in one piece. */
static double short_messages(size_t column, double t_s) {
    (void)t_s;
    return column == CONNECTION_PID          ? 1000
           : column == CONNECTION_BUSY       ? 0.5e9
           : column == CONNECTION_SEND_BYTES ? link_now.mean_mb_s * (1 - link_now.of_others) * 1e6
           : column == CONNECTION_RTT        ? 5e5
           : column == CONNECTION_SEND_SEGMENTS ? link_now.segments_s
           : column == CONNECTION_MIN_RTT       ? 1e4
           : column == CONNECTION_DELIVERY_RATE ? 6e9
                                                : 0;
}

static void plant_held_back(struct recording *r, double mean_mb_s, double backlog,
                            double overlimits_s) {
    link_now.mean_mb_s = mean_mb_s;
    link_now.backlog = backlog;
    link_now.overlimits_s = overlimits_s;
    plant_init(r, 2, 20);
    for (int h = 0; h < 2; h++) {
        plant(r, RECORDING_CPU, h, "cpu0", 0.1, 0, quiet_cpu);
        plant(r, RECORDING_NET, h, "eth0", 0.1, 0, h == 1 ? sent : little_net);
        plant_process(r, h, "train", (struct plant_process){h, 0.3, 0, 0});
    }
    plant(r, RECORDING_CONNECTION, 0, "10.0.0.1:5000>10.0.0.2:6000", 0.1, 0x61u | 1u << 7,
          short_messages);
    plant(r, RECORDING_CONNECTION, 1, "10.0.0.2:6000>10.0.0.1:5000", 0.1, 0x61u | 1u << 7,
          short_messages);
    plant(r, RECORDING_QDISC, 1, "eth0 tbf 1:", 0.1, 1u << QDISC_BACKLOG | 1u << QDISC_RATE,
          held_back);
}

static void a_host_that_holds_back_what_it_sends_is_named(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_held_back(&r, 30, 25e3, 600);
    judge(&r, &j);
    expect(&j, "net-egress", "path-limited", 1);
    assert_true(any_says(&j.words.evidence, "25 kB waited before its interface"));
    assert_true(fabs(j.candidates.items[0].reached - 0.75) < 0.01);
    release(&r, &j);
}

/* Traffic of the interface beyond that of the job's connections belongs to other programs. */
static void traffic_of_others_on_a_link_held_back_is_contention(void **state) {
    static const struct {
        double of_others;
        const char *kind;
    } links[] = {{0.1, "path-limited"}, {0.6, "link-contention"}};
    (void)state;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        struct recording r;
        struct judged j;
        link_now.of_others = links[i].of_others;
        plant_held_back(&r, 30, 25e3, 600);
        plant_process(&r, 1, "flood", (struct plant_process){-1, 0.1, 0, 0});
        judge(&r, &j);
        expect(&j, "net-egress", links[i].kind, 1);
        assert_int_equal(j.verdict.culprit != NULL, i == 1);
        assert_int_equal(any_says(&j.words.evidence, "only 40 % was the job's"), i == 1);
        release(&r, &j);
    }
    link_now.of_others = 0;
}

/* Messages of 44 bytes: three fifths of the link's traffic are headers. */
static void headers_of_short_messages_are_no_traffic_of_others(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    link_now.of_others = 0.6;
    link_now.segments_s = 0.6 * 30e6 / 66;
    plant_held_back(&r, 30, 25e3, 600);
    plant_process(&r, 1, "flood", (struct plant_process){-1, 0.1, 0, 0});
    judge(&r, &j);
    expect(&j, "net-egress", "path-limited", 1);
    assert_null(j.verdict.culprit);
    release(&r, &j);
    link_now.of_others = link_now.segments_s = 0;
}

static void a_set_rate_that_holds_nothing_back_is_no_limit(void **state) {
    static const struct {
        double mean, backlog, overlimits;
    } quiet[] = {{30, 500, 600}, {30, 25e3, 1}, {4, 25e3, 600}};
    (void)state;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        struct recording r;
        struct judged j;
        plant_held_back(&r, quiet[i].mean, quiet[i].backlog, quiet[i].overlimits);
        judge(&r, &j);
        assert_null(find(&j, "net-egress"));
        release(&r, &j);
    }
}

/* Few packets as large as a message are throttled, each for long; among many small ones that pass,
 * the full ones wait.
 */
static void large_packets_are_held_back_for_long(void **state) {
    static const struct {
        double bytes, overlimits_s;
        bool holds;
    } packets[] = {{1500, 600, false}, {40e3, 600, true}, {130, 14e3, true}, {130, 600, false}};
    (void)state;
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        struct recording r;
        struct judged j;
        link_now.packet_bytes = packets[i].bytes;
        plant_held_back(&r, 25, 500, packets[i].overlimits_s);
        judge(&r, &j);
        assert_int_equal(find(&j, "net-egress") != NULL, packets[i].holds);
        release(&r, &j);
    }
    link_now.packet_bytes = 0;
}

/* ---- hosts on the same cores ---- */

/* Two ranks wait for cores that their own hosts hardly use. */
static void plant_short_of_cores(struct recording *r, bool one_machine) {
    plant_lockstep(r, 3, (struct trouble){.queue = 0.03, .all = true});
    r->machines = calloc(3, sizeof *r->machines);
    for (int h = 0; h < 3; h++)
        r->machines[h] = one_machine ? 7 : 7 + h;
}

static void hosts_that_share_full_cores_are_limited_by_their_machine(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_short_of_cores(&r, true);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    assert_int_equal(j.verdict.subject, SUBJECT_MACHINE);
    assert_int_equal(j.verdict.kind, CAUSE_MACHINE_FULL);
    assert_int_equal(j.verdict.host, -1);
    assert_true(fabs(j.verdict.gain - 0.03 / 0.081) < 0.03);
    release(&r, &j);
}

static void hosts_of_machines_of_their_own_do_not(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_short_of_cores(&r, false);
    judge(&r, &j);
    assert_non_null(find(&j, "cpu"));
    release(&r, &j);
}

/* The path passes one of them, which is as short of cores as the others. */
static void a_little_that_all_hosts_lack_alike_accuses_none(void **state) {
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct recording r;
        struct judged j;
        plant_lockstep(&r, 3, (struct trouble){.queue = 0.0055, .all = all});
        judge(&r, &j);
        assert_int_equal(find(&j, "cpu") != NULL, !all);
        release(&r, &j);
    }
}

/* A program that is seen on shared cores is still to blame. */
static void a_hog_on_shared_cores_is_still_named(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){.queue = 0.03});
    r.machines = calloc(3, sizeof *r.machines);
    plant_process(&r, 1, "hog[77]", (struct plant_process){-1, 0.9, 0.1, 0});
    judge(&r, &j);
    expect(&j, "cpu", "contention", 1);
    assert_string_equal(j.verdict.culprit, "hog[77]");
    release(&r, &j);
}

/* It fills a link and uses little of the cores, which the other hosts have most of the time: it
 * causes only a small part of the job's waits for cores.
 */
static void who_takes_little_of_shared_cores_is_not_all_of_the_waiting(void **state) {
    double blocked[2];
    (void)state;
    for (int one_machine = 0; one_machine < 2; one_machine++) {
        struct recording r;
        struct judged j;
        plant_lockstep(&r, 3, (struct trouble){.queue = 0.03});
        r.machines = calloc(3, sizeof *r.machines);
        for (int h = 0; h < 3; h++)
            r.machines[h] = one_machine ? 7 : h;
        plant_process(&r, 1, "flood[77]", (struct plant_process){-1, 0.3, 0, 0});
        judge(&r, &j);
        const struct candidate *c = find(&j, "cpu");
        blocked[one_machine] = c ? c->blocked : 0;
        release(&r, &j);
    }
    assert_true(blocked[0] > 0.1);
    assert_true(blocked[1] < 0.5 * blocked[0]);
}

/* Readers with equal use: the one started first is named, in whatever order they were seen. */
static void of_several_alike_the_first_is_named(void **state) {
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct recording r;
        struct judged j;
        plant_lockstep(&r, 3, (struct trouble){.queue = 0.03});
        plant_process(&r, 1, order ? "hog[9]" : "hog[8]",
                      (struct plant_process){order ? -8 : -9, 0.8, 0.1, 0});
        plant_process(&r, 1, order ? "hog[8]" : "hog[9]",
                      (struct plant_process){order ? -9 : -8, 0.82, 0.1, 0});
        plant_process(&r, 1, "hogs[7]", (struct plant_process){-99, 0.5, 0.1, 0});
        judge(&r, &j);
        assert_string_equal(j.verdict.culprit, "hog[8]");
        release(&r, &j);
    }
}

/* Its own threads alternate on the core, without other programs. That is a finding with many more
 * threads than cores, and none with one helper beside the computing thread.
 */
static void threads_that_take_turns_are_short_of_nothing(void **state) {
    (void)state;
    for (int many = 0; many < 2; many++) {
        struct recording r;
        struct judged j;
        plant_hosts(&r, 2, 30);
        for (int h = 0; h < 2; h++)
            plant_process(&r, h, "train", (struct plant_process){h, 0.85, many ? 0.9 : 0.14, 0});
        judge(&r, &j);
        assert_true(!find(&j, "cpu") == !many);
        release(&r, &j);
    }
}

/* ---- how much is enough ---- */

/* Plants the first rounds, and the samples meanwhile. */
static void plant_short_run(struct recording *r, int rounds) {
    struct trouble t = {.work = 1.5};
    plant_lockstep(r, 3, t);
    t.to = ROUNDS;
    double end = 0.1;
    for (int i = 0; i < rounds; i++)
        end += round_s(&t, 3, i);
    r->duration_ns = (int64_t)(end * 1e9);
    for (size_t m = 0; m < r->n_marks;) {
        bool late = r->marks[m].start_ns + r->marks[m].duration_ns > r->duration_ns + MS;
        if (late)
            r->marks[m] = r->marks[--r->n_marks];
        else
            m++;
    }
    for (size_t k = 0; k < r->calls.n; k++) {
        struct mpi_rank *rank = &r->calls.ranks[k];
        while (rank->n && rank->events[rank->n - 1].exit_ns > r->duration_ns + MS)
            rank->n--;
    }
    for (int rank = 0; rank < 3; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Finalize", -1, -1, 0, r->duration_ns + MS,
              r->duration_ns + 2 * MS);
}

static void judge_short_run(int rounds, enum verdict_state expected) {
    struct recording r;
    struct judged j;
    plant_short_run(&r, rounds);
    judge(&r, &j);
    if (j.verdict.state != expected)
        fail_msg("%d: %s: %s", rounds, verdict_state_name(j.verdict.state), j.words.summary);
    double run_s = (double)r.duration_ns / 1e9;
    assert_int_equal(j.verdict.confidence > number_CONFIDENCE_CAP.usual, run_s >= 5);
    assert_int_equal(j.verdict.too_short, run_s < 2);
    assert_true(!j.verdict.too_short || !j.words.evidence.n);
    release(&r, &j);
}

/* 25 rounds take 2.1 s: 20 samples. Below 2 s nothing is judged, below 5 s nothing is sure. */
static void iterations_count_where_every_call_is_known(void **state) {
    (void)state;
    judge_short_run(ROUNDS, VERDICT_SATURATED);
    judge_short_run(26, VERDICT_SATURATED);
    judge_short_run(20, VERDICT_INSUFFICIENT);
    judge_short_run(9, VERDICT_INSUFFICIENT);
    judge_short_run(2, VERDICT_INSUFFICIENT);
}

/* ---- operators ---- */

static void plant_operators(struct recording *r, int ranks) {
    plant_lockstep(r, 2, (struct trouble){0});
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < ROUNDS; i++)
            plant_mark(r, MARK_OPERATOR, rank ? "gradient" : "product", rank, rank, i,
                       0.1 + 0.051 * i, 0.05);
}

/* A rank without marks may do the same work. */
static void operators_that_one_rank_alone_marks_are_not_its_own(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_operators(&r, 1);
    judge(&r, &j);
    expect_quiet(&j);
    assert_null(find(&j, "cpu"));
    release(&r, &j);
    plant_operators(&r, 2);
    judge(&r, &j);
    assert_non_null(find(&j, "cpu"));
    release(&r, &j);
}

/* Rank 0 does this alone, marked in each round. */
static double alone_by_marks(const double (*marks)[2], size_t n) {
    struct recording r;
    struct judged j;
    plant_lockstep(&r, 2, (struct trouble){0});
    for (int i = 0; i < ROUNDS; i++) {
        double t = 0.1 + 0.051 * i;
        plant_mark(&r, MARK_OPERATOR, "gradient", 1, 1, i, t, 0.05);
        for (size_t m = 0; m < n; m++)
            plant_mark(&r, MARK_OPERATOR, m ? "inner" : "product", 0, 0, i, t + marks[m][0],
                       marks[m][1] - marks[m][0]);
    }
    judge(&r, &j);
    size_t who = 0;
    while (j.model.budgets.items[who].rank != 0)
        who++;
    double share = alone_share(&j.model, 0, who);
    release(&r, &j);
    return share;
}

static void operators_within_others_and_across_them_count_once(void **state) {
    static const double whole[][2] = {{0, 0.05}}, half[][2] = {{0, 0.025}},
                        nested[][2] = {{0, 0.05}, {0.01, 0.03}},
                        across[][2] = {{0, 0.03}, {0.01, 0.05}},
                        apart[][2] = {{0, 0.02}, {0.02, 0.05}},
                        twice[][2] = {{0, 0.05}, {0.01, 0.02}, {0.015, 0.03}};
    (void)state;
    double all = alone_by_marks(whole, 1);
    assert_true(all > 0 && alone_by_marks(half, 1) < 0.6 * all);
    assert_true(fabs(alone_by_marks(nested, 2) - all) < 1e-6);
    assert_true(fabs(alone_by_marks(across, 2) - all) < 1e-6);
    assert_true(fabs(alone_by_marks(apart, 2) - all) < 1e-6);
    assert_true(fabs(alone_by_marks(twice, 3) - all) < 1e-6);
}

/* ---- a server in step ---- */

#define ASKED_S 0.04
#define ROUND_S 0.06

static void call(struct recording *r, int rank, const char *name, int tag, double from_s,
                 double to_s, double cpu_before_s) {
    PLANT(&r->calls, rank, rank, name, !rank, tag, 8, (int64_t)(from_s * 1e9),
          (int64_t)(to_s * 1e9), BOTH, .gap_cpu_ns = (int64_t)(cpu_before_s * 1e9));
}

/* Rank 1 computes, asks and waits for the answer. Rank 0 computes for `own_s` under a mark, and a
 * while without one; then it receives the question and computes for `served_s` before it answers.
 * Its own iteration ends after `ends_s`.
 */
static void plant_server(struct recording *r, double own_s, double served_s, double ends_s) {
    plant_hosts(r, 2, 0.1 + ROUNDS * ROUND_S);
    plant_process(r, 0, "train", (struct plant_process){0, 1, 0, 0});
    plant_process(r, 1, "train", (struct plant_process){1, ASKED_S / ROUND_S, 0, 0});
    for (int rank = 0; rank < 2; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, (int64_t)(0.1 * 1e9));
    for (int i = 0; i < ROUNDS; i++) {
        double t = 0.1 + i * ROUND_S, taken = t + ROUND_S - served_s;
        plant_mark(r, MARK_OPERATOR, "gradient", 0, 0, i, t, own_s);
        plant_mark(r, MARK_OPERATOR, "gradient", 1, 1, i, t, ASKED_S);
        call(r, 0, "MPI_Recv", 1, taken, taken, taken - t);
        call(r, 0, "MPI_Send", 2, t + ROUND_S, t + ROUND_S, served_s);
        call(r, 1, "MPI_Send", 1, t + ASKED_S, t + ASKED_S, ASKED_S);
        call(r, 1, "MPI_Recv", 2, t + ASKED_S, t + ROUND_S, 0);
        for (int rank = 0; rank < 2; rank++)
            plant_mark(r, MARK_ITERATION, "round", rank, rank, i, t, rank ? ROUND_S : ends_s);
    }
}

/* All of it costs rank 0 half as much CPU time again as rank 1. */
static void what_a_server_does_with_what_it_was_sent_is_no_skew(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server(&r, ASKED_S, 0.01, ROUND_S);
    judge(&r, &j);
    expect(&j, "cpu", "serial", 0);
    release(&r, &j);
    plant_server(&r, ROUND_S, 0, ROUND_S);
    judge(&r, &j);
    expect(&j, "imbalance", "skew", 0);
    release(&r, &j);
    /* it continued with its own work until then; even if work is shared out, the answer takes as
     * long
     */
    plant_server(&r, ASKED_S, 0.01, ROUND_S - 0.001);
    judge(&r, &j);
    expect_state(&j, VERDICT_SUSPECTED, "imbalance", "skew", 0);
    release(&r, &j);
}

/* Marks from outside: an operator that did not end, and an impossible one. */
static void operators_that_did_not_end_cover_nothing_that_a_server_does(void **state) {
    const int64_t lengths[] = {VALUE_ABSENT, INT64_MAX, -1};
    struct recording r;
    struct judged j;
    (void)state;
    plant_server(&r, ASKED_S, 0.01, ROUND_S);
    for (int i = 0; i < 3; i++) {
        plant_mark(&r, MARK_OPERATOR, "lost", 0, 0, i, 0.2, 0);
        r.marks[r.n_marks - 1].duration_ns = lengths[i];
    }
    judge(&r, &j);
    expect(&j, "cpu", "serial", 0);
    release(&r, &j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_device_is_throttled_a_full_one_is_not),
        cmocka_unit_test(the_limit_that_ran_out_is_said_with_its_number),
        cmocka_unit_test(who_waits_for_a_server_of_files_is_told_its_export),
        cmocka_unit_test(who_waits_for_lustre_is_told_its_file_system),
        cmocka_unit_test(old_versions_of_lustre_are_known_by_their_requests),
        cmocka_unit_test(calls_that_only_copy_from_memory_wait_for_no_server),
        cmocka_unit_test(requests_that_nobody_waits_for_are_no_wait),
        cmocka_unit_test(a_disk_that_serves_one_reader_has_not_run_out),
        cmocka_unit_test(a_wait_longer_than_the_process_has_lived_is_none),
        cmocka_unit_test(no_wait_is_longer_than_all_that_its_host_waited),
        cmocka_unit_test(what_is_read_again_is_for_want_of_memory),
        cmocka_unit_test(a_host_that_holds_back_what_it_sends_is_named),
        cmocka_unit_test(traffic_of_others_on_a_link_held_back_is_contention),
        cmocka_unit_test(headers_of_short_messages_are_no_traffic_of_others),
        cmocka_unit_test(a_set_rate_that_holds_nothing_back_is_no_limit),
        cmocka_unit_test(large_packets_are_held_back_for_long),
        cmocka_unit_test(hosts_that_share_full_cores_are_limited_by_their_machine),
        cmocka_unit_test(hosts_of_machines_of_their_own_do_not),
        cmocka_unit_test(a_little_that_all_hosts_lack_alike_accuses_none),
        cmocka_unit_test(a_hog_on_shared_cores_is_still_named),
        cmocka_unit_test(who_takes_little_of_shared_cores_is_not_all_of_the_waiting),
        cmocka_unit_test(of_several_alike_the_first_is_named),
        cmocka_unit_test(threads_that_take_turns_are_short_of_nothing),
        cmocka_unit_test(iterations_count_where_every_call_is_known),
        cmocka_unit_test(operators_that_one_rank_alone_marks_are_not_its_own),
        cmocka_unit_test(what_a_server_does_with_what_it_was_sent_is_no_skew),
        cmocka_unit_test(operators_within_others_and_across_them_count_once),
        cmocka_unit_test(operators_that_did_not_end_cover_nothing_that_a_server_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
