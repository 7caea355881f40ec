/* SPDX-License-Identifier: MIT */
/*
 * A failed transaction loses every push in it. So a group that fails for a reason of its own (not a
 * full disk) is tried again push by push: a bad push of one host then costs the others nothing.
 */
#include "collector/writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_age.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/limits.h"

#define GROUP_BYTES (16u << 20) /* bytes of the pushes that share a transaction */
/* A commit syncs, and writes every table's last page. With many hosts more pushes share one; a
 * push that is waited for is not held back. */
#define COMMIT_SOON_NS (25 * NS_PER_MS)
#define COMMIT_EVERY_NS (200 * NS_PER_MS)
#define MANY_HOSTS 32
#define REFUSALS_EVERY_NS (2 * NS_PER_S)
/* Packing between two commits: pushes wait so long. With many hosts there is more to pack, and a
 * commit takes longer, too. */
#define AGE_NS (50 * NS_PER_MS)
#define AGE_MANY_NS (100 * NS_PER_MS)
#define AGE_AGAIN_NS (60 * NS_PER_S) /* after a failure */

static const char *const refusal_names[REFUSED_COUNT_] = {
    [REFUSED_UNAUTHORIZED] = "unauthorized",
    [REFUSED_BAD_FRAME] = "bad_frame",
    [REFUSED_TOO_LARGE] = "too_large",
    [REFUSED_BAD_REQUEST] = "bad_request",
    [REFUSED_BUSY] = "busy",
    [REFUSED_TABLE_ROWS] = "table_rows",
};

/* Each trouble is reported once. */
enum trouble {
    TROUBLE_FULL,
    TROUBLE_MOVED,
    TROUBLE_DEVICE,
    TROUBLE_STORE,
    TROUBLE_MEMORY,
    TROUBLE_BOUND,
    TROUBLE_COUNT_
};

struct writer {
    struct writer_options options;
    struct ingest *ingest;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct write_job *first, **last; /* the queue; under lock */
    size_t queued_bytes;             /* under lock */
    bool hurried;                    /* a push in the queue is waited for; under lock */
    bool idle;                       /* the thread waits for a first push; under lock */
    bool draining;                   /* under lock */
    bool joined;
    atomic_uint_fast64_t refused[REFUSED_COUNT_];
    int64_t refusals_written_ns, commit_begun_ns;
    struct aging *aging;   /* owned; NULL: samples stay as they are */
    bool ages;             /* there is something to pack; for the thread alone, as the next */
    int64_t ages_again_ns; /* after a failure; 0: there was none */
    uint64_t n_hosts;      /* that have pushed; for the thread alone */
    bool told[TROUBLE_COUNT_];
};

/* ---- events ---- */

