/* SPDX-License-Identifier: MIT */
/* The messages of `chokepoint mcp`: what is wrong gets its error, and answers are short. The
 * program that reads a database is a script here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "cli/mcp/mcp.h"
#include "common/error.h"

static struct mcp mcp = {.database = "/nowhere/runs.db"};

/* The answer to a line; NULL: none. */
static json_t *answer_to(const char *line) {
    char *text = message_answer(&mcp, line, strlen(line));
    if (!text)
        return NULL;
    assert_true(strlen(text) <= MCP_ANSWER_MAX);
    assert_null(strchr(text, '\n'));
    json_t *answer = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(answer);
    free(text);
    return answer;
}

static void expect_error(const char *line, int code) {
    json_t *answer = answer_to(line);
    json_int_t is = json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));
    if (is != code)
        fail_msg("%s: %d, not %d", line, (int)is, code);
    json_decref(answer);
}

#define REQUEST(method, more) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\"" more "}"
#define CALL(name, arguments)                                                                      \
    REQUEST("tools/call", ",\"params\":{\"name\":\"" name "\",\"arguments\":" arguments "}")

static void what_is_wrong_gets_its_error(void **state) {
    static const struct {
        const char *line;
        int code;
    } cases[] = {
        {"{", -32700},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"ping\"}", -32700},
        {"[]", -32600},
        {"7", -32600},
        {"[" REQUEST("ping", "") "]", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600},
        {REQUEST("resources/list", ""), -32601},
        {REQUEST("ping", ",\"params\":[]"), -32602},
        {REQUEST("initialize", ""), -32602},
        {REQUEST("tools/call", ""), -32602},
        {CALL("nothing", "{}"), -32602},
        {CALL("verdict", "[]"), -32602},
        {CALL("verdict", "{\"run\":\"-o/x\"}"), -32602},
        {CALL("verdict", "{\"run\":\"--alerts\"}"), -32602},
        {CALL("verdict", "{\"run\":\"\"}"), -32602},
        {CALL("verdict", "{\"run\":-1}"), -32602},
        {CALL("verdict", "{\"run\":\"a\\nb\"}"), -32602},
        {CALL("verdict", "{\"walk\":1}"), -32602},
        {CALL("verdict", "{\"cursor\":1}"), -32602},
        {CALL("section", "{}"), -32602},
        {CALL("section", "{\"section\":\"-x\"}"), -32602},
        {CALL("compare", "{\"runs\":[1]}"), -32602},
        {CALL("compare", "{\"runs\":[1,2,3,4,5,6,7,8,9]}"), -32602},
        {CALL("compare", "{\"runs\":[1,\"--gate\"]}"), -32602},
        {CALL("sql", "{}"), -32602},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect_error(cases[i].line, cases[i].code);
}

