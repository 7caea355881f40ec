/* SPDX-License-Identifier: MIT */
/*
 * Energy of processors and memory, from the zones of powercap (RAPL of Intel and AMD): a package,
 * and in it its cores and its memory. Each zone counts up to a range of its own and begins anew;
 * here it grows on. Most kernels let only root read it.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/dirents.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define ZONES_MAX 64
#define NANO_PER_MICRO 1000
#define POWERCAP "class/powercap"

struct energy_zone {
    char name[INSTANCE_MAX + 1]; /* "package-0", "package-0 dram" */
    int fd;
    uint64_t range_uj;  /* the counter begins anew after it */
    uint64_t before_uj; /* what it said last */
    uint64_t sum_uj;    /* what it would say without an end */
};

struct energy {
    struct energy_zone zones[ZONES_MAX];
    size_t n;
    bool refused; /* there is a zone that may not be read */
};

/* "intel-rapl:0" is a package, "intel-rapl:0:2" a part of it. The same package comes a second time
 * as "intel-rapl-mmio:0", with counts of its own: it is left out. */
static bool is_zone(const char *name) {
    static const char prefix[] = "intel-rapl:";
    const char *rest = name + strlen(prefix);
    return strncmp(name, prefix, strlen(prefix)) == 0 && *rest &&
           strspn(rest, "0123456789:") == strlen(rest);
}

static bool read_u64_at(const char *directory, const char *file, uint64_t *ret_number) {
    char path[PATH_MAX], text[32];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    int n = file_read_small(AT_FDCWD, path, text, sizeof text);
    const char *p = text;
    return n > 0 && text_u64(&p, text + n, ret_number);
}

static bool read_zone(struct energy_zone *zone, uint64_t *ret_uj) {
    char text[32];
    ssize_t n = file_read_open(zone->fd, text, sizeof text);
    const char *p = text;
    return n > 0 && text_u64(&p, text + n, ret_uj);
}

static int name_zone(const char *sys, const char *zone, char *to, size_t size) {
    char path[PATH_MAX], text[64];
    snprintf(path, sizeof path, "%s/" POWERCAP "/%s/name", sys, zone);
    int n = file_read_small(AT_FDCWD, path, text, sizeof text);
    if (n > 0)
        text_sanitize(to, size, text, (size_t)n);
    return n > 0 ? 0 : -EINVAL;
}

/* "package-0", or "package-0 dram" of a part. */
static int name_whole(const char *sys, const char *zone, char to[INSTANCE_MAX + 1]) {
    char of[64], own[32], package[32];
    snprintf(of, sizeof of, "%.60s", zone);
    char *part = strrchr(of, ':');
    if (strchr(of, ':') == part)
        return name_zone(sys, zone, to, 32);
    *part = '\0';
    if (name_zone(sys, of, package, sizeof package) < 0 ||
        name_zone(sys, zone, own, sizeof own) < 0)
        return -EINVAL;
    snprintf(to, INSTANCE_MAX + 1, "%s %s", package, own);
    return 0;
}

static void add_zone(struct energy *energy, const char *sys, const char *name) {
    char directory[PATH_MAX - 32], path[PATH_MAX];
    struct energy_zone *zone = &energy->zones[energy->n];
    if (energy->n == ZONES_MAX || name_whole(sys, name, zone->name) < 0)
        return;
    snprintf(directory, sizeof directory, "%s/" POWERCAP "/%s", sys, name);
    snprintf(path, sizeof path, "%s/energy_uj", directory);
    zone->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (zone->fd < 0) {
        energy->refused |= errno == EACCES || errno == EPERM;
        return;
    }
    if (!read_u64_at(directory, "max_energy_range_uj", &zone->range_uj) ||
        !read_zone(zone, &zone->before_uj)) {
        close(zone->fd);
        return;
    }
    zone->sum_uj = zone->before_uj;
    energy->n++;
}

static int compare_zones(const void *a, const void *b) {
    return strcmp(((const struct energy_zone *)a)->name, ((const struct energy_zone *)b)->name);
}

static int energy_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    _Alignas(struct dirents_entry) char buffer[4096];
    struct energy *energy = state;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" POWERCAP, env->sys);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct dirents list = {.fd = fd, .buffer = buffer, .capacity = sizeof buffer};
    for (const struct dirents_entry *entry; fd >= 0 && (entry = dirents_next(&list));)
        if (is_zone(entry->name))
            add_zone(energy, env->sys, entry->name);
    if (fd >= 0)
        close(fd);
    qsort(energy->zones, energy->n, sizeof *energy->zones, compare_zones);
    if (energy->n)
        return 0;
    if (energy->refused)
        snprintf(why, why_size, "energy is not counted: %s/*/energy_uj is for root alone", path);
    return PROBE_ABSENT;
}

static int energy_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct energy *energy = state;
    (void)env;
    for (size_t i = 0; i < energy->n; i++) {
        struct energy_zone *zone = &energy->zones[i];
        uint64_t now_uj;
        struct row *row = rows_append(rows, zone->name, strlen(zone->name));
        if (!row || !read_zone(zone, &now_uj))
            continue;
        if (now_uj >= zone->before_uj)
            zone->sum_uj += now_uj - zone->before_uj;
        else if (zone->before_uj <= zone->range_uj)
            zone->sum_uj += zone->range_uj - zone->before_uj + now_uj;
        zone->before_uj = now_uj;
        row->values[ENERGY_JOULES] = counter_value(zone->sum_uj, NANO_PER_MICRO);
    }
    return 0;
}

static size_t energy_max_rows(const void *state, const struct probe_env *env) {
    (void)env;
    return ((const struct energy *)state)->n;
}

static void energy_close(void *state) {
    struct energy *energy = state;
    for (size_t i = 0; i < energy->n; i++)
        close(energy->zones[i].fd);
    energy->n = 0;
}

const struct probe probe_energy = {
    .table = &all_tables[TABLE_ENERGY],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct energy),
    .max_rows = energy_max_rows,
    .open = energy_open,
    .sample = energy_sample,
    .close = energy_close,
};
