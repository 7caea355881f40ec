/* SPDX-License-Identifier: MIT */
/* Own figures come from the process's own clocks, and not from probes. */
#include "agent/sampler/self.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text.h"
#include "tables/tables.h"

bool self_is_due(struct self_agent *agent, int64_t slot_ns, int64_t mono_ns, bool last) {
    if (!agent->began_ns)
        agent->began_ns = mono_ns;
    bool due = last || mono_ns - agent->began_ns < SELF_OFTEN_NS ||
               slot_ns / SELF_EVERY_NS != agent->told_slot_ns / SELF_EVERY_NS;
    if (due)
        agent->told_slot_ns = slot_ns;
    return due;
}

bool self_probe_has_news(const struct self_cost *cost) {
    return cost->failures + cost->dropped_rows != cost->told;
}

bool self_agent_has_news(const struct self_agent *agent) {
    return agent->lost != agent->told;
}

void self_append_probe(struct rows *rows, const char *name, struct self_cost *cost) {
    struct row *row = rows_append(rows, name, strnlen(name, INSTANCE_MAX));
    if (!row)
        return;
    row->values[SELF_CPU] = cost->cpu_ns;
    row->values[SELF_SAMPLES] = (int64_t)cost->samples;
    row->values[SELF_FAILURES] = (int64_t)cost->failures;
    row->values[SELF_DROPPED] = (int64_t)cost->dropped_rows;
    cost->told = cost->failures + cost->dropped_rows;
}

/* The second number of statm: resident pages. */
static int64_t resident_bytes(const struct self_agent *agent) {
    char text[256];
    uint64_t pages;
    ssize_t n = agent->statm_fd < 0 ? -1 : pread(agent->statm_fd, text, sizeof text, 0);
    const char *p = text, *end = text + (n > 0 ? n : 0);
    /* Skips to the second number. NOLINTNEXTLINE(misc-redundant-expression) */
    if (!text_u64(&p, end, &pages) || !text_u64(&p, end, &pages) ||
        pages > (uint64_t)(INT64_MAX / agent->page_size))
        return VALUE_ABSENT;
    return (int64_t)pages * agent->page_size;
}

void self_append_agent(struct rows *rows, struct self_agent *agent) {
    struct row *row = rows_append(rows, "agent", 5);
    if (!row)
        return;
    row->values[SELF_CPU] = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    row->values[SELF_SAMPLES] = (int64_t)agent->frames;
    row->values[SELF_FAILURES] = (int64_t)agent->lost;
    row->values[SELF_RSS] = resident_bytes(agent);
    row->values[SELF_LATE] = agent->late_ns;
    agent->late_ns = 0;
    agent->told = agent->lost;
}

int self_open_statm(const char *proc) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/self/statm", proc);
    return n < 0 || (size_t)n >= sizeof path ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}
