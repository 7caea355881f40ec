/* SPDX-License-Identifier: MIT */
/*
 * Findings of the judge, as codes: the resource, its subject, and why it is short. The words that
 * people read are made in reports/; the names here are those of the JSON contract.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_FINDING_H
#define CHOKEPOINT_ANALYSIS_CAUSES_FINDING_H

enum resource {
    RESOURCE_NONE,
    RESOURCE_CPU,
    RESOURCE_CPU_QUOTA,
    RESOURCE_STEAL,
    RESOURCE_MEMORY,
    RESOURCE_DISK,
    RESOURCE_DISK_THROTTLE,
    RESOURCE_NET_EGRESS,
    RESOURCE_NET_INGRESS,
    RESOURCE_IMBALANCE,
    RESOURCE_APPLICATION,
    RESOURCE_COUNT_
};

enum cause_kind {
    CAUSE_NONE, /* nobody is blamed */
    CAUSE_CONTENTION,
    CAUSE_SERIAL,
    CAUSE_QUOTA,
    CAUSE_STEAL,
    CAUSE_THROTTLE,
    CAUSE_REMOTE_STORAGE,
    CAUSE_DISK_CONTENTION,
    CAUSE_MEMORY_LIMIT,
    CAUSE_SWAP,
    CAUSE_PATH_LIMITED,
    CAUSE_LINK_CONTENTION,
    CAUSE_SKEW,
    CAUSE_SLOW_CORE,
    CAUSE_SLEEP,
    CAUSE_FILES,
    CAUSE_RECEIVER,
    CAUSE_SNDBUF,
    CAUSE_UNKNOWN,
    CAUSE_COMPUTE_BOUND,
    CAUSE_SINGLE_THREAD,
    CAUSE_MACHINE_FULL,
    CAUSE_LATENCY,
    CAUSE_STOPPED,
    CAUSE_FROZEN,
    CAUSE_POOL,            /* a process has too few connections to another */
    CAUSE_NAMES,           /* the addresses of names come late */
    CAUSE_INPUT,           /* a helper of a rank brings it data too late */
    CAUSE_WRONG_INTERFACE, /* a slow one is full while a faster one to the same hosts is idle */
    CAUSE_COUNT_
};

/* The subject of the limit. */
enum subject {
    SUBJECT_NONE, /* nobody's */
    SUBJECT_HOST,
    SUBJECT_ALL_HOSTS,
    SUBJECT_MACHINE, /* the one that several of the hosts share */
    SUBJECT_CORE,    /* one core of a host, which a single thread fills */
    SUBJECT_RANK,
    SUBJECT_PROCESS,  /* of the job, without a rank */
    SUBJECT_MESSAGES, /* the time that each takes, however small */
    SUBJECT_OUTSIDE,
    SUBJECT_COUNT_
};

/* "cpu-quota": as in the JSON contract; static. */
const char *resource_name(enum resource resource);
/* "path-limited"; NULL for CAUSE_NONE; static. */
const char *cause_name(enum cause_kind cause);
/* "all-hosts"; static. */
const char *subject_name(enum subject subject);

#endif
