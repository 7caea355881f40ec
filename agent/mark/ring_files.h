/* SPDX-License-Identifier: MIT */
/*
 * Shared by the readers of rings: a directory in which each process creates a file, which is read
 * with pread() while it is written, and never mapped. Only the run's user may write into the
 * directory; the contents of files are untrusted all the same.
 */
#ifndef CHOKEPOINT_AGENT_MARK_RING_FILES_H
#define CHOKEPOINT_AGENT_MARK_RING_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define RING_BATCH 512 /* most records in one read */

/* A directory of rings, and the files that were accepted. */
struct ring_files {
    DIR *dir;
    uid_t owner;        /* owner of the directory; other users' files are refused */
    const char *suffix; /* ".ring": files are "<pid>.ring" or "<pid>-<n>.ring", n of one digit */
    off_t size;         /* size of every file, */
    off_t size_most;    /* up to this, which the owner may raise: such files may grow */
    ino_t *known;       /* inodes of accepted files: n_known of at most `limit` */
    size_t n_known, limit;
    size_t refused;          /* files of the last scan that are not rings, or without room */
    struct timespec changed; /* time of the directory's last change, and scans since then */
    unsigned scans;
};

/*
 * Called for a new file of the right owner, kind and size. Returns 0 if it takes the descriptor,
 * else an error: the next scan offers the file again.
 */
typedef int ring_file_fn(void *ctx, long pid, int fd);

/* -EPERM if others may use the directory or own it; outputs untouched on failure. `suffix` is
 * kept. */
int ring_files_open(struct ring_files *ret_files, const char *dir, const char *suffix, off_t size,
                    size_t limit);

/*
 * Looks for new files if the directory has changed or has refused files. Accepted files must stay
 * open until release, so that no inode is reused. Looks at 4096 entries at most. Returns the number
 * of accepted files, or a negative errno of the directory.
 */
int ring_files_scan(struct ring_files *files, ring_file_fn *fn, void *ctx);

void ring_files_release(struct ring_files *files);

/* Whether the directory has changed since the last scan, or a recent file was refused, perhaps
 * because it was incomplete. */
bool ring_files_changed(const struct ring_files *files);

/* A descriptor that becomes readable when a writer wakes the reader (by changing a file's times);
 * the caller owns it, and what it reads from it means nothing. A negative errno if the kernel has
 * no inotify. */
int ring_files_listen(const struct ring_files *files);

/* Parses "<pid><suffix>" or "<pid>-<digit><suffix>"; returns the pid or -1. */
long ring_file_pid(const char *name, const char *suffix);

/* 0; -EAGAIN if fewer bytes came than asked for (the file was truncated); or an errno. */
int ring_read(int fd, void *to, size_t n, off_t offset);

/* Reads n records of a size that begin with their sequence (8 bytes). A record whose sequence says
 * that it is complete is complete. A single copy cannot ensure that: it may read the sequence after
 * it was written and the rest before. */
int ring_read_records(int fd, void *to, size_t n, size_t size, off_t offset);

#endif
