/* SPDX-License-Identifier: MIT */
/* Examines a host: faults planted in a made /proc and /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#include "agent/doctor/doctor.h"

struct place {
    char root[64], spool[128];
    char *said;
    size_t size;
};

static void put(const struct place *p, const char *path, const char *text) {
    char name[256];
    snprintf(name, sizeof name, "%s/%s", p->root, path);
    for (char *slash = name + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    file_write_text(name, text, 0);
}

/* Makes a host without a fault, by its files. */
static int setup(void **state) {
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->root, sizeof p->root, "/tmp/chokepoint-examined-XXXXXX");
    assert_non_null(mkdtemp(p->root));
    snprintf(p->spool, sizeof p->spool, "%s/spool", p->root);
    put(p, "self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
    put(p, "1/stat", "1 (init) S\n");
    put(p, "pressure/cpu", "some avg10=0.00\n");
    put(p, "sys/kernel/task_delayacct", "1\n");
    put(p, "kernel/btf/vmlinux", "x");
    put(p, "fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
    put(p, "devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct place *p = *state;
    assert_int_equal(folder_remove(p->root), 0);
    free(p->said);
    free(p);
    return 0;
}

static const char *examine(struct place *p) {
    free(p->said);
    FILE *out = open_memstream(&p->said, &p->size);
    const struct doctor_env env = {p->root, p->root, p->spool, NULL, out};
    assert_int_equal(doctor_run(&env), 0);
    fclose(out);
    return p->said;
}

#define FINDS(p, text)                                                                             \
    do {                                                                                           \
        if (!strstr(examine(p), text))                                                             \
            fail_msg("no '%s' in:\n%s", text, (p)->said);                                          \
    } while (0)
#define LACKS(p, text)                                                                             \
    do {                                                                                           \
        if (strstr(examine(p), text))                                                              \
            fail_msg("'%s' in:\n%s", text, (p)->said);                                             \
    } while (0)

static void a_good_host_has_nothing_that_hinders(void **state) {
    struct place *p = *state;
    LACKS(p, "| hinders |");
    FINDS(p, "doctor | ok | psi |");
    FINDS(p, "doctor | ok | btf |");
    FINDS(p, "doctor | ok | cgroup | control groups of version 2");
    FINDS(p, "doctor | ok | clock | clock source tsc |");
    FINDS(p, "doctor | ok | rights | CAP_SYS_PTRACE |");
    FINDS(p, "fact | wall_ns | ");
    FINDS(p, "fact | end | 1\n");
}

static void each_fault_has_its_mend(void **state) {
    struct place *p = *state;
    put(p, "self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
    FINDS(p, "doctor | note | rights | no CAP_NET_ADMIN");
    FINDS(p, "| setcap cap_net_admin,cap_sys_ptrace,cap_net_raw,cap_bpf,cap_perfmon+ep /");
    put(p, "sys/kernel/task_delayacct", "0\n");
    FINDS(p, "| sysctl -w kernel.task_delayacct=1\n");
    put(p, "fs/cgroup/cgroup.controllers", "cpuset memory\n");
    FINDS(p, "doctor | note | cgroup | control groups of version 2 lack cpu io:");
    FINDS(p, "| echo +cpu +io > /sys/fs/cgroup/cgroup.subtree_control\n");
    put(p, "devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    FINDS(p, "doctor | hinders | clock | each look at the clock is slow: its source is hpet |");
}

static void what_is_not_there_is_told(void **state) {
    static const char *const paths[] = {"pressure/cpu", "sys/kernel/task_delayacct",
                                        "kernel/btf/vmlinux", "1/stat"};
    static const char *const told[] = {"doctor | note | psi |",
                                       "doctor | note | kernel.task_delayacct |",
                                       "doctor | note | btf |", "doctor | hinders | rights |"};
    struct place *p = *state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s/%s", p->root, paths[i]);
        assert_int_equal(unlink(name), 0);
        FINDS(p, told[i]);
    }
}

static void a_spool_that_cannot_be_written_hinders(void **state) {
    struct place *p = *state;
    snprintf(p->spool, sizeof p->spool, "%s/none/spool", p->root);
    FINDS(p, "doctor | hinders | spool |");
    FINDS(p, "| install -d -m 1777 ");
}

static void a_bar_in_a_file_parts_no_field(void **state) {
    struct place *p = *state;
    put(p, "devices/system/clocksource/clocksource0/current_clocksource",
        "x | y\033[1m | hinders\n");
    FINDS(p, "clock source x / y?[1m / hinders | \n");
}

#define LLITE "debug/lustre/llite/s-ffff1/stats"

static void who_may_read_counters_of_lustre_is_told(void **state) {
    struct place *p = *state;
    put(p, "self/mounts", "/dev/sda1 / ext4 rw 0 0\n");
    put(p, "kernel/" LLITE, "open 1 samples [usecs] 1 1 1\n");
    LACKS(p, "| lustre |");
    put(p, "self/mounts", "/dev/sda1 / ext4 rw 0 0\na@o2ib:/s /scratch lustre rw 0 0\n");
    FINDS(p, "doctor | ok | lustre | calls to Lustre are counted");
    char name[256];
    snprintf(name, sizeof name, "%s/kernel/" LLITE, p->root);
    assert_int_equal(unlink(name), 0);
    FINDS(p, "doctor | note | lustre | Lustre is mounted, and calls to it are counted for root");
    FINDS(p, "| mount -o remount,mode=0711 /sys/kernel/debug\n");
    put(p, "fs/lustre/llite/s-ffff1/stats", "open 1 samples [regs]\n");
    FINDS(p, "doctor | ok | lustre |");
}

static void connections_of_beegfs_are_told(void **state) {
    struct place *p = *state;
    LACKS(p, "| beegfs |");
    put(p, "fs/beegfs/c1/storage_nodes", "a [ID: 1]\n");
    FINDS(p, "doctor | ok | beegfs | connections to BeeGFS are seen; its bytes");
}

#define PORT_1 "class/infiniband/mlx4_0/ports/1/"

static void a_port_that_stopped_counting_is_told(void **state) {
    struct place *p = *state;
    LACKS(p, "| fabric |");
    put(p, PORT_1 "counters/port_xmit_data", "4294967294\n");
    FINDS(p, "doctor | ok | fabric | port 1 of mlx4_0 counts what passes it");
    put(p, PORT_1 "counters/port_xmit_data", "4294967295\n");
    FINDS(p, "doctor | note | fabric | port 1 of mlx4_0 counts bytes in 32 bits, and stopped");
    FINDS(p, "| perfquery -R\n");
    put(p, PORT_1 "counters/port_xmit_data", "N/A (no PMA)\n");
    FINDS(p, "doctor | note | fabric | the driver of port 1 of mlx4_0 does not count its bytes");
    put(p, PORT_1 "counters_ext/port_xmit_data_64", "4294967296\n");
    FINDS(p, "doctor | ok | fabric |");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_good_host_has_nothing_that_hinders),
        TEST(each_fault_has_its_mend),
        TEST(what_is_not_there_is_told),
        TEST(a_spool_that_cannot_be_written_hinders),
        TEST(a_bar_in_a_file_parts_no_field),
        TEST(who_may_read_counters_of_lustre_is_told),
        TEST(connections_of_beegfs_are_told),
        TEST(a_port_that_stopped_counting_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
