/* SPDX-License-Identifier: MIT */
/* Lists a directory into the caller's buffer: readdir() needs opendir(), which allocates. */
#ifndef CHOKEPOINT_AGENT_DIRENTS_H
#define CHOKEPOINT_AGENT_DIRENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's layout (getdents64(2)). */
struct dirents_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

struct dirents {
    int fd;       /* borrowed; its position moves */
    char *buffer; /* borrowed, aligned for struct dirents_entry */
    size_t capacity;
    long n, at;
    int error; /* negative errno that ended the list */
};

/* The next entry, "." and ".." included; NULL at the end or on an error. Valid until the next
 * call. */
const struct dirents_entry *dirents_next(struct dirents *dirents);

/* The next entry whose name is a positive number (a process or thread). False at the end. */
bool dirents_next_id(struct dirents *dirents, int32_t *ret_id, uint64_t *ret_inode);

/* A directory that is listed, with its buffer. */
struct listing {
    struct dirents list;
    _Alignas(struct dirents_entry) char buffer[4096];
};

/* Negative errno: nothing is to be closed. */
int listing_open(struct listing *listing, const char *path);
void listing_close(struct listing *listing);

#endif
