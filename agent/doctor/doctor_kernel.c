/* SPDX-License-Identifier: MIT */
/* Checks of the kernel: the agent's rights, and enabled accounting. */
#include "agent/doctor/doctor.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "agent/base/netlink.h"
#include "agent/base/source.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/own_program.h"
#include "common/text.h"

/* ---- rights ---- */

static uint64_t capabilities(const struct doctor_env *env) {
    char text[8192] = "", name[64];
    snprintf(name, sizeof name, "self/status");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", env->proc, name);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *at = strstr(text, "CapEff:");
    return at ? strtoull(at + 7, NULL, 16) : 0;
}

static void check_capability(const struct doctor_env *env, uint64_t have, int which,
                             const char *name, const char *without) {
    char mend[PATH_MAX + 80], program[PATH_MAX] = "chokepoint-agent";
    own_program_path(program); /* otherwise the capability's name is printed */
    snprintf(mend, sizeof mend,
             "setcap cap_net_admin,cap_sys_ptrace,cap_net_raw,cap_bpf,cap_perfmon+ep %s", program);
    if (have >> which & 1)
        doctor_say(env, DOCTOR_OK, "rights", "", "%s", name);
    else
        doctor_say(env, DOCTOR_NOTE, "rights", mend, "no %s: %s", name, without);
}

void doctor_check_rights(const struct doctor_env *env) {
    uint64_t have = capabilities(env);
    char text[16];
    check_capability(env, have, CAP_NET_ADMIN, "CAP_NET_ADMIN",
                     "processes that end between two samples are not exact");
    check_capability(env, have, CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
                     "I/O and connections of other users' processes are not seen");
    check_capability(env, have, CAP_NET_RAW, "CAP_NET_RAW", "--flows captures nothing");
    uint64_t clocks = have >> CAP_BPF & have >> CAP_PERFMON & 1;
    check_capability(env, clocks << CAP_BPF, CAP_BPF, "CAP_BPF and CAP_PERFMON",
                     "what processes wait for without MPI is not clocked");
    if (!doctor_read(env->proc, "1/stat", text, sizeof text))
        doctor_say(env, DOCTOR_HINDERS, "rights", "mount -o remount,hidepid=0 /proc",
                   "other users' processes are hidden in %s", env->proc);
}

/* ---- accounting ---- */

static void check_switch(const struct doctor_env *env, const char *path, const char *setting,
                         const char *what) {
    char text[32], mend[100];
    snprintf(mend, sizeof mend, "sysctl -w %s=1", setting);
    if (!doctor_read(env->proc, path, text, sizeof text))
        doctor_say(env, DOCTOR_NOTE, setting, "uname -r  # a kernel from 5.14 on has it",
                   "this kernel has no %s: %s", setting, what);
    else if (strcmp(text, "0") == 0)
        doctor_say(env, DOCTOR_NOTE, setting, mend, "it is 0: %s", what);
    else
        doctor_say(env, DOCTOR_OK, setting, "", "it is %s", text);
}

static void check_pressure(const struct doctor_env *env) {
    char text[200];
    if (doctor_read(env->proc, "pressure/cpu", text, sizeof text) && text[0])
        doctor_say(env, DOCTOR_OK, "psi", "", "pressure stall information");
    else
        doctor_say(env, DOCTOR_NOTE, "psi",
                   "sed -i 's/^GRUB_CMDLINE_LINUX=\"/&psi=1 /' /etc/default/grub && update-grub  "
                   "# and start the host anew",
                   "no pressure stall information: how long tasks waited for memory and disks is "
                   "told by fewer sources");
}

static void take_nothing(void *ctx, unsigned type, struct bytes payload) {
    (void)ctx;
    (void)type;
    (void)payload;
}

/* The kernel answers only in the first network namespace. */
static void check_taskstats(const struct doctor_env *env) {
    struct {
        struct genlmsghdr head;
        struct nlattr attribute;
        char name[12];
    } request = {.head = {.cmd = CTRL_CMD_GETFAMILY, .version = 1},
                 .attribute = {.nla_len = NLA_HDRLEN + 10, .nla_type = CTRL_ATTR_FAMILY_NAME},
                 .name = "TASKSTATS"};
    struct netlink netlink = {0};
    int r = netlink_open(&netlink, NETLINK_GENERIC);
    if (r == 0)
        r = netlink_ask(&netlink, GENL_ID_CTRL, &request, sizeof request, take_nothing, NULL);
    netlink_close(&netlink);
    if (r == 0)
        doctor_say(env, DOCTOR_OK, "taskstats", "", "the kernel tells of processes that end");
    else
        doctor_say(env, DOCTOR_NOTE, "taskstats", "grep TASKSTATS /boot/config-$(uname -r)",
                   "no taskstats here (%s): processes that end between two samples are not exact",
                   strerror(-r));
}

