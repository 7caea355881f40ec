/* SPDX-License-Identifier: MIT */
/*
 * Shared by the readers of rings: a directory in which programs create files, one a process, that
 * are read with pread() while they are written, and never mapped. Only the run's own user may write
 * into the directory; the contents of a file are untrusted all the same.
 */
#ifndef CHOKEPOINT_AGENT_MARK_RING_FILES_H
#define CHOKEPOINT_AGENT_MARK_RING_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define RING_BATCH 512 /* records that may be read at a time */

/* A directory of rings, and the files in it that were taken. */
struct ring_files {
    DIR *dir;
    uid_t owner;        /* of the directory; files of anyone else are refused */
    const char *suffix; /* ".ring": files are "<pid>.ring" or "<pid>-<n>.ring", n of one digit */
    off_t size;         /* of every file */
    ino_t *known;       /* of the files taken, n_known of at most `limit` */
    size_t n_known, limit;
    size_t refused; /* files of the last scan that are no rings or that there is no room for */
    struct timespec changed; /* when the directory last changed, and the scans since */
    unsigned scans;
};

/*
 * Called for a new file that has the right owner, kind and size. Returns 0 when it takes the
 * descriptor, else an error: then the file is looked at again in the next scan.
 */
typedef int ring_file_fn(void *ctx, long pid, int fd);

/* -EPERM if the directory is open to others or not ours; outputs untouched on failure. `suffix` is
 * kept. */
int ring_files_open(struct ring_files *ret_files, const char *dir, const char *suffix, off_t size,
                    size_t limit);

/*
 * Looks for new files, where the directory has changed or has refused ones. Those taken must stay
 * open until release, so that an inode is never taken for another one. Looks at 4096 entries at
 * most. Returns how many were taken, or a negative errno of the directory.
 */
int ring_files_scan(struct ring_files *files, ring_file_fn *fn, void *ctx);

void ring_files_release(struct ring_files *files);

/* Whether the directory has changed since the last scan, or a file that came lately was refused: it
 * may not have been whole. */
bool ring_files_changed(const struct ring_files *files);

/* A descriptor that is readable when a writer calls (the times of a file in the directory change),
 * owned by the caller; what is read from it says no more. A negative errno where the kernel gives
 * none. */
int ring_files_listen(const struct ring_files *files);

/* "<pid><suffix>" or "<pid>-<digit><suffix>"; returns the pid or -1. */
long ring_file_pid(const char *name, const char *suffix);

/* 0, or -EAGAIN if what was read is shorter than asked for (the file was truncated), or an errno.
 */
int ring_read(int fd, void *to, size_t n, off_t offset);

/* The same for n records of a size that begin with their sequence (8 bytes). A record whose
 * sequence says that it is complete is complete: a single copy has no order within, and may hold a
 * sequence that was written after the rest was read. */
int ring_read_records(int fd, void *to, size_t n, size_t size, off_t offset);

#endif
