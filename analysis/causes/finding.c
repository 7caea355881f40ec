/* SPDX-License-Identifier: MIT */
#include "analysis/causes/finding.h"

#include <stddef.h>

const char *resource_name(enum resource resource) {
    static const char *const names[RESOURCE_COUNT_] = {
        [RESOURCE_NONE] = "none",
        [RESOURCE_CPU] = "cpu",
        [RESOURCE_CPU_QUOTA] = "cpu-quota",
        [RESOURCE_STEAL] = "steal",
        [RESOURCE_MEMORY] = "memory",
        [RESOURCE_DISK] = "disk",
        [RESOURCE_DISK_THROTTLE] = "disk-throttle",
        [RESOURCE_NET_EGRESS] = "net-egress",
        [RESOURCE_NET_INGRESS] = "net-ingress",
        [RESOURCE_IMBALANCE] = "imbalance",
        [RESOURCE_APPLICATION] = "application",
    };
    return names[resource];
}

const char *cause_name(enum cause_kind cause) {
    static const char *const names[CAUSE_COUNT_] = {
        [CAUSE_NONE] = NULL,
        [CAUSE_CONTENTION] = "contention",
        [CAUSE_SERIAL] = "serial",
        [CAUSE_QUOTA] = "quota",
        [CAUSE_STEAL] = "steal",
        [CAUSE_THROTTLE] = "throttle",
        [CAUSE_REMOTE_STORAGE] = "remote-storage",
        [CAUSE_DISK_CONTENTION] = "disk-contention",
        [CAUSE_MEMORY_LIMIT] = "memory-limit",
        [CAUSE_SWAP] = "swap",
        [CAUSE_PATH_LIMITED] = "path-limited",
        [CAUSE_LINK_CONTENTION] = "link-contention",
        [CAUSE_SKEW] = "skew",
        [CAUSE_SLOW_CORE] = "slow-core",
        [CAUSE_SLEEP] = "sleep",
        [CAUSE_FILES] = "files",
        [CAUSE_RECEIVER] = "receiver",
        [CAUSE_SNDBUF] = "sndbuf",
        [CAUSE_UNKNOWN] = "unknown",
        [CAUSE_COMPUTE_BOUND] = "compute-bound",
        [CAUSE_SINGLE_THREAD] = "single-thread",
        [CAUSE_MACHINE_FULL] = "machine-full",
        [CAUSE_LATENCY] = "latency",
        [CAUSE_STOPPED] = "stopped",
        [CAUSE_FROZEN] = "frozen",
        [CAUSE_POOL] = "pool",
        [CAUSE_NAMES] = "names",
        [CAUSE_INPUT] = "input",
        [CAUSE_WRONG_INTERFACE] = "wrong-interface",
    };
    return names[cause];
}

const char *subject_name(enum subject subject) {
    static const char *const names[SUBJECT_COUNT_] = {
        [SUBJECT_NONE] = "none",           [SUBJECT_HOST] = "host",
        [SUBJECT_ALL_HOSTS] = "all-hosts", [SUBJECT_MACHINE] = "machine",
        [SUBJECT_CORE] = "core",           [SUBJECT_RANK] = "rank",
        [SUBJECT_PROCESS] = "process",     [SUBJECT_MESSAGES] = "messages",
        [SUBJECT_OUTSIDE] = "outside"};
    return names[subject];
}
