/* SPDX-License-Identifier: MIT */
/* Calls getdents64 directly: glibc has a wrapper only since 2.30. */
#include "agent/base/dirents.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/error.h"

const struct dirents_entry *dirents_next(struct dirents *dirents) {
    if (dirents->at >= dirents->n) {
        dirents->at = 0;
        dirents->n = syscall(SYS_getdents64, dirents->fd, dirents->buffer, dirents->capacity);
        if (dirents->n <= 0) {
            dirents->error = dirents->n < 0 ? -errno : 0;
            dirents->n = 0;
            return NULL;
        }
    }
    const struct dirents_entry *entry = (const void *)(dirents->buffer + dirents->at);
    dirents->at += entry->size;
    return entry;
}

static bool parse_id(const char *name, int32_t *ret_id) {
    int64_t id = 0;
    for (; *name >= '0' && *name <= '9' && id <= INT32_MAX; name++)
        id = id * 10 + (*name - '0');
    if (*name || id <= 0 || id > INT32_MAX)
        return false;
    *ret_id = (int32_t)id;
    return true;
}

bool dirents_next_id(struct dirents *dirents, int32_t *ret_id, uint64_t *ret_inode) {
    for (const struct dirents_entry *entry; (entry = dirents_next(dirents));)
        if (parse_id(entry->name, ret_id)) {
            *ret_inode = entry->inode;
            return true;
        }
    return false;
}

int listing_open(struct listing *listing, const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    listing->list =
        (struct dirents){.fd = fd, .buffer = listing->buffer, .capacity = sizeof listing->buffer};
    return fd < 0 ? negative_errno() : 0;
}

void listing_close(struct listing *listing) {
    close(listing->list.fd);
}
