/* SPDX-License-Identifier: MIT */
/*
 * Pressure stall information: the time in which tasks waited for a resource, from /proc/pressure
 * or the *.pressure files of the scope's v2 group. Only the cumulative totals are read; their
 * differences say all that the kernel's running averages say.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/scope.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"

enum { N_RESOURCES = 4 };

static const char *const resources[N_RESOURCES] = {"cpu", "memory", "io", "irq"};

struct psi {
    struct source sources[N_RESOURCES]; /* closed where the kernel lacks the resource */
};

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345"; total is in us. */
static void parse_line(struct span line, int64_t values[PSI_COLUMNS]) {
    const char *p = line.data, *end = line.data + line.size;
    struct span kind, word;
    uint64_t number;
    if (!text_word(&p, end, &kind))
        return;
    while (text_word(&p, end, &word)) {
        if (!span_starts(word, "total="))
            continue;
        const char *q = word.data + strlen("total=");
        if (!text_u64(&q, word.data + word.size, &number))
            continue;
        if (span_equal(kind, "some"))
            values[PSI_SOME] = counter_value(number, NS_PER_US);
        else if (span_equal(kind, "full"))
            values[PSI_FULL] = counter_value(number, NS_PER_US);
    }
}

static void append_resource(const char *name, const int64_t *values, struct rows *rows) {
    if (values[PSI_SOME] == VALUE_ABSENT && values[PSI_FULL] == VALUE_ABSENT)
        return;
    struct row *row = rows_append(rows, name, strlen(name));
    if (row)
        memcpy(row->values, values, PSI_COLUMNS * sizeof *values);
}

static int psi_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct psi *psi = state;
    (void)env;
    for (size_t i = 0; i < N_RESOURCES; i++) {
        struct source *source = &psi->sources[i];
        int r = source_is_open(source) ? source_read(source) : 1;
        if (r < 0)
            return r;
        int64_t values[PSI_COLUMNS];
        for (size_t c = 0; c < PSI_COLUMNS; c++)
            values[c] = VALUE_ABSENT;
        const char *p = source->data;
        struct span line;
        while (r == 0 && text_line(&p, source_end(source), &line))
            parse_line(line, values);
        append_resource(resources[i], values, rows);
    }
    return 0;
}

/* Returns the number of opened sources, or the error of the last one. */
static int open_sources(struct psi *psi, const char *root, const char *format) {
    int n = 0, last = -ENOENT;
    for (size_t i = 0; i < N_RESOURCES; i++) {
        char name[64];
        snprintf(name, sizeof name, format, resources[i]);
        int r = source_open(&psi->sources[i], root, name);
        n += r == 0;
        last = r < 0 && r != -ENOENT ? r : last;
    }
    return n ? n : last;
}

static int psi_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    bool of_group = env->scope->kind == SCOPE_CGROUP;
    const char *root = of_group ? env->scope->unified : env->proc;
    if (of_group && !*root) {
        snprintf(why, why_size, "no pressure of a cgroup: this scope is in no cgroup v2 hierarchy");
        return PROBE_ABSENT;
    }
    int r = open_sources(state, root, of_group ? "%s.pressure" : "pressure/%s");
    if (r > 0)
        return 0;
    snprintf(why, why_size,
             "no pressure stall information in %s%s (%s): kernel before 4.20, built "
             "without CONFIG_PSI, or booted without psi=1",
             root, of_group ? "" : "/pressure", strerror(-r));
    return PROBE_ABSENT;
}

static size_t psi_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return N_RESOURCES;
}

static void psi_close(void *state) {
    struct psi *psi = state;
    for (size_t i = 0; i < N_RESOURCES; i++)
        source_close(&psi->sources[i]);
}

const struct probe probe_psi = {
    .table = &all_tables[TABLE_PSI],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct psi),
    .max_rows = psi_max_rows,
    .open = psi_open,
    .sample = psi_sample,
    .close = psi_close,
};