void doctor_check_kernel(const struct doctor_env *env) {
    char path[PATH_MAX];
    check_pressure(env);
    check_switch(env, "sys/kernel/task_delayacct", "kernel.task_delayacct",
                 "what processes wait for disks is not seen");
    check_taskstats(env);
    snprintf(path, sizeof path, "%s/kernel/btf/vmlinux", env->sys);
    if (access(path, R_OK) == 0)
        doctor_say(env, DOCTOR_OK, "btf", "", "the kernel describes its types (BTF)");
    else
        doctor_say(env, DOCTOR_NOTE, "btf", "grep DEBUG_INFO_BTF /boot/config-$(uname -r)",
                   "no BTF: programs in the kernel (eBPF) cannot be used beside a recording");
}

/* ---- control groups ---- */

static bool has_word(const char *text, const char *word) {
    size_t n = strlen(word);
    for (; *text; text += strspn(text, " ")) {
        size_t m = strcspn(text, " ");
        if (m == n && memcmp(text, word, n) == 0)
            return true;
        text += m;
    }
    return false;
}

void doctor_check_groups(const struct doctor_env *env) {
    static const char *const wanted[] = {"cpu", "memory", "io"};
    char text[512], missing[64] = "", mend[160] = "";
    if (!doctor_read(env->sys, "fs/cgroup/cgroup.controllers", text, sizeof text)) {
        doctor_say(env, DOCTOR_OK, "cgroup", "", "control groups of version 1");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        if (has_word(text, wanted[i]))
            continue;
        snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s", wanted[i]);
        snprintf(mend + strlen(mend), sizeof mend - strlen(mend), "%s+%s", *mend ? " " : "echo ",
                 wanted[i]);
    }
    if (!missing[0]) {
        doctor_say(env, DOCTOR_OK, "cgroup", "", "control groups of version 2: %s", text);
        return;
    }
    strcat(mend, " > /sys/fs/cgroup/cgroup.subtree_control");
    doctor_say(env, DOCTOR_NOTE, "cgroup", mend,
               "control groups of version 2 lack%s: quotas and limits of groups are not seen",
               missing);
}

/* ---- energy, bandwidth of memory ---- */

/* Whether the processor counts traffic of memory, by its flags in /proc/cpuinfo. */
static bool has_monitor(const struct doctor_env *env) {
    char path[PATH_MAX], text[8192];
    snprintf(path, sizeof path, "%s/cpuinfo", env->proc);
    int n = file_read_head(AT_FDCWD, path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return strstr(text, " cqm_mbm_total") != NULL;
}

/* A machine that has neither needs no remark: what it lacks cannot be mended. */
void doctor_check_processor(const struct doctor_env *env) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/energy_uj", env->sys);
    if (access(path, R_OK) == 0)
        doctor_say(env, DOCTOR_OK, "energy", "", "energy of processors is counted (RAPL)");
    else if (access(path, F_OK) == 0)
        doctor_say(env, DOCTOR_NOTE, "energy",
                   "chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj",
                   "energy of processors is counted for root alone (RAPL)");
    snprintf(path, sizeof path, "%s/fs/resctrl/mon_data", env->sys);
    if (access(path, R_OK | X_OK) == 0)
        doctor_say(env, DOCTOR_OK, "bandwidth", "", "bandwidth of memory is counted (resctrl)");
    else if (has_monitor(env))
        doctor_say(env, DOCTOR_NOTE, "bandwidth", "mount -t resctrl resctrl /sys/fs/resctrl",
                   "bandwidth of memory could be counted: resctrl is not mounted");
}

/* ---- clocks ---- */

void doctor_check_clock(const struct doctor_env *env) {
    static const char dir[] = "devices/system/clocksource/clocksource0";
    char source[64], path[128], mend[160];
    struct timex state = {0};
    snprintf(path, sizeof path, "%s/current_clocksource", dir);
    snprintf(mend, sizeof mend, "echo tsc > /sys/%s/current_clocksource", dir);
    if (doctor_read(env->sys, path, source, sizeof source)) {
        bool slow = strcmp(source, "hpet") == 0 || strcmp(source, "acpi_pm") == 0 ||
                    strcmp(source, "jiffies") == 0;
        doctor_say(env, slow ? DOCTOR_HINDERS : DOCTOR_OK, "clock", slow ? mend : "",
                   slow ? "each look at the clock is slow: its source is %s" : "clock source %s",
                   source);
    }
    if (adjtimex(&state) == TIME_ERROR || state.status & STA_UNSYNC)
        doctor_say(env, DOCTOR_NOTE, "clock", "timedatectl set-ntp true",
                   "no time synchronisation; recordings correct for it");
    else
        doctor_say(env, DOCTOR_OK, "clock", "", "the wall clock is kept right");
    doctor_fact(env, "wall_ns", "%" PRId64, clock_wall_ns());
}