static void tell(struct writer *w, const char *word, const char *text, const char *more) {
    char line[1300];
    snprintf(line, sizeof line, "%s %s%s%s", word, text, *more ? " " : "", more);
    for (char *p = line; *p; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    w->options.event(w->options.event_ctx, line);
}

/* The store cannot be written at all: single pushes would fail, too. */
static bool is_everybodys(int error) {
    return error == -ENOSPC || error == -EDQUOT || error == -EIO || error == -EROFS ||
           error == -ENOMEM || error == -ESTALE;
}

static void tell_trouble(struct writer *w, int error) {
    enum trouble kind = error == -ENOSPC || error == -EDQUOT ? TROUBLE_FULL
                        : error == -ESTALE                   ? TROUBLE_MOVED
                        : error == -ENOMEM                   ? TROUBLE_MEMORY
                        : is_everybodys(error)               ? TROUBLE_DEVICE
                                                             : TROUBLE_STORE;
    if (w->told[kind])
        return;
    w->told[kind] = true;
    char text[1200];
    bool limited = error == -EIO && limits_file_size() != UINT64_MAX;
    if (kind == TROUBLE_MOVED)
        snprintf(text, sizeof text, "%s", store_error(w->options.store));
    else
        snprintf(text, sizeof text, "the database cannot be written: %s (%s)%s", strerror(-error),
                 store_error(w->options.store),
                 limited ? "; it may have grown to the limit of file sizes (ulimit -f)" : "");
    tell(w, is_everybodys(error) ? "unwritable" : "trouble", text, "");
}

/* The run has no room for this host or stream: its agent waits and loses nothing. */
static void tell_bound(struct writer *w, const struct ingest_push *push) {
    char text[400];
    if (w->told[TROUBLE_BOUND])
        return;
    w->told[TROUBLE_BOUND] = true;
    snprintf(text, sizeof text, "%s: %s; its agent keeps its samples and tries again", push->host,
             push->why);
    tell(w, "trouble", text, "");
}

static void tell_committed(struct writer *w, const struct write_job *job) {
    const struct ingest_push *push = &job->push;
    if (ingest_committed(w->ingest, push))
        tell(w, "host", push->host, "");
    if (push->note[0])
        tell(w, "trouble", push->note, "");
    char number[24];
    if (push->events && push->rows) {
        snprintf(number, sizeof number, "%" PRIu64, push->rows);
        tell(w, "events", push->host, number);
    }
    if (push->final) {
        snprintf(number, sizeof number, "%" PRIu64, push->committed);
        tell(w, "final", push->host, number);
    }
}

/* ---- one transaction ---- */

static bool is_refusal(int result) {
    return result == -EBADMSG || result == -EUSERS || result == -ENODATA;
}

/* A damaged or unreadable database is not the fault of a push: its agent keeps its frames and tries
 * again. A refusal would discard them. */
static int of_store(int result) {
    return result == -EBADMSG ? -EIO : result;
}

/* 0, also for a refused push; any other result spoils the transaction. */
static int write_one(struct writer *w, struct write_job *job) {
    job->result = ingest_check(w->ingest, &job->push);
    if (job->result == 0)
        job->result = of_store(ingest_write(w->ingest, &job->push));
    if (job->result == -ENODATA) /* the agent sends it again at once, with its tables */
        return 0;
    if (!is_refusal(job->result))
        return job->result;
    writer_refused(w, job->result == -EUSERS ? REFUSED_BUSY : REFUSED_BAD_FRAME);
    if (job->result == -EUSERS)
        tell_bound(w, &job->push);
    return 0;
}

/* A push holds about a second, and its agent keeps it until the commit: waits a moment, so that
 * more pushes share one. Under the lock. */
static void pace_commits(struct writer *w) {
    int r = 0;
    while (r == 0 && !w->draining && w->queued_bytes < GROUP_BYTES) {
        bool soon = w->hurried || w->n_hosts < MANY_HOSTS;
        int64_t at_ns = w->commit_begun_ns + (soon ? COMMIT_SOON_NS : COMMIT_EVERY_NS);
        const struct timespec at = {at_ns / NS_PER_S, at_ns % NS_PER_S};
        if (clock_monotonic_ns() >= at_ns)
            return;
        r = pthread_cond_timedwait(&w->wake, &w->lock, &at);
    }
}

static int write_all(struct writer *w, struct write_job *jobs) {
    int r = of_store(store_begin(w->options.store));
    if (r)
        return r;
    for (struct write_job *job = jobs; job && r == 0; job = job->next)
        r = write_one(w, job);
    if (r == 0)
        r = of_store(store_commit(w->options.store));
    if (r) {
        tell_trouble(w, r);
        store_rollback(w->options.store);
    }
    return r;
}

static void fail_all(struct write_job *jobs, int error) {
    for (struct write_job *job = jobs; job; job = job->next) {
        if (is_refusal(job->result))
            continue;
        job->result = error;
        snprintf(job->push.why, sizeof job->push.why, "the database cannot be written: %s",
                 error == -ESTALE ? "it was moved or removed" : strerror(-error));
    }
}

static void write_each(struct writer *w, struct write_job *jobs) {
    for (struct write_job *job = jobs, *next; job; job = next) {
        next = job->next;
        job->next = NULL;
        int r = write_all(w, job);
        if (r)
            fail_all(job, r);
        job->next = next;
    }
}

static void commit_group(struct writer *w, struct write_job *jobs) {
    w->commit_begun_ns = clock_monotonic_ns();
    int r = write_all(w, jobs);
    if (r && jobs->next && !is_everybodys(r))
        write_each(w, jobs);
    else if (r)
        fail_all(jobs, r);
    for (struct write_job *job = jobs, *next; job; job = next) {
        next = job->next;
        if (job->result == 0) {
            atomic_fetch_add(&w->refused[REFUSED_TABLE_ROWS], job->push.refused_rows);
            w->n_hosts = job->push.n_hosts;
            tell_committed(w, job);
        }
        job->done(job); /* the submitter may have freed it */
    }
}

/* ---- refusals ---- */

void writer_refused(struct writer *writer, enum refusal refusal) {
    atomic_fetch_add(&writer->refused[refusal], 1);
}

static int write_refusals(struct writer *w, const uint64_t counts[REFUSED_COUNT_]) {
    int r = store_begin(w->options.store);
    if (r)
        return r;
    for (size_t i = 0; i < REFUSED_COUNT_ && r == 0; i++)
        if (counts[i])
            r = store_run_refused(w->options.store, w->options.run, refusal_names[i],
                                  (int64_t)counts[i]);
    if (r == 0)
        r = store_commit(w->options.store);
    if (r)
        store_rollback(w->options.store);
    return r;
}

static void flush_refusals(struct writer *w) {
    uint64_t counts[REFUSED_COUNT_], sum = 0;
    for (size_t i = 0; i < REFUSED_COUNT_; i++)
        sum += counts[i] = atomic_exchange(&w->refused[i], 0);
    w->refusals_written_ns = clock_monotonic_ns();
    if (sum == 0 || write_refusals(w, counts) == 0)
        return;
    for (size_t i = 0; i < REFUSED_COUNT_; i++)
        atomic_fetch_add(&w->refused[i], counts[i]);
}

/* ---- the thread ---- */

/* Takes jobs up to GROUP_BYTES, at least one. */
static struct write_job *take_group(struct writer *w) {
    struct write_job *jobs = w->first, **end = &w->first;
    size_t size = 0;
    for (; *end && (end == &w->first || size < GROUP_BYTES); end = &(*end)->next)
        size += (*end)->push.size;
    w->queued_bytes -= size;
    w->first = *end;
    if (!w->first) {
        w->last = &w->first;
        w->hurried = false;
    }
    if (end != &w->first)
        *end = NULL;
    return jobs;
}

static struct write_job *wait_for_group(struct writer *w, bool *ret_draining) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += w->ages ? 0 : REFUSALS_EVERY_NS / NS_PER_S;
    pthread_mutex_lock(&w->lock);
    int r = 0;
    w->idle = true;
    while (!w->first && !w->draining && r == 0)
        r = pthread_cond_timedwait(&w->wake, &w->lock, &until);
    w->idle = false;
    if (w->first)
        pace_commits(w);
    struct write_job *jobs = take_group(w);
    *ret_draining = w->draining;
    pthread_mutex_unlock(&w->lock);
    return jobs;
}

