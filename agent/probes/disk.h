/* SPDX-License-Identifier: MIT */
/* Shared by the files of the disk probe: disk.c, disk_device.c, disk_group.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_DISK_H
#define CHOKEPOINT_AGENT_PROBES_DISK_H

#include "agent/base/name_set.h"
#include "agent/base/probe.h"
#include "agent/base/source.h"
#include "common/text.h"

#define DISKS_MAX 2048 /* names in /proc/diskstats, partitions included */

#define DISK_NUMBERS_MAX 16

/* values of name_set_entry.note */
enum { NOTE_UNKNOWN, NOTE_IDLE, NOTE_COUNTS, NOTE_LEFT_OUT };

/* A device's number and its name. */
struct disk_number {
    char number[16]; /* for example "254:0" */
    char name[NAME_SET_NAME_MAX + 1];
};

struct disk {
    struct source stats;    /* /proc/diskstats; for a group: bytes (v1) or io.stat (v2) */
    struct source serviced; /* v1 group: operations */
    struct name_set names;
    int block_fd;  /* <sys>/block; valid while there are names */
    int number_fd; /* <sys>/dev/block, or -1 */
    bool of_group; /* reads the files of scope->io, not the machine's */
    bool stale;    /* the set of names has changed: judge all of them again */
    struct disk_number numbers[DISK_NUMBERS_MAX]; /* looked up since the last judgement of all */
    size_t n_numbers;
};

/* The name of the device "major:minor" from the links in <sys>/dev/block; false if unknown. */
bool disk_device_name(int number_fd, struct span number, char ret_name[NAME_SET_NAME_MAX + 1]);

/* The entry of a device in this sample, or NULL if it is not to be counted. */
struct name_set_entry *disk_see(struct disk *disk, struct span name, uint64_t growth);

/* Opens and samples the files of a group: scope->io. */
int disk_group_open(struct disk *disk, const struct scope *scope);
int disk_group_sample(struct disk *disk, bool v2, struct rows *rows);

#endif
