/* SPDX-License-Identifier: MIT */
/*
 * Pushes the spool to the collector over HTTP in a thread of its own, so that sampling never waits
 * for the network. Only push_http.c below it uses libcurl.
 *
 * POST <url>/v1/frames once an interval with the spool's frames after the last committed one, again
 * at once while there are more. Every answer acknowledges frames (spool_ack), estimates the clock
 * offset, and may ask the agent to stop. Undelivered frames stay in the spool. The thread retries
 * with backoff for ever, even after a refused key: an answer of another program on that port must
 * not end the recording. Between pushes it asks for the time by datagrams (echo_client.h), and
 * pushes at once when the collector calls.
 */
#ifndef CHOKEPOINT_AGENT_PUSH_H
#define CHOKEPOINT_AGENT_PUSH_H

#include <stdbool.h>
#include <stdint.h>

struct push;
struct spool;

struct push_config {
    const char *url;     /* https://HOST:PORT of the collector; copied */
    const char *pin;     /* sha256//BASE64 of its public key; copied. NULL: http://, for tests */
    const char *host;    /* name of the samples' host; copied */
    const char *token;   /* key of that host; copied, may be NULL; wiped in push_free */
    struct spool *spool; /* must outlive the push */
    int64_t interval_ns; /* between pushes: 1 s */
    bool never_final;    /* not the host's last stream: no push of it is final */
    bool no_clock;       /* the frames are of another time: nothing is said about the clock now */
    int64_t patience_ns; /* 0, or: while finishing, give up after so long without an answer */
    int notify_fd;       /* an eventfd that gets 1 added when the collector asks to stop; -1 */
};

/* An estimate of the collector's CLOCK_MONOTONIC minus this host's, with its bound. */
struct push_clock {
    int64_t mono_ns; /* time of the estimate on this host; 0: none yet */
    int64_t offset_ns, error_ns;
};

struct push_status {
    uint64_t committed_seq;  /* status of the last answer; 0 before any */
    uint64_t pushes;         /* pushes answered with 200 */
    uint64_t failures;       /* other tries */
    uint64_t refused_frames; /* frames skipped because the collector calls them bad */
    int64_t last_answer_ns;  /* CLOCK_MONOTONIC of the last 200, or of push_start before any */
    bool stop;               /* the collector asked this agent to stop, */
    bool severed;            /* or it cannot be reached any more */
    uint64_t unauthorized;   /* failures with a refused key */
    bool final;              /* the final push was answered with 200 */
    struct push_clock clock; /* the best estimate that was not pushed yet */
    char trouble[160];       /* why the last try failed, one line; "" after success */
};

/* Loads the libraries of a push. Optional: a process that calls it before it forks saves its
 * children this memory. -ENOMEM; -ELIBACC: there is no libcurl. */
int push_load(const char *url);

/* Checks the url and starts the thread. -EINVAL: the url is not http[s]://HOST[:PORT], a pin is
 * missing, or the token or host is no valid header; -ENOMEM, -EAGAIN, ... */
int push_start(const struct push_config *config, struct push **ret_push);

/* Pushes the spool's frames at once. From any thread. */
void push_hurry(struct push *push);

/* A copy of the present status; cheap, for every thread. */
void push_status(struct push *push, struct push_status *ret_status);

/* Another stream of the host follows: no push of this one will be final. Call it before
 * push_finish. */
void push_keep_open(struct push *push);

/* Delivers the rest of the spool, to which nothing more will be appended. The last body has
 * Chokepoint-Final: 1 (an opening alone if nothing was left). Waits for its answer, or until
 * deadline_ns of CLOCK_MONOTONIC, and ends the thread in either case. 0, or PUSH_UNDELIVERED. */
#define PUSH_UNDELIVERED 1
int push_finish(struct push *push, int64_t deadline_ns);

/* Ends the thread if push_finish did not, and aborts a transfer. Takes NULL. */
void push_free(struct push *push);

#endif
