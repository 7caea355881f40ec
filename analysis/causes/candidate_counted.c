/* SPDX-License-Identifier: MIT */
/*
 * A candidate's gain from the counters of one process (gain_counted.h). It does not affect the
 * order of candidates, which rests on shares that all of them have. It decides whether a candidate
 * without evidence of saturation is worth naming.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/gain/gain_counted.h"

#define COMPUTING (1u << BUDGET_CPU)

/* If a replay has an answer, that answer is reported, as `whatif` reports it. */
const struct whatif_scenario *candidate_change(const struct candidate *c) {
    return c->sharing.gain.replayed ? &c->sharing.scenario : &c->remove;
}

const struct gain *candidate_gain(const struct candidate *c) {
    if (c->sharing.gain.replayed)
        return &c->sharing.gain;
    return c->gain.replayed || !c->counted.counted ? &c->gain : &c->counted;
}

bool candidate_is_worth_naming(const struct run_model *model, const struct candidate *c) {
    bool little = !c->saturated && !c->gain.replayed && c->counted.counted;
    return c->gain.estimate >= number_of(model, GAIN_MIN) &&
           !(little && c->counted.estimate < number_of(model, GAIN_MIN));
}

/* The part of a rank's computing that goes beyond the others. */
static double own_part(const struct run_model *model, const struct candidate *c) {
    double most = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *b = &model->budgets.items[r];
        const struct budget *group = &b->groups[c->group];
        if (b->host == c->host && b->rank == c->rank && group->wall_s > 0)
            most = fmax(most, group->term_s[BUDGET_CPU] / group->wall_s);
    }
    return most > 0 ? fmin(1, c->path.own / most) : 0;
}

/* A limit of a host applies to the whole run; a rank's own work to its phase. */
static struct counted_loss loss_of(const struct run_model *model, const struct candidate *c) {
    bool own = c->path.terms == COMPUTING;
    return (struct counted_loss){.host = c->everywhere ? -1 : c->host,
                                 .rank = c->rank,
                                 .group = own ? c->group : 0,
                                 .terms = c->path.terms,
                                 .part = own ? own_part(model, c) : 1,
                                 .everywhere = c->everywhere,
                                 .awaited = c->awaited};
}

/* Whether the process lost all of this itself. If it sleeps and has no calls, it may be waiting for
 * others. */
static bool is_of_process(const struct run_model *model, const struct candidate *c) {
    bool own = c->path.terms == COMPUTING, asleep = c->path.terms >> BUDGET_IDLE & 1;
    if (!c->path.terms || c->path.terms & ~budget_outside_terms() ||
        (asleep && !model_has_path(model)))
        return false;
    return own ? !isnan(c->path.own) : !(c->path.part < 1);
}

static bool is_awaited_sleep(const struct run_model *model, const struct candidate *c) {
    return c->awaited && c->path.terms == 1u << BUDGET_IDLE && !model_has_path(model);
}

static bool is_link(const struct candidate *c) {
    return c->can_remove && c->remove.kind == WHATIF_LINK;
}

static double group_share(const struct run_model *model, size_t group) {
    double run = (double)windows_length(phase_windows(&model->groups[0]));
    return run > 0 ? (double)windows_length(phase_windows(&model->groups[group])) / run : 0;
}

/* Shares of the run. The program uses the two directions of a link in turn, or at the same time. */
static struct counted_link link_of_candidate(const struct candidates *candidates,
                                             const struct candidate *c) {
    struct counted_link link = {.host = c->host};
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *at = &candidates->items[i];
        if (!is_link(at) || at->host != c->host || at->group != c->group)
            continue;
        link.way = fmax(link.way, at->run_share);
        link.ways += at->run_share;
    }
    return link;
}

double candidate_most(const struct run_model *model, const struct candidate *c) {
    struct counted_loss loss = loss_of(model, c);
    bool quota = c->path.terms == 1u << BUDGET_QUOTA && !c->everywhere;
    double most = gain_most(model, &loss);
    double held = quota ? gain_most_of_quota(model, quota_throttled(model, c->host)) : NAN;
    return fmin(most, held); /* the other one if one is NAN */
}

void candidate_count(const struct run_model *model, const struct candidates *candidates,
                     struct candidate *c) {
    struct counted_loss loss = loss_of(model, c);
    struct counted counted;
    double scale = group_share(model, loss.group);
    bool told = false;
    if (throughput_counts(model, c->group))
        return;
    if (is_of_process(model, c)) {
        told = gain_counted(model, &loss, &counted);
        if (counted.lost > 0) /* otherwise the kernel does not account it */
            c->lost = (struct gain){.estimate = counted.lost,
                                    .low = counted.lost_low,
                                    .high = counted.lost_high,
                                    .counted = true};
    } else if (is_awaited_sleep(model, c)) {
        told = gain_counted_sleep(model, c->host, loss.group, &counted);
    } else if (is_link(c) && !model_has_path(model)) {
        struct counted_link link = link_of_candidate(candidates, c);
        told = gain_counted_link(model, &link, &counted);
    }
    if (told)
        c->counted = (struct gain){.estimate = counted.gain * scale,
                                   .low = counted.gain_low * scale,
                                   .high = counted.gain_high * scale,
                                   .counted = true};
}

int candidates_tell_links(const struct run_model *model, struct candidates *found,
                          struct whatif_told *told) {
    for (size_t i = 0; i < found->n; i++)
        found->items[i].run_share = found->items[i].blocked * group_share(model, model->main_group);
    told->links = calloc(found->n + 1, sizeof *told->links);
    for (size_t i = 0; told->links && i < found->n; i++)
        if (is_link(&found->items[i]))
            told->links[told->n_links++] = link_of_candidate(found, &found->items[i]);
    return told->links ? 0 : -ENOMEM;
}

int candidates_tell_processes(const struct run_model *model, struct candidates *found,
                              struct whatif_told *told) {
    told->processes = calloc(found->n + 1, sizeof *told->processes);
    for (size_t i = 0; told->processes && i < found->n; i++) {
        const struct candidate *c = &found->items[i];
        bool sleeps = is_awaited_sleep(model, c);
        if (sleeps || is_of_process(model, c))
            told->processes[told->n_processes++] =
                (struct counted_process){c->host, sleeps, loss_of(model, c)};
    }
    return told->processes ? 0 : -ENOMEM;
}
