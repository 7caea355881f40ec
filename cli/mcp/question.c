/* SPDX-License-Identifier: MIT */
/* A question in SQL, answered as a JSON document. */
#include "cli/mcp/mcp.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collector/store_ask.h"
#include "collector/store_read.h"
#include "common/clock.h"
#include "reports/formats/json_text.h"

#define QUESTION_NS (5 * NS_PER_S)
#define QUESTION_ROWS 5000
#define QUESTION_BYTES (4 << 20)

struct question {
    const struct mcp *mcp;
    const char *sql;
    FILE *out;
    size_t rows;
    bool cut;
};

static void put_columns(void *ctx, const char *const *names, size_t n) {
    struct question *question = ctx;
    fputs("{\"columns\":[", question->out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", question->out);
        json_text_write(question->out, names[i]);
    }
    fputs("],\"rows\":[", question->out);
}

static void put_cell(FILE *out, const struct ask_cell *cell) {
    switch (cell->kind) {
    case ASK_INTEGER:
        fprintf(out, "%lld", (long long)cell->integer);
        break;
    case ASK_REAL:
        fprintf(out, isfinite(cell->real) ? "%.10g" : "null", cell->real);
        break;
    case ASK_TEXT:
        json_text_write(out, cell->text);
        break;
    case ASK_BYTES:
        fprintf(out, "\"%lld bytes\"", (long long)cell->integer);
        break;
    default:
        fputs("null", out);
    }
}

static bool put_row(void *ctx, const struct ask_cell *cells, size_t n) {
    struct question *question = ctx;
    question->cut = question->rows == QUESTION_ROWS || ftell(question->out) > QUESTION_BYTES;
    if (question->cut)
        return true;
    fputs(question->rows++ ? ",[" : "[", question->out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", question->out);
        put_cell(question->out, &cells[i]);
    }
    fputc(']', question->out);
    return false;
}

static int ask(struct question *question, char *why, size_t size) {
    const struct ask ask = {question->sql, QUESTION_NS, put_columns, put_row, question};
    struct store *store;
    int r = store_open_read(question->mcp->database, &store, why, size);
    if (r)
        return r;
    r = store_ask(store, &ask, why, size);
    store_close(store);
    return r;
}

/* In the child. */
static int answer_question(void *ctx, int out_fd, int said_fd) {
    struct question *question = ctx;
    char why[600] = "";
    question->out = fdopen(out_fd, "w");
    if (!question->out)
        return 1;
    int r = ask(question, why, sizeof why);
    if (r) {
        dprintf(said_fd, "%s\n", why[0] ? why : strerror(r < 0 ? -r : EINVAL));
        return 1;
    }
    fprintf(question->out, "],\"rows_cut\":%s}\n", question->cut ? "true" : "false");
    return fflush(question->out) == 0 ? 0 : 1;
}

int question_ask(const struct mcp *mcp, const char *sql, struct output_text *ret_text) {
    struct question question = {.mcp = mcp, .sql = sql};
    return child_function(mcp, answer_question, &question, ret_text);
}
