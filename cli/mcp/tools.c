/* SPDX-License-Identifier: MIT */
/*
 * The tools: few, with short descriptions, since each costs an assistant room in every
 * conversation. Four of them are verbs of this program; their documents are those of
 * docs/report-json.md.
 */
#include "cli/mcp/tools.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/text.h"
#include "reports/formats/json_page.h"

#define WORD_MAX 200 /* bytes of the name of a run or section */
#define RUNS_MOST 8  /* of a comparison */

#define CURSOR_ARGUMENT                                                                            \
    "\"cursor\":{\"type\":\"string\",\"description\":\"The cursor of the answer before\"}"
#define RUN_ARGUMENT                                                                               \
    "\"run\":{\"type\":[\"string\",\"integer\"],\"description\":\"Number or name from list_runs; " \
    "last (default), last~1\"}"
#define SCHEMA(required, properties)                                                               \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required                 \
    "],\"additionalProperties\":false}"

typedef int call_tool(const struct mcp *mcp, const json_t *arguments, struct tool_result *result);

static call_tool call_list_runs, call_verdict, call_section, call_compare, call_sql;

static const struct tool {
    const char *name, *description, *schema;
    call_tool *call;
} tools[] = {
    {"list_runs",
     "The recorded runs, the newest first: number, name, command, how each ended, how long it "
     "took, "
     "and the limit that was found when it ended. Begin here.",
     SCHEMA("", CURSOR_ARGUMENT), call_list_runs},
    {"verdict",
     "The limit of a run: five lines for people, then JSON with verdict (state, host, resource, "
     "cause, confidence, gain of a change, what to do), evidence (each with an id, `observed` or "
     "`inferred`, and the SQL that gives its figure), coverage (hosts and sources that were heard, "
     "and what was not), ruled_out (what does not limit, and why) and ranking. State `balanced`, "
     "`idle` and `insufficient` blame nothing. Below a confidence of 0.7 call it a suspicion.",
     SCHEMA("", RUN_ARGUMENT "," CURSOR_ARGUMENT), call_verdict},
    {"section",
     "One section of a run's report as JSON: run, phases, evidence, coverage, ruled_out, ranking, "
     "stragglers, changes (gains of single changes), budget (where each process's time went), "
     "critical_path, waits, efficiency, resources (CPU, memory, disk, network by host), gpus, "
     "pairs "
     "(traffic between hosts), iterations, operators, processes, filesystems, exports (NFS), "
     "lustre, beegfs, fabric (InfiniBand), "
     "alerts, ceilings, quality. Several with commas.",
     SCHEMA("\"section\"", RUN_ARGUMENT ",\"section\":{\"type\":\"string\"}," CURSOR_ARGUMENT),
     call_section},
    {"compare",
     "Two to eight runs side by side: which is faster, where the time went, and which differences "
     "are established. The first run is the baseline. A name stands for all repeats of its run.",
     SCHEMA("\"runs\"", "\"runs\":{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"integer\"]}"
                        "}," CURSOR_ARGUMENT),
     call_compare},
    {"sql",
     "One SELECT on the recording (SQLite, read-only, 5 s). Each table NAME has a view NAME_rate: "
     "run, host, an instance column, time_s (since the command started), interval_s, counters of "
     "time as _pct, others as _per_s. A mean over time is sum(x * interval_s) / sum(interval_s). "
     "Views: cpu_rate, memory_rate, disk_rate, net_rate, psi_rate, process_rate, cgroup_rate, "
     "connection_rate, wait_rate, run_host. Tables: run, host, budget (ns by rank and phase), "
     "run_verdict, column_info and table_info (what each column means). Use it to check evidence.",
     SCHEMA("\"query\"", "\"query\":{\"type\":\"string\"}," CURSOR_ARGUMENT), call_sql},
};

static const struct tool *find_tool(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

bool tools_has(const char *name) {
    return find_tool(name);
}

json_t *tools_list(void) {
    json_t *list = json_array(), *result = json_object();
    for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:{s:b, s:b, s:b}}", "name",
                                              tools[i].name, "description", tools[i].description,
                                              "inputSchema", json_loads(tools[i].schema, 0, NULL),
                                              "annotations", "readOnlyHint", 1, "destructiveHint",
                                              0, "openWorldHint", 0));
    json_object_set_new(result, "tools", list);
    return result;
}

void tool_result_release(struct tool_result *result) {
    free(result->words);
    free(result->document);
    free(result->owned_only);
    free(result->refused);
    free(result->failed);
}

/* ---- arguments ---- */

