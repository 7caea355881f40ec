/* SPDX-License-Identifier: MIT */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "workloads/data/fetch.h"

#define CONNECT_S 20L
#define STALL_S 30L
#define REDIRECTS 5L
#define HTTP_OK 200
#define HTTP_PARTIAL 206
#define HTTP_RANGE 416

struct transfer {
    CURL *curl;
    const char *name;
    int fd;
    uint64_t from;
    bool begun;
    int failed; /* negative errno of a write */
    fetch_show *show;
    void *ctx;
};

static long status_of(const struct transfer *t) {
    long status = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* The status at the first bytes decides: the whole file again, or its rest. */
static int begin(struct transfer *t) {
    t->begun = true;
    if (status_of(t) == HTTP_PARTIAL && t->from > 0)
        return 0;
    t->from = 0;
    return ftruncate(t->fd, 0) < 0 || lseek(t->fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int write_all(int fd, const char *p, size_t n) {
    while (n > 0) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno != EINTR)
            return -errno;
        p += put > 0 ? put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    return 0;
}

static size_t take_bytes(char *bytes, size_t size, size_t n, void *ctx) {
    struct transfer *t = ctx;
    if (!t->begun)
        t->failed = begin(t);
    if (t->failed == 0)
        t->failed = write_all(t->fd, bytes, size * n);
    return t->failed == 0 ? size * n : 0;
}

static int show(void *ctx, curl_off_t total, curl_off_t done, curl_off_t up_total, curl_off_t up) {
    struct transfer *t = ctx;
    (void)up_total;
    (void)up;
    if (t->show && t->begun)
        t->show(t->ctx, t->name, (double)t->from + (double)done,
                total > 0 ? (double)t->from + (double)total : 0);
    return 0;
}

static void configure(struct transfer *t, const char *url, char *range, size_t range_size,
                      char *reason) {
    curl_easy_setopt(t->curl, CURLOPT_URL, url);
    curl_easy_setopt(t->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t->curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t->curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(t->curl, CURLOPT_MAXREDIRS, REDIRECTS);
    curl_easy_setopt(t->curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_TIME, STALL_S);
    curl_easy_setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t->curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(t->curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(t->curl, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(t->curl, CURLOPT_XFERINFOFUNCTION, show);
    curl_easy_setopt(t->curl, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(t->curl, CURLOPT_NOPROGRESS, 0L);
    snprintf(range, range_size, "%llu-", (unsigned long long)t->from);
    if (t->from > 0)
        curl_easy_setopt(t->curl, CURLOPT_RANGE, range);
}

static int transfer_error(const struct transfer *t, CURLcode code, const char *url,
                          const char *reason, struct data_error *error) {
    if (t->failed < 0)
        return data_error_set(error, t->failed, t->name, "cannot write");
    if (code == CURLE_OK)
        return 0;
    if (status_of(t) == HTTP_RANGE)
        return -ERANGE;
    snprintf(error->text, sizeof error->text, "%.300s: %.250s", url,
             *reason ? reason : curl_easy_strerror(code));
    return -EIO;
}

int http_get(const char *url, const char *name, int fd, uint64_t from, fetch_show *shown, void *ctx,
             struct data_error *error) {
    char range[32], reason[CURL_ERROR_SIZE] = "";
    struct transfer t = {.name = name, .fd = fd, .from = from, .show = shown, .ctx = ctx};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || !(t.curl = curl_easy_init()))
        return data_error_set(error, -ENOMEM, url, "cannot begin");
    configure(&t, url, range, sizeof range, reason);
    CURLcode code = curl_easy_perform(t.curl);
    int r = transfer_error(&t, code, url, reason, error);
    /* For a server that sends nothing (an empty file), take_bytes() is never called. */
    if (r == 0 && !t.begun && (r = begin(&t)) < 0)
        data_error_set(error, r, name, "cannot write");
    curl_easy_cleanup(t.curl);
    curl_global_cleanup();
    return r;
}
