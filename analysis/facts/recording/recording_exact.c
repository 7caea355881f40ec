/* SPDX-License-Identifier: MIT */
/*
 * CPU time of a control group by the scheduler's clock. If a host is a control group, older agents
 * took the time of its cores from samples of the tick, which miss 10 to 40 % of load that is
 * shorter than a tick; the group's own row has the exact time. The use of its cores is scaled to
 * that, interval by interval, and the rest is idle time.
 *
 * A recording does not name the group that a host is. It is the group that contains all others of
 * the host. A group above it (recorded for its limit) used far more than the host's cores, and is
 * not taken.
 */
#include <string.h>

#include "analysis/facts/recording/recording.h"
#include "analysis/facts/series/times.h"

#define UNLIKE 2 /* ratio of clock and ticks, either way: it is another group */

/* ---- which group ---- */

static int64_t known_or_zero(int64_t value) {
    return value == VALUE_ABSENT || value < 0 ? 0 : value;
}

static bool holds(const char *group, const char *other) {
    size_t size = strlen(group);
    return strncmp(group, other, size) == 0 && (other[size] == '/' || other[size] == '\0');
}

/* The group that contains all others of its host, or NULL. */
static const struct series *outermost(const struct series_set *groups, int host) {
    struct series_range range = series_set_of_host(groups, host);
    const struct series *found = NULL;
    for (size_t i = range.begin; i < range.end; i++)
        if (groups->items[i].host == host &&
            (!found || strlen(groups->items[i].name) < strlen(found->name)))
            found = &groups->items[i];
    for (size_t i = range.begin; found && i < range.end; i++)
        if (groups->items[i].host == host && !holds(found->name, groups->items[i].name))
            return NULL;
    return found;
}

/* ---- what its cores used ---- */

static int64_t *row_of(const struct series_set *cpus, struct series *core, size_t row) {
    return &core->values[row * cpus->n_columns];
}

/* The row that ends at that instant; core->n if there is none. */
static size_t find_row(const struct series *core, int64_t t_ns) {
    size_t row = times_until(core->t_ns, sizeof *core->t_ns, core->n, t_ns - 1);
    return row < core->n && core->t_ns[row] == t_ns ? row : core->n;
}

struct cores { /* the cores of one host */
    struct series_set *set;
    struct series_range range;
    int host;
};

struct used {
    double ticks, idle; /* sums over all cores */
    bool known;         /* used time of each core as its group counts it: without interrupts */
};

static struct used used_until(const struct cores *cores, int64_t t_ns) {
    struct series_set *cpus = cores->set;
    struct used sum = {.known = cores->range.begin < cores->range.end};
    for (size_t i = cores->range.begin; i < cores->range.end; i++) {
        struct series *core = &cpus->items[i];
        size_t row = find_row(core, t_ns);
        if (core->host != cores->host)
            continue;
        if (row == core->n)
            return (struct used){0};
        const int64_t *values = row_of(cpus, core, row);
        sum.known &= values[CPU_USER] != VALUE_ABSENT && values[CPU_SYSTEM] != VALUE_ABSENT &&
                     values[CPU_IDLE] != VALUE_ABSENT && values[CPU_IRQ] == VALUE_ABSENT;
        sum.ticks +=
            (double)known_or_zero(values[CPU_USER]) + (double)known_or_zero(values[CPU_SYSTEM]);
        sum.idle += (double)known_or_zero(values[CPU_IDLE]);
    }
    return sum;
}

/* Used time beyond the ticks is taken from idle time; missing used time becomes idle. */
static void bring_to(int64_t values[], struct used all, double exact) {
    double user = (double)known_or_zero(values[CPU_USER]),
           system = (double)known_or_zero(values[CPU_SYSTEM]);
    double idle = (double)known_or_zero(values[CPU_IDLE]), busy = user + system,
           more = exact - all.ticks;
    if (more > 0 && all.idle > 0)
        more *= idle / all.idle;
    else if (more < 0 && all.ticks > 0)
        more *= busy / all.ticks;
    else
        return;
    more = more > idle ? idle : more < -busy ? -busy : more;
    values[CPU_SYSTEM] = busy > 0 ? (int64_t)(system * (busy + more) / busy) : 0;
    values[CPU_USER] = (int64_t)(busy + more) - values[CPU_SYSTEM];
    values[CPU_IDLE] = (int64_t)(idle - more);
}

/* Whether its clock counts about as much as the ticks of the host's cores. */
static bool is_host(const struct series_set *groups, const struct series *group,
                    const struct cores *cores) {
    double exact = 0, ticks = 0;
    for (size_t row = 0; row < group->n; row++) {
        struct used used = used_until(cores, group->t_ns[row]);
        int64_t clock = series_value(groups, group, row, CGROUP_CPU);
        if (!used.known || clock == VALUE_ABSENT)
            continue;
        exact += (double)known_or_zero(clock);
        ticks += used.ticks;
    }
    return exact > 0 && exact <= UNLIKE * ticks && ticks <= UNLIKE * exact;
}

static void correct_row(const struct cores *cores, int64_t t_ns, double exact) {
    struct used used = used_until(cores, t_ns);
    for (size_t i = cores->range.begin; used.known && i < cores->range.end; i++) {
        struct series *core = &cores->set->items[i];
        if (core->host == cores->host)
            bring_to(row_of(cores->set, core, find_row(core, t_ns)), used, exact);
    }
}

static void correct_host(const struct series_set *groups, const struct cores *cores) {
    const struct series *group = outermost(groups, cores->host);
    if (!group || !is_host(groups, group, cores))
        return;
    for (size_t row = 0; row < group->n; row++) {
        int64_t clock = series_value(groups, group, row, CGROUP_CPU);
        if (clock != VALUE_ABSENT)
            correct_row(cores, group->t_ns[row], (double)known_or_zero(clock));
    }
}

void recording_use_exact_cpu(struct recording *recording) {
    struct series_set *cpus = &recording->tables[RECORDING_CPU];
    for (int h = 0; h < (int)recording->n_hosts; h++) {
        struct cores cores = {.set = cpus, .range = series_set_of_host(cpus, h), .host = h};
        correct_host(&recording->tables[RECORDING_CGROUP], &cores);
    }
}