__attribute__((format(printf, 2, 3))) static int refuse(struct tool_result *result,
                                                        const char *format, ...) {
    va_list values;
    va_start(values, format);
    if (!result->refused && vasprintf(&result->refused, format, values) < 0)
        result->refused = NULL;
    va_end(values);
    return result->refused ? -EINVAL : -ENOMEM;
}

/* Only the arguments that the tool has. */
static int check_names(const struct tool *tool, const json_t *arguments,
                       struct tool_result *result) {
    const char *name;
    json_t *value, *schema = json_loads(tool->schema, 0, NULL);
    int r = schema ? 0 : -ENOMEM;
    json_object_foreach((json_t *)arguments, name,
                        value) if (r == 0 &&
                                   !json_object_get(json_object_get(schema, "properties"), name))
        r = refuse(result, "%s has no argument '%.60s'", tool->name, name);
    json_decref(schema);
    return r;
}

/* A word for a command line: it is no option, and prints. */
static bool is_word(const char *text) {
    size_t size = strlen(text);
    return size && size <= WORD_MAX && text[0] != '-' && text_is_printable_utf8(text, size);
}

/* A run, as a word; owned. NULL after a refusal. */
static char *run_word(const json_t *value, struct tool_result *result) {
    char *word = NULL;
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        if (asprintf(&word, "%" JSON_INTEGER_FORMAT, json_integer_value(value)) < 0)
            word = NULL;
    } else if (json_is_string(value) && is_word(json_string_value(value))) {
        word = strdup(json_string_value(value));
    } else if (!value) {
        word = strdup("last");
    } else {
        refuse(result, "a run is a number or a name from list_runs, last, or last~1");
    }
    return word;
}

static int text_argument(const json_t *arguments, const char *name, bool required,
                         struct tool_result *result, const char **ret_text) {
    json_t *value = json_object_get(arguments, name);
    *ret_text = json_string_value(value);
    if (*ret_text || (!value && !required))
        return 0;
    return value ? refuse(result, "the argument '%s' is a text", name)
                 : refuse(result, "the argument '%s' is missing", name);
}

/* ---- documents of verbs ---- */

/* Takes what a child wrote, or says why it wrote nothing. r: of the child. */
static int take_document(int r, struct output_text *text, struct tool_result *result) {
    if (r == 0) {
        result->document = text->out;
        result->size = text->out_size;
        text->out = NULL;
    } else if (r > 0) {
        char *said = text->said;
        said[strcspn(said, "\n")] = '\0';
        result->failed = strdup(*said ? said : "the program that reads the database was ended");
    } else if (r == -ETIME) {
        result->failed = strdup("it took longer than two minutes");
    } else {
        result->failed = strdup(strerror(-r));
    }
    output_text_release(text);
    return result->document || result->failed ? 0 : -ENOMEM;
}

static int document_of(const struct mcp *mcp, const char *const *words,
                       struct tool_result *result) {
    struct output_text text = {0};
    return take_document(child_program(mcp, words, &text), &text, result);
}

/* Takes the words of a verb for people; without them the document is shown alone. */
static void words_of(const struct mcp *mcp, const char *const *words, struct tool_result *result) {
    struct output_text text = {0};
    if (result->cursor || !result->document)
        return;
    if (child_program(mcp, words, &text) == 0) {
        result->words = text.out;
        text.out = NULL;
    }
    output_text_release(&text);
}

/* The run that a report's document is of, for its cursors. */
static int64_t run_of(const char *document, size_t size) {
    json_t *root = json_loadb(document, size, 0, NULL);
    int64_t run = json_integer_value(json_object_get(json_object_get(root, "run"), "id"));
    json_decref(root);
    return run;
}

static int report_of(const struct mcp *mcp, const json_t *arguments, struct tool_result *result) {
    char *run = run_word(json_object_get(arguments, "run"), result);
    if (!run)
        return result->refused ? -EINVAL : -ENOMEM;
    int r = document_of(
        mcp,
        (const char *const[]){"report", "--format", "json", "--db", mcp->database, "--", run, NULL},
        result);
    if (result->document)
        result->run = run_of(result->document, result->size);
    free(run);
    return r;
}

static int call_verdict(const struct mcp *mcp, const json_t *arguments,
                        struct tool_result *result) {
    int r = report_of(mcp, arguments, result);
    char run[32];
    result->only = "verdict,evidence,coverage,ruled_out,ranking,run,quality";
    snprintf(run, sizeof run, "%" PRId64, result->run);
    if (r == 0)
        words_of(mcp,
                 (const char *const[]){"report", "--format", "summary", "--db", mcp->database, "--",
                                       run, NULL},
                 result);
    return r;
}

