/* SPDX-License-Identifier: MIT */
/*
 * An agent of root starts with all capabilities, as it loads programs into the kernel and opens
 * sources. Afterwards it only reads and keeps these. CAP_DAC_READ_SEARCH opens /proc/PID/fd,
 * environ and io, rings of programs, and mount points of other users. CAP_SYS_PTRACE reads them:
 * the kernel requires it for io, fd, ns, exe and environ. CAP_NET_ADMIN is for taskstats, which is
 * asked for each thread. CAP_NET_RAW, with --flows, reopens a capture that ended. CAP_BPF and
 * CAP_PERFMON, with wait clocks, attach paused programs again and read maps, which bpf() refuses
 * otherwise if kernel.unprivileged_bpf_disabled is set. The supervisor keeps its capabilities,
 * since a restarted sampler must load everything again.
 *
 * Three system calls replace libcap, one library less for the static agent. Capabilities belong to
 * threads, so they are dropped before threads are started, or inside them.
 */
#include "agent/base/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/error.h"

#ifndef CAP_PERFMON /* headers before Linux 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

static uint64_t bit(bool kept, int capability) {
    return kept ? UINT64_C(1) << capability : 0;
}

static uint64_t mask_of(const struct privileges_kept *kept) {
    return bit(kept->processes, CAP_DAC_READ_SEARCH) | bit(kept->processes, CAP_SYS_PTRACE) |
           bit(kept->processes, CAP_NET_ADMIN) | bit(kept->packets, CAP_NET_RAW) |
           bit(kept->programs, CAP_BPF) | bit(kept->programs, CAP_PERFMON);
}

/* Drops all up to the last that the kernel knows. Without CAP_SETPCAP it cannot drop them, and they
 * are useless then: no_new_privs keeps a program from gaining them. */
static int drop_bounding_set(void) {
    for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
            return errno == EPERM ? 0 : negative_errno();
    return 0;
}

static int keep(uint64_t mask) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &head, data) < 0)
        return negative_errno();
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].permitted &= (uint32_t)(mask >> 32 * i);
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &head, data) < 0 ? negative_errno() : 0;
}

int privileges_drop(const struct privileges_kept *kept) {
    int r = drop_bounding_set();
    if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        r = negative_errno();
    return r < 0 ? r : keep(mask_of(kept)); /* this empties the ambient set, too */
}
