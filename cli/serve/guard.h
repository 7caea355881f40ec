/* SPDX-License-Identifier: MIT */
/*
 * Decides which requests are answered, by three questions in this order:
 *
 *   - Did the browser use a name of this server? If a foreign page redirects its own name to this
 *     address (DNS rebinding), the Host header still has that name.
 *   - Did a page of this server ask? Browsers say where a request comes from (Sec-Fetch-Site); from
 *     another site only links are accepted.
 *   - May this user read? On loopback every user of the host can connect, and a recording is
 *     private to its owner (mode 0600), so the kernel is asked for the connection's owner (peer.h).
 *     With a token file only the token counts, everywhere: in an Authorization header, or as a
 *     cookie. A path that is printed to the terminal gives the cookie to one browser.
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
    char address[64];   /* address listened on, without port and brackets */
    bool everywhere;    /* this means all interfaces */
    char own_name[256]; /* name of this host; "": only numbers and localhost are accepted */
    char token[GUARD_TOKEN_MAX + 1]; /* the token; "": users count */
    char session[GUARD_SECRET_SIZE]; /* value of the cookie */
    char way_in[GUARD_SECRET_SIZE];  /* the word that is valid for one browser */
    char cookie[24];                 /* name of the cookie, different for each port */
    uid_t uids[GUARD_UIDS_MAX];      /* users that may read */
    size_t n_uids;
};

/* Makes secrets. -EIO, -errno. */
int guard_init(struct guard *guard);
void guard_release(struct guard *guard); /* wipes them */

/* Adds a user that may read; twice is fine. */
void guard_allow(struct guard *guard, uid_t uid);
bool guard_is_user(const struct guard *guard, uid_t uid);

enum guard_answer {
    GUARD_WELCOME,
    GUARD_WRONG_NAME, /* the Host header names another server */
    GUARD_FOREIGN,    /* another site asks */
    GUARD_STRANGER,   /* another user, or one without the token */
};

/* The headers of a request that decide; NULL: missing. */
struct guard_visit {
    const char *host;                   /* also NULL if it is there twice */
    const char *site, *mode, *dest;     /* Sec-Fetch-... */
    const char *authorization, *cookie; /* unchanged */
    const uid_t *uid;                   /* the connection, to find its user */
};

enum guard_answer guard_judge(const struct guard *guard, const struct guard_visit *visit);

/* The first two questions alone. */
enum guard_answer guard_judge_origin(const struct guard *guard, const struct guard_visit *visit);

/* Whether the word is the valid one; if so it is used up, and a new one is made. */
bool guard_enter(struct guard *guard, const char *word);

#endif
