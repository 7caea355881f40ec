/* SPDX-License-Identifier: MIT */
/*
 * Uses libcurl's multi interface for a single transfer, because it can be woken: an agent that must
 * end does not wait for a silent network.
 *
 * The environment belongs to the profiled program, so proxies, .netrc and redirects are off.
 * Certificate authorities are, too: the hash of its public key identifies the collector, and it is
 * checked before the first byte of a request is sent.
 */
#include "agent/push/push_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/push.h"
#include "agent/push/push_library.h"
#include "common/clock.h"
#include "common/table.h"

#define CONNECT_MS 5000L
#define STALLED_S 15L /* without a byte in either direction: longer than any commit */
#define WHOLE_MS 60000L
#define POLL_MS 250 /* deadlines are checked this often */

enum header { AUTHORIZATION, HOST_NAME, CONTENT_TYPE, EXPECT, CLOCK, FINAL, HEADER_COUNT_ };

struct push_http {
    const struct push_library *curl;
    CURLM *multi;
    CURL *easy;
    struct curl_slist headers[HEADER_COUNT_]; /* own memory, so that a push allocates none */
    char authorization[160];
    char host[INSTANCE_MAX + 32];
    char clock[96];
    char complaint[CURL_ERROR_SIZE];
    struct push_answer *answer; /* the post in progress */
    size_t answer_size;
};

/* ---- callbacks of libcurl ---- */

static size_t on_body(char *data, size_t one, size_t size, void *ctx) {
    struct push_http *http = ctx;
    (void)one;
    if (size > PUSH_ANSWER_MAX - http->answer_size)
        return CURL_WRITEFUNC_ERROR;
    memcpy(http->answer->text + http->answer_size, data, size);
    http->answer_size += size;
    return size;
}

static size_t on_header(char *data, size_t one, size_t size, void *ctx) {
    struct push_http *http = ctx;
    (void)data;
    if (http->answer->heard_ns == 0)
        http->answer->heard_ns = clock_monotonic_ns();
    return one * size;
}

/* Connected; the request has not left. */
static int on_ready(void *ctx, char *ip, char *local_ip, int port, int local_port) {
    struct push_http *http = ctx;
    (void)ip, (void)local_ip, (void)port, (void)local_port;
    http->answer->sent_ns = clock_monotonic_ns();
    http->answer->heard_ns = 0;
    return CURL_PREREQFUNC_OK;
}

/* ---- open and close ---- */

static bool is_tls(const char *url) {
    return strncmp(url, "https://", 8) == 0;
}

static bool is_http_url(const char *url) {
    const char *host = strncmp(url, "http://", 7) == 0 ? url + 7 : is_tls(url) ? url + 8 : "";
    return *host && strcspn(host, "/?#@ \t\r\n") == strlen(host);
}

static int set_url(struct push_http *http, const char *url) {
    char whole[512];
    int n = snprintf(whole, sizeof whole, "%s/v1/frames", url);
    if (n < 0 || (size_t)n >= sizeof whole)
        return -EINVAL;
    return http->curl->easy_setopt(http->easy, CURLOPT_URL, whole) ? -ENOMEM : 0;
}

