/* SPDX-License-Identifier: MIT */
/*
 * The engine is named by its certificate, which is checked against the system's authorities or a
 * file. Redirects are not followed: a secret would go with them. Proxies are those of the
 * environment, as for every program of an administrator.
 */
#include "cli/remote/post.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

#define CONNECT_MS 10000L
#define WHOLE_MS 60000L
#define ANSWER_MAX 1024

struct post {
    CURL *easy;
    struct curl_slist *headers;
    char complaint[CURL_ERROR_SIZE], text[ANSWER_MAX];
    size_t text_size;
};

/* ---- the address ---- */

static bool is_loopback(const char *host, size_t size) {
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == size && strncmp(names[i], host, size) == 0)
            return true;
    return false;
}

int post_check_url(const char *url, bool with_secret, char *why, size_t size) {
    bool tls = strncmp(url, "https://", 8) == 0;
    const char *host = tls ? url + 8 : strncmp(url, "http://", 7) == 0 ? url + 7 : NULL;
    size_t n = host ? strcspn(host, "/?#") : 0;
    const char *close = host && *host == '[' ? memchr(host, ']', n) : NULL;
    size_t name = close ? (size_t)(close + 1 - host) : host ? strcspn(host, ":/?#") : 0;
    if (!host || name == 0 || strpbrk(url, " \t\r\n"))
        return snprintf(why, size, "an address begins with http:// or https://, and has a host"),
               -EINVAL;
    if (memchr(host, '@', n))
        return snprintf(why, size,
                        "a password has no place in an address, which others see: use "
                        "--remote-write-login"),
               -EINVAL;
    if (with_secret && !tls && !is_loopback(host, name))
        return snprintf(why, size, "a token or a password goes over https:// alone"), -EINVAL;
    return 0;
}

/* ---- open and close ---- */

static size_t on_body(char *data, size_t one, size_t size, void *ctx) {
    struct post *post = ctx;
    size_t room = sizeof post->text - post->text_size, taken = size < room ? size : room;
    (void)one;
    memcpy(post->text + post->text_size, data, taken);
    post->text_size += taken;
    return size;
}

static int add_headers(struct post *post) {
    static const char *const lines[] = {"Content-Encoding: snappy",
                                        "Content-Type: application/x-protobuf",
                                        "X-Prometheus-Remote-Write-Version: 0.1.0", "Expect:"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct curl_slist *longer = curl_slist_append(post->headers, lines[i]);
        if (!longer)
            return -ENOMEM;
        post->headers = longer;
    }
    return curl_easy_setopt(post->easy, CURLOPT_HTTPHEADER, post->headers) ? -ENOMEM : 0;
}

static int set_secret(struct post *post, const struct post_config *config) {
    CURLcode code = CURLE_OK;
    if (config->token) {
        curl_easy_setopt(post->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        code = curl_easy_setopt(post->easy, CURLOPT_XOAUTH2_BEARER, config->token);
    } else if (config->login) {
        curl_easy_setopt(post->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        code = curl_easy_setopt(post->easy, CURLOPT_USERPWD, config->login);
    }
    if (!code && config->authorities)
        code = curl_easy_setopt(post->easy, CURLOPT_CAINFO, config->authorities);
    return code ? -EINVAL : 0;
}

static void set_bounds(struct post *post) {
    curl_easy_setopt(post->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(post->easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(post->easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(post->easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(post->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(post->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(post->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(post->easy, CURLOPT_TIMEOUT_MS, WHOLE_MS);
    curl_easy_setopt(post->easy, CURLOPT_USERAGENT, "chokepoint/" CHOKEPOINT_VERSION);
    curl_easy_setopt(post->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(post->easy, CURLOPT_WRITEDATA, post);
    curl_easy_setopt(post->easy, CURLOPT_ERRORBUFFER, post->complaint);
}

int post_open(const struct post_config *config, struct post **ret_post) {
    struct post *post = calloc(1, sizeof *post);
    int r = post && !curl_global_init(CURL_GLOBAL_DEFAULT) ? 0 : -ENOMEM;
    if (!r)
        r = (post->easy = curl_easy_init()) ? 0 : -ENOMEM;
    if (!r) {
        set_bounds(post);
        r = curl_easy_setopt(post->easy, CURLOPT_URL, config->url) ? -EINVAL : 0;
    }
    if (!r)
        r = set_secret(post, config);
    if (!r)
        r = add_headers(post);
    if (r)
        post_close(post);
    else
        *ret_post = post;
    return r;
}

void post_close(struct post *post) {
    if (!post)
        return;
    curl_easy_cleanup(post->easy);
    curl_slist_free_all(post->headers);
    curl_global_cleanup();
    free(post);
}

/* ---- a request ---- */

static enum post_end end_of(long status) {
    if (status / 100 == 2)
        return POST_TAKEN;
    if (status / 100 == 5 || status == 429)
        return POST_LATER;
    return status == 400 || status == 422 ? POST_REFUSED : POST_STOP;
}

/* Certificates do not mend themselves; whatever else fails below HTTP may. */
static enum post_end end_without_answer(CURLcode code) {
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
                   code == CURLE_URL_MALFORMAT
               ? POST_STOP
               : POST_LATER;
}

void post_send(struct post *post, const void *body, size_t size, struct post_answer *ret_answer) {
    curl_off_t after_s = 0;
    *ret_answer = (struct post_answer){0};
    post->text_size = 0;
    post->complaint[0] = '\0';
    curl_easy_setopt(post->easy, CURLOPT_POSTFIELDS, (const char *)body);
    curl_easy_setopt(post->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    CURLcode code = curl_easy_perform(post->easy);
    if (code) {
        const char *words = post->complaint[0] ? post->complaint : curl_easy_strerror(code);
        ret_answer->end = end_without_answer(code);
        text_sanitize(ret_answer->words, sizeof ret_answer->words, words, strlen(words));
        return;
    }
    curl_easy_getinfo(post->easy, CURLINFO_RESPONSE_CODE, &ret_answer->status);
    curl_easy_getinfo(post->easy, CURLINFO_RETRY_AFTER, &after_s);
    ret_answer->after_s = after_s > 0 ? (int64_t)after_s : 0;
    ret_answer->end = end_of(ret_answer->status);
    while (post->text_size && strchr(" \r\n", post->text[post->text_size - 1]))
        post->text_size--;
    text_sanitize(ret_answer->words, sizeof ret_answer->words, post->text, post->text_size);
}
