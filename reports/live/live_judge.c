/* SPDX-License-Identifier: MIT */
/*
 * The run so far, judged in the background. It is read anew each time, by a connection of its own,
 * without single calls (they come when the command has ended) and in rows of a second: for 20 hosts
 * and an hour that takes seconds, not minutes. A thread that judges outlives whoever asked, so that
 * nobody has to wait for it: the last of the two frees what they share.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/verdict/judgement.h"
#include "common/clock.h"
#include "common/error.h"
#include "reports/live/live_private.h"
#include "reports/model/input.h"
#include "reports/words/candidate_words.h"
#include "reports/words/verdict_words.h"

#define JUDGE_NICE 10

struct live_judge {
    char *database; /* owned */
    int64_t run;
    bool ended;                 /* what the thread is to judge */
    struct live_judged *result; /* owned: the newest that was taken */
    bool done;                  /* the whole run is judged */
    int64_t next_ns;            /* not earlier, by the monotonic clock */
    pthread_mutex_t lock;       /* over what follows */
    pthread_cond_t idle;
    unsigned users; /* who asks, and the thread */
    bool busy;
    struct live_judged *fresh; /* owned: not taken yet */
    int64_t cost_ns;
};

static void judged_free(struct live_judged *judged) {
    if (!judged)
        return;
    for (size_t h = 0; judged->hosts && h < judged->n_hosts; h++)
        free(judged->hosts[h]);
    for (size_t b = 0; judged->processes && b < judged->n_budgets; b++)
        free(judged->processes[b]);
    free(judged->hosts);
    free(judged->processes);
    free(judged->ceilings);
    free(judged->budgets);
    free(judged->what);
    free(judged->summary);
    free(judged);
}

/* ---- what is kept of a judgement ---- */

static int keep_hosts(struct live_judged *to, const struct run_model *model) {
    to->hosts = calloc(model->n_hosts + 1, sizeof *to->hosts);
    to->ceilings = malloc((4 * model->n_hosts + 1) * sizeof *to->ceilings);
    if (!to->hosts || !to->ceilings)
        return -ENOMEM;
    for (size_t h = 0; h < model->n_hosts; h++, to->n_hosts++) {
        double *ceilings = to->ceilings + 4 * h;
        ceilings[0] = network_known_rate(model, (int)h, METRIC_NET_SEND);
        ceilings[1] = network_known_rate(model, (int)h, METRIC_NET_RECV);
        ceilings[2] = recording_ceiling(model->recording, (int)h, METRIC_DISK_READ);
        ceilings[3] = recording_ceiling(model->recording, (int)h, METRIC_DISK_WRITE);
        if (!(to->hosts[h] = strdup(model->hosts[h].name)))
            return -ENOMEM;
    }
    return 0;
}

static int keep_budgets(struct live_judged *to, const struct run_model *model) {
    const struct rank_budgets *budgets = &model->budgets;
    size_t n = budgets->n < LIVE_RANKS_MAX ? budgets->n : LIVE_RANKS_MAX;
    to->budgets = calloc(n + 1, sizeof *to->budgets);
    to->processes = calloc(n + 1, sizeof *to->processes);
    if (!to->budgets || !to->processes)
        return -ENOMEM;
    for (size_t r = 0; r < n; r++) {
        const struct rank_budget *from = &budgets->items[r];
        const struct budget *all = &from->groups[0];
        if (!(all->wall_s > 0))
            continue;
        struct live_budget *budget = &to->budgets[to->n_budgets];
        *budget = (struct live_budget){.host = from->host,
                                       .rank = from->rank,
                                       .pid = from->pid,
                                       .wall_s = all->wall_s,
                                       .unknown_s = all->unknown_s};
        memcpy(budget->term_s, all->term_s, sizeof budget->term_s);
        to->processes[to->n_budgets] = strdup(from->process ? from->process : "");
        if (!to->processes[to->n_budgets])
            return -ENOMEM;
        to->n_budgets++;
    }
    return 0;
}

static int keep_limit(struct live_judged *to, const struct judgement *judgement) {
    const struct verdict *v = &judgement->verdict;
    struct verdict_words words;
    bool blames = verdict_blames(v->state) && v->candidate;
    int result = verdict_say(judgement->model, v, &words);
    if (result < 0)
        return result;
    to->limit = (struct live_limit){.known = true,
                                    .too_short = v->too_short,
                                    .state = v->state,
                                    .confidence = v->confidence,
                                    .host = v->host,
                                    .rank = v->rank,
                                    .gain = v->gain};
    to->what = blames ? candidate_words(judgement->model, v->candidate) : NULL;
    to->summary = strdup(words.summary ? words.summary : "");
    verdict_words_release(&words);
    return to->summary && (to->what || !blames) ? 0 : -ENOMEM;
}

static int keep(struct live_judged *to, const struct report_input *input, bool ended,
                const struct judgement *judgement) {
    int result = keep_limit(to, judgement);
    if (result == 0)
        result = keep_hosts(to, judgement->model);
    to->limit.at_s = (double)input->recording.duration_ns / 1e9;
    to->limit.final = ended;
    return result < 0 ? result : keep_budgets(to, judgement->model);
}

