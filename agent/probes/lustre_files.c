/* SPDX-License-Identifier: MIT */
#include "agent/probes/lustre_files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/dirents.h"
#include "common/error.h"

/* The part of a directory's name before the last `mark`. */
static size_t short_size(const char *name, const char *mark) {
    size_t size = strlen(name), found = size;
    for (const char *at = name; (at = strstr(at, mark)); at++)
        found = (size_t)(at - name);
    return found ? found : size;
}

static const char *directory_of(const struct lustre_device *device) {
    return strrchr(device->path, '/') + 1;
}

static void name_device(struct lustre_device *device, size_t size) {
    text_sanitize(device->name, sizeof device->name, directory_of(device), size);
}

/* Whether a device is listed already: a version of Lustre may have it below both roots. */
static bool lustre_has(const struct lustre_device *devices, size_t n, const char *directory) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(directory_of(&devices[i]), directory) == 0)
            return true;
    return false;
}

static size_t find_below(const char *root, const char *kind, struct lustre_device *devices,
                         size_t n, size_t room, bool *refused) {
    struct listing listing;
    char path[PATH_MAX], file[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, kind);
    int r = listing_open(&listing, path);
    *refused |= r == -EACCES || r == -EPERM;
    if (r < 0)
        return n;
    for (const struct dirents_entry *entry; (entry = dirents_next(&listing.list)) && n < room;) {
        int size = snprintf(file, sizeof file, "%s/%s/stats", path, entry->name);
        if (entry->name[0] == '.' || size >= LUSTRE_PATH_SIZE ||
            lustre_has(devices, n, entry->name))
            continue;
        if (access(file, R_OK) == 0)
            snprintf(devices[n++].path, LUSTRE_PATH_SIZE, "%.*s", size - (int)strlen("/stats"),
                     file);
        else
            *refused |= errno == EACCES || errno == EPERM;
    }
    listing_close(&listing);
    return n;
}

static void name_all(struct lustre_device *devices, size_t n, const char *mark) {
    for (size_t i = 0; i < n; i++) {
        const char *name = directory_of(&devices[i]);
        size_t size = short_size(name, mark);
        for (size_t k = 0; k < n; k++) {
            const char *other = directory_of(&devices[k]);
            if (k != i && short_size(other, mark) == size && memcmp(name, other, size) == 0)
                size = strlen(name);
        }
        name_device(&devices[i], size);
    }
}

size_t lustre_find(const struct probe_env *env, const char *kind, const char *mark,
                   struct lustre_device *devices, size_t n, bool *ret_refused) {
    char root[PATH_MAX];
    *ret_refused = false;
    snprintf(root, sizeof root, "%s/fs/lustre", env->proc);
    size_t found = find_below(root, kind, devices, 0, n, ret_refused);
    snprintf(root, sizeof root, "%s/kernel/debug/lustre", env->sys);
    found = find_below(root, kind, devices, found, n, ret_refused);
    name_all(devices, found, mark);
    return found;
}

static bool is_counter_name(struct span name) {
    for (size_t i = 0; i < name.size; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz_0123456789", name.data[i]) || !name.data[i])
            return false;
    return name.size > 0 && name.size < 32;
}

bool lustre_parse(struct span line, struct lustre_stat *ret_stat) {
    const char *p = line.data, *end = line.data + line.size;
    struct lustre_stat stat = {.sum = 0};
    struct span word, unit;
    uint64_t least, most;
    if (!text_word(&p, end, &stat.name) || !is_counter_name(stat.name) ||
        !text_u64(&p, end, &stat.samples) || !text_word(&p, end, &word) ||
        !span_equal(word, "samples") || !text_word(&p, end, &unit))
        return false;
    if (text_u64(&p, end, &least) && text_u64(&p, end, &most) && text_u64(&p, end, &stat.sum)) {
        stat.bytes = span_equal(unit, "[bytes]");
        stat.microseconds = span_equal(unit, "[usecs]") || span_equal(unit, "[usec]");
    }
    *ret_stat = stat;
    return true;
}