static void what_wants_no_answer_gets_none(void **state) {
    (void)state;
    assert_null(answer_to(""));
    assert_null(answer_to(" \t\r"));
    assert_null(answer_to("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    assert_null(answer_to("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}"));
    assert_null(answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
}

static void a_revision_that_is_known_is_taken(void **state) {
    static const char *const cases[][2] = {{"2025-06-18", "2025-06-18"},
                                           {"2024-11-05", "2024-11-05"},
                                           {"2025-11-25", "2025-06-18"},
                                           {"", "2025-06-18"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char line[200];
        snprintf(line, sizeof line,
                 REQUEST("initialize", ",\"params\":{\"protocolVersion\":\"%s\"}"), cases[i][0]);
        json_t *answer = answer_to(line), *result = json_object_get(answer, "result");
        assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")),
                            cases[i][1]);
        assert_non_null(json_object_get(json_object_get(result, "capabilities"), "tools"));
        json_decref(answer);
    }
}

static void tools_are_few_and_short(void **state) {
    (void)state;
    char *text = message_answer(&mcp, REQUEST("tools/list", ""), strlen(REQUEST("tools/list", "")));
    json_t *answer = json_loads(text, 0, NULL), *tool;
    json_t *tools = json_object_get(json_object_get(answer, "result"), "tools");
    size_t i;
    assert_true(strlen(text) <= 8000);
    assert_in_range(json_array_size(tools), 1, 5);
    json_array_foreach(tools, i, tool) assert_string_equal(
        json_string_value(json_object_get(json_object_get(tool, "inputSchema"), "type")), "object");
    json_decref(answer);
    free(text);
}

/* ---- with a program ---- */

/* Makes the program a script. */
static void become(const char *script) {
    FILE *file = fopen(mcp.program, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(mcp.program, 0700), 0);
}

static const char *text_of(const json_t *answer, bool *ret_wrong) {
    json_t *result = json_object_get(answer, "result");
    json_t *content = json_object_get(result, "content");
    *ret_wrong = json_is_true(json_object_get(result, "isError"));
    return json_string_value(
        json_object_get(json_array_get(content, json_array_size(content) - 1), "text"));
}

/* Quotes take twice the room within an answer. */
static void answers_are_short_and_go_on(void **state) {
    char line[400] = CALL("section", "{\"section\":\"rows\"}");
    size_t rows = 0, pages = 0;
    bool wrong;
    (void)state;
    become("printf '{\"schema\":\"x\",\"run\":{\"id\":3},\"rows\":['\n"
           "i=0; while [ $i -lt 3000 ]; do printf '[\"\\\\\"%d\\\\\"\"],' $i; i=$((i + 1)); done\n"
           "printf '[\"end\"]]}'");
    while (line[0] && pages < 50) {
        json_t *answer = answer_to(line);
        json_t *page = json_loads(text_of(answer, &wrong), 0, NULL);
        const char *cursor = json_string_value(json_object_get(page, "cursor"));
        assert_false(wrong);
        rows += json_array_size(json_object_get(page, "rows"));
        line[0] = '\0';
        if (cursor)
            snprintf(line, sizeof line, CALL("section", "{\"section\":\"rows\",\"cursor\":\"%s\"}"),
                     cursor);
        json_decref(page);
        json_decref(answer);
        pages++;
    }
    assert_int_equal(rows, 3001);
    assert_in_range(pages, 2, 10);
}

static void a_child_that_fails_says_why(void **state) {
    static const struct {
        const char *script, *said;
    } cases[] = {{"echo 'chokepoint report: no run' >&2; echo more >&2; exit 2",
                  "chokepoint report: no run"},
                 {"kill -9 $$", "the program that reads the database was ended"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        bool wrong;
        become(cases[i].script);
        json_t *answer = answer_to(CALL("verdict", "{}"));
        assert_string_equal(text_of(answer, &wrong), cases[i].said);
        assert_true(wrong);
        json_decref(answer);
    }
}

/* The run is behind the end of options, and the database is the server's. */
static void words_of_a_child(void **state) {
    bool wrong;
    (void)state;
    become("echo \"$*|$CHOKEPOINT_CONFINED\" >&2; exit 1");
    json_t *answer = answer_to(CALL("section", "{\"section\":\"run\",\"run\":\"last~1\"}"));
    assert_string_equal(text_of(answer, &wrong),
                        "report --format json --db /nowhere/runs.db -- last~1|/nowhere/runs.db");
    json_decref(answer);
}

/* ---- lines ---- */

static void lines_are_read_whatever_their_length(void **state) {
    struct input input;
    const char *line;
    size_t size;
    FILE *file = tmpfile();
    (void)state;
    fputs("one\n\n", file);
    for (size_t i = 0; i < MCP_LINE_MAX + 5; i++)
        fputc('x', file);
    fputs("\ntwo\nlast", file);
    rewind(file);
    assert_int_equal(input_init(&input, fileno(file)), 0);
    assert_int_equal(input_next(&input, &line, &size), INPUT_LINE);
    assert_memory_equal(line, "one", size);
    assert_int_equal(input_next(&input, &line, &size), INPUT_LINE);
    assert_int_equal(size, 0);
    assert_int_equal(input_next(&input, &line, &size), INPUT_TOO_LONG);
    assert_int_equal(input_next(&input, &line, &size), INPUT_LINE);
    assert_memory_equal(line, "two", 3);
    assert_int_equal(input_next(&input, &line, &size), INPUT_LINE);
    assert_int_equal(size, 4);
    assert_memory_equal(line, "last", 4);
    assert_int_equal(input_next(&input, &line, &size), 0);
    assert_int_equal(input_next(&input, &line, &size), 0);
    input_release(&input);
    fclose(file);
}

static void a_long_line_may_be_the_last(void **state) {
    struct input input;
    const char *line;
    size_t size;
    FILE *file = tmpfile();
    (void)state;
    for (size_t i = 0; i < 2 * MCP_LINE_MAX; i++)
        fputc('x', file);
    rewind(file);
    assert_int_equal(input_init(&input, fileno(file)), 0);
    assert_int_equal(input_next(&input, &line, &size), INPUT_TOO_LONG);
    assert_int_equal(input_next(&input, &line, &size), 0);
    input_release(&input);
    fclose(file);
}

static int make_program(void **state) {
    (void)state;
    snprintf(mcp.program, sizeof mcp.program, "/tmp/chokepoint-mcp-XXXXXX");
    int fd = mkstemp(mcp.program);
    return fd < 0 ? -1 : close(fd);
}

static int remove_program(void **state) {
    (void)state;
    return unlink(mcp.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_gets_its_error),
        cmocka_unit_test(what_wants_no_answer_gets_none),
        cmocka_unit_test(a_revision_that_is_known_is_taken),
        cmocka_unit_test(tools_are_few_and_short),
        cmocka_unit_test(answers_are_short_and_go_on),
        cmocka_unit_test(a_child_that_fails_says_why),
        cmocka_unit_test(words_of_a_child),
        cmocka_unit_test(lines_are_read_whatever_their_length),
        cmocka_unit_test(a_long_line_may_be_the_last),
    };
    return cmocka_run_group_tests(tests, make_program, remove_program);
}
