/* SPDX-License-Identifier: MIT */
/* Answers of the page: to each path of route.h, for requests that guard.h lets in. */
#ifndef CHOKEPOINT_CLI_SERVE_SITE_H
#define CHOKEPOINT_CLI_SERVE_SITE_H

#include <stdbool.h>

#include "cli/serve/feeds.h"
#include "cli/serve/guard.h"
#include "cli/serve/http.h"
#include "cli/serve/pages.h"

struct site {
    struct guard guard;
    struct pages *pages;        /* owned */
    struct feeds *feeds;        /* owned */
    bool encrypted;             /* cookies are for TLS only */
    void (*entered)(void *ctx); /* the word was used, and a new one made */
    void *ctx;
};

/* The callbacks of http.h, of pages.h and of feeds.h; ctx is the site. */
bool site_is_reader(void *ctx, int fd);
void site_request(void *ctx, struct http_request *request);
void site_gone(void *ctx, struct http_request *request);
void site_page_done(void *ctx, void *request, const struct pages_result *result);
void site_news(void *ctx, void *request);

#endif
