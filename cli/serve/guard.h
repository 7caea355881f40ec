/* SPDX-License-Identifier: MIT */
/*
 * Decides which requests are answered, by three questions in this order:
 *
 *   - Was the browser told to come here by a name of ours? A page of somebody else's that turns its
 *     own name to this address (DNS rebinding) still says that name in its Host header.
 *   - Was it a page of ours that asked? Browsers say where a request comes from (Sec-Fetch-Site);
 *     from elsewhere only a link may lead here.
 *   - May this user read? On loopback every user of the host can connect, and a recording is
 *     private to its owner (mode 0600), so the kernel is asked for the connection's owner (peer.h).
 *     With a token file it is the token that counts, everywhere: in an Authorization header, or as
 *     a cookie, which a path printed to the terminal gives to one browser.
 */
#ifndef CHOKEPOINT_CLI_SERVE_GUARD_H
#define CHOKEPOINT_CLI_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GUARD_TOKEN_MIN 16 /* characters */
#define GUARD_TOKEN_MAX 128
#define GUARD_SECRET_SIZE 33 /* 128 bits in hexadecimal */
#define GUARD_UIDS_MAX 4

struct guard {
    char address[64];   /* that we listen on, without port and brackets */
    bool everywhere;    /* it is the address of all interfaces */
    char own_name[256]; /* of this host; "": only numbers and localhost are names of ours */
    char token[GUARD_TOKEN_MAX + 1]; /* "": it is users that count */
    char session[GUARD_SECRET_SIZE]; /* the cookie's value */
    char way_in[GUARD_SECRET_SIZE];  /* the word that is good for one browser */
    char cookie[24];                 /* its name, which differs from port to port */
    uid_t uids[GUARD_UIDS_MAX];      /* users that are answered */
    size_t n_uids;
};

/* Makes secrets. -EIO, -errno. */
int guard_init(struct guard *guard);
void guard_release(struct guard *guard); /* wipes them */

/* A user that is answered; twice is fine. */
void guard_allow(struct guard *guard, uid_t uid);
bool guard_is_user(const struct guard *guard, uid_t uid);

enum guard_answer {
    GUARD_WELCOME,
    GUARD_WRONG_NAME, /* the Host header is not of ours */
    GUARD_FOREIGN,    /* another site asks */
    GUARD_STRANGER,   /* another user, or one without the token */
};

/* The headers of a request that decide; NULL: it has none. */
struct guard_visit {
    const char *host;                   /* NULL also when it is there twice */
    const char *site, *mode, *dest;     /* Sec-Fetch-... */
    const char *authorization, *cookie; /* as they came */
    const uid_t *uid;                   /* whose connection it is */
};

enum guard_answer guard_judge(const struct guard *guard, const struct guard_visit *visit);

/* The first two questions alone. */
enum guard_answer guard_judge_origin(const struct guard *guard, const struct guard_visit *visit);

/* Whether the word is the way in; another one is made, if so, and this one is good no more. */
bool guard_enter(struct guard *guard, const char *word);

#endif
