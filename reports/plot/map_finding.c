/* SPDX-License-Identifier: MIT */
/* The sentence above a map: the resources that were full longest. */
#include <math.h>

#include "reports/plot/map_private.h"
#include "reports/says/text_list.h"

#define LONG .05 /* of the time: a shorter one is a start or an end */

struct fullest {
    const char *whose, *what;
    double full, mean; /* shares of the known samples */
};

static struct fullest look_at(const struct map *m, size_t host, size_t resource) {
    struct map_use use = map_use_of(m->report, host, resource);
    return (struct fullest){m->report->hosts[host].name, map_name(m->report, host, resource),
                            use.full, use.mean};
}

static struct fullest look_at_machine(const struct map *m, size_t host) {
    struct map_use use = map_use_of_values(m->machines + host * m->bins, m->bins);
    return (struct fullest){"the shared machine", "CPU", use.full, use.mean};
}

/* Keeps the two that were full for longest, else the fullest. */
static void rank(struct fullest two[2], struct fullest f) {
    double full = f.full < LONG ? 0 : f.full;
    for (size_t i = 0; i < 2; i++) {
        double other = two[i].full < LONG ? 0 : two[i].full;
        if (full > other || (full == other && f.mean > two[i].mean)) {
            struct fullest less = two[i];
            two[i] = f;
            f = less;
            full = other;
        }
    }
}

/* A core counts only if nothing else was full. */
static void find_fullest(const struct map *m, struct fullest two[2]) {
    for (size_t h = 0; h < m->report->n_hosts; h++) {
        if (map_begins_machine(m->report, h))
            rank(two, look_at_machine(m, h));
        for (size_t r = 0; r < map_rows(m->report, h); r++)
            if (r != MAP_CORE)
                rank(two, look_at(m, h, r));
    }
}

/* For a limit in bursts: nothing was full for long, or only resources that the verdict does not
 * name.
 */
static char *limit_in_bursts(const struct map *m) {
    size_t resource = map_limit(m), host = (size_t)m->report->verdict.host;
    struct fullest f = look_at(m, host, resource);
    if (resource >= MAP_GPU && f.full < LONG && !isnan(f.mean)) /* latency may limit it */
        return text_format("The limit, %s's %s, had %.0f %% of its fullest part in use on average. "
                           "The top row shows the time that it took.",
                           f.whose, f.what, 100 * f.mean);
    return f.full < LONG && !isnan(f.mean)
               ? text_format("The limit, %s's %s, was used %.0f %% on average: it was full for "
                             "less than a sample at a time. The top row shows the time that it "
                             "took.",
                             f.whose, f.what, 100 * f.mean)
               : NULL;
}

static const char *about_top_row(const struct map *m) {
    if (!m->levels->known)
        return "";
    return map_limit(m) != MAP_NONE
               ? " The top row shows the time that the limit took."
               : " The limit is no resource of one host: the top row shows the time that it took.";
}

char *map_finding(const struct map *m) {
    struct fullest two[2] = {{m->report->hosts[0].name, map_resources[0].name, 0, 0},
                             {m->report->hosts[0].name, map_resources[0].name, 0, 0}};
    bool has_resource = map_limit(m) != MAP_NONE;
    char *bursts = has_resource ? limit_in_bursts(m) : NULL;
    if (bursts)
        return bursts;
    find_fullest(m, two);
    if (two[0].full < LONG)
        return text_format("Nothing was full for long. The fullest was %s's %s, used %.0f %% "
                           "on average.%s",
                           two[0].whose, two[0].what, 100 * two[0].mean, about_top_row(m));
    if (two[1].full < LONG)
        return text_format("Only %s's %s was full: %.0f %% of the time.", two[0].whose, two[0].what,
                           100 * two[0].full);
    return text_format("%s's %s was full %.0f %% of the time, %s's %s %.0f %%.", two[0].whose,
                       two[0].what, 100 * two[0].full, two[1].whose, two[1].what,
                       100 * two[1].full);
}
