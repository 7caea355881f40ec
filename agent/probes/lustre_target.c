/* SPDX-License-Identifier: MIT */
/*
 * Requests of Lustre to its servers, from `stats` of each target's client (osc, mdc), and whether
 * its connection is in use, from `import`. The latter and the list of targets are read every ten
 * seconds. Connections of a server to other servers are left out.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/source.h"
#include "agent/probes/lustre_files.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define TARGETS_MAX 256
#define AGAIN_NS (10 * NS_PER_S)

struct lustre_targets {
    struct lustre_device targets[TARGETS_MAX];
    int64_t connected[TARGETS_MAX], timeouts[TARGETS_MAX]; /* or VALUE_ABSENT */
    size_t n;
    int64_t looked_ns;
    char text[LUSTRE_TEXT_SIZE];
};

static int read_target(struct lustre_targets *all, size_t i, const char *file) {
    char path[LUSTRE_PATH_SIZE + 8];
    snprintf(path, sizeof path, "%s/%s", all->targets[i].path, file);
    int n = file_read_lines(path, all->text, sizeof all->text);
    return n > 0 ? n : 0;
}

/* "    state: FULL", "       timeouts: 0". */
static void read_import(struct lustre_targets *all, size_t i) {
    const char *p = all->text, *end = p + read_target(all, i, "import");
    struct span line, key, value;
    uint64_t number;
    all->connected[i] = all->timeouts[i] = VALUE_ABSENT;
    while (text_line(&p, end, &line)) {
        const char *q = line.data, *stop = q + line.size;
        if (!text_word(&q, stop, &key))
            continue;
        const char *at = q;
        if (span_equal(key, "state:") && text_word(&q, stop, &value))
            all->connected[i] = span_equal(value, "FULL") || span_equal(value, "IDLE");
        if (span_equal(key, "timeouts:") && text_u64(&at, stop, &number))
            all->timeouts[i] = counter_value(number, 1);
    }
}

/* "scratch-OST0000-osc-MDT0000" is a server's own. */
static bool is_client(const struct lustre_device *device, const char *mark) {
    const char *of = device->path, *found = NULL;
    for (; (of = strstr(of, mark)); of++)
        found = of + strlen(mark);
    return found && strncmp(found, "MDT", 3) != 0 && strncmp(found, "OST", 3) != 0;
}

static void look_for_targets(struct lustre_targets *all, const struct probe_env *env) {
    static const char *const kinds[][2] = {{"mdc", "-mdc-"}, {"osc", "-osc-"}};
    bool refused;
    all->looked_ns = env->mono_ns;
    all->n = 0;
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
        struct lustre_device *found = &all->targets[all->n];
        size_t n =
            lustre_find(env, kinds[k][0], kinds[k][1], found, TARGETS_MAX - all->n, &refused);
        for (size_t i = 0; i < n; i++)
            if (is_client(&found[i], kinds[k][1]))
                all->targets[all->n++] = found[i];
    }
    for (size_t i = 0; i < all->n; i++)
        read_import(all, i);
}

static void fill_target(struct lustre_targets *all, size_t i, int64_t *values) {
    const char *p = all->text, *end = p + read_target(all, i, "stats");
    struct lustre_stat stat;
    struct span line;
    values[LUSTRE_TARGET_CONNECTED] = all->connected[i];
    values[LUSTRE_TARGET_TIMEOUTS] = all->timeouts[i];
    while (text_line(&p, end, &line)) {
        if (!lustre_parse(line, &stat))
            continue;
        if (span_equal(stat.name, "req_waittime")) {
            values[LUSTRE_TARGET_REQUESTS] = counter_value(stat.samples, 1);
            if (stat.microseconds)
                values[LUSTRE_TARGET_WAIT] = counter_value(stat.sum, NS_PER_US);
        } else if (stat.bytes && span_equal(stat.name, "read_bytes")) {
            values[LUSTRE_TARGET_READ] = counter_value(stat.sum, 1);
        } else if (stat.bytes && span_equal(stat.name, "write_bytes")) {
            values[LUSTRE_TARGET_WRITE] = counter_value(stat.sum, 1);
        }
    }
}

static int lustre_targets_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct lustre_targets *all = state;
    if (env->mono_ns - all->looked_ns >= AGAIN_NS)
        look_for_targets(all, env);
    for (size_t i = 0; i < all->n; i++) {
        size_t size = strlen(all->targets[i].name);
        struct row *row = rows_have(rows, rows->n, all->targets[i].name, size)
                              ? NULL
                              : rows_append(rows, all->targets[i].name, size);
        if (row)
            fill_target(all, i, row->values);
    }
    return 0;
}

static int lustre_targets_open(void *state, const struct probe_env *env, char *why,
                               size_t why_size) {
    struct lustre_targets *all = state;
    look_for_targets(all, env);
    (void)why; /* doctor tells who may not read it */
    (void)why_size;
    return all->n ? 0 : PROBE_ABSENT;
}

static size_t lustre_targets_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return TARGETS_MAX;
}

const struct probe probe_lustre_target = {
    .table = &all_tables[TABLE_LUSTRE_TARGET],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct lustre_targets),
    .max_rows = lustre_targets_max_rows,
    .open = lustre_targets_open,
    .sample = lustre_targets_sample,
};
