/* SPDX-License-Identifier: MIT */
/* Sends bodies to an engine by HTTP. */
#ifndef CHOKEPOINT_CLI_REMOTE_POST_H
#define CHOKEPOINT_CLI_REMOTE_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct post;

/* Borrowed until post_close. */
struct post_config {
    const char *url;
    const char *token;       /* NULL: none */
    const char *login;       /* "user:password"; NULL: none */
    const char *authorities; /* a file of certificates; NULL: those of the system */
};

enum post_end {
    POST_TAKEN,
    POST_LATER,   /* the engine is away or busy */
    POST_REFUSED, /* it will never take this body */
    POST_STOP     /* it takes nothing from us: wrong address, wrong token */
};

struct post_answer {
    enum post_end end;
    long status;     /* of HTTP; 0: none came */
    int64_t after_s; /* POST_LATER: what the engine asked for; 0: nothing */
    char words[256]; /* its words, or the library's; printable */
};

/* Whether the address can be used: 0, or -EINVAL with a sentence without its end. */
int post_check_url(const char *url, bool with_secret, char *why, size_t size);

/* -EINVAL, -ENOMEM. */
int post_open(const struct post_config *config, struct post **ret_post);
void post_close(struct post *post); /* takes NULL */
void post_send(struct post *post, const void *body, size_t size, struct post_answer *ret_answer);

#endif
