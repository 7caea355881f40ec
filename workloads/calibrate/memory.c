/* SPDX-License-Identifier: MIT */
/*
 * Each area is four times the last-level cache and at least 64 MiB. If that is more than an eighth
 * of the usable memory, there is no figure: it might be the cache's speed.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/calibrate/host.h"

#define AREA_LEAST (64L << 20)
#define AREA_MOST (512L << 20)
#define COPIES_MAX 1024

/* The number at the beginning of a file; 0 if there is none ("max"). */
static long read_number(const char *path) {
    char text[32];
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    long value = strtol(text, NULL, 10);
    return value > 0 && (size_t)value < SIZE_MAX / 2 ? value : 0;
}

static long last_level_cache(void) {
    long most = sysconf(_SC_LEVEL3_CACHE_SIZE), kib;
    for (int i = 0; i < 8; i++) {
        char path[80];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        kib = read_number(path);
        most = kib * 1024 > most ? kib * 1024 : most;
    }
    return most > 0 ? most : 0;
}

/* The limit of this process's memory cgroup, version 1 or 2. 0: none. */
static long group_limit(void) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[1024], path[1200];
    long limit = 0;
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        bool unified = strcmp(controllers, ":") == 0;
        if (!unified && !strstr(controllers, "memory"))
            continue;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s%s/%s", unified ? "" : "/memory", group,
                 unified ? "memory.max" : "memory.limit_in_bytes");
        long own = read_number(path);
        limit = own && (!limit || own < limit) ? own : limit;
    }
    if (file)
        fclose(file);
    return limit;
}

static long available(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    long kib = 0, limit = group_limit();
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    long bytes = kib * 1024;
    return limit && limit < bytes ? limit : bytes;
}

static char *make_area(size_t size) {
    char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return NULL;
    memset(area, 0x5a, size); /* allocates its pages */
    return area;
}

static void copy(double seconds, char *to, const char *from, size_t size, long cache,
                 struct figures *figures) {
    double speeds[COPIES_MAX], end = now_s() + seconds;
    size_t n = 0;
    do {
        double before = now_s();
        memcpy(to, from, size);
        __asm__ volatile("" : : "r"(to) : "memory");
        speeds[n++] = (double)size / (now_s() - before) * 1e-6;
    } while (now_s() < end && n < COPIES_MAX);
    double median = quantile(speeds, n, .5);
    figures_add(figures, "memory_copy", "MB/s", -1, median, quantile(speeds, n, 0),
                quantile(speeds, n, 1),
                "bytes copied by one thread, areas of %zu MiB, cache of %ld MiB, median of %zu",
                size >> 20, cache >> 20, n);
}

void measure_memory(double seconds, struct figures *figures) {
    long cache = last_level_cache(), size = 4 * cache, most = available() / 8;
    size = size < AREA_LEAST ? AREA_LEAST : size > AREA_MOST ? AREA_MOST : size;
    size = size > most ? most / 4096 * 4096 : size;
    if (size < 4096 || size < cache) {
        figures_trouble(figures,
                        "memory: an eighth of what is available (%ld MiB) is less than the cache",
                        most >> 20);
        return;
    }
    char *from = make_area((size_t)size), *to = make_area((size_t)size);
    if (from && to)
        copy(seconds, to, from, (size_t)size, cache, figures);
    else
        figures_trouble(figures, "memory: no two areas of %ld MiB could be had", size >> 20);
    if (from)
        munmap(from, (size_t)size);
    if (to)
        munmap(to, (size_t)size);
}