static int judge_input(const struct report_input *input, bool ended,
                       struct live_judged **ret_judged) {
    struct run_model model;
    struct judgement judgement;
    struct live_judged *judged = NULL;
    int result = model_build(&input->recording, &model);
    if (result < 0)
        return result;
    result = judgement_make(&model, &judgement);
    if (result == 0) {
        judged = calloc(1, sizeof *judged);
        result = judged ? keep(judged, input, ended, &judgement) : -ENOMEM;
        judgement_release(&judgement);
    }
    model_release(&model);
    if (result < 0)
        judged_free(judged);
    else
        *ret_judged = judged;
    return result;
}

static int judge_run(const struct live_judge *judge, struct live_judged **ret_judged) {
    struct store *store;
    struct report_input input;
    char which[32];
    int result = store_open_read(judge->database, &store, NULL, 0);
    if (result < 0)
        return result;
    snprintf(which, sizeof which, "%lld", (long long)judge->run);
    result = report_load(store, which, judge->ended ? REPORT_CALLS : REPORT_SECONDS, &input);
    store_close(store);
    if (result < 0)
        return result;
    result = judge_input(&input, judge->ended, ret_judged);
    report_input_release(&input);
    return result;
}

/* ---- the thread ---- */

static void leave(struct live_judge *judge) {
    pthread_mutex_lock(&judge->lock);
    bool last = --judge->users == 0;
    pthread_mutex_unlock(&judge->lock);
    if (!last)
        return;
    pthread_cond_destroy(&judge->idle);
    pthread_mutex_destroy(&judge->lock);
    judged_free(judge->result);
    judged_free(judge->fresh);
    free(judge->database);
    free(judge);
}

/* A run that cannot be judged now may be later, so the last result stays. */
static void judge_once(struct live_judge *judge) {
    struct live_judged *judged = NULL;
    int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    judge_run(judge, &judged);
    pthread_mutex_lock(&judge->lock);
    judge->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    if (judged) {
        judged_free(judge->fresh);
        judge->fresh = judged;
    }
    judge->busy = false;
    pthread_cond_broadcast(&judge->idle);
    pthread_mutex_unlock(&judge->lock);
}

static void *judge_thread(void *ctx) {
    setpriority(PRIO_PROCESS, (id_t)gettid(), JUDGE_NICE);
    judge_once(ctx);
    leave(ctx);
    return NULL;
}

static int start(struct live_judge *judge) {
    pthread_attr_t attributes;
    pthread_t thread;
    judge->busy = true;
    judge->users++;
    int error = pthread_attr_init(&attributes);
    if (!error) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        error = pthread_create(&thread, &attributes, judge_thread, judge);
        pthread_attr_destroy(&attributes);
    }
    if (error) {
        judge->busy = false;
        judge->users--;
    }
    return -error;
}

/* ---- who asks ---- */

int live_judge_new(const char *database, int64_t run, struct live_judge **ret_judge) {
    struct live_judge *judge = calloc(1, sizeof *judge);
    if (!judge)
        return -ENOMEM;
    *judge = (struct live_judge){.database = strdup(database), .run = run, .users = 1};
    pthread_mutex_init(&judge->lock, NULL); /* without attributes neither fails (pthreads(7)) */
    pthread_cond_init(&judge->idle, NULL);
    if (!judge->database) {
        live_judge_free(judge);
        return -ENOMEM;
    }
    *ret_judge = judge;
    return 0;
}

void live_judge_free(struct live_judge *judge) {
    if (judge)
        leave(judge);
}

/* After so much work, when the next is due; sooner while there is no answer yet. */
static int64_t rest_ns(const struct live_judge *judge) {
    bool early = !judge->result || judge->result->limit.too_short;
    double rest = (double)judge->cost_ns / LIVE_JUDGE_SHARE;
    double least = (early ? 1 : LIVE_JUDGE_EVERY_S) * 1e9;
    return (int64_t)(rest > least ? rest : least);
}

/* With the lock held. */
static void take_fresh(struct live_judge *judge) {
    if (!judge->fresh)
        return;
    judged_free(judge->result);
    judge->result = judge->fresh;
    judge->fresh = NULL;
    judge->next_ns = clock_monotonic_ns() + rest_ns(judge);
    judge->done = judge->result->limit.final;
}

const struct live_judged *live_judge_ask(struct live_judge *judge, bool ended) {
    pthread_mutex_lock(&judge->lock);
    take_fresh(judge);
    bool due = !judge->busy && !judge->done &&
               (clock_monotonic_ns() >= judge->next_ns || (ended && !judge->ended));
    if (due) {
        judge->ended = ended;
        judge->next_ns = clock_monotonic_ns() + rest_ns(judge);
        start(judge);
    }
    pthread_mutex_unlock(&judge->lock);
    return judge->result;
}

int live_judge_wait(struct live_judge *judge, bool ended) {
    pthread_mutex_lock(&judge->lock);
    while (judge->busy)
        pthread_cond_wait(&judge->idle, &judge->lock);
    judge->busy = true;
    judge->ended = ended;
    pthread_mutex_unlock(&judge->lock);
    judge_once(judge);
    pthread_mutex_lock(&judge->lock);
    bool good = judge->fresh;
    take_fresh(judge);
    pthread_mutex_unlock(&judge->lock);
    return good ? 0 : -EIO;
}
