/* SPDX-License-Identifier: MIT */
/*
 * Files of Lustre's client. Old versions have them below /proc/fs/lustre, newer ones in debugfs,
 * which mostly only root may enter; some versions have both. A file is open only while it is read:
 * an open one would keep its module from being unloaded.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_LUSTRE_FILES_H
#define CHOKEPOINT_AGENT_PROBES_LUSTRE_FILES_H

#include "agent/base/probe.h"
#include "common/text.h"

#define LUSTRE_PATH_SIZE 512
#define LUSTRE_NAME_SIZE 64
#define LUSTRE_TEXT_SIZE ((size_t)32 << 10)

struct lustre_device {
    char name[LUSTRE_NAME_SIZE]; /* "scratch" of "scratch-ffff9bc043537800" */
    char path[LUSTRE_PATH_SIZE]; /* its directory with `stats` */
};

/* A line of `stats`: "read_bytes 9 samples [bytes] 98303 4194304 33554431". */
struct lustre_stat {
    struct span name;
    uint64_t samples, sum;
    bool bytes, microseconds; /* the unit of the sum; neither: there is no sum */
};

/* Finds the devices of a kind ("llite", "osc", "mdc") whose `stats` can be read, and names each by
 * what stands before the last `mark` in its directory's name. Two with one name keep the whole
 * names. Returns how many there are, at most n; *ret_refused: there are some that may not be read.
 */
size_t lustre_find(const struct probe_env *env, const char *kind, const char *mark,
                   struct lustre_device *devices, size_t n, bool *ret_refused);

/* False: the line is no counter. */
bool lustre_parse(struct span line, struct lustre_stat *ret_stat);

#endif
