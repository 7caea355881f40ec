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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_good_host_has_nothing_that_hinders),
        TEST(each_fault_has_its_mend),
        TEST(what_is_not_there_is_told),
        TEST(a_spool_that_cannot_be_written_hinders),
        TEST(a_bar_in_a_file_parts_no_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
