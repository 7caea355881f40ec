/* SPDX-License-Identifier: MIT */
/*
 * The pushing thread: decides what to send next, and handles the answers.
 *
 * A new thread first sends a body without frames: the answer says what the collector has already,
 * so that a restarted agent sends nothing twice. If the collector calls a body bad, it is halved
 * until the bad frame is alone and can be skipped: one bad frame costs one frame.
 */
#include "agent/push/push.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/push/echo_client.h"
#include "agent/push/exchange.h"
#include "agent/push/push_http.h"
#include "agent/push/push_reply.h"
#include "agent/push/push_tables.h"
#include "agent/spool/spool.h"
#include "common/clock.h"
#include "common/error.h"

#define BODY_BYTES (1u << 20)
#define BURST_PUSHES 4   /* bodies in an interval: catching up leaves the network to others, too */
#define WISH_INTERVALS 8 /* the collector may ask for pauses of at most so many intervals */
#define LATER_SHARE 20   /* part of an interval: half a period at ten samples a second */
#define BACKOFF_MIN_NS (200 * NS_PER_MS)
#define BACKOFF_MAX_NS (5 * NS_PER_S)
#define ASKS 4 /* questions for the time in an interval */
#define ASKS_AT_ONCE 2
#define GOOD_SHARE 4    /* an answer at most this part above the usual error ends asking */
#define FORGET_SHARE 64 /* growth of the usual error with each answer: networks change */
#define CALLS_NS (100 * NS_PER_MS) /* only one call is answered in this time */
#define STACK_BYTES (512u << 10)

struct push {
    struct push_config config; /* url, pin, host and token are not kept */
    struct push_http *http;
    pthread_t thread;
    bool joined;

    pthread_mutex_t lock; /* protects the five below */
    struct push_status status;
    bool finishing, quitting, hurried;
    int64_t deadline_ns; /* while finishing */
    int64_t heard_ns;    /* last good answer while finishing, or its begin before any */

    /* Private to the thread. */
    struct buffer body;
    size_t body_bytes;         /* the tables of the body, before they were left out */
    struct push_tables tables; /* the body's clock estimate */
    struct spool_range range;  /* frames of the body; n_frames 0: none */
    uint64_t passed_seq;       /* all frames up to it are committed or given up */
    uint64_t filled_seq;       /* the last frame when the body was filled */
    size_t body_limit;         /* less than BODY_BYTES during the search for a bad frame */
    uint64_t searched_seq;     /* the search ends behind this frame */
    bool met;                  /* this thread has had a good answer */
    int64_t next_ns;           /* from the last good answer */
    unsigned burst, tries;     /* immediate pushes; failures in a row */
    struct echo_client echo;
    int64_t usual_error_ns;          /* usual error of good answers; 0: none yet */
    int64_t ask_due_ns, call_due_ns; /* earliest time; 0: at once, however young the machine is */
    bool clock_pushed;               /* status.clock has been pushed and acknowledged */
    uint64_t random;
};

/* ---- requests of the other threads ---- */

static bool is_finishing(struct push *push) {
    pthread_mutex_lock(&push->lock);
    bool finishing = push->finishing;
    pthread_mutex_unlock(&push->lock);
    return finishing;
}

/* When to give up while finishing. Locked. */
static int64_t deadline_of(const struct push *push) {
    int64_t patient_ns = push->heard_ns + push->config.patience_ns;
    return push->config.patience_ns && patient_ns < push->deadline_ns ? patient_ns
                                                                      : push->deadline_ns;
}

static bool must_end(void *ctx) {
    struct push *push = ctx;
    pthread_mutex_lock(&push->lock);
    bool end =
        push->quitting || push->status.severed ||
        (push->finishing && (push->status.final || clock_monotonic_ns() >= deadline_of(push)));
    pthread_mutex_unlock(&push->lock);
    return end;
}

