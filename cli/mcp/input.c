/* SPDX-License-Identifier: MIT */
/* Lines of any length from a program that may be anybody's: what is too long is skipped. */
#include "cli/mcp/mcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

int input_init(struct input *input, int fd) {
    *input = (struct input){.fd = fd, .text = malloc(MCP_LINE_MAX)};
    return input->text ? 0 : -ENOMEM;
}

void input_release(struct input *input) {
    free(input->text);
}

/* Forgets what was taken, and reads more. */
static int fill(struct input *input) {
    memmove(input->text, input->text + input->taken, input->n - input->taken);
    input->n -= input->taken;
    input->taken = 0;
    ssize_t got = read(input->fd, input->text + input->n, MCP_LINE_MAX - input->n);
    if (got < 0)
        return errno == EINTR ? 0 : negative_errno();
    input->ended = got == 0;
    input->n += (size_t)got;
    return 0;
}

/* Takes the bytes up to a line feed; -1: there is none. */
static int take_line(struct input *input, const char **ret_line, size_t *ret_size) {
    char *begin = input->text + input->taken;
    size_t left = input->n - input->taken;
    char *feed = memchr(begin, '\n', left);
    if (!feed && !(input->ended && left))
        return -1;
    *ret_line = begin;
    *ret_size = feed ? (size_t)(feed - begin) : left;
    input->taken += *ret_size + (feed != NULL);
    if (!input->skipping)
        return INPUT_LINE;
    input->skipping = false;
    return INPUT_TOO_LONG;
}

int input_next(struct input *input, const char **ret_line, size_t *ret_size) {
    for (;;) {
        int result = take_line(input, ret_line, ret_size);
        if (result > 0)
            return result;
        if (input->ended)
            return 0;
        if (input->n - input->taken == MCP_LINE_MAX) {
            input->skipping = true;
            input->n = input->taken = 0;
        }
        result = fill(input);
        if (result < 0)
            return result;
        if (input->ended && input->skipping && !input->n) {
            input->skipping = false;
            return INPUT_TOO_LONG;
        }
    }
}
