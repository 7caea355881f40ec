/* SPDX-License-Identifier: MIT */
#include "cli/serve/site.h"

#include <stdio.h>
#include <string.h>

#include "cli/serve/assets.h"
#include "cli/serve/peer.h"
#include "cli/serve/route.h"
#include "common/error.h"
#include "common/text.h"

#define PLAIN "text/plain; charset=utf-8"
#define HTML "text/html; charset=utf-8"

/* One line. */
static void answer_refusal(struct http_request *request, unsigned status, const char *why) {
    char text[512];
    int size = snprintf(text, sizeof text, "%s\n", why);
    http_answer(request, &(struct http_answer){.status = status,
                                               .type = PLAIN,
                                               .advice = status == 503 ? "2" : NULL,
                                               .text = text,
                                               .size = size < 0 ? 0 : strlen(text)});
}

static void refuse_visit(const struct site *site, struct http_request *request,
                         enum guard_answer answer) {
    if (answer == GUARD_WRONG_NAME)
        return answer_refusal(request, 421, "this server is not called that");
    if (answer == GUARD_FOREIGN)
        return answer_refusal(request, 403, "another site asked for this");
    answer_refusal(
        request, site->guard.token[0] ? 401 : 403,
        site->guard.token[0]
            ? "the token is needed: open the address that `chokepoint serve` printed last, or "
              "send it as Authorization: Bearer"
            : "this is the page of another user; `chokepoint serve --token-file` lets in who "
              "has a token");
}

static void send_asset(struct http_request *request, const char *name) {
    const struct asset *asset = asset_find(name);
    if (!asset)
        return answer_refusal(request, 404, "there is no such page");
    http_answer(request, &(struct http_answer){.status = 200,
                                               .policy = HTTP_OWN_FILES,
                                               .type = asset->type,
                                               .text = asset->data,
                                               .size = asset->size});
}

/* ---- pages that verbs make ---- */

static unsigned status_of(enum pages_state state) {
    return state == PAGES_REFUSED ? 404 : state == PAGES_FAILED ? 500 : 503;
}

void site_page_done(void *ctx, void *who, const struct pages_result *result) {
    struct http_request *request = who;
    (void)ctx;
    if (result->state != PAGES_MADE)
        return answer_refusal(request, status_of(result->state), result->why);
    enum route_kind kind = route_of(http_path(request)).kind;
    bool is_json = kind == ROUTE_RUNS_JSON || kind == ROUTE_MOMENT;
    http_answer(request, &(struct http_answer){.status = 200,
                                               .policy = is_json ? HTTP_NOTHING : HTTP_OFFLINE,
                                               .type = is_json ? "application/json" : HTML,
                                               .fd = result->fd,
                                               .size = result->size});
}

static void send_page(struct site *site, struct http_request *request, const char *const *words) {
    const struct pages_result result = pages_get(site->pages, words, request);
    if (result.state == PAGES_WAIT)
        http_wait(request);
    else
        site_page_done(site, request, &result);
}

static void compare(struct site *site, struct http_request *request) {
    const char *a = http_argument(request, "a"), *b = http_argument(request, "b");
    if (!a || !b || !route_is_run(a) || !route_is_run(b))
        return answer_refusal(request, 400, "two runs are compared: /compare?a=1&b=2");
    send_page(site, request, (const char *const[]){"compare", a, b, "--format", "html", NULL});
}

/* ---- live pages ---- */

static int next_event(void *ctx, struct http_request *request, char *to, size_t size) {
    struct site *site = ctx;
    return feeds_next(site->feeds, request, to, size);
}

static void watch(struct site *site, struct http_request *request, const char *run) {
    uint64_t last_id = 0;
    const char *id = http_header(request, "Last-Event-ID");
    if (id && text_parse_u64(id, &last_id) < 0)
        last_id = 0;
    int r = feeds_watch(site->feeds, run, last_id, request);
    if (r == -EBUSY)
        return answer_refusal(request, 503, "too many runs are being watched");
    if (r < 0)
        return answer_refusal(request, 503, strerror(-r));
    http_stream(request, "text/event-stream", next_event);
}

void site_news(void *ctx, void *request) {
    (void)ctx;
    http_wake(request);
}

/* ---- access ---- */

static void enter(struct site *site, struct http_request *request, const char *word) {
    char cookie[160];
    if (!guard_enter(&site->guard, word))
        return answer_refusal(request, 404, "this address has been used, or never was one");
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s",
             site->guard.cookie, site->guard.session, site->encrypted ? "; Secure" : "");
    http_answer(request, &(struct http_answer){.status = 303,
                                               .type = PLAIN,
                                               .cookie = cookie,
                                               .location = "/",
                                               .text = "welcome\n",
                                               .size = 8});
    explicit_bzero(cookie, sizeof cookie);
    site->entered(site->ctx);
}

static void answer(struct site *site, struct http_request *request, const struct route *route) {
    switch (route->kind) {
    case ROUTE_RUNS:
        return send_asset(request, "runs.html");
    case ROUTE_LIVE:
        return send_asset(request, "live.html");
    case ROUTE_ASSET:
        return send_asset(request, route->word);
    case ROUTE_RUNS_JSON:
        return send_page(site, request, (const char *const[]){"list", "--format", "json", NULL});
    case ROUTE_RUN:
        return send_page(site, request,
                         (const char *const[]){"report", route->run, "--format", "html", NULL});
    case ROUTE_MOMENT:
        return send_page(site, request,
                         (const char *const[]){"top", route->run, "--at", route->word, "--format",
                                               "json", NULL});
    case ROUTE_COMPARE:
        return compare(site, request);
    case ROUTE_EVENTS:
        return watch(site, request, route->run);
    default:
        return answer_refusal(request, 404, "there is no such page");
    }
}

static struct guard_visit visit_of(const struct site *site, struct http_request *request,
                                   uid_t *uid) {
    bool asks_kernel = !site->guard.token[0];
    return (struct guard_visit){
        .host = http_header(request, "Host"),
        .site = http_header(request, "Sec-Fetch-Site"),
        .mode = http_header(request, "Sec-Fetch-Mode"),
        .dest = http_header(request, "Sec-Fetch-Dest"),
        .authorization = http_header(request, "Authorization"),
        .cookie = http_header(request, "Cookie"),
        .uid = asks_kernel && peer_uid(http_socket(request), uid) == 0 ? uid : NULL};
}

bool site_is_reader(void *ctx, int fd) {
    const struct site *site = ctx;
    uid_t uid;
    return !site->guard.token[0] && peer_uid(fd, &uid) == 0 && guard_is_user(&site->guard, uid);
}

void site_request(void *ctx, struct http_request *request) {
    struct site *site = ctx;
    struct route route = route_of(http_path(request));
    uid_t uid;
    const struct guard_visit visit = visit_of(site, request, &uid);
    enum guard_answer judged = route.kind == ROUTE_ENTER ? guard_judge_origin(&site->guard, &visit)
                                                         : guard_judge(&site->guard, &visit);
    if (judged != GUARD_WELCOME)
        return refuse_visit(site, request, judged);
    if (route.kind == ROUTE_ENTER)
        return enter(site, request, route.word);
    http_welcome(request);
    answer(site, request, &route);
}

void site_gone(void *ctx, struct http_request *request) {
    struct site *site = ctx;
    pages_forget(site->pages, request);
    feeds_forget(site->feeds, request);
}
