/* SPDX-License-Identifier: MIT */
/*
 * Ranks that exchange data through a collective wait for the one whose GPU is slowest. Equal cards
 * at equal work run at about the same clock: one that is held down, by power, heat or for a reason
 * that it does not tell, holds up all others. Which rank calls last does not show it, as calls only
 * give work to GPUs.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/gpu_private.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(PEER_CLOCK, 0.9, "of its peers' clock",                                                 \
           "a card this slow holds them up; equal cards at one power limit differ by a few "       \
           "percent")                                                                              \
    NUMBER(PEER_CAPPED, 0.5, "of the time", "a cap that lasts this long explains the clock")       \
    NUMBER(PEER_OTHERS_WAIT, 0.5, "of this card's busy time",                                      \
           "its peers' cards are busy: they do as much work, or wait for it on the card")
#define OWN_REMARKS                                                                                \
    REMARK(GPU_SLOWER_THAN_PEERS,                                                                  \
           "all ranks wait in their collectives for rank %.0f, whose GPU %s runs at %.0f %% of "   \
           "the others' clock%[| (its power limit)| (heat)]",                                      \
           SLOTS("rank", "of the others' clock, %", "1 unknown, 2 power, 3 heat"), SLOTS("GPU"))   \
    REMARK(GPU_PEER_CLOCKS, "%s: %.0f MHz while waited for, in the median of %.0f others %.0f",    \
           SLOTS("MHz", "cards", "MHz"), SLOTS("GPU"))                                             \
    REMARK(GPU_PEER_ERRORS, "%s reported %.0f errors (Xid, uncorrected memory)", SLOTS("errors"),  \
           SLOTS("GPU"))                                                                           \
    REMARK(GPU_PEER_TELLS_NO_REASON, "the card tells no reason for its clock", SLOTS(), SLOTS())   \
    REMARK(ADVISE_GPU_PEER,                                                                        \
           "bring %s of %s to the clock of its peers (`nvidia-smi -q -d CLOCK,POWER,TEMPERATURE` " \
           "there): its power limit, its cooling, or another card",                                \
           SLOTS(), SLOTS("GPU", "host"))
#include "analysis/causes/own.h"

struct card {
    struct gpu_use use;
    double clock, busy;
};

/* "gpu0 NVIDIA H200 GPU-id driver 1": the model is what stands between the card's name and id. */
static const char *model_of(const struct card *card, size_t *ret_size) {
    const char *name = card->use.device ? card->use.device->name + strlen(card->use.gpu->name) : "";
    const char *id = strstr(name, " GPU-");
    *ret_size = id ? (size_t)(id - name) : strlen(name);
    return name;
}

static bool is_same_model(const struct card *a, const struct card *b) {
    size_t size, other_size;
    const char *model = model_of(a, &size), *other = model_of(b, &other_size);
    return size == other_size && memcmp(model, other, size) == 0;
}

/* A rank that does as much on an equal card. */
static bool is_peer(const struct run_model *model, const struct card *a, const struct card *b) {
    double most = gpu_fact(model, &a->use, GPU_DEVICE_SM_CLOCK);
    double other = gpu_fact(model, &b->use, GPU_DEVICE_SM_CLOCK);
    return a != b && a->use.gpu != b->use.gpu && is_same_model(a, b) &&
           (isnan(most) || isnan(other) || most == other) &&
           b->busy >= number_of(model, PEER_OTHERS_WAIT) * a->busy;
}

static size_t find_cards(const struct run_model *model, size_t group, struct card *cards) {
    size_t n = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        struct card *card = &cards[n];
        if (model->budgets.items[r].rank < 0 || !gpu_use_by(model, group, r, &card->use))
            continue;
        card->clock = card->use.waiting.mean[GPU_FIGURE_CLOCK];
        card->busy = card->use.waiting.mean[GPU_FIGURE_BUSY];
        n += card->clock > 0 && card->busy > 0;
    }
    return n;
}

static double clock_of_peers(const struct run_model *model, const struct card *cards, size_t n,
                             size_t card, double *room, size_t *ret_n) {
    *ret_n = 0;
    for (size_t p = 0; p < n; p++)
        if (is_peer(model, &cards[card], &cards[p]))
            room[(*ret_n)++] = cards[p].clock;
    return *ret_n ? stats_median(room, *ret_n) : NAN;
}

