/* SPDX-License-Identifier: MIT */
/*
 * The least time that a change leaves, from counters alone. With slower resources a link needs its
 * time for the bytes that the job's connections moved through it, and a process for its own work. A
 * faster link only saves time in which its path throttled connections. Neither needs a replay, nor
 * the order of waits, so every program has this bound.
 */
#include <math.h>

#include "analysis/evidence/flows.h"
#include "analysis/gain/gain_private.h"
#include "analysis/gain/throughput.h"
#include "analysis/gain/whatif_private.h"

static double bytes_through(const struct flows *flows, size_t hosts, size_t link) {
    double bytes = 0;
    for (size_t i = 0; i < flows->n; i++) {
        int end = link < hosts ? flows->items[i].from : flows->items[i].to;
        bytes += flows->items[i].from != flows->items[i].to && end == (int)(link % hosts)
                     ? flows->items[i].bytes
                     : 0;
    }
    return bytes;
}

/* Seconds for the bytes of all links that the scenario makes slower; those of the slowest. */
static double on_links_s(const struct whatif *w, const struct whatif_scenario *s,
                         const struct flows *flows) {
    size_t hosts = w->model->n_hosts;
    double most = 0;
    for (size_t link = 0; link < 2 * hosts; link++) {
        double rate =
            s->rate_bytes_s > 0 ? s->rate_bytes_s : s->factor * whatif_present_rate(w, link);
        if (whatif_asks_link(w, s, link) && rate > 0)
            most = fmax(most, fmax(bytes_through(flows, hosts, link) - s->burst_bytes, 0) / rate);
    }
    return most;
}

/* The own work of a rank whose calls are not known includes the time that it spins. */
static bool is_known(const struct rank_budget *who, const struct budget *b) {
    return b->wall_s > 0 && (who->rank < 0 || b->source == BUDGET_FROM_EVENTS);
}

static double own_work_s(const struct whatif *w, const struct whatif_scenario *s) {
    const struct rank_budgets *budgets = &w->model->budgets;
    double most = 0, saved = whatif_part_saved(whatif_speed(w, s));
    for (size_t r = 0; r < budgets->n; r++) {
        const struct rank_budget *who = &budgets->items[r];
        const struct budget *b = gain_budget(w->model, r, w->model->main_group);
        bool meant =
            s->kind == WHATIF_RANK ? who->rank == s->rank : s->host < 0 || s->host == who->host;
        if (meant && is_known(who, b))
            most = fmax(most, budget_sum(b, GAIN_OWN) - saved * budget_sum(b, BIT(whatif_term(s))));
    }
    return number_of(w->model, PACE_FASTER) * most;
}

static bool is_slower(const struct whatif *w, const struct whatif_scenario *s) {
    return whatif_speed(w, s) < 1;
}

int whatif_least(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                 double *ret_s) {
    struct flows flows;
    struct windows windows = phase_windows(&w->model->groups[w->model->main_group]);
    double most = 0;
    *ret_s = 0;
    if (throughput_counts(w->model, w->model->main_group))
        return 0; /* the others do what a slower rank leaves */
    int result = flows_make(w->model, windows, &flows);
    if (result < 0)
        return result;
    for (size_t i = 0; i < n; i++) {
        const struct whatif_scenario *s = &scenarios[i];
        if (s->kind == WHATIF_LINK && is_slower(w, s))
            most = fmax(most, on_links_s(w, s, &flows));
        else if (s->kind != WHATIF_LATENCY && is_slower(w, s))
            most = fmax(most, own_work_s(w, s));
    }
    flows_release(&flows);
    *ret_s = most;
    return 0;
}

/* ---- faster links ---- */

/* Bytes of all calls, also of those that passed through no connection (shared memory, RDMA). */
static double bytes_of_calls(const struct run_model *model) {
    const struct mpi_log *log = &model->recording->calls;
    double bytes = 0;
    for (size_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++)
            if (mpi_event_is_call(&log->ranks[r].events[i]))
                bytes += (double)log->ranks[r].events[i].bytes;
    return bytes;
}

/* The time in which paths throttled the connections that pass the link; NAN if connections carried
 * too little of what the calls moved to tell.
 */
static double held_s(const struct whatif *w, const struct whatif_scenario *s,
                     const struct flows *flows) {
    size_t hosts = w->model->n_hosts;
    double held = 0, bytes = 0;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        bytes += f->from == f->to ? 0 : f->bytes;
        if (f->from != f->to && f->held > 0 &&
            (whatif_asks_link(w, s, (size_t)f->from) ||
             whatif_asks_link(w, s, hosts + (size_t)f->to)))
            held += f->limited_s;
    }
    return bytes >= bytes_of_calls(w->model) / 2 && bytes > 0 ? held : NAN;
}

int whatif_least_by_paths(const struct whatif *w, const struct whatif_scenario *s, double *ret_s) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    struct flows flows;
    *ret_s = 0;
    if (s->kind != WHATIF_LINK || is_slower(w, s) ||
        throughput_counts(w->model, w->model->main_group))
        return 0;
    int result =
        flows_make(w->model, phase_windows(&w->model->groups[w->model->main_group]), &flows);
    if (result < 0)
        return result;
    double held = held_s(w, s, &flows);
    *ret_s = isnan(held) ? 0 : fmax(part->length_s - held, 0);
    flows_release(&flows);
    return 0;
}