static void set_bounds(struct push_http *http) {
    http->curl->easy_setopt(http->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    http->curl->easy_setopt(http->easy, CURLOPT_FOLLOWLOCATION, 0L);
    http->curl->easy_setopt(http->easy, CURLOPT_PROXY, "");
    http->curl->easy_setopt(http->easy, CURLOPT_NOPROXY, "*");
    http->curl->easy_setopt(http->easy, CURLOPT_NOSIGNAL, 1L);
    http->curl->easy_setopt(http->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    http->curl->easy_setopt(http->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    http->curl->easy_setopt(http->easy, CURLOPT_LOW_SPEED_TIME, STALLED_S);
    http->curl->easy_setopt(http->easy, CURLOPT_TIMEOUT_MS, WHOLE_MS);
    http->curl->easy_setopt(http->easy, CURLOPT_BUFFERSIZE, 1024L);
    http->curl->easy_setopt(http->easy, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
    http->curl->easy_setopt(http->easy, CURLOPT_USERAGENT, "chokepoint-agent/" CHOKEPOINT_VERSION);
}

static int set_tls(struct push_http *http, const char *pin) {
    if (!pin || http->curl->easy_setopt(http->easy, CURLOPT_PROTOCOLS_STR, "https") ||
        http->curl->easy_setopt(http->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3) ||
        http->curl->easy_setopt(http->easy, CURLOPT_SSL_VERIFYPEER, 0L) ||
        http->curl->easy_setopt(http->easy, CURLOPT_SSL_VERIFYHOST, 0L) ||
        http->curl->easy_setopt(http->easy, CURLOPT_PINNEDPUBLICKEY, pin))
        return -EINVAL;
    return 0;
}

static void set_callbacks(struct push_http *http) {
    http->curl->easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, on_body);
    http->curl->easy_setopt(http->easy, CURLOPT_WRITEDATA, http);
    http->curl->easy_setopt(http->easy, CURLOPT_HEADERFUNCTION, on_header);
    http->curl->easy_setopt(http->easy, CURLOPT_HEADERDATA, http);
    http->curl->easy_setopt(http->easy, CURLOPT_PREREQFUNCTION, on_ready);
    http->curl->easy_setopt(http->easy, CURLOPT_PREREQDATA, http);
    http->curl->easy_setopt(http->easy, CURLOPT_ERRORBUFFER, http->complaint);
}

static int set_header(char *to, size_t size, const char *name, const char *value) {
    int n = snprintf(to, size, "%s%s", name, value ? value : "");
    return n < 0 || (size_t)n >= size || strpbrk(to, "\r\n") ? -EINVAL : 0;
}

static int open_handles(struct push_http *http, const struct push_config *config) {
    http->curl = push_library();
    http->multi = http->curl->multi_init();
    http->easy = http->curl->easy_init();
    if (!http->multi || !http->easy)
        return -ENOMEM;
    http->curl->multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 1L);
    set_bounds(http);
    set_callbacks(http);
    if (is_tls(config->url)) {
        int r = set_tls(http, config->pin);
        if (r < 0)
            return r;
    }
    return set_url(http, config->url);
}

int push_load(const char *url) {
    const struct push_library *curl = push_library();
    if (!curl)
        return -ELIBACC;
    return curl->global_init(is_tls(url) ? CURL_GLOBAL_SSL : CURL_GLOBAL_NOTHING) ? -ENOMEM : 0;
}

int push_http_open(const struct push_config *config, struct push_http **ret_http) {
    if (!is_http_url(config->url))
        return -EINVAL;
    int loaded = push_load(config->url);
    if (loaded < 0)
        return loaded;
    struct push_http *http = calloc(1, sizeof *http);
    int r = http ? set_header(http->authorization, sizeof http->authorization,
                              "Authorization: Bearer ", config->token)
                 : -ENOMEM;
    if (r == 0)
        r = set_header(http->host, sizeof http->host, "Chokepoint-Host: ", config->host);
    if (r == 0)
        r = open_handles(http, config);
    if (r == 0)
        *ret_http = http;
    else if (http)
        push_http_close(http);
    else
        push_library()->global_cleanup();
    return r;
}

void push_http_close(struct push_http *http) {
    if (!http)
        return;
    const struct push_library *curl = push_library();
    curl->easy_cleanup(http->easy);
    curl->multi_cleanup(http->multi);
    curl->global_cleanup();
    explicit_bzero(http->authorization, sizeof http->authorization);
    free(http);
}

/* ---- waiting ---- */

void push_http_wake(struct push_http *http) {
    http->curl->multi_wakeup(http->multi);
}

void push_http_wait(struct push_http *http, int64_t until_ns, int fd) {
    struct curl_waitfd other = {.fd = fd, .events = CURL_WAIT_POLLIN};
    int64_t left_ns = until_ns - clock_monotonic_ns();
    int64_t left_ms = (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    if (left_ms > 0)
        http->curl->multi_poll(http->multi, &other, fd >= 0, left_ms < 60000 ? (int)left_ms : 60000,
                               NULL);
}

/* ---- a post ---- */

static void link_headers(struct push_http *http, const struct push_request *request) {
    static char content_type[] = "Content-Type: application/vnd.chokepoint.frames";
    static char expect[] = "Expect:"; /* no 100-continue, which would cost a round trip */
    static char final[] = "Chokepoint-Final: 1";
    char *texts[HEADER_COUNT_] = {[AUTHORIZATION] = http->authorization,
                                  [HOST_NAME] = http->host,
                                  [CONTENT_TYPE] = content_type,
                                  [EXPECT] = expect,
                                  [CLOCK] = request->clock ? http->clock : NULL,
                                  [FINAL] = request->final ? final : NULL};
    struct curl_slist *next = NULL;
    if (request->clock)
        snprintf(http->clock, sizeof http->clock, "Chokepoint-Clock: %s", request->clock);
    for (size_t i = HEADER_COUNT_; i-- > 0;) {
        if (!texts[i])
            continue;
        http->headers[i] = (struct curl_slist){texts[i], next};
        next = &http->headers[i];
    }
    http->curl->easy_setopt(http->easy, CURLOPT_HTTPHEADER, next);
}

/* True when the transfer has ended by itself. */
static bool transfer(struct push_http *http, const struct push_request *request) {
    int running = 1;
    for (;;) {
        if (http->curl->multi_perform(http->multi, &running) != CURLM_OK || !running)
            return true;
        if (request->give_up(request->ctx))
            return false;
        if (http->curl->multi_poll(http->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
            return true;
    }
}

static CURLcode result_of(struct push_http *http) {
    int left;
    const struct CURLMsg *message = http->curl->multi_info_read(http->multi, &left);
    return message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_FAILED_INIT;
}

static void fill_peer(struct push_http *http, struct push_answer *answer) {
    const char *address = NULL;
    long port = 0;
    http->curl->easy_getinfo(http->easy, CURLINFO_PRIMARY_IP, &address);
    http->curl->easy_getinfo(http->easy, CURLINFO_PRIMARY_PORT, &port);
    snprintf(answer->address, sizeof answer->address, "%s", address ? address : "");
    answer->port = (uint16_t)port;
}

static const char *explain(const struct push_http *http, CURLcode result) {
    if (result == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
        return "another program has the collector's port: its key is not the run's";
    if (result == CURLE_SSL_CONNECT_ERROR)
        return "no TLS 1.3 there: a collector of another version, or another program";
    return http->complaint[0] ? http->complaint : http->curl->easy_strerror(result);
}

static int fill_answer(struct push_http *http, CURLcode result, struct push_answer *answer) {
    if (result != CURLE_OK) {
        snprintf(answer->why, sizeof answer->why, "%.*s", (int)sizeof answer->why - 1,
                 explain(http, result));
        return -EIO;
    }
    answer->text[http->answer_size] = '\0';
    http->curl->easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &answer->status);
    fill_peer(http, answer);
    return 0;
}

int push_http_post(struct push_http *http, const struct push_request *request,
                   struct push_answer *ret_answer) {
    *ret_answer = (struct push_answer){0};
    http->answer = ret_answer;
    http->answer_size = 0;
    http->complaint[0] = '\0';
    link_headers(http, request);
    http->curl->easy_setopt(http->easy, CURLOPT_POSTFIELDS, (const char *)request->body->data);
    http->curl->easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                            (curl_off_t)request->body->size);
    if (http->curl->multi_add_handle(http->multi, http->easy) != CURLM_OK)
        return -EIO;
    bool ended = transfer(http, request);
    CURLcode result = result_of(http);
    http->curl->multi_remove_handle(http->multi, http->easy);
    http->answer = NULL;
    return ended ? fill_answer(http, result, ret_answer) : -ECANCELED;
}
