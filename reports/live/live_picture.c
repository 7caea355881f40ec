/* SPDX-License-Identifier: MIT */
/* The picture's texts, and the judgement in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/live/live_private.h"

const char *live_keep(struct live_picture *picture, const char *text, size_t size) {
    size_t n = picture->texts.n;
    text_list_add(&picture->texts, "%.*s", (int)size, text);
    return picture->texts.n > n ? picture->texts.items[n] : NULL;
}

void live_picture_release(struct live_picture *picture) {
    struct live_snapshot *snapshot = &picture->snapshot;
    for (size_t h = 0; snapshot->hosts && h < snapshot->n_hosts; h++) {
        free(snapshot->hosts[h].core_pct);
        free(snapshot->hosts[h].core_number);
        free(snapshot->hosts[h].gpus);
    }
    free(snapshot->hosts);
    free(snapshot->processes);
    free(snapshot->pairs);
    free(snapshot->budgets);
    free(picture->place);
    text_list_release(&picture->texts);
    *picture = (struct live_picture){0};
}

/* ---- what was judged ---- */

/* The index of the snapshot's host with that name; -1. Hosts may have been added since. */
static int find_host(const struct live_snapshot *snapshot, const char *name) {
    size_t low = 0, high = snapshot->n_hosts;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strverscmp(snapshot->hosts[middle].name, name);
        if (order == 0)
            return (int)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static int place_of(const struct live_snapshot *snapshot, const struct live_judged *judged,
                    int host) {
    return host < 0 || (size_t)host >= judged->n_hosts ? -1
                                                       : find_host(snapshot, judged->hosts[host]);
}

static void fill_ceilings(struct live_snapshot *snapshot, const struct live_judged *judged) {
    for (size_t h = 0; h < judged->n_hosts; h++) {
        int at = find_host(snapshot, judged->hosts[h]);
        const double *ceilings = judged->ceilings + 4 * h;
        if (at < 0)
            continue;
        snapshot->hosts[at].send_ceiling_mb_s = ceilings[0];
        snapshot->hosts[at].receive_ceiling_mb_s = ceilings[1];
        snapshot->hosts[at].read_ceiling_mb_s = ceilings[2];
        snapshot->hosts[at].write_ceiling_mb_s = ceilings[3];
    }
}

/* A view that began late has not seen what GPUs have. */
static void fill_gpu_facts(struct live_picture *picture, const struct live_judged *judged) {
    for (size_t h = 0; h < judged->n_hosts; h++) {
        int at = find_host(&picture->snapshot, judged->hosts[h]);
        struct live_host *host = at < 0 ? NULL : &picture->snapshot.hosts[at];
        for (size_t g = 0; host && g < host->n_gpus; g++) {
            char model[GPU_MODEL_MAX];
            if (*host->gpus[g].model)
                continue;
            live_gpu_facts(&judged->devices, (int)h, &host->gpus[g], model);
            const char *kept = live_keep(picture, model, strlen(model));
            host->gpus[g].model = kept ? kept : "";
        }
    }
}

static const char *keep_text(struct live_picture *picture, const char *text) {
    return text ? live_keep(picture, text, strlen(text)) : "";
}

static void fill_limit(struct live_picture *picture, const struct live_judged *judged) {
    struct live_limit *limit = &picture->snapshot.limit;
    *limit = judged->limit;
    limit->host = place_of(&picture->snapshot, judged, judged->limit.host);
    limit->what = judged->what ? keep_text(picture, judged->what) : NULL;
    limit->summary = keep_text(picture, judged->summary);
    limit->words = keep_text(picture, judged->words);
    limit->worth = keep_text(picture, judged->worth);
    limit->action = keep_text(picture, judged->action);
}

struct live_limit live_limit_unknown(void) {
    return (struct live_limit){.state = VERDICT_INSUFFICIENT,
                               .host = -1,
                               .rank = -1,
                               .summary = "",
                               .gain = NAN,
                               .words = "",
                               .worth = "",
                               .action = ""};
}

int live_fill_judged(struct live_picture *picture, const struct live_judged *judged) {
    struct live_snapshot *snapshot = &picture->snapshot;
    snapshot->limit = live_limit_unknown();
    if (!judged)
        return 0;
    fill_limit(picture, judged);
    snapshot->past = judged->past.n ? &judged->past : NULL;
    fill_ceilings(snapshot, judged);
    fill_gpu_facts(picture, judged);
    snapshot->budgets = calloc(judged->n_budgets + 1, sizeof *snapshot->budgets);
    if (!snapshot->budgets)
        return -ENOMEM;
    for (size_t b = 0; b < judged->n_budgets; b++) {
        struct live_budget *to = &snapshot->budgets[snapshot->n_budgets];
        *to = judged->budgets[b];
        to->host = place_of(snapshot, judged, to->host);
        to->process = live_keep(picture, judged->processes[b], strlen(judged->processes[b]));
        snapshot->n_budgets += to->host >= 0;
    }
    return 0;
}
