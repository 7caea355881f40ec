/* SPDX-License-Identifier: MIT */
/*
 * Pushing the spool to the collector over HTTP, in a thread of its own, so that sampling never
 * waits for the network. push_http.c below it is the only file that uses libcurl.
 *
 * POST <url>/v1/frames once an interval with the spool's frames after the last committed one, again
 * at once while there is more. Every answer acknowledges (spool_ack), estimates the clock offset,
 * and may tell the agent to stop. Frames that cannot be delivered stay in the spool; the thread
 * retries with backoff for ever, also after a refused key: an answer of another program on that
 * port must not end the recording. Between pushes it asks the time by datagrams (echo_client.h),
 * and pushes at once when the collector calls.
 */
#ifndef CHOKEPOINT_AGENT_PUSH_H
#define CHOKEPOINT_AGENT_PUSH_H

#include <stdbool.h>
#include <stdint.h>

struct push;
struct spool;

struct push_config {
    const char *url;   /* https://HOST:PORT of the collector; copied */
    const char *pin;   /* sha256//BASE64 of its public key; copied. NULL: the url is http://, which
                          only tests and measurements want */
    const char *host;  /* whose samples they are; copied */
    const char *token; /* key of that host; copied, may be NULL; wiped in push_free */
    struct spool *spool; /* outlives the push */
    int64_t interval_ns; /* between pushes: 1 s */
    bool never_final;    /* the stream is not the host's last: no push of it says so */
    int64_t patience_ns; /* 0, or: while finishing, give up when no push was answered for so long */
    int notify_fd;       /* an eventfd that gets 1 added once the collector tells to stop; -1 */
};

/* An estimate of the collector's CLOCK_MONOTONIC minus this host's, and its bound. */
struct push_clock {
    int64_t mono_ns; /* when it was made, on this host; 0: none yet */
    int64_t offset_ns, error_ns;
};

struct push_status {
    uint64_t committed_seq;  /* as last answered; 0 before any answer */
    uint64_t pushes;         /* answered with 200 */
    uint64_t failures;       /* tries that were not */
    uint64_t refused_frames; /* frames skipped because the collector calls them bad */
    int64_t last_answer_ns;  /* CLOCK_MONOTONIC of the last 200, or of push_start before any */
    bool stop;               /* the collector told this agent to stop, */
    bool severed;            /* or there is no way to it any more */
    uint64_t unauthorized;   /* of the failures: the key was refused */
    bool final;              /* the final push has been answered with 200 */
    struct push_clock clock; /* the best estimate since the one that was pushed last */
    char trouble[160];       /* why the last try failed, one line; "" after a good one */
};

/* Loads what a push will need. Optional: a process that does it before it forks saves its children
 * the memory that initializing takes. -ENOMEM; -ELIBACC: there is no libcurl. */
int push_load(const char *url);

/* Checks the url and starts the thread. -EINVAL: the url is not http[s]://HOST[:PORT], a pin is
 * missing, or the token or host no header; -ENOMEM, -EAGAIN, ... */
int push_start(const struct push_config *config, struct push **ret_push);

/* Pushes the spool's frames at once. From any thread. */
void push_hurry(struct push *push);

/* A copy of where things stand; cheap, for every thread. */
void push_status(struct push *push, struct push_status *ret_status);

/* Nothing will be appended to the spool any more: delivers the rest, the last body with
 * Chokepoint-Final: 1 (an opening alone if nothing was left). Waits until that is answered, or
 * until deadline_ns of CLOCK_MONOTONIC, and ends the thread in either case. 0, or
 * PUSH_UNDELIVERED. */
#define PUSH_UNDELIVERED 1
int push_finish(struct push *push, int64_t deadline_ns);

/* Ends the thread if push_finish did not, giving up a transfer in flight. NULL is fine. */
void push_free(struct push *push);

#endif