static int64_t no_later_than_deadline(struct push *push, int64_t ns) {
    pthread_mutex_lock(&push->lock);
    if (push->finishing && ns > deadline_of(push))
        ns = deadline_of(push);
    pthread_mutex_unlock(&push->lock);
    return ns;
}

static void notify(struct push *push) {
    const uint64_t one = 1;
    if (push->config.notify_fd >= 0 && write(push->config.notify_fd, &one, sizeof one) < 0)
        return; /* the counter is full: a waiting thread is awake already */
}

/* ---- the next body ---- */

static bool is_last(struct push *push) {
    struct spool_counts counts;
    if (!is_finishing(push))
        return false;
    spool_counts(push->config.spool, &counts);
    if (push->range.n_frames == 0)
        return push->met || counts.last_seq == 0;
    return push->range.last_seq >= counts.last_seq;
}

static int read_spool(struct push *push) {
    int r = SPOOL_EMPTY;
    struct spool_counts counts;
    spool_counts(push->config.spool, &counts);
    push->filled_seq = counts.last_seq;
    push->range = (struct spool_range){0};
    if (push->met)
        r = spool_read(push->config.spool, push->passed_seq, push->body_limit, &push->body,
                       &push->range);
    if (r != SPOOL_EMPTY)
        return r;
    push->range = (struct spool_range){0};
    return spool_header(push->config.spool, &push->body);
}

static int fill_body(struct push *push) {
    int r = read_spool(push);
    push->body_bytes = push->body.size;
    if (r == 0)
        push_tables_shorten(&push->tables, &push->body);
    return r;
}

/* ---- the answer ---- */

static void fail(struct push *push, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct push *push, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&push->lock);
    push->status.failures++;
    vsnprintf(push->status.trouble, sizeof push->status.trouble, format, arguments);
    pthread_mutex_unlock(&push->lock);
    va_end(arguments);
}

/* The first line of a refusal, made printable. */
static void fail_with_answer(struct push *push, const struct push_answer *answer) {
    char line[100];
    text_sanitize(line, sizeof line, answer->text, strcspn(answer->text, "\r\n"));
    fail(push, "the collector answers %ld%s%s", answer->status, line[0] ? ": " : "", line);
}

/* Locked. Keeps the best estimate that was not pushed yet. */
static void offer_clock(struct push *push, int64_t heard_ns, const struct exchange_result *result) {
    struct push_clock *clock = &push->status.clock;
    if (clock->mono_ns && !push->clock_pushed && clock->error_ns <= result->error_ns)
        return;
    *clock = (struct push_clock){heard_ns, result->offset_ns, result->error_ns};
    push->clock_pushed = false;
}

/* Locked. */
static void note_clock(struct push *push, const struct push_answer *answer,
                       const struct push_reply *reply) {
    const struct exchange exchange = {answer->sent_ns, reply->received_ns, reply->replied_ns,
                                      answer->heard_ns};
    struct exchange_result result;
    push->clock_pushed = true;
    if (exchange_solve(&exchange, &result))
        offer_clock(push, answer->heard_ns, &result);
}

static void note_success(struct push *push, const struct push_answer *answer,
                         const struct push_reply *reply, bool final) {
    pthread_mutex_lock(&push->lock);
    struct push_status *status = &push->status;
    bool stops_now = reply->stop && !status->stop;
    status->pushes++;
    status->committed_seq = reply->committed;
    status->last_answer_ns = push->heard_ns = clock_monotonic_ns();
    status->stop |= reply->stop;
    status->final |= final;
    status->trouble[0] = '\0';
    note_clock(push, answer, reply);
    pthread_mutex_unlock(&push->lock);
    if (stops_now)
        notify(push);
}

static int64_t backoff_ns(struct push *push) {
    int64_t ns = BACKOFF_MIN_NS << (push->tries < 5 ? push->tries : 5);
    if (ns > BACKOFF_MAX_NS)
        ns = BACKOFF_MAX_NS;
    push->tries++;
    push->random = push->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ns / 2 + (int64_t)((push->random >> 33) % (uint64_t)(ns / 2));
}

