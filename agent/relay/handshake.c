/* SPDX-License-Identifier: MIT */
/*
 * The conversation with the script that the launcher runs on the host. The script says one of
 *
 *     chokepoint-agent installed     and becomes the agent, whose key it finds on its input
 *     chokepoint-agent needs ARCH    and awaits "SIZE 0 CHECKSUM KEY" and so many bytes of program
 *     chokepoint-agent needs ARCH shim    the same with the size of the shim, which follows
 *     chokepoint-agent delivered     after that, and becomes the agent, whose requests follow
 *
 * All other lines before come from other programs (start files of a shell, a launcher) and are
 * passed on; the last one may lack its line end.
 */
#include "agent/relay/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

#define WORD "chokepoint-agent "
#define NOISE_MAX (256u << 10) /* lines of other programs before the script's */
#define ARCHITECTURE_MAX 32
#define LINE_SIZE 64

static void drop(struct buffer *buffer, size_t size) {
    buffer->size -= size;
    memmove(buffer->data, buffer->data + size, buffer->size);
}

static bool is_ours(const char *said, size_t size) {
    return (size == 9 && memcmp(said, "installed", 9) == 0) ||
           (size == 9 && memcmp(said, "delivered", 9) == 0) ||
           (size >= 6 && memcmp(said, "needs ", 6) == 0);
}

/* Finds the script's words anywhere in a line: a prompt or a title before them has no line end. */
static const char *find_said(const char *line, size_t size) {
    const char *end = line + size, *word = line;
    while ((word = memmem(word, (size_t)(end - word), WORD, sizeof WORD - 1))) {
        word += sizeof WORD - 1;
        if (is_ours(word, (size_t)(end - word)))
            return word;
    }
    return NULL;
}

/* Takes the first line, of `size` bytes and its end, and passes on other programs' words. 1:
 * ret_line has the script's words. */
static int take_line(struct relay *relay, size_t size, char ret_line[LINE_SIZE]) {
    char *line = (char *)relay->in.data;
    const char *said = find_said(line, size);
    size_t noise = said ? (size_t)(said - line) - (sizeof WORD - 1) : size;
    if (said)
        snprintf(ret_line, LINE_SIZE, "%.*s", (int)(line + size - said), said);
    line[noise] = '\n';
    if ((!said || noise) && relay_pass(line, noise + 1) < 0)
        return -EPIPE;
    drop(&relay->in, size + 1);
    return said != NULL;
}

static int refuse_noise(struct relay *relay) {
    relay_say(
        "%s writes more than %u KiB before it starts anything: see the start files of its login "
        "shell\n",
        relay->host, NOISE_MAX >> 10);
    relay->silent = true; /* further output would hide the message */
    relay_signal(relay, SIGTERM);
    return -EPIPE;
}

/* The script's next line, without "chokepoint-agent "; -EPIPE: there is none. */
static int hear(struct relay *relay, char ret_line[LINE_SIZE]) {
    size_t heard = 0;
    while (!relay->told) {
        char *end = relay->in.size ? memchr(relay->in.data, '\n', relay->in.size) : NULL;
        if (heard + relay->in.size >= NOISE_MAX)
            return refuse_noise(relay);
        if (!end) {
            if (relay_read(relay, 4096) == -EPIPE)
                return -EPIPE;
            continue;
        }
        size_t size = (size_t)(end - (char *)relay->in.data);
        int r = take_line(relay, size, ret_line);
        if (r)
            return r == 1 ? 0 : r;
        heard += size + 1;
    }
    return -EPIPE;
}

/* ---- the program ---- */

static bool is_architecture(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return *name && strlen(name) <= ARCHITECTURE_MAX && name[strspn(name, letters)] == '\0';
}

static int map_program(const char *path, struct program *ret_program) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) < 0 || info.st_size <= 0) {
        int r = fd < 0 ? negative_errno() : -ENOENT;
        if (fd >= 0)
            close(fd);
        return r;
    }
    ret_program->size = (size_t)info.st_size;
    ret_program->data = mmap(NULL, ret_program->size, PROT_READ, MAP_PRIVATE, fd, 0);
    int r = ret_program->data == MAP_FAILED ? negative_errno() : 0;
    close(fd);
    return r;
}

static int open_program(const struct relay *relay, const char *architecture, const char *name,
                        struct program *ret_program) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s/%s", relay->directory, architecture, name);
    return n < (int)sizeof path ? map_program(path, ret_program) : -ENAMETOOLONG;
}

static int send_programs(struct relay *relay, const struct program *agent,
                         const struct program *shim) {
    char line[64 + sizeof relay->marks];
    uint32_t sum = relay_cksum((const struct program[]){*agent, *shim}, 2);
    int n =
        snprintf(line, sizeof line, "%zu %zu %u %s\n", agent->size, shim->size, sum, relay->marks);
    int r = relay_write(relay, line, (size_t)n);
    explicit_bzero(line, sizeof line);
    if (r == 0)
        r = relay_write(relay, agent->data, agent->size);
    return r < 0 ? r : relay_write(relay, shim->data, shim->size);
}

static void say_nothing_fits(const struct relay *relay, const char *architecture) {
    relay_say("%s has no chokepoint-agent " CHOKEPOINT_VERSION ", and there is none for %s here; "
              "install the package chokepoint-agent on %s\n",
              relay->host, architecture, relay->host);
}

/* A shim that is missing here is sent as none; the agent is sent all the same. */
static int deliver(struct relay *relay, char *architecture) {
    static const char with_shim[] = " shim";
    struct program agent, shim = {NULL, 0};
    char *end = strstr(architecture, with_shim);
    bool wants_shim = end && strcmp(end, with_shim) == 0;
    if (wants_shim)
        *end = '\0';
    if (!is_architecture(architecture))
        return relay_say("no word on what machine %s is\n", relay->host), -EPIPE;
    int r = open_program(relay, architecture, "chokepoint-agent", &agent);
    if (r < 0)
        return say_nothing_fits(relay, architecture), -EPIPE;
    if (wants_shim && open_program(relay, architecture, "libchokepoint-mpi.so", &shim) < 0)
        shim = (struct program){NULL, 0};
    r = send_programs(relay, &agent, &shim);
    munmap(agent.data, agent.size);
    if (shim.size)
        munmap(shim.data, shim.size);
    return r;
}

static int hand_over_keys(struct relay *relay) {
    char line[sizeof relay->token + sizeof relay->marks];
    if (!*relay->token)
        return -ENODATA;
    int n = snprintf(line, sizeof line, "%s%s%s\n", relay->token, *relay->marks ? " " : "",
                     relay->marks);
    int r = relay_write(relay, line, (size_t)n);
    explicit_bzero(line, sizeof line);
    return r;
}

enum relay_place relay_handshake(struct relay *relay) {
    char line[LINE_SIZE];
    enum relay_place place = RELAY_NOWHERE;
    while (hear(relay, line) == 0) {
        if (strcmp(line, "installed") == 0) {
            place = hand_over_keys(relay) < 0 ? RELAY_NOWHERE : RELAY_INSTALLED;
            break;
        }
        if (strcmp(line, "delivered") == 0) {
            relay_say("chokepoint-relay: delivered\n");
            return RELAY_DELIVERED;
        }
        if (strncmp(line, "needs ", 6) == 0 && deliver(relay, line + 6) < 0)
            break;
    }
    relay_close_input(relay);
    if (relay->told)
        relay_signal(relay, SIGTERM);
    return place;
}
