/* SPDX-License-Identifier: MIT */
#include "agent/relay/relay.h"

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
static char *const *read_words(struct relay *relay, char *const *words) {
    const struct {
        const char *name, **value;
    } options[] = {{"--host", &relay->host},
                   {"--collector", &relay->collector},
                   {"--pin", &relay->pin},
                   {"--agents", &relay->directory}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++, words += 2) {
        if (!words[0] || !words[1] || strcmp(words[0], options[i].name) != 0)
            return NULL;
        *options[i].value = words[1];
    }
    return words[0] ? words : NULL;
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
    char *const *words = argc > 0 ? read_words(&relay, argv + 1) : NULL;
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
