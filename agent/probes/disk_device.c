/* SPDX-License-Identifier: MIT */
/*
 * Decides which block devices count, when the set of devices changes and not in every sample.
 */
#include "agent/probes/disk.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/base/dirents.h"

static bool directory_has_entries(int fd) {
    _Alignas(struct dirents_entry) char buffer[2048];
    struct dirents dirents = {.fd = fd, .buffer = buffer, .capacity = sizeof buffer};
    for (const struct dirents_entry *entry; (entry = dirents_next(&dirents));)
        if (entry->name[0] != '.')
            return true;
    return false;
}

/* Devices below dm, md and bcache do the same work again, and count it. */
static bool has_slaves(int block_fd, const char *name) {
    char path[NAME_SET_NAME_MAX + 16];
    snprintf(path, sizeof path, "%s/slaves", name);
    int fd = openat(block_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool found = directory_has_entries(fd);
    close(fd);
    return found;
}

/* A path to a multipath NVMe device, which is listed itself. */
static bool is_hidden(int block_fd, const char *name) {
    char path[NAME_SET_NAME_MAX + 16], text[8];
    snprintf(path, sizeof path, "%s/hidden", name);
    return file_read_small(block_fd, path, text, sizeof text) > 0 && strcmp(text, "1") == 0;
}

/* A loop device over a file of a disk. File systems without a disk (tmpfs, NFS) have major 0. */
static bool is_loop_on_disk(int block_fd, const char *name) {
    char path[NAME_SET_NAME_MAX + 32], file[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/loop/backing_file", name);
    return file_read_small(block_fd, path, file, sizeof file) > 0 && stat(file, &st) == 0 &&
           major(st.st_dev) != 0;
}

/* Whether the bytes of this device are to be counted (see disk.c). block_fd: <sys>/block. */
static bool device_counts(int block_fd, const char *name) {
    char entry[NAME_SET_NAME_MAX + 1];
    size_t n = strnlen(name, NAME_SET_NAME_MAX);
    for (size_t i = 0; i < n; i++)
        entry[i] = name[i] == '/' ? '!' : name[i]; /* cciss/c0d0 */
    entry[n] = '\0';
    if (entry[0] == '.' || faccessat(block_fd, entry, F_OK, 0) < 0)
        return false; /* a partition */
    return !has_slaves(block_fd, entry) && !is_hidden(block_fd, entry) &&
           !is_loop_on_disk(block_fd, entry);
}

struct name_set_entry *disk_see(struct disk *disk, struct span name, uint64_t growth) {
    struct name_set_entry *entry = name_set_see(&disk->names, name.data, name.size, growth);
    if (!entry || entry->note == NOTE_LEFT_OUT)
        return NULL;
    if (entry->note == NOTE_COUNTS)
        return entry;
    /* A device that was idle until now begins at zero, like a new one. */
    entry->born |= entry->note == NOTE_IDLE;
    bool is_number = disk->of_group && memchr(entry->name, ':', entry->size);
    bool counts = is_number || device_counts(disk->block_fd, entry->name);
    entry->note = counts ? NOTE_COUNTS : NOTE_LEFT_OUT;
    return counts ? entry : NULL;
}

bool disk_device_name(int number_fd, struct span number, char ret_name[NAME_SET_NAME_MAX + 1]) {
    char text[32], link[PATH_MAX];
    if (number_fd < 0 || number.size >= sizeof text || memchr(number.data, '/', number.size))
        return false;
    memcpy(text, number.data, number.size);
    text[number.size] = '\0';
    ssize_t n = readlinkat(number_fd, text, link, sizeof link - 1);
    if (n <= 0)
        return false;
    link[n] = '\0';
    const char *slash = strrchr(link, '/');
    const char *name = slash ? slash + 1 : link;
    if (!*name || strlen(name) > NAME_SET_NAME_MAX)
        return false;
    strcpy(ret_name, name);
    return true;
}
