/* SPDX-License-Identifier: MIT */
/* The loop of `chokepoint mcp`: a line in, a line out, until the input ends. */
#include "cli/mcp/mcp.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "collector/confine.h"
#include "common/error.h"
#include "common/own_program.h"

static const char usage[] =
    "usage: chokepoint mcp [--db FILE]\n"
    "\n"
    "Answers questions of assistants about recorded runs: a server of the Model\n"
    "Context Protocol on standard input and output, which reads only. An assistant\n"
    "starts it; `chokepoint-mcp(1)` shows how it is told to.\n"
    "\n";

/* Writes one line. -EPIPE: nobody reads any more. */
static int put_answer(char *answer) {
    if (!answer)
        return 0;
    int r = fputs(answer, stdout) == EOF || fputc('\n', stdout) == EOF || fflush(stdout) != 0
                ? -EPIPE
                : 0;
    free(answer);
    return r;
}

static int serve(const struct mcp *mcp, struct input *input) {
    const char *line;
    size_t size;
    int r;
    while ((r = input_next(input, &line, &size)) > 0) {
        r = put_answer(r == INPUT_TOO_LONG ? message_too_long() : message_answer(mcp, line, size));
        if (r < 0)
            return r;
    }
    return r;
}

static int run_server(const struct mcp *mcp) {
    struct input input;
    int r = input_init(&input, STDIN_FILENO);
    if (r == 0)
        r = serve(mcp, &input);
    input_release(&input);
    if (r < 0 && r != -EPIPE)
        verb_complain("mcp", "cannot go on: %s", strerror(-r));
    return r < 0 ? 1 : 0;
}

static int mcp_main(int argc, char **argv) {
    struct mcp mcp = {.database = REPORT_DATABASE};
    const struct option_row rows[] = {VERB_DATABASE(&mcp.database)};
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 14, false};
    char **rest;
    int r = verb_words_read("mcp", &table, argc, argv, &rest);
    if (r == 0 && rest[0])
        r = verb_refuse("mcp", "it takes no words", NULL, "see `chokepoint mcp --help`");
    if (r)
        return verb_words_status(r);
    signal(SIGPIPE, SIG_IGN);
    r = own_program_path(mcp.program);
    if (r < 0)
        return verb_complain("mcp", "cannot find itself: %s", strerror(-r)), 1;
    r = confine_files(CONFINE_SERVES, mcp.database);
    if (r == 0)
        r = confine_calls(CONFINE_SERVES);
    if (r < 0)
        return verb_complain("mcp", "cannot confine itself: %s", strerror(-r)), 1;
    return run_server(&mcp);
}

const struct verb verb_mcp = {
    .name = "mcp", .help = "answer assistants' questions about runs", .main = mcp_main};
