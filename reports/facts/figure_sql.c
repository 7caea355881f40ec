/* SPDX-License-Identifier: MIT */
/*
 * The queries of figures. Rows tile the time of an instance, so a mean over a window weighs each
 * row by its part s of the window, as analysis does (analysis/facts/series/rate.h).
 */
#include "reports/facts/figure_sql.h"

#include <stdio.h>
#include <stdlib.h>

#define WINDOWS_MAX 64

/* The parts of a core's time; a kernel may lack some. */
#define CORE_TIME                                                                                  \
    "(coalesce(user_pct, 0) + coalesce(nice_pct, 0) + coalesce(system_pct, 0)"                     \
    " + coalesce(idle_pct, 0) + coalesce(iowait_pct, 0) + coalesce(irq_pct, 0)"                    \
    " + coalesce(softirq_pct, 0) + coalesce(steal_pct, 0))"
#define OF_CORE_TIME(part) "SELECT 100 * sum((" part ") * s) / sum(" CORE_TIME " * s) FROM part"
#define OF_TIME(part, which) "SELECT sum((" part ") * s) / sum(s) FROM part" which
/* All instances together: what they add up to, by the longest time that one of them has. */
#define OF_ALL(part, which, instance)                                                              \
    "SELECT sum(v) / max(t) FROM (SELECT sum((" part ") * s) AS v, sum(s) AS t FROM part" which    \
    " GROUP BY " instance ")"

static const struct {
    const char *table, *select;
} queries[METRIC_COUNT_] = {
    [METRIC_CPU_IDLE] = {"cpu", OF_CORE_TIME("idle_pct")},
    [METRIC_CPU_USER] = {"cpu", OF_CORE_TIME("coalesce(user_pct, 0) + coalesce(nice_pct, 0)")},
    [METRIC_CPU_SYSTEM] = {"cpu", OF_CORE_TIME("coalesce(system_pct, 0) + coalesce(irq_pct, 0)"
                                               " + coalesce(softirq_pct, 0)")},
    [METRIC_CPU_IOWAIT] = {"cpu", OF_CORE_TIME("iowait_pct")},
    [METRIC_CPU_STEAL] = {"cpu", OF_CORE_TIME("steal_pct")},
    [METRIC_MEM_USED] = {"memory", OF_TIME("(total_bytes - available_bytes) / 1e9", "")},
    [METRIC_MEM_FREE] = {"memory", OF_TIME("available_bytes / 1e9", "")},
    [METRIC_NET_RECV] = {"net", OF_ALL("receive_bytes_per_s / 1e6", " WHERE interface <> 'lo'",
                                       "interface")},
    [METRIC_NET_SEND] = {"net",
                         OF_ALL("send_bytes_per_s / 1e6", " WHERE interface <> 'lo'", "interface")},
    [METRIC_DISK_READ] = {"disk", OF_ALL("read_bytes_per_s / 1e6", "", "device")},
    [METRIC_DISK_WRITE] = {"disk", OF_ALL("write_bytes_per_s / 1e6", "", "device")},
    [METRIC_DISK_BUSY] = {"disk", OF_TIME("busy_pct", "")}, /* of one device: figure.c */
    [METRIC_PSI_CPU] = {"psi", OF_TIME("some_pct", " WHERE resource = 'cpu'")},
    [METRIC_PSI_MEMORY] = {"psi", OF_TIME("some_pct", " WHERE resource = 'memory'")},
    [METRIC_PSI_IO] = {"psi", OF_TIME("some_pct", " WHERE resource = 'io'")},
};

bool figure_has_sql(enum metric metric) {
    return queries[metric].table;
}

bool figure_windows_fit(struct windows windows) {
    return windows.n > 0 && windows.n <= WINDOWS_MAX;
}

/* A text from outside as a literal. */
static void put_text(FILE *to, const char *text) {
    fputc('\'', to);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', to);
        fputc(*text, to);
    }
    fputc('\'', to);
}

/* "part": the table's rows of the place, each with its seconds s in the windows. */
static void put_part(FILE *to, const struct figure_place *place, const char *table) {
    fputs("WITH span(b, e) AS (VALUES ", to);
    for (size_t i = 0; i < place->windows.n; i++)
        fprintf(to, "%s(%.9f, %.9f)", i ? ", " : "", (double)place->windows.items[i].begin_ns / 1e9,
                (double)place->windows.items[i].end_ns / 1e9);
    fprintf(to,
            "), part AS (SELECT *, min(time_s, e) - max(time_s - interval_s, b) AS s"
            " FROM %s_rate, span WHERE run = %lld AND host = ",
            table, (long long)place->run);
    put_text(to, place->host);
    fputs(" AND time_s > b AND time_s - interval_s < e) ", to);
}

/* Closes the text; NULL: no memory. */
static char *end_text(FILE *to, char **text) {
    if (fclose(to) == 0)
        return *text;
    free(*text);
    return NULL;
}

/* after NULL: the query ends with `select`; else with that text as a literal. */
static char *query_of(const struct figure_place *place, const char *table, const char *select,
                      const char *after) {
    char *text = NULL;
    size_t size;
    FILE *to = figure_windows_fit(place->windows) ? open_memstream(&text, &size) : NULL;
    if (!to)
        return NULL;
    put_part(to, place, table);
    fputs(select, to);
    if (after)
        put_text(to, after);
    return end_text(to, &text);
}

char *figure_sql_metric(const struct figure_place *place, enum metric metric,
                        const char **ret_table) {
    *ret_table = queries[metric].table;
    return *ret_table ? query_of(place, *ret_table, queries[metric].select, NULL) : NULL;
}

char *figure_sql_process(const struct figure_place *place, const char *name) {
    return query_of(place, "process",
                    "SELECT sum((user_pct + system_pct) * s) / (SELECT sum(e - b) FROM span)"
                    " FROM part WHERE process = ",
                    name);
}

char *figure_sql_throttled(const struct figure_place *place) {
    return query_of(place, "cgroup",
                    "SELECT min(100, max(v)) FROM (SELECT sum(throttled_pct * s)"
                    " / (SELECT sum(e - b) FROM span) AS v FROM part GROUP BY \"group\")",
                    NULL);
}

char *figure_sql_budget(const struct figure_place *place, const char *process, const char *phase,
                        enum budget_term term) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    fprintf(to,
            "SELECT 100.0 * %s_ns / wall_ns FROM budget WHERE run = %lld AND iteration IS NULL"
            " AND host = ",
            budget_term_name(term), (long long)place->run);
    put_text(to, place->host);
    fputs(" AND process = ", to);
    put_text(to, process);
    fputs(" AND phase = ", to);
    put_text(to, phase);
    return end_text(to, &text);
}

char *figure_sql_cores(int64_t run) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    fprintf(to,
            "SELECT (u.user_ns + u.system_ns) * 1.0 / (r.ended_mono_ns - r.started_mono_ns)"
            " FROM run_usage u JOIN run r ON r.run = u.run WHERE u.run = %lld",
            (long long)run);
    return end_text(to, &text);
}
