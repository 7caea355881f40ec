/* SPDX-License-Identifier: MIT */
#include "agent/wait/driver_mapping.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/error.h"

#define LINE_SIZE DRIVER_MAPPING_PATH
#define BYTES_MAX (1 << 20) /* of a list, at most */

/* ---- lists of mappings ---- */

/* A line: "7f00-7f01 r-xp 00000000 08:01 1234      /usr/lib/libcuda.so.1". */
static bool parse_mapping(const char *line, size_t size, struct driver_mapping *ret_mapping) {
    char text[LINE_SIZE];
    unsigned major_id, minor_id;
    unsigned long inode;
    int path = 0;
    if (size >= sizeof text || driver_library_of(line, size) == DRIVER_LIBRARIES)
        return false;
    memcpy(text, line, size);
    text[size] = '\0';
    if (sscanf(text, "%*x-%*x %*4s %*x %x:%x %lu %n", &major_id, &minor_id, &inode, &path) < 3 ||
        path <= 0 || text[path] != '/')
        return false;
    ret_mapping->device = makedev(major_id, minor_id);
    ret_mapping->inode = inode;
    ret_mapping->library = driver_library_of(line, size);
    memcpy(ret_mapping->path, text + path, size - (size_t)path + 1);
    return true;
}

/* The first library of a driver in the list. */
static bool find_mapping(int fd, struct driver_mapping *ret_mapping) {
    char text[2 * LINE_SIZE];
    size_t kept = 0, all = 0;
    ssize_t n;
    while (all < BYTES_MAX && (n = read(fd, text + kept, sizeof text - kept)) > 0) {
        size_t size = kept + (size_t)n;
        const char *line = text, *end;
        all += (size_t)n;
        while ((end = memchr(line, '\n', size - (size_t)(line - text)))) {
            if (parse_mapping(line, (size_t)(end - line), ret_mapping))
                return true;
            line = end + 1;
        }
        kept = size - (size_t)(line - text);
        if (kept == sizeof text)
            return false; /* no line of the kernel is that long */
        memmove(text, line, kept);
    }
    return false;
}

bool driver_mapping_find(const char *proc, int32_t pid, struct driver_mapping *ret_mapping) {
    char path[512];
    snprintf(path, sizeof path, "%.480s/%d/maps", proc, pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool found = find_mapping(fd, ret_mapping);
    close(fd);
    return found;
}

/* ---- files ---- */

/* Whether an open file is the mapped one. Two file systems show another device there than here. */
static bool is_mapped(int fd, const struct driver_mapping *mapping) {
    struct stat status;
    struct statfs system;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_ino != mapping->inode)
        return false;
    return status.st_dev == mapping->device ||
           (fstatfs(fd, &system) == 0 && ((unsigned long)system.f_type == BTRFS_SUPER_MAGIC ||
                                          (unsigned long)system.f_type == OVERLAYFS_SUPER_MAGIC));
}

/* The kernel's words behind the path of a file that is no more. */
static bool is_removed(const struct driver_mapping *mapping) {
    static const char words[] = " (deleted)";
    size_t size = strlen(mapping->path);
    return size >= sizeof words && strcmp(mapping->path + size - strlen(words), words) == 0;
}

int driver_mapping_open(const char *proc, int32_t pid, const struct driver_mapping *mapping) {
    char path[512 + LINE_SIZE];
    snprintf(path, sizeof path, "%.480s/%d/root%s", proc, pid, mapping->path);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT && is_removed(mapping) ? -ESTALE : negative_errno();
    if (is_mapped(fd, mapping))
        return fd;
    close(fd);
    return -ESTALE;
}
