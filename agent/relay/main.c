/* SPDX-License-Identifier: MIT */
#include "agent/relay/relay.h"
#include "common/error.h"
#include "common/options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int usage(void) {
    fputs("usage: chokepoint-relay --host NAME --collector URL --pin PIN --agents DIR LAUNCHER "
          "[WORD...]\n"
          "chokepoint run starts it, with the keys of the host on its standard input.\n",
          stderr);
    return 2;
}

/* The words after the options; NULL: `chokepoint run` passes others. */
static char *const *read_words(struct relay *relay, int argc, char **argv) {
    const struct option_row rows[] = {{"--host NAME", NULL, .text = &relay->host},
                                      {"--collector URL", NULL, .text = &relay->collector},
                                      {"--pin PIN", NULL, .text = &relay->pin},
                                      {"--agents DIR", NULL, .text = &relay->directory}};
    const struct option_table table = {.rows = rows, .n = ARRAY_SIZE(rows), .one_command = true};
    struct option_trouble trouble;
    char **words = NULL;
    bool all = options_read(&table, argc, argv, &words, &trouble) == 0 && relay->host &&
               relay->collector && relay->pin && relay->directory;
    return all && words[0] ? words : NULL;
}

/* "KEY [KEY OF MARKS]". Without a key no push is possible, which is reported where it is needed. */
static void read_keys(struct relay *relay) {
    char line[sizeof relay->token];
    if (secret_read_line(STDIN_FILENO, line, sizeof line) < 0)
        return;
    size_t size = strcspn(line, " ");
    snprintf(relay->token, sizeof relay->token, "%.*s", (int)size, line);
    snprintf(relay->marks, sizeof relay->marks, "%s", line + size + (line[size] == ' '));
    explicit_bzero(line, sizeof line);
}

static void pump(struct relay *relay) {
    relay->silent = true;
    if (*relay->token)
        relay_pump(relay, relay->token);
    else
        relay_close_input(relay);
}

int main(int argc, char **argv) {
    struct relay relay = {.to = -1};
    char *const *words = argc > 0 ? read_words(&relay, argc, argv) : NULL;
    if (!words)
        return usage();
    buffer_init(&relay.in);
    read_keys(&relay);
    int r = relay_start(&relay, words);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", words[0], strerror(-r));
        return 1;
    }
    if (relay_handshake(&relay) == RELAY_DELIVERED && *relay.collector)
        pump(&relay);
    r = relay_finish(&relay);
    buffer_release(&relay.in);
    explicit_bzero(relay.token, sizeof relay.token);
    explicit_bzero(relay.marks, sizeof relay.marks);
    return r;
}
