/* SPDX-License-Identifier: MIT */
/*
 * The ring's size. A part of the ring that was written quickly makes it grow, by the rule of
 * call_file_grown(). Memory is reserved before the header tells of it, as a page that cannot be had
 * would be a SIGBUS in the program. Growing costs some milliseconds once, for the kernel clears the
 * memory; a rank has at most three such pauses.
 */
#include "agent/shim/shim.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct ring_masks shim_ring;

static int64_t part_began_ns; /* 0: not known */
static uint32_t most;         /* records; 0: not asked yet */

static void set_masks(uint32_t capacity) {
    shim_ring = (struct ring_masks){capacity - 1, capacity / CALL_FILE_PARTS - 1};
}

void shim_ring_begin(struct call_file_header *header) {
    header->first_capacity = header->capacity = CALL_FILE_CAPACITY;
    set_masks(CALL_FILE_CAPACITY);
}

/* A 64th of the host's memory, shared by all cores. */
static uint32_t records_at_most(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t bytes =
        pages > 0 && page > 0 && cores > 0
            ? (uint64_t)pages * (uint64_t)page / CALL_FILE_MEMORY_SHARE / (uint64_t)cores
            : 0;
    uint32_t records = CALL_FILE_CAPACITY;
    while (records < CALL_FILE_CAPACITY_MAX && 2 * records * sizeof(struct call_record) <= bytes)
        records *= 2;
    return records;
}

/* The program needs the same file system for its messages: a ring takes a 64th of what is free. */
static bool has_room(int fd, uint64_t bytes) {
    struct statvfs fs;
    return fstatvfs(fd, &fs) == 0 &&
           bytes <= (uint64_t)fs.f_bavail * fs.f_frsize / CALL_FILE_MEMORY_SHARE;
}

/* Whether the file that is found by its name is the one that is mapped. */
static bool is_mapped(int fd) {
    struct call_file_header seen;
    return pread(fd, &seen, sizeof seen, 0) == (ssize_t)sizeof seen && seen.pid == shim_file->pid &&
           seen.opened_ns == shim_file->opened_ns && seen.head == shim_file->head;
}

static bool make_room(uint32_t capacity) {
    uint64_t size = CALL_FILE_BYTES_OF((uint64_t)capacity);
    int fd = shim_reopen();
    bool made = fd >= 0 && is_mapped(fd) && has_room(fd, size) && shim_reserve(fd, size) == 0;
    if (fd >= 0)
        close(fd);
    return made;
}

/* No ticket is out: the only thread that calls is here. */
static void grow(struct call_file_header *h, uint64_t next, uint32_t to) {
    if (!make_room(to)) {
        most = h->capacity; /* it stays as it is */
        return;
    }
    __atomic_store_n(&h->oldest, next - h->capacity, __ATOMIC_RELEASE);
    __atomic_store_n(&h->capacity, to, __ATOMIC_RELEASE);
    set_masks(to);
}

static void grow_if_fast(uint64_t next, int64_t at_ns) {
    struct call_file_header *h = shim_file;
    int64_t part_ns = at_ns - part_began_ns;
    bool known = part_began_ns > 0;
    part_began_ns = at_ns;
    if (!known || next % h->capacity)
        return;
    if (!most)
        most = records_at_most();
    uint32_t to = call_file_grown(h->capacity, next, CALL_FILE_PARTS * part_ns, most);
    if (to > h->capacity)
        grow(h, next, to);
}

void shim_part_ends(uint64_t next, int64_t at_ns) {
    int saved_errno = errno;
    if (shim_is_alone())
        grow_if_fast(next, at_ns);
    errno = saved_errno;
    shim_call_reader();
}