/* 0: go on at the usual pace; else the ns to wait before the next try. */
static int64_t take_success(struct push *push, const struct push_answer *answer, bool final) {
    struct push_reply reply;
    if (push_reply_parse(answer->text, &reply) < 0) {
        fail(push, "the answer is not one of a collector");
        return backoff_ns(push);
    }
    struct spool_counts counts;
    spool_counts(push->config.spool, &counts);
    if (reply.committed > counts.last_seq) {
        fail(push, "the collector claims frame %" PRIu64 ", which was never taken",
             reply.committed);
        return backoff_ns(push);
    }
    if (push->range.n_frames && reply.committed < push->range.last_seq) {
        fail(push, "the collector took frames to %" PRIu64 " and has committed to %" PRIu64,
             push->range.last_seq, reply.committed);
        return backoff_ns(push);
    }
    note_success(push, answer, &reply, final);
    push_tables_learn(&push->tables, reply.tables);
    push->next_ns = reply.next_ns;
    echo_client_point(&push->echo, answer->address, answer->port, reply.echo_key);
    spool_ack(push->config.spool, reply.committed);
    if (!push->met || reply.committed > push->passed_seq)
        push->passed_seq = reply.committed;
    if (push->passed_seq >= push->searched_seq)
        push->body_limit = BODY_BYTES;
    push->met = true;
    push->tries = 0;
    return 0;
}

/* Answers 400 and 413. */
static int64_t take_refusal(struct push *push, const struct push_answer *answer) {
    fail_with_answer(push, answer);
    if (push->range.n_frames == 0)
        return backoff_ns(push); /* the refusal is not about a frame: skipping one would not help */
    if (push->range.last_seq > push->searched_seq)
        push->searched_seq = push->range.last_seq;
    if (push->range.n_frames > 1) {
        push->body_limit = push->body_bytes / 2;
        return 0;
    }
    spool_refuse(push->config.spool, push->range.last_seq);
    push->passed_seq = push->range.last_seq;
    pthread_mutex_lock(&push->lock);
    push->status.refused_frames++;
    pthread_mutex_unlock(&push->lock);
    return 0;
}

/* Keeps trying: another program may have answered, and the collector may be back at the next
 * try. */
static int64_t take_unauthorized(struct push *push, const struct push_answer *answer) {
    fail_with_answer(push, answer);
    pthread_mutex_lock(&push->lock);
    push->status.unauthorized++;
    pthread_mutex_unlock(&push->lock);
    return backoff_ns(push);
}

/* Answer 409. */
static int64_t take_unknown_tables(struct push *push, const struct push_answer *answer) {
    if (push_tables_forget(&push->tables))
        return 0;
    fail_with_answer(push, answer);
    return backoff_ns(push);
}

static int64_t take_push_answer(struct push *push, const struct push_answer *answer, bool final) {
    switch (answer->status) {
    case 200:
        return take_success(push, answer, final);
    case 400:
    case 413:
        return take_refusal(push, answer);
    case 409:
        return take_unknown_tables(push, answer);
    case 401:
        return take_unauthorized(push, answer);
    default:
        fail_with_answer(push, answer);
        return backoff_ns(push);
    }
}

/* The relay is gone, or does not listen: the agent stops, and its frames are kept. */
static int64_t take_severed(struct push *push, const char *why) {
    fail(push, "%s", why);
    pthread_mutex_lock(&push->lock);
    push->status.severed = push->status.stop = true;
    pthread_mutex_unlock(&push->lock);
    notify(push);
    return 0;
}

/* ---- the thread ---- */

static const char *clock_header(struct push *push, char *text, size_t size) {
    pthread_mutex_lock(&push->lock);
    struct push_clock clock = push->status.clock;
    pthread_mutex_unlock(&push->lock);
    if (clock.mono_ns == 0 || push->clock_pushed || push->config.no_clock)
        return NULL;
    snprintf(text, size, "%" PRId64 " %" PRId64 " %" PRId64, clock.mono_ns, clock.offset_ns,
             clock.error_ns);
    return text;
}