/* Checked while idle, too, so that a moved file is reported at once. */
static void look_at_file(struct writer *w) {
    int r = store_check_file(w->options.store);
    if (r)
        tell_trouble(w, r);
}

/* Rows that are held back, of streams whose last push never came. */
static void settle(struct writer *w) {
    int r = store_begin(w->options.store);
    if (r == 0) {
        store_settle_all(w->options.store);
        r = store_commit(w->options.store);
    }
    if (r) {
        tell_trouble(w, of_store(r));
        store_rollback(w->options.store);
    }
}

/* Packs samples that are old enough. */
static void age(struct writer *w) {
    int64_t now_ns = clock_monotonic_ns();
    w->ages = w->aging && now_ns >= w->ages_again_ns && aging_is_due(w->aging, now_ns);
    int64_t budget_ns = w->n_hosts < MANY_HOSTS ? AGE_NS : AGE_MANY_NS;
    int r = w->ages ? of_store(aging_step(w->aging, now_ns, budget_ns)) : 0;
    if (!r)
        return;
    tell_trouble(w, r);
    w->ages = false;
    w->ages_again_ns = now_ns + AGE_AGAIN_NS;
}

static void *writer_main(void *arg) {
    struct writer *w = arg;
    struct write_job *jobs;
    bool draining;
    while ((jobs = wait_for_group(w, &draining)) || !draining) {
        if (jobs)
            commit_group(w, jobs);
        else
            look_at_file(w);
        if (!draining)
            age(w);
        if (clock_monotonic_ns() - w->refusals_written_ns >= REFUSALS_EVERY_NS)
            flush_refusals(w);
    }
    flush_refusals(w);
    if (w->n_hosts)
        settle(w);
    return NULL;
}

static int init_locks(struct writer *w) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int error = pthread_cond_init(&w->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (error == 0 && (error = pthread_mutex_init(&w->lock, NULL)))
        pthread_cond_destroy(&w->wake);
    return -error;
}

static void release_writer(struct writer *w) {
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    ingest_free(w->ingest);
    aging_free(w->aging);
    free(w);
}

int writer_start(const struct writer_options *options, struct writer **ret_writer) {
    struct writer *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->options = *options;
    w->last = &w->first;
    int r = init_locks(w);
    if (r) {
        free(w);
        return r;
    }
    r = ingest_new(options->store, options->run, &w->ingest);
    if (r == 0 && options->pack_after_ns)
        r = aging_new(options->store, options->run, options->pack_after_ns, &w->aging);
    if (r == 0)
        r = -pthread_create(&w->thread, NULL, writer_main, w);
    if (r)
        release_writer(w);
    else
        *ret_writer = w;
    return r;
}

/* The thread is woken only if the push changes what it waits for. */
int writer_submit(struct writer *writer, struct write_job *job) {
    pthread_mutex_lock(&writer->lock);
    bool taken = !writer->draining;
    if (taken) {
        bool hurries = job->soon && !writer->hurried;
        job->next = NULL;
        *writer->last = job;
        writer->last = &job->next;
        writer->queued_bytes += job->push.size;
        writer->hurried |= job->soon;
        if (writer->idle || hurries || writer->queued_bytes >= GROUP_BYTES)
            pthread_cond_signal(&writer->wake);
    }
    pthread_mutex_unlock(&writer->lock);
    return taken ? 0 : -ESHUTDOWN;
}

void writer_drain(struct writer *writer) {
    if (writer->joined)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->draining = true;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    writer->joined = true;
}

void writer_free(struct writer *writer) {
    if (!writer)
        return;
    writer_drain(writer);
    release_writer(writer);
}
