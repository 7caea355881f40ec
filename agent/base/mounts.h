/* SPDX-License-Identifier: MIT */
/*
 * How full the mounted file systems are, scanned by threads of their own: a scan of the mount of
 * a server that is gone may last for ever, and nobody else may wait for it. One thread looks at
 * local file systems, the other at remote ones and at what is mounted below those, so that a server
 * costs no figure of a disk.
 */
#ifndef CHOKEPOINT_AGENT_MOUNTS_H
#define CHOKEPOINT_AGENT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>

#include "common/table.h"
#include "common/text.h"

#define MOUNTS_MAX 128 /* of each kind; more are left out and counted */
#define MOUNT_POINT_MAX 1023

struct mount {
    char point[MOUNT_POINT_MAX + 1];
    char device[32]; /* "8:1" */
    bool remote;
};

/* One line of /proc/self/mountinfo, of a file system that holds files of somebody: on a device, of
 * a server, or the root of a container. False for all others, and for lines that are none. */
bool mount_read(struct span line, struct mount *ret_mount);

struct mount_fill {
    char name[INSTANCE_MAX + 1]; /* the mount point, cut at its beginning where it is longer */
    int64_t size_bytes, free_bytes, available_bytes, files, free_files;
};

struct mounts;

/* As statvfs(3). */
typedef int mounts_scan(const char *point, struct statvfs *ret_stat);

/* Begins to scan, at once and then as often as mounts_scan_again() says. mountinfo: a path, read
 * for each scan. -ENOMEM, -EAGAIN. */
int mounts_new(const char *mountinfo, mounts_scan *scan, struct mounts **ret_mounts);

/* Never waits for a scan: a thread that is stuck is left alone until its scan returns, and takes
 * what it needs along. Takes NULL. */
void mounts_free(struct mounts *mounts);

/* Asks both threads for another scan; one that still scans is not asked. */
void mounts_scan_again(struct mounts *mounts);

/* Takes the results since the last call, at most n; returns how many. Never waits for a scan. */
size_t mounts_take(struct mounts *mounts, struct mount_fill *ret_fills, size_t n);

/* The mount point that a thread was looking at when mounts_scan_again() was called last and still
 * is, or false. */
bool mounts_stuck(struct mounts *mounts, char ret_point[MOUNT_POINT_MAX + 1]);

#endif
