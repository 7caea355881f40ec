/* SPDX-License-Identifier: MIT */
/*
 * Judges the run so far in the background. It is read anew each time, through a separate
 * connection, without single calls (they come when the command has ended) and in rows of a second:
 * for 20 hosts and an hour that takes seconds, not minutes. The judging thread may outlive its
 * caller, so that the caller need not wait for it: whichever ends last frees what they share.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"
#include "reports/live/live_private.h"
#include "reports/model/input.h"

#define JUDGE_NICE 10
#define WAIT_S 120 /* seconds for the thread, which judges a run so far */

struct live_judge {
    char *database;             /* owned */
    struct caller caller;       /* with the run; its texts outlive all */
    bool ended;                 /* whether the thread judges an ended run */
    struct live_judged *result; /* owned: the latest taken result */
    bool done;                  /* the whole run was judged */
    int64_t next_ns;            /* earliest next begin, by the monotonic clock */
    pthread_mutex_t lock;       /* protects the members below */
    pthread_cond_t idle;
    unsigned users; /* the caller and the thread */
    bool busy;
    struct live_judged *fresh; /* owned: result not taken yet */
    int64_t cost_ns;
};

static int judge_run(const struct live_judge *judge, struct live_judged **ret_judged) {
    struct store *store;
    struct report_input input;
    char which[32];
    int result = store_open_read(judge->database, &store, NULL, 0);
    if (result < 0)
        return result;
    snprintf(which, sizeof which, "%lld", (long long)judge->caller.run);
    result = report_load(store, which, judge->ended ? REPORT_CALLS : REPORT_SECONDS, &input);
    store_close(store);
    if (result < 0)
        return result;
    result = live_judged_make(&input, &judge->caller, judge->ended, ret_judged);
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
    live_judged_free(judge->result);
    live_judged_free(judge->fresh);
    free(judge->database);
    free(judge);
}

/* A run that cannot be judged now may be judged later, so the last result stays. */
static void judge_once(struct live_judge *judge) {
    struct live_judged *judged = NULL;
    int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    judge_run(judge, &judged);
    pthread_mutex_lock(&judge->lock);
    judge->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    if (judged) {
        live_judged_free(judge->fresh);
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

int live_judge_new(const char *database, const struct caller *caller,
                   struct live_judge **ret_judge) {
    struct live_judge *judge = calloc(1, sizeof *judge);
    if (!judge)
        return -ENOMEM;
    *judge = (struct live_judge){.database = strdup(database), .caller = *caller, .users = 1};
    pthread_mutex_init(&judge->lock,
                       NULL); /* without attributes neither call fails (pthreads(7)) */
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

int64_t live_judge_rest_ns(int64_t cost_ns, bool early) {
    double rest = (double)cost_ns / LIVE_JUDGE_SHARE;
    double least = (early ? 1 : LIVE_JUDGE_EVERY_S) * 1e9;
    return (int64_t)(rest > least ? rest : least);
}

static int64_t rest_ns(const struct live_judge *judge) {
    bool early = !judge->result || judge->result->limit.too_short;
    return live_judge_rest_ns(judge->cost_ns, early);
}

/* The lock must be held. */
static void take_fresh(struct live_judge *judge) {
    if (!judge->fresh)
        return;
    live_judged_free(judge->result);
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
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_S;
    pthread_mutex_lock(&judge->lock);
    while (judge->busy)
        if (pthread_cond_clockwait(&judge->idle, &judge->lock, CLOCK_MONOTONIC, &until)) {
            pthread_mutex_unlock(&judge->lock);
            return -ETIMEDOUT;
        }
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
