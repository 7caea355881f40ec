/* SPDX-License-Identifier: MIT */
#include "cli/serve/route.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "common/text.h"

bool route_is_run(const char *text) {
    uint64_t number;
    if (strcmp(text, "last") == 0)
        return true;
    return text[0] >= '1' && text[0] <= '9' && strlen(text) < ROUTE_RUN_SIZE &&
           text_parse_u64(text, &number) == 0 && number <= INT64_MAX;
}

/* The rest of a path behind a prefix; NULL: another prefix. */
static const char *after(const char *path, const char *prefix) {
    size_t size = strlen(prefix);
    return strncmp(path, prefix, size) == 0 ? path + size : NULL;
}

static struct route of_word(enum route_kind kind, const char *word) {
    struct route route = {.kind = kind};
    size_t size = strlen(word);
    if (size == 0 || size >= sizeof route.word || strchr(word, '/'))
        return (struct route){.kind = ROUTE_NONE};
    memcpy(route.word, word, size + 1);
    return route;
}

#define MOMENT_DIGITS 8

/* "/at/SECONDS" behind a run: whole seconds, without leading zeros. */
static bool take_moment(const char *rest, struct route *route) {
    const char *seconds = after(rest, "/at/");
    size_t size = seconds ? strspn(seconds, "0123456789") : 0;
    if (!size || size > MOMENT_DIGITS || seconds[size] || (size > 1 && seconds[0] == '0'))
        return false;
    memcpy(route->word, seconds, size + 1);
    return true;
}

/* "ID"; of a live page also "ID/events" and "ID/at/SECONDS". */
static struct route of_run(enum route_kind kind, const char *rest) {
    struct route route = {.kind = kind};
    size_t size = strcspn(rest, "/");
    if (size >= sizeof route.run)
        return (struct route){.kind = ROUTE_NONE};
    memcpy(route.run, rest, size);
    if (kind == ROUTE_LIVE && strcmp(rest + size, "/events") == 0)
        route.kind = ROUTE_EVENTS;
    else if (kind == ROUTE_LIVE && take_moment(rest + size, &route))
        route.kind = ROUTE_MOMENT;
    else if (rest[size])
        route.kind = ROUTE_NONE;
    if (!route_is_run(route.run))
        route.kind = ROUTE_NONE;
    return route;
}

struct route route_of(const char *path) {
    static const struct {
        const char *path;
        enum route_kind kind;
    } whole[] = {{"/", ROUTE_RUNS}, {"/runs.json", ROUTE_RUNS_JSON}, {"/compare", ROUTE_COMPARE}};
    const char *rest;
    for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
        if (strcmp(path, whole[i].path) == 0)
            return (struct route){.kind = whole[i].kind};
    if ((rest = after(path, "/run/")))
        return of_run(ROUTE_RUN, rest);
    if ((rest = after(path, "/live/")))
        return of_run(ROUTE_LIVE, rest);
    if ((rest = after(path, "/page/")))
        return of_word(ROUTE_ASSET, rest);
    if ((rest = after(path, "/enter/")))
        return of_word(ROUTE_ENTER, rest);
    return (struct route){.kind = ROUTE_NONE};
}
