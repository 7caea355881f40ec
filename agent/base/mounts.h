/* SPDX-License-Identifier: MIT */
/*
 * How full the mounted file systems are, scanned by threads of their own: the scan of a mount whose
 * server is gone may never end, and nothing may wait for it. One thread scans local file systems;
 * the other scans remote ones and mounts below them, so that a server never delays the figures of a
 * disk.
 */
#ifndef CHOKEPOINT_AGENT_MOUNTS_H
#define CHOKEPOINT_AGENT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>

#include "common/table.h"
#include "common/text.h"

#define MOUNTS_MAX 128 /* for either thread; further ones are left out and counted */
#define MOUNT_POINT_MAX 1023

struct mount {
    char point[MOUNT_POINT_MAX + 1];
    char device[32]; /* "8:1" */
    bool remote;
};

/* Parses a line of /proc/self/mountinfo. True for file systems with users' files: on a device, on a
 * server, or the root of a container. False for others, and for malformed lines. */
bool mount_read(struct span line, struct mount *ret_mount);

struct mount_fill {
    char name[INSTANCE_MAX + 1]; /* the mount point; if too long, without its beginning */
    int64_t size_bytes, free_bytes, available_bytes, files, free_files;
};

struct mounts;

/* Like statvfs(3). */
typedef int mounts_scan(const char *point, struct statvfs *ret_stat);

/* Scans once, and then after each mounts_scan_again(). mountinfo: a path, read for each scan.
 * -ENOMEM, -EAGAIN. */
int mounts_new(const char *mountinfo, mounts_scan *scan, struct mounts **ret_mounts);

/* Does not wait for a scan: a stuck thread goes on until its scan returns, and frees its memory
 * then. Takes NULL. */
void mounts_free(struct mounts *mounts);

/* Asks both threads for another scan, unless they are still scanning. */
void mounts_scan_again(struct mounts *mounts);

/* As mounts_scan_again(), and waits for the figures of local file systems, at most that long. */
void mounts_scan_now(struct mounts *mounts, int64_t at_most_ns);

/* Takes the results since the last call, at most n. Returns their number, without waiting for a
 * scan. */
size_t mounts_take(struct mounts *mounts, struct mount_fill *ret_fills, size_t n);

/* The mount point that has been scanned since before the last mounts_scan_again(); false: none. */
bool mounts_stuck(struct mounts *mounts, char ret_point[MOUNT_POINT_MAX + 1]);

#endif
