/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint mcp`: answers questions of assistants about recordings, by the Model Context Protocol
 * (revision 2025-06-18) over standard input and output, a JSON-RPC message a line. It reads only.
 * Each request has a child that reads the database, confined as the children of `serve` are
 * (CONFINE_VARIABLE), so that no request can end the server.
 */
#ifndef CHOKEPOINT_CLI_MCP_H
#define CHOKEPOINT_CLI_MCP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_LINE_MAX (1 << 20)                  /* bytes of a request */
#define MCP_ANSWER_MAX 16000                    /* bytes of an answer: about 4000 tokens */
#define MCP_WAIT_NS (INT64_C(120) * 1000000000) /* for a child */

struct mcp {
    const char *database;
    char program[PATH_MAX]; /* this one, which its children run */
};

/* ---- input.c ---- */

#define INPUT_LINE 1
#define INPUT_TOO_LONG 2 /* a line of more than MCP_LINE_MAX bytes was skipped */

struct input {
    int fd;
    char *text; /* owned: MCP_LINE_MAX bytes */
    size_t n, taken;
    bool ended, skipping;
};

int input_init(struct input *input, int fd); /* -ENOMEM */
void input_release(struct input *input);
/* The next line, without its end, until the next call; also the last one without a line feed. One
 * of the numbers above, 0 at the end, or a negative errno. */
int input_next(struct input *input, const char **ret_line, size_t *ret_size);

/* ---- message.c ---- */

/* The answer to a line, without a line feed; owned. NULL: it wants none, or no memory. */
char *message_answer(const struct mcp *mcp, const char *line, size_t size);
/* The answer to a line that was too long; owned. */
char *message_too_long(void);

/* ---- children.c ---- */

struct output_text {
    char *out, *said; /* owned: standard output and standard error, as texts; NULL: none */
    size_t out_size;
};

/* Runs this program with words behind its name, and the database. 0: it ended with status 0; 1:
 * with another one, and `said` tells why; negative errno: -ETIME if it took too long. */
int child_program(const struct mcp *mcp, const char *const *words, struct output_text *ret_text);
/* Runs a function in a child, confined to reading the database. Its result is the exit status. */
int child_function(const struct mcp *mcp, int (*body)(void *ctx, int out_fd, int said_fd),
                   void *ctx, struct output_text *ret_text);
void output_text_release(struct output_text *text);

/* ---- question.c ---- */

/* Puts a query to the database: `out` is a JSON document with columns and rows. The result is that
 * of child_program. */
int question_ask(const struct mcp *mcp, const char *sql, struct output_text *ret_text);

#endif