/* One push. 0, or the ns to wait before the next try. */
static int64_t push_once(struct push *push) {
    char clock[72];
    struct push_answer answer;
    int r = fill_body(push);
    if (r < 0) {
        fail(push, "the spool cannot be read: %s", strerror(-r));
        return backoff_ns(push);
    }
    bool final = is_last(push);
    const struct push_request request = {.body = &push->body,
                                         .clock = clock_header(push, clock, sizeof clock),
                                         .final = final && !push->config.never_final,
                                         .give_up = must_end,
                                         .ctx = push};
    r = push_http_post(push->http, &request, &answer);
    if (r == 0)
        return take_push_answer(push, &answer, final);
    if (r == -EPIPE)
        return take_severed(push, answer.why);
    if (r != -ECANCELED)
        fail(push, "%s", answer.why);
    return backoff_ns(push);
}

static bool has_more(struct push *push) {
    struct spool_counts counts;
    spool_counts(push->config.spool, &counts);
    return counts.last_seq > push->passed_seq;
}

/* The time of the next push. begun_ns: when the last interval began.
 *
 * The first sample is pushed at once, so pushes coincide with samples, and a sample taken during a
 * push would cause a second push each time. It waits for the next interval, which begins a little
 * later; after that samples are there in time. A collector of many hosts names the time of the next
 * push, which is accepted up to WISH_INTERVALS. */
static int64_t next_push_ns(struct push *push, int64_t wait_ns, int64_t *begun_ns) {
    int64_t now_ns = clock_monotonic_ns();
    bool left_over = push->filled_seq > push->passed_seq;
    if (wait_ns > 0)
        return now_ns + wait_ns;
    if (is_finishing(push) || (left_over && ++push->burst < BURST_PUSHES))
        return now_ns;
    push->burst = 0;
    if (push->next_ns > 0 && push->next_ns <= WISH_INTERVALS * push->config.interval_ns)
        return *begun_ns = now_ns + push->next_ns;
    *begun_ns += push->config.interval_ns;
    if (!left_over && has_more(push))
        *begun_ns += push->config.interval_ns / LATER_SHARE;
    if (*begun_ns < now_ns)
        *begun_ns = now_ns;
    return *begun_ns;
}

static bool take_hurry(struct push *push) {
    pthread_mutex_lock(&push->lock);
    bool hurried = push->hurried;
    push->hurried = false;
    pthread_mutex_unlock(&push->lock);
    return hurried && has_more(push);
}

/* Whether more answers would hardly be better: in a quiet network the first is good; in others the
 * best of several is needed. */
static bool is_good(struct push *push, int64_t error_ns) {
    int64_t usual_ns = push->usual_error_ns + push->usual_error_ns / FORGET_SHARE + 1;
    bool good = push->usual_error_ns && error_ns <= usual_ns + usual_ns / GOOD_SHARE;
    push->usual_error_ns = usual_ns > 1 && usual_ns < error_ns ? usual_ns : error_ns;
    return good;
}

/* Asks for the time when it is due, and takes the answers. True if the collector calls. */
static bool hear(struct push *push) {
    struct echo_heard heard;
    int64_t now_ns = clock_monotonic_ns();
    echo_client_hear(&push->echo, &heard);
    if (heard.exchanged) {
        pthread_mutex_lock(&push->lock);
        offer_clock(push, heard.heard_ns, &heard.result);
        pthread_mutex_unlock(&push->lock);
        if (is_good(push, heard.result.error_ns))
            push->ask_due_ns = now_ns + push->config.interval_ns;
    }
    if (push->echo.fd >= 0 && now_ns >= push->ask_due_ns) {
        push->ask_due_ns = now_ns + push->config.interval_ns / ASKS;
        echo_client_ask(&push->echo, ASKS_AT_ONCE);
    }
    if (!heard.called || now_ns < push->call_due_ns)
        return false;
    push->call_due_ns = now_ns + CALLS_NS;
    return true;
}

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Waits. The begin of a finish ends the wait, so that its first try is made at once; a call or
 * push_now() ends it, too: true then. */
