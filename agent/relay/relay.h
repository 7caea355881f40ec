/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-relay: stands between `chokepoint run` and the launcher (ssh, srun, mpirun) of one
 * host. It brings the agent to a host that has none of this version, and hands what that agent
 * says on its standard output to the collector, as the push of this host that it is: with this
 * host's key, which the delivered agent never sees.
 *
 * One connection: the launcher's standard streams carry a conversation with the shell script of
 * cli/launch/launch_script.c (handshake.c), then the program, then requests and answers
 * (agent/push/stream.h, pump.c). An agent that is installed there pushes by itself, and the relay
 * then only waits.
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
    bool told;        /* we were asked to end */
    char token[130];  /* the key of the host, to push with */
    char marks[130];  /* the key of the directory of marks there; "": none */
    bool silent;      /* what comes on its standard output from now on is for nobody */
    struct buffer in; /* what has come and is not taken */
};

/* ---- launcher.c ---- */

/* Starts the launcher. Negative errno. */
int relay_start(struct relay *relay, char *const *words);
/* Waits until fd is ready for `events`, or a signal came, which is taken; 1: it is ready. */
int relay_wait(struct relay *relay, int fd, short events, int timeout_ms);
/* Appends to `in` what there is, up to `size` bytes, waiting for it. 0: something came; -EPIPE:
 * nothing more will; -EINTR: a signal came first. */
int relay_read(struct relay *relay, size_t size);
/* All of it. -EPIPE, -EINTR (we were asked to end). */
int relay_write(struct relay *relay, const void *data, size_t size);
/* To standard error, all of it: ssh has the same one, and makes it non-blocking. -EPIPE: nobody
 * reads it. */
int relay_pass(const void *data, size_t size);
void relay_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void relay_close_input(struct relay *relay);
/* Until the launcher has ended; its exit status, as a shell has it. */
int relay_finish(struct relay *relay);
void relay_signal(struct relay *relay, int signal);

/* ---- handshake.c ---- */

enum relay_place { RELAY_INSTALLED, RELAY_DELIVERED, RELAY_NOWHERE };

/* Hears what is there, sends what is not. RELAY_NOWHERE: there is no agent, which has been said. */
enum relay_place relay_handshake(struct relay *relay);

/* ---- pump.c ---- */

/* Until the agent's stream ends. */
void relay_pump(struct relay *relay, const char *token);

/* ---- cksum.c ---- */

struct program {
    void *data;
    size_t size;
};

/* The checksum of POSIX cksum over the bytes of all of them, one after another. */
uint32_t relay_cksum(const struct program *programs, size_t n);

#endif
