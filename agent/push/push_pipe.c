/* SPDX-License-Identifier: MIT */
/*
 * Pushes of a delivered agent: over its standard output to the relay that started it, with answers
 * on standard input (agent/push/stream.h). It replaces push_http.c.
 *
 * The two streams belong to the process, so their state does, too, behind one lock: at the end two
 * threads push samples and single events. If a record cannot be completed, nobody can read the
 * stream any more: it is given up for good, and frames stay in the spool.
 */
#include "agent/push/push_http.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/push/push.h"
#include "agent/push/stream.h"
#include "common/clock.h"
#include "common/error.h"

#define POLL_MS 250 /* deadlines are checked this often */
#define ANSWER_NS (60 * NS_PER_S)
#define ANSWER_RECORD_MAX 2048

struct push_http {
    int wake_fd;
};

static struct {
    pthread_mutex_t lock;
    uint64_t number; /* number of the last request */
    struct buffer head;
    uint8_t came[ANSWER_RECORD_MAX];
    size_t n_came;
    bool broken;
} streams = {.lock = PTHREAD_MUTEX_INITIALIZER};

int push_load(const char *url) {
    (void)url;
    return 0;
}

/* Both streams are the agent's own pipes: no other process is affected when they become
 * non-blocking. */
int push_http_open(const struct push_config *config, struct push_http **ret_http) {
    struct push_http *http = calloc(1, sizeof *http);
    (void)config;
    if (!http)
        return -ENOMEM;
    http->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (http->wake_fd < 0) {
        free(http);
        return negative_errno();
    }
    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    *ret_http = http;
    return 0;
}

void push_http_close(struct push_http *http) {
    if (!http)
        return;
    close(http->wake_fd);
    free(http);
}

void push_http_wake(struct push_http *http) {
    const uint64_t one = 1;
    if (write(http->wake_fd, &one, sizeof one) < 0)
        return; /* the counter is full: it is awake already */
}

static void rest(struct push_http *http) {
    uint64_t count;
    if (read(http->wake_fd, &count, sizeof count) < 0)
        return; /* it was not woken */
}

void push_http_wait(struct push_http *http, int64_t until_ns, int fd) {
    int64_t left_ns = until_ns - clock_monotonic_ns();
    struct pollfd fds[] = {{.fd = http->wake_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    if (left_ns > 0)
        poll(fds, 2, (int)(left_ns / NS_PER_MS) + 1);
    rest(http);
}

/* ---- one request ---- */

struct post {
    struct push_http *http;
    const struct push_request *request;
    int64_t until_ns;
};

/* 0 once fd is ready; -ECANCELED, -ETIMEDOUT. */
static int await(const struct post *post, int fd, short events) {
    for (;;) {
        struct pollfd fds[] = {{.fd = fd, .events = events},
                               {.fd = post->http->wake_fd, .events = POLLIN}};
        if (poll(fds, 2, POLL_MS) > 0 && fds[0].revents)
            return 0;
        rest(post->http);
        if (post->request->give_up(post->request->ctx))
            return -ECANCELED;
        if (clock_monotonic_ns() >= post->until_ns)
            return -ETIMEDOUT;
    }
}

static int send_all(const struct post *post, const uint8_t *data, size_t size) {
    while (size) {
        ssize_t n = write(STDOUT_FILENO, data, size);
        int r = n < 0 && errno == EAGAIN  ? await(post, STDOUT_FILENO, POLLOUT)
                : n < 0 && errno != EINTR ? negative_errno()
                                          : 0;
        if (r < 0)
            return r;
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int send_request(const struct post *post) {
    const struct buffer *body = post->request->body;
    buffer_reset(&streams.head);
    int r = stream_put_request(&streams.head, ++streams.number, post->request);
    if (r < 0)
        return r;
    r = send_all(post, streams.head.data, streams.head.size);
    if (r == 0)
        r = send_all(post, body->data, body->size);
    if (r < 0) /* also when aborted: the record is incomplete */
        streams.broken = true;
    return r;
}

/* 0: took an answer from the received bytes; STREAM_MORE. */
static int take_record(uint64_t *ret_number, struct push_answer *ret_answer) {
    size_t size;
    int r = stream_read_answer(streams.came, streams.n_came, ret_number, ret_answer, &size);
    if (r == 0) {
        streams.n_came -= size;
        memmove(streams.came, streams.came + size, streams.n_came);
    }
    return r;
}

static int read_more(const struct post *post) {
    size_t n_came = streams.n_came;
    if (n_came >= sizeof streams.came) /* every answer is shorter */
        return -EBADMSG;
    ssize_t n = read(STDIN_FILENO, streams.came + n_came, sizeof streams.came - n_came);
    if (n > 0)
        return streams.n_came += (size_t)n, 0;
    if (n < 0 && errno == EINTR)
        return 0;
    return n < 0 && errno == EAGAIN ? await(post, STDIN_FILENO, POLLIN) : -EPIPE;
}

/* Skips the answer to an earlier request that was aborted. */
static int receive_answer(const struct post *post, struct push_answer *ret_answer) {
    struct push_answer answer;
    uint64_t number = 0;
    int64_t sent_ns = ret_answer->sent_ns;
    do {
        int r = take_record(&number, &answer);
        if (r == STREAM_MORE) {
            number = 0;
            r = read_more(post);
        }
        if (r == -EPIPE || r == -EBADMSG)
            streams.broken = true;
        if (r < 0)
            return r;
    } while (number != streams.number);
    *ret_answer = answer;
    ret_answer->sent_ns = sent_ns;
    ret_answer->heard_ns = clock_monotonic_ns();
    return 0;
}

static int converse(const struct post *post, struct push_answer *answer) {
    answer->sent_ns = clock_monotonic_ns();
    int r = streams.broken ? -EPIPE : send_request(post);
    if (r == 0)
        r = receive_answer(post, answer);
    if (r == 0)
        return answer->status ? 0 : -EIO;
    if (r != -ECANCELED)
        snprintf(answer->why, sizeof answer->why, "%s",
                 r == -ETIMEDOUT ? "the relay does not answer" : "the way to the relay has ended");
    return streams.broken ? -EPIPE : r == -ECANCELED ? r : -EIO;
}

int push_http_post(struct push_http *http, const struct push_request *request,
                   struct push_answer *ret_answer) {
    const struct post post = {http, request, clock_monotonic_ns() + ANSWER_NS};
    *ret_answer = (struct push_answer){0};
    pthread_mutex_lock(&streams.lock);
    int r = converse(&post, ret_answer);
    pthread_mutex_unlock(&streams.lock);
    return r;
}
