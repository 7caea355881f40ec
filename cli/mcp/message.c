/* SPDX-License-Identifier: MIT */
/*
 * JSON-RPC 2.0. A request has an id, which is a text or a number, and gets one answer; a
 * notification has none and gets none, whatever is wrong with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mcp/tools.h"
#include "common/error.h"
#include "reports/formats/json_page.h"

#define COMPACT (JSON_COMPACT | JSON_REAL_PRECISION(10))
#define ID_MAX 200 /* bytes of a text */
#define WORDS_ROOM 4000

enum rpc_error {
    RPC_PARSE = -32700,
    RPC_INVALID = -32600,
    RPC_NO_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603
};

/* Revisions of the protocol, the newest first. */
static const char *const revisions[] = {"2025-06-18", "2024-11-05"};

static const char instructions[] =
    "Recordings of programs on one or more machines, and what limited them. Call list_runs, then "
    "verdict. Say the host, the resource and the confidence as they are given; what coverage says "
    "was not recorded is not known. Check a figure by putting the sql of its evidence to sql. An "
    "answer with a cursor goes on: call the same tool again with it.";

/* ---- answers ---- */

/* Takes `value` over. A text, owned; NULL: no memory. */
static char *respond(const json_t *id, const char *member, json_t *value) {
    json_t *answer = json_object();
    json_object_set_new(answer, "jsonrpc", json_string("2.0"));
    json_object_set_new(answer, "id", id ? json_deep_copy(id) : json_null());
    json_object_set_new(answer, member, value);
    char *text = value ? json_dumps(answer, COMPACT) : NULL;
    json_decref(answer);
    return text;
}

static char *fail(const json_t *id, enum rpc_error code, const char *message) {
    return respond(id, "error", json_pack("{s:i, s:s}", "code", code, "message", message));
}

char *message_too_long(void) {
    return fail(NULL, RPC_INVALID, "the request is longer than 1 MiB");
}

/* ---- initialize ---- */

static char *initialize(const json_t *id, const json_t *params) {
    const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
    const char *revision = revisions[0];
    if (!wanted)
        return fail(id, RPC_PARAMS, "protocolVersion is missing");
    for (size_t i = 0; i < ARRAY_SIZE(revisions); i++)
        if (strcmp(wanted, revisions[i]) == 0)
            revision = revisions[i];
    return respond(id, "result",
                   json_pack("{s:s, s:{s:{s:b}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion",
                             revision, "capabilities", "tools", "listChanged", 0, "serverInfo",
                             "name", "chokepoint", "title", "Chokepoint", "version",
                             CHOKEPOINT_VERSION, "instructions", instructions));
}

/* ---- tools/call ---- */

static void add_text(json_t *content, const char *text) {
    json_array_append_new(content, json_pack("{s:s, s:s}", "type", "text", "text", text));
}

/* words NULL: the page alone. Owned. */
static char *answer_texts(const json_t *id, const char *words, const char *page, bool wrong) {
    json_t *content = json_array();
    if (words)
        add_text(content, words);
    add_text(content, page);
    return respond(id, "result", json_pack("{s:o, s:b}", "content", content, "isError", wrong));
}

/* A page so large that the answer, in which it is quoted, has at most MCP_ANSWER_MAX bytes. */
static char *answer_page(const json_t *id, const struct tool_result *result) {
    const char *words = result->words && strlen(result->words) <= WORDS_ROOM ? result->words : NULL;
    size_t room = MCP_ANSWER_MAX;
    for (;;) {
        char *refused = NULL, *page = tool_page(result, room, &refused), *answer;
        if (!page) {
            answer = refused ? fail(id, RPC_PARAMS, refused) : NULL;
            free(refused);
            return answer;
        }
        answer = answer_texts(id, words, page, false);
        free(page);
        size_t size = answer ? strlen(answer) : 0;
        if (size <= MCP_ANSWER_MAX)
            return answer;
        free(answer);
        if (room == JSON_PAGE_LEAST && !words)
            return answer_texts(id, NULL, "a part of it is too large for an answer", true);
        if (room == JSON_PAGE_LEAST)
            words = NULL;
        room = room - room / 8 > JSON_PAGE_LEAST ? room - room / 8 : JSON_PAGE_LEAST;
    }
}

static char *call(const struct mcp *mcp, const json_t *id, const json_t *params) {
    const char *name = json_string_value(json_object_get(params, "name"));
    if (!name || !tools_has(name))
        return fail(id, RPC_PARAMS,
                    name ? "unknown tool; tools/list names them" : "name is missing");
    struct tool_result result;
    int r = tools_call(mcp, name, json_object_get(params, "arguments"), &result);
    char *answer = r < 0            ? fail(id, RPC_INTERNAL, strerror(-r))
                   : result.refused ? fail(id, RPC_PARAMS, result.refused)
                   : result.failed  ? answer_texts(id, NULL, result.failed, true)
                                    : answer_page(id, &result);
    tool_result_release(&result);
    return answer;
}

/* ---- requests ---- */

static char *handle(const struct mcp *mcp, const json_t *id, const char *method,
                    const json_t *params) {
    if (params && !json_is_object(params))
        return fail(id, RPC_PARAMS, "params are an object");
    if (strcmp(method, "initialize") == 0)
        return initialize(id, params);
    if (strcmp(method, "ping") == 0)
        return respond(id, "result", json_object());
    if (strcmp(method, "tools/list") == 0)
        return respond(id, "result", tools_list());
    if (strcmp(method, "tools/call") == 0)
        return call(mcp, id, params);
    return fail(id, RPC_NO_METHOD, "there is no such method");
}

static bool is_id(const json_t *id) {
    return json_is_number(id) || (json_is_string(id) && json_string_length(id) <= ID_MAX);
}

static bool is_version_2(const json_t *message) {
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    return version && strcmp(version, "2.0") == 0;
}

/* A message that is JSON. */
static char *take(const struct mcp *mcp, const json_t *message) {
    const json_t *id = json_object_get(message, "id");
    const char *method = json_string_value(json_object_get(message, "method"));
    if (!json_is_object(message))
        return fail(NULL, RPC_INVALID, "a message is one JSON object a line");
    if (id && !is_id(id))
        return fail(NULL, RPC_INVALID, "an id is a number, or a text of at most 200 bytes");
    if (!method && (json_object_get(message, "result") || json_object_get(message, "error")))
        return NULL; /* an answer: nothing was asked */
    if (!is_version_2(message) || !method)
        return fail(id, RPC_INVALID, "a request has jsonrpc \"2.0\" and a method");
    return id ? handle(mcp, id, method, json_object_get(message, "params")) : NULL;
}

char *message_answer(const struct mcp *mcp, const char *line, size_t size) {
    json_error_t error;
    if (strspn(line, " \t\r") >= size)
        return NULL;
    json_t *message = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!message)
        return fail(NULL, RPC_PARSE, "the line is no JSON");
    char *answer = take(mcp, message);
    json_decref(message);
    return answer;
}
