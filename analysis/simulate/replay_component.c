/* SPDX-License-Identifier: MIT */
/*
 * Finds the flows whose rates must be computed anew. A flow's rate depends on the flows that share
 * a link with it, on those that share a link with these, and so on; links without a limit connect
 * nothing. So these are the connected components of what has changed.
 */
#include <errno.h>
#include <math.h>

#include "analysis/simulate/replay_run.h"

int replay_components_init(struct run *run) {
    struct components *c = &run->components;
    size_t links = 2 * run->p->model->n_hosts, pairs = run->p->n_pairs;
    c->at = calloc(links + 1, sizeof(struct replay_flow *));
    c->begun = calloc(pairs + 1, sizeof(struct replay_flow *));
    c->changed = calloc(pairs + 1, sizeof(struct replay_flow *));
    c->links = calloc(links + 1, sizeof *c->links);
    c->is_listed = calloc(links + 1, sizeof *c->is_listed);
    return c->at && c->begun && c->changed && c->links && c->is_listed ? 0 : -ENOMEM;
}

void replay_components_release(struct run *run) {
    free(run->components.at);
    free(run->components.begun);
    free(run->components.changed);
    free(run->components.links);
    free(run->components.is_listed);
}

/* The link that a flow crosses on its sender's side (0) or its receiver's side (1). */
static size_t link_of_flow(const struct run *run, const struct replay_flow *flow, int side) {
    return side ? run->p->model->n_hosts + flow->to_host : flow->from_host;
}

void replay_component_change(struct run *run, size_t link) {
    struct components *c = &run->components;
    if (c->is_listed[link])
        return;
    c->is_listed[link] = true;
    c->links[c->n_links++] = (uint32_t)link;
}

/* A link without a limit connects no flows. */
static void change_links(struct run *run, const struct replay_flow *flow) {
    for (int side = 0; side < 2; side++) {
        size_t link = link_of_flow(run, flow, side);
        if (isfinite(run->capacity[link]))
            replay_component_change(run, link);
    }
}

void replay_component_begin(struct run *run, struct replay_flow *flow) {
    struct components *c = &run->components;
    for (int side = 0; side < 2; side++) {
        struct replay_flow **first = &c->at[link_of_flow(run, flow, side)];
        flow->next[side] = *first;
        flow->before[side] = NULL;
        if (*first)
            (*first)->before[side] = flow;
        *first = flow;
    }
    if (!flow->begun)
        c->begun[c->n_begun++] = flow;
    flow->begun = flow->moves = true;
}

void replay_component_end(struct run *run, struct replay_flow *flow) {
    struct components *c = &run->components;
    for (int side = 0; side < 2; side++) {
        struct replay_flow *next = flow->next[side], *before = flow->before[side];
        *(before ? &before->next[side] : &c->at[link_of_flow(run, flow, side)]) = next;
        if (next)
            next->before[side] = before;
    }
    flow->moves = false;
    change_links(run, flow);
}

static void add_found_flow(struct run *run, struct replay_flow *flow) {
    struct components *c = &run->components;
    if (!flow->moves || flow->found)
        return;
    flow->found = true;
    c->changed[c->n_changed++] = flow;
    change_links(run, flow);
}

void replay_components_find(struct run *run) {
    struct components *c = &run->components;
    size_t hosts = run->p->model->n_hosts;
    c->n_changed = 0;
    for (size_t i = 0; i < c->n_begun; i++) {
        c->begun[i]->begun = false;
        add_found_flow(run, c->begun[i]);
    }
    for (size_t i = 0; i < c->n_links; i++) { /* the list grows during the loop */
        uint32_t link = c->links[i];
        for (struct replay_flow *f = c->at[link]; f; f = f->next[link >= hosts])
            add_found_flow(run, f);
    }
    for (size_t i = 0; i < c->n_links; i++)
        c->is_listed[c->links[i]] = false;
    for (size_t i = 0; i < c->n_changed; i++)
        c->changed[i]->found = false;
    c->n_begun = c->n_links = 0;
}