static bool wait_until(struct push *push, int64_t ns, bool *was_finishing) {
    while (!must_end(push) && clock_monotonic_ns() < ns) {
        bool finishing = is_finishing(push);
        if (finishing && !*was_finishing) {
            *was_finishing = true;
            push->tries = 0;
            return false;
        }
        bool heard = hear(push), hurried = take_hurry(push);
        if (heard || hurried)
            return true;
        int64_t ask_ns = push->echo.fd < 0 ? ns : push->ask_due_ns;
        push_http_wait(push->http, no_later_than_deadline(push, earlier(ns, ask_ns)),
                       push->echo.fd);
    }
    return false;
}

static void *push_main(void *arg) {
    struct push *push = arg;
    bool was_finishing = false;
    int64_t begun_ns = clock_monotonic_ns();
    while (!must_end(push)) {
        int64_t wait_ns = push_once(push);
        if (wait_until(push, next_push_ns(push, wait_ns, &begun_ns), &was_finishing))
            begun_ns = clock_monotonic_ns();
    }
    return NULL;
}

/* ---- calls from other threads ---- */

/* Signals belong to the main thread. */
static int start_thread(struct push *push) {
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&push->thread, &attributes, push_main, push);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}

static void release(struct push *push) {
    push_http_close(push->http);
    echo_client_release(&push->echo);
    buffer_release(&push->body);
    push_tables_release(&push->tables);
    pthread_mutex_destroy(&push->lock);
    free(push);
}

int push_start(const struct push_config *config, struct push **ret_push) {
    struct push *push = calloc(1, sizeof *push);
    if (!push)
        return -ENOMEM;
    push->config = *config;
    push->config.url = push->config.pin = push->config.host = push->config.token = NULL;
    push->body_limit = BODY_BYTES;
    push->status.last_answer_ns = clock_monotonic_ns();
    push->random = (uint64_t)clock_wall_ns() ^ (uint64_t)getpid() << 32;
    buffer_init(&push->body);
    echo_client_init(&push->echo);
    pthread_mutex_init(&push->lock, NULL);
    int r = push_http_open(config, &push->http);
    if (r == 0)
        r = start_thread(push);
    if (r)
        release(push);
    else
        *ret_push = push;
    return r;
}

void push_hurry(struct push *push) {
    pthread_mutex_lock(&push->lock);
    push->hurried = true;
    pthread_mutex_unlock(&push->lock);
    push_http_wake(push->http);
}

void push_status(struct push *push, struct push_status *ret_status) {
    pthread_mutex_lock(&push->lock);
    *ret_status = push->status;
    pthread_mutex_unlock(&push->lock);
}

static void join(struct push *push) {
    if (push->joined)
        return;
    push_http_wake(push->http);
    pthread_join(push->thread, NULL);
    push->joined = true;
}

void push_keep_open(struct push *push) {
    pthread_mutex_lock(&push->lock);
    push->config.never_final = true;
    pthread_mutex_unlock(&push->lock);
}

int push_finish(struct push *push, int64_t deadline_ns) {
    pthread_mutex_lock(&push->lock);
    push->finishing = true;
    push->deadline_ns = deadline_ns;
    push->heard_ns = clock_monotonic_ns();
    pthread_mutex_unlock(&push->lock);
    join(push);
    return push->status.final ? 0 : PUSH_UNDELIVERED;
}

void push_free(struct push *push) {
    if (!push)
        return;
    pthread_mutex_lock(&push->lock);
    push->quitting = true;
    pthread_mutex_unlock(&push->lock);
    join(push);
    release(push);
}