/* Ranks that are in step wait for this card whichever of them the path goes through. */
static double demand_of_all(const struct run_model *model, size_t group) {
    double sum = 0;
    for (int h = 0; h < (int)model->n_hosts; h++)
        sum += fmax(model_demand(model, group, h, BUDGET_GPU), 0);
    return fmin(sum, 1);
}

static int reason_of(const struct run_model *model, const struct card *card) {
    const double *mean = card->use.waiting.mean;
    double least = number_of(model, PEER_CAPPED);
    return mean[GPU_FIGURE_HEAT_CAP] >= least ? 3 : mean[GPU_FIGURE_POWER_CAP] >= least ? 2 : 1;
}

static double errors_of(const struct run_model *model, const struct card *card) {
    const struct series_set *set = &model->recording->tables[RECORDING_GPU];
    struct windows span = {&card->use.span, 1};
    return fmax(series_growth(set, card->use.gpu, GPU_XIDS, span, NULL), 0) +
           fmax(series_growth(set, card->use.gpu, GPU_ECC_UNCORRECTED, span, NULL), 0);
}

static bool add_slower(const struct run_model *model, size_t group, const struct card *card,
                       double others, size_t n, struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[card->use.who];
    double demand = demand_of_all(model, group);
    double ratio = card->clock / others, errors = errors_of(model, card);
    const char *name = card->use.gpu->name;
    struct candidate c = gpu_awaited_in_part(group, b->host, CAUSE_GPU_PEER, demand, 1 - ratio);
    int reason = reason_of(model, card);
    c.rank = b->rank;
    c.saturated = true;
    remark_set(&c.cause, GPU_SLOWER_THAN_PEERS, NUMBERS(b->rank, 100 * ratio, reason), NAMES(name));
    remarks_add(&c.evidence, GPU_PEER_CLOCKS, NUMBERS(card->clock / 1e6, (double)n, others / 1e6),
                NAMES(name));
    if (errors > 0)
        remarks_add(&c.evidence, GPU_PEER_ERRORS, NUMBERS(errors), NAMES(name));
    if (reason == 1)
        remarks_add(&c.against, GPU_PEER_TELLS_NO_REASON, NUMBERS(), NAMES());
    gpu_tell_work(model, &card->use, &card->use.waiting, &c.evidence);
    return candidates_add(candidates, &c);
}

/* The slowest of them: the others wait for it alone. */
static int look_at_cards(const struct run_model *model, size_t group, struct card *cards,
                         double *room, struct candidates *candidates) {
    size_t n = find_cards(model, group, cards), slowest = SIZE_MAX, n_peers;
    if (demand_of_all(model, group) < number_of(model, BLOCKED_MIN))
        return 0;
    double least = number_of(model, PEER_CLOCK);
    for (size_t c = 0; c < n; c++) {
        double ratio = cards[c].clock / clock_of_peers(model, cards, n, c, room, &n_peers);
        if (!(ratio < least))
            continue;
        least = ratio;
        slowest = c;
    }
    if (slowest == SIZE_MAX)
        return 0;
    double others = clock_of_peers(model, cards, n, slowest, room, &n_peers);
    return add_slower(model, group, &cards[slowest], others, n_peers, candidates) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t n = model->budgets.n;
    if (n < 2 || !model->budgets.groups)
        return 0; /* no rank waits for another in a collective */
    struct card *cards = malloc((n + 1) * sizeof *cards);
    double *room = malloc((n + 1) * sizeof *room);
    int result = cards && room ? look_at_cards(model, group, cards, room, candidates) : -ENOMEM;
    free(cards);
    free(room);
    return result;
}

static void advise(const struct advised *advised) {
    const char *name = advised->c->cause.names[0];
    remarks_add(advised->next, ADVISE_GPU_PEER, NUMBERS(), NAMES(name, advised->host));
}

const struct cause cause_gpu_peer = {
    .name = "gpu-peer",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_PEER,
    .needs = 1u << SOURCE_CLOCKS | 1u << SOURCE_CALLS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "ranks wait in a collective for the one whose GPU is slower than theirs",
    .detect = detect,
    .advise = advise,
};
