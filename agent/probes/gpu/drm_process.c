/* SPDX-License-Identifier: MIT */
/*
 * Reads how much of a card a process uses: time of each engine, and memory. The kernel tells it in
 * the fdinfo of each file of DRM that the process has open.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/dirents.h"
#include "agent/base/source.h"
#include "agent/probes/gpu/gpu_private.h"

#define FDINFO_MAX 4096
#define FILES_MAX 4096 /* of one process, at most, in a sample */

/* "drm-engine-compute:\t123 ns". */
static bool named(struct span line, const char *prefix, struct span *ret_name,
                  struct span *ret_value) {
    const char *colon = memchr(line.data, ':', line.size);
    size_t n = strlen(prefix);
    if (!colon || !span_starts(line, prefix))
        return false;
    *ret_name = (struct span){line.data + n, (size_t)(colon - line.data) - n};
    const char *p = colon + 1, *end = line.data + line.size;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    *ret_value = (struct span){p, (size_t)(end - p)};
    return true;
}

static int64_t bytes_of(struct span value) {
    const char *p = value.data, *end = value.data + value.size;
    struct span unit;
    uint64_t number;
    if (!text_u64(&p, end, &number))
        return VALUE_ABSENT;
    if (!text_word(&p, end, &unit))
        return counter_value(number, 1);
    return span_equal(unit, "KiB")   ? counter_value(number, INT64_C(1) << 10)
           : span_equal(unit, "MiB") ? counter_value(number, INT64_C(1) << 20)
                                     : VALUE_ABSENT;
}

/* The card's own memory; the rest lies in the host's. */
static bool is_own_memory(struct span region) {
    return span_starts(region, "vram") || span_starts(region, "local");
}

static void take_line(struct span line, struct drm_client *client, bool *has_id) {
    struct span name, value;
    uint64_t number;
    if (named(line, "drm-pdev", &name, &value) && !name.size &&
        value.size < sizeof client->address) {
        memcpy(client->address, value.data, value.size);
        client->address[value.size] = '\0';
    } else if (named(line, "drm-client-id", &name, &value)) {
        const char *p = value.data;
        *has_id |= text_u64(&p, value.data + value.size, &client->id);
    } else if (named(line, "drm-engine-", &name, &value) && !span_starts(name, "capacity-")) {
        const char *p = value.data;
        if (text_u64(&p, value.data + value.size, &number) && number <= INT64_MAX &&
            (int64_t)number > client->busy_ns)
            client->busy_ns = (int64_t)number;
    } else if (named(line, "drm-resident-", &name, &value) && is_own_memory(name)) {
        client->memory = bytes_of(value);
    } else if (client->memory == VALUE_ABSENT && named(line, "drm-memory-", &name, &value) &&
               is_own_memory(name)) {
        client->memory = bytes_of(value);
    }
}

bool drm_client_parse(const char *text, size_t size, struct drm_client *ret_client) {
    const char *p = text;
    struct span line;
    bool has_id = false;
    *ret_client = (struct drm_client){.busy_ns = VALUE_ABSENT, .memory = VALUE_ABSENT};
    while (text_line(&p, text + size, &line))
        take_line(line, ret_client, &has_id);
    return has_id && ret_client->address[0];
}

/* ---- a process ---- */

/* Clients are told apart while the list is made, and added up by card afterwards. */
static size_t add_up(struct drm_client *all, size_t n) {
    size_t cards = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < cards && strcmp(all[at].address, all[i].address) != 0)
            at++;
        if (at == cards) {
            all[cards++] = all[i];
            continue;
        }
        if (all[i].busy_ns != VALUE_ABSENT)
            all[at].busy_ns = all[at].busy_ns == VALUE_ABSENT
                                  ? all[i].busy_ns
                                  : counter_add(all[at].busy_ns, all[i].busy_ns);
        if (all[i].memory != VALUE_ABSENT)
            all[at].memory = all[at].memory == VALUE_ABSENT
                                 ? all[i].memory
                                 : counter_add(all[at].memory, all[i].memory);
    }
    return cards;
}

static bool is_new(const struct drm_client *all, size_t n, const struct drm_client *client) {
    for (size_t i = 0; i < n; i++)
        if (all[i].id == client->id && strcmp(all[i].address, client->address) == 0)
            return false;
    return true;
}

/* Whether the descriptor is of a file of DRM. */
static bool is_of_drm(int fd_directory, const char *name) {
    char link[32];
    ssize_t n = readlinkat(fd_directory, name, link, sizeof link);
    return n > 9 && memcmp(link, "/dev/dri/", 9) == 0;
}

static size_t read_clients(int fd_directory, const char *proc, int32_t pid,
                           struct drm_client *all) {
    _Alignas(struct dirents_entry) char buffer[4096];
    char path[PATH_MAX], text[FDINFO_MAX];
    struct dirents list = {.fd = fd_directory, .buffer = buffer, .capacity = sizeof buffer};
    size_t n = 0;
    const struct dirents_entry *entry;
    for (size_t files = 0; files < FILES_MAX && n < DRM_CLIENTS_MAX; files++) {
        struct drm_client client;
        if (!(entry = dirents_next(&list)))
            break;
        if (!is_of_drm(fd_directory, entry->name))
            continue;
        snprintf(path, sizeof path, "%s/%d/fdinfo/%.20s", proc, pid, entry->name);
        int size = file_read_head(AT_FDCWD, path, text, sizeof text);
        if (size > 0 && drm_client_parse(text, (size_t)size, &client) && is_new(all, n, &client))
            all[n++] = client;
    }
    return n;
}

size_t drm_clients_read(const char *proc, int32_t pid, struct drm_client all[DRM_CLIENTS_MAX]) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d/fd", proc, pid);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t n = read_clients(fd, proc, pid, all);
    close(fd);
    return add_up(all, n);
}