static int call_section(const struct mcp *mcp, const json_t *arguments,
                        struct tool_result *result) {
    const char *section;
    int r = text_argument(arguments, "section", true, result, &section);
    if (r)
        return r;
    if (!is_word(section))
        return refuse(result, "a section is a word, such as resources");
    result->only = result->owned_only = strdup(section);
    return result->only ? report_of(mcp, arguments, result) : -ENOMEM;
}

static int call_compare(const struct mcp *mcp, const json_t *arguments,
                        struct tool_result *result) {
    const json_t *runs = json_object_get(arguments, "runs");
    char *named[RUNS_MOST] = {NULL};
    const char *words[RUNS_MOST + 8] = {"compare", "--format", "json", "--db", mcp->database, "--"};
    size_t n = json_array_size(runs), at = 6;
    int r = n >= 2 && n <= RUNS_MOST ? 0 : refuse(result, "name two to %d runs", RUNS_MOST);
    for (size_t i = 0; i < n && r == 0; i++) {
        named[i] = run_word(json_array_get(runs, i), result);
        words[at++] = named[i];
        r = named[i] ? 0 : result->refused ? -EINVAL : -ENOMEM;
    }
    if (r == 0)
        r = document_of(mcp, words, result);
    if (r == 0 && n == 2)
        words_of(
            mcp,
            (const char *const[]){"compare", "--db", mcp->database, "--", named[0], named[1], NULL},
            result);
    for (size_t i = 0; i < n && i < RUNS_MOST; i++)
        free(named[i]);
    return r;
}

static int call_sql(const struct mcp *mcp, const json_t *arguments, struct tool_result *result) {
    const char *query;
    struct output_text text = {0};
    int r = text_argument(arguments, "query", true, result, &query);
    return r ? r : take_document(question_ask(mcp, query, &text), &text, result);
}

/* ---- the list of runs ---- */

/* The members that tell runs apart; the newest run is first. */
static json_t *shorten_list(const json_t *runs) {
    static const char *const kept[] = {"id",          "name",       "command",    "state",
                                       "exit_status", "started_at", "duration_s", "hosts",
                                       "limit",       "confidence", "notes"};
    json_t *list = json_array(), *whole = json_object();
    for (size_t i = json_array_size(runs); i-- > 0;) {
        json_t *run = json_object(), *from = json_array_get(runs, i), *value;
        for (size_t k = 0; k < ARRAY_SIZE(kept); k++)
            if ((value = json_object_get(from, kept[k])) && !json_is_null(value))
                json_object_set(run, kept[k], value);
        json_array_append_new(list, run);
    }
    json_object_set_new(whole, "schema", json_string("chokepoint.list/1"));
    json_object_set_new(whole, "runs", list);
    return whole;
}

static int call_list_runs(const struct mcp *mcp, const json_t *arguments,
                          struct tool_result *result) {
    (void)arguments;
    int r = document_of(
        mcp, (const char *const[]){"list", "--format", "json", "--db", mcp->database, NULL},
        result);
    if (r || !result->document)
        return r;
    json_t *root = json_loadb(result->document, result->size, 0, NULL);
    json_t *list = shorten_list(json_object_get(root, "runs"));
    free(result->document);
    result->document = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(10));
    result->size = result->document ? strlen(result->document) : 0;
    json_decref(list);
    json_decref(root);
    return result->document ? 0 : -ENOMEM;
}

/* ---- all of them ---- */

int tools_call(const struct mcp *mcp, const char *name, const json_t *arguments,
               struct tool_result *ret_result) {
    const struct tool *tool = find_tool(name);
    struct tool_result result = {0};
    int r = arguments && !json_is_object(arguments) ? refuse(&result, "arguments are an object")
                                                    : check_names(tool, arguments, &result);
    if (r == 0)
        r = text_argument(arguments, "cursor", false, &result, &result.cursor);
    if (r == 0)
        r = tool->call(mcp, arguments, &result);
    *ret_result = result;
    return r == -EINVAL && result.refused ? 0 : r;
}

char *tool_page(const struct tool_result *result, size_t max_bytes, char **ret_refused) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const struct json_page page = {.document = result->document,
                                   .size = result->size,
                                   .run = result->run,
                                   .only = result->only,
                                   .cursor = result->cursor,
                                   .max_bytes = max_bytes};
    int r = out ? json_page_write(&page, out) : -ENOMEM;
    if (out && fclose(out) != 0 && r == 0)
        r = -ENOMEM;
    if (r == 0)
        return text;
    free(text);
    *ret_refused =
        strdup(r == -EINVAL   ? "this is no cursor: take that of the answer before"
               : r == -ESTALE ? "the cursor is of another question, or the recording has "
                                "changed since: ask again without it"
               : r == -ENOENT ? "there is no such section"
               : r == -E2BIG  ? "a part of it is too large for an answer"
                              : strerror(-r));
    return NULL;
}
