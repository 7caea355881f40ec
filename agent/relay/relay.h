/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-relay: stands between `chokepoint run` and the launcher (ssh, srun, mpirun) of one
 * host. It brings the agent to a host that lacks this version, and passes the agent's pushes from
 * its standard output to the collector. It pushes with the host's key, which the delivered agent
 * never sees.
 *
 * One connection: the launcher's standard streams carry a conversation with the shell script of
 * cli/launch/launch_script.c (handshake.c), then the program, then requests and answers
 * (agent/push/stream.h, pump.c). An installed agent pushes by itself; the relay then only waits.
 */
#ifndef CHOKEPOINT_AGENT_RELAY_H
#define CHOKEPOINT_AGENT_RELAY_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/buffer.h"
#include "common/secret.h"

struct relay {
    const char *host, *collector, *pin;
    const char *directory; /* of ARCHITECTURE/chokepoint-agent */
    int to, from;          /* pipes to and from the launcher; to: -1 once closed */
    int signal_fd;
    pid_t child;      /* the launcher; 0 once it has ended, */
    int status;       /* with this status of waitpid */
    bool told;        /* the relay was asked to end */
    char token[130];  /* the key of the host for pushes */
    char marks[130];  /* the key of its directory of marks; "": none */
    bool silent;      /* further standard output of the launcher is discarded */
    struct buffer in; /* bytes received and not used yet */
};

/* ---- launcher.c ---- */

/* Starts the launcher. Negative errno. */
int relay_start(struct relay *relay, char *const *words);
/* Waits until fd is ready for `events`, or handles a signal. 1: fd is ready. */
int relay_wait(struct relay *relay, int fd, short events, int timeout_ms);
/* Waits for bytes and appends up to `size` of them to `in`. 0: some came; -EPIPE: the stream ended;
 * -EINTR: a signal came first. */
int relay_read(struct relay *relay, size_t size);
/* Writes all. -EPIPE, -EINTR (the relay was asked to end). */
int relay_write(struct relay *relay, const void *data, size_t size);
/* Writes all to standard error, which ssh shares and makes non-blocking. -EPIPE: nobody reads
 * it. */
int relay_pass(const void *data, size_t size);
void relay_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void relay_close_input(struct relay *relay);
/* Waits for the launcher's end. Returns its exit status as a shell gives it. */
int relay_finish(struct relay *relay);
void relay_signal(struct relay *relay, int signal);

/* ---- handshake.c ---- */

enum relay_place { RELAY_INSTALLED, RELAY_DELIVERED, RELAY_NOWHERE };

/* Finds the host's agent, and sends one if needed. RELAY_NOWHERE: there is none; the user was
 * told. */
enum relay_place relay_handshake(struct relay *relay);

/* ---- pump.c ---- */

/* Passes pushes until the agent's stream ends. */
void relay_pump(struct relay *relay, const char *token);

/* ---- cksum.c ---- */

struct program {
    void *data;
    size_t size;
};

/* The checksum of POSIX cksum over all pieces in order. */
uint32_t relay_cksum(const struct program *programs, size_t n);

#endif
