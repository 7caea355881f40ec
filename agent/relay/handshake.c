/* SPDX-License-Identifier: MIT */
/*
 * The conversation with the script that the launcher runs on the host. It says one of
 *
 *     chokepoint-agent installed     and becomes the agent, whose key it finds on its input
 *     chokepoint-agent needs ARCH    and awaits "SIZE CHECKSUM" and so many bytes of program
 *     chokepoint-agent delivered     after that, and becomes the agent, whose requests follow
 *
 * All else that comes before is said by somebody else (the start files of a shell, a launcher), and
 * is passed on.
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
#define NOISE_MAX (256u << 10) /* of others, before our word */
#define ARCHITECTURE_MAX 32

struct program {
    void *data;
    size_t size;
};

static void drop(struct buffer *buffer, size_t size) {
    buffer->size -= size;
    memmove(buffer->data, buffer->data + size, buffer->size);
}

/* The next line of ours, without "chokepoint-agent "; -EPIPE: there is none. */
static int hear(struct relay *relay, char *ret_line, size_t capacity) {
    for (size_t heard = 0; heard < NOISE_MAX && !relay->told;) {
        char *end = relay->in.size ? memchr(relay->in.data, '\n', relay->in.size) : NULL;
        if (!end) {
            int r = relay->in.size < NOISE_MAX ? relay_read(relay, 4096) : -EPIPE;
            if (r == -EPIPE)
                return r;
            continue;
        }
        size_t size = (size_t)(end - (char *)relay->in.data), word = sizeof WORD - 1;
        bool ours = size > word && size - word < capacity &&
                    memcmp(relay->in.data, WORD, word) == 0;
        if (ours)
            snprintf(ret_line, capacity, "%.*s", (int)(size - word), (char *)relay->in.data + word);
        else if (write(STDERR_FILENO, relay->in.data, size + 1) < 0)
            return -EPIPE;
        heard += size + 1;
        drop(&relay->in, size + 1);
        if (ours)
            return 0;
    }
    return -EPIPE;
}

/* ---- the program ---- */

static bool is_architecture(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
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

static int send_program(struct relay *relay, const struct program *program) {
    char line[48];
    int n = snprintf(line, sizeof line, "%zu %u\n", program->size,
                     relay_cksum(program->data, program->size));
    int r = relay_write(relay, line, (size_t)n);
    return r < 0 ? r : relay_write(relay, program->data, program->size);
}

/* Someone there reads the key: it says nothing of itself. */
static int deliver(struct relay *relay, const char *architecture) {
    char path[PATH_MAX];
    struct program program;
    if (!is_architecture(architecture))
        return fprintf(stderr, "no word on what machine %s is\n", relay->host), -EPIPE;
    int n = snprintf(path, sizeof path, "%s/%s/chokepoint-agent", relay->directory,
                     architecture);
    int r = n < (int)sizeof path ? map_program(path, &program) : -ENAMETOOLONG;
    if (r < 0) {
        fprintf(stderr,
                "%s has no chokepoint-agent " CHOKEPOINT_VERSION ", and there is none for %s here; "
                "install the package chokepoint-agent on %s\n",
                relay->host, architecture, relay->host);
        return -EPIPE;
    }
    r = send_program(relay, &program);
    munmap(program.data, program.size);
    return r;
}

static int hand_over_key(struct relay *relay) {
    char key[130];
    int r = secret_read_line(STDIN_FILENO, key, sizeof key - 1);
    if (r == 0) {
        size_t size = strlen(key);
        key[size] = '\n';
        r = relay_write(relay, key, size + 1);
    }
    explicit_bzero(key, sizeof key);
    return r;
}

enum relay_place relay_handshake(struct relay *relay) {
    char line[64];
    enum relay_place place = RELAY_NOWHERE;
    while (hear(relay, line, sizeof line) == 0) {
        if (strcmp(line, "installed") == 0) {
            place = hand_over_key(relay) < 0 ? RELAY_NOWHERE : RELAY_INSTALLED;
            break;
        }
        if (strcmp(line, "delivered") == 0)
            return RELAY_DELIVERED;
        if (strncmp(line, "needs ", 6) == 0 && deliver(relay, line + 6) < 0)
            break;
    }
    relay_close_input(relay);
    if (relay->told)
        relay_signal(relay, SIGTERM);
    return place;
}
