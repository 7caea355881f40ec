/* SPDX-License-Identifier: MIT */
#include "cli/serve/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "collector/credentials.h"
#include "common/error.h"

#define LOOPBACK_NAMES                                                                             \
    { "localhost", "127.0.0.1", "::1" }

static int random_word(char to[GUARD_SECRET_SIZE]) {
    unsigned char bytes[(GUARD_SECRET_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return negative_errno();
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int guard_init(struct guard *guard) {
    *guard = (struct guard){0};
    int r = random_word(guard->session);
    return r < 0 ? r : random_word(guard->way_in);
}

void guard_release(struct guard *guard) {
    explicit_bzero(guard, sizeof *guard);
}

void guard_allow(struct guard *guard, uid_t uid) {
    for (size_t i = 0; i < guard->n_uids; i++)
        if (guard->uids[i] == uid)
            return;
    if (guard->n_uids < GUARD_UIDS_MAX)
        guard->uids[guard->n_uids++] = uid;
}

/* ---- the name that the browser used ---- */

/* Copies the host without port and brackets into name. The port is ignored: a tunnel has another
 * one. */
static bool host_name(const char *host, char *name, size_t size) {
    bool in_brackets = host[0] == '[';
    const char *from = host + in_brackets, *end = from + strcspn(from, in_brackets ? "]" : ":");
    const char *rest = end;
    if (in_brackets && *rest++ != ']')
        return false;
    if (*rest == ':')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (*rest || end == from || (size_t)(end - from) >= size)
        return false;
    memcpy(name, from, (size_t)(end - from));
    name[end - from] = '\0';
    return true;
}

static bool is_number(const char *name) {
    unsigned char address[16];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* No page can redirect a number to another address; if all interfaces are listened on, each may be
 * meant. */
static bool is_our_name(const struct guard *guard, const char *host) {
    static const char *const loopback[] = LOOPBACK_NAMES;
    char name[256];
    if (!host || !host_name(host, name, sizeof name))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(loopback); i++)
        if (strcasecmp(name, loopback[i]) == 0)
            return true;
    if (strcasecmp(name, guard->address) == 0 || (guard->everywhere && is_number(name)))
        return true;
    return guard->own_name[0] && strcasecmp(name, guard->own_name) == 0;
}

/* ---- the page that asks ---- */

static bool is(const char *value, const char *word) {
    return value && strcasecmp(value, word) == 0;
}

/* Programs and old browsers send nothing. A link from another site may open a page, but only as a
 * window. */
static bool is_from_here(const struct guard_visit *visit) {
    if (!visit->site || is(visit->site, "same-origin") || is(visit->site, "none"))
        return true;
    return is(visit->mode, "navigate") && is(visit->dest, "document");
}

enum guard_answer guard_judge_origin(const struct guard *guard, const struct guard_visit *visit) {
    if (!is_our_name(guard, visit->host))
        return GUARD_WRONG_NAME;
    return is_from_here(visit) ? GUARD_WELCOME : GUARD_FOREIGN;
}

/* ---- the user ---- */

static bool shows_token(const struct guard *guard, const char *authorization) {
    static const char scheme[] = "Bearer ";
    size_t size = sizeof scheme - 1;
    return authorization && strncasecmp(authorization, scheme, size) == 0 &&
           credentials_match(authorization + size, strlen(authorization + size), guard->token);
}

/* "a=1; b=2" */
static bool shows_cookie(const struct guard *guard, const char *cookies) {
    size_t name_size = strlen(guard->cookie);
    for (const char *p = cookies; p && *p;) {
        p += strspn(p, " ;");
        size_t size = strcspn(p, ";");
        if (size > name_size && strncmp(p, guard->cookie, name_size) == 0 && p[name_size] == '=' &&
            credentials_match(p + name_size + 1, size - name_size - 1, guard->session))
            return true;
        p += size;
    }
    return false;
}

bool guard_is_user(const struct guard *guard, uid_t uid) {
    for (size_t i = 0; i < guard->n_uids; i++)
        if (guard->uids[i] == uid)
            return true;
    return false;
}

enum guard_answer guard_judge(const struct guard *guard, const struct guard_visit *visit) {
    enum guard_answer answer = guard_judge_origin(guard, visit);
    if (answer != GUARD_WELCOME)
        return answer;
    bool known = guard->token[0] ? shows_token(guard, visit->authorization) ||
                                       shows_cookie(guard, visit->cookie)
                                 : visit->uid && guard_is_user(guard, *visit->uid);
    return known ? GUARD_WELCOME : GUARD_STRANGER;
}

bool guard_enter(struct guard *guard, const char *word) {
    char next[GUARD_SECRET_SIZE];
    if (!guard->token[0] || !credentials_match(word, strlen(word), guard->way_in) ||
        random_word(next) < 0)
        return false;
    memcpy(guard->way_in, next, sizeof next);
    return true;
}
