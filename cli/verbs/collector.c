/* SPDX-License-Identifier: MIT */
/*
 * The verb `collector`: the collector as a process, a child of `run` or started by hand.
 *
 * It gets orders through its standard input and reports on its standard output, one line each. So
 * its parent needs no other channel, and both sides detect the other's death.
 */
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "collector/confine.h"
#include "collector/credentials.h"
#include "collector/server.h"
#include "collector/store_read.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/secret.h"
#include "common/text.h"

static const char usage[] =
    "usage: chokepoint collector --db FILE --run ID --listen ADDR:PORT[,ADDR:PORT...]\n"
    "                            [--file DEVICE:INODE] [--pack-after S]\n"
    "\n"
    "Takes the frames that agents push and writes them into the database, as part of a run that\n"
    "is there already. `chokepoint run` starts one by itself.\n"
    "\n";

static const char end[] =
    "\n"
    "environment: CHOKEPOINT_TOKEN, the run's secret, of which the keys of hosts are made;\n"
    "             CHOKEPOINT_KEY, its private key (PEM); without it one is made\n"
    "stdin:       \"stop\" asks every agent to stop; its end commits and ends the collector\n"
    "stdout:      pin PIN | listening ADDR:PORT | host NAME | events NAME COUNT | final NAME SEQ "
    "|\n"
    "             trouble TEXT\n"
    "SIGTERM ends it like the end of stdin; SIGINT too when stdin is a terminal, else it is\n"
    "ignored, since the run that started it is to take what its agents still have.\n";

#define ORPHAN_NS (6 * NS_PER_S) /* agents of a killed run try for 3 s, mpirun takes time, too */
#define ORPHANED_NS (200 * NS_PER_MS)
#define ORPHAN_CHECK_MS 20
#define PACK_AFTER_MOST_S (30 * 86400)
#define KEY_MAX 4096 /* bytes of a private key, PEM */

struct collector {
    const char *db, *listen;
    const char *key_of;
    char token[SERVER_TOKEN_MAX + 2]; /* one byte more: longer ones are detected */
    struct credentials credentials;
    uint64_t run;
    double pack_after_s;    /* 0: samples stay rows */
    struct store_file file; /* inode 0: any file of that name */
    struct store *store;    /* belongs to the writer once that runs */
    struct writer *writer;
    struct server *server;
    atomic_uint hosts, finals; /* hosts that have begun, and that have sent their last frame */
};

static int usage_error(const char *what) {
    return verb_refuse("collector", what, NULL, "see `chokepoint collector --help`");
}

static int parse_file(const char *text, struct store_file *ret_file) {
    char device[24];
    const char *colon = strchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof device)
        return -EINVAL;
    snprintf(device, sizeof device, "%.*s", (int)(colon - text), text);
    int r = text_parse_u64(device, &ret_file->device);
    return r < 0 ? r : text_parse_u64(colon + 1, &ret_file->inode);
}

static int parse_options(struct collector *c, int argc, char **argv) {
    const char *run = "", *file = NULL;
    const struct option_row rows[] = {
        {"--db FILE", "the database", .take = verb_take_database, .to = &c->db},
        {"--run ID", "number of the run in it", .text = &run},
        {"--file DEV:INODE", "that very file and no other of its name (as stat prints them)",
         .text = &file},
        {"--listen LIST",
         "numeric addresses, [v6]:PORT too; port 0 takes any; fd:N is\n"
         "a descriptor that listens already; UDP of the same number tells agents\n"
         "the time; nothing else is opened",
         .text = &c->listen},
        {"--pack-after S",
         "pack samples when they are S seconds old, and go on recording: a\n"
         "quarter of the bytes or less, and chokepoint alone reads the file",
         .number = &c->pack_after_s, .low = 1, .high = PACK_AFTER_MOST_S},
        {"--key-of HOST", "print the key that the agent of HOST must show, and end",
         .text = &c->key_of},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 2, 19, false};
    char **rest;
    int r = verb_words_read("collector", &table, argc, argv, &rest);
    if (r)
        return r;
    if (rest[0])
        return usage_error("it takes options only");
    if (c->key_of)
        return 0;
    if (!c->db || !c->listen || !*run)
        return usage_error("--db, --run and --listen are all needed");
    if (text_parse_u64(run, &c->run) < 0 || c->run == 0 || c->run > INT64_MAX)
        return usage_error("--run takes the number of a run");
    if (file && parse_file(file, &c->file) < 0)
        return usage_error("--file takes the numbers of a device and an inode, DEVICE:INODE");
    return 0;
}

/* Removes it from the environment, which others may read later. */
static int take_secrets(struct collector *c) {
    char key[KEY_MAX];
    int token = secret_take("CHOKEPOINT_TOKEN", c->token, sizeof c->token);
    int r = secret_take("CHOKEPOINT_KEY", key, sizeof key);
    if (r == 0 && token == 0 && c->token[0] && !c->key_of)
        r = credentials_make(key[0] ? key : NULL, &c->credentials);
    explicit_bzero(key, sizeof key);
    if (token < 0)
        return usage_error("CHOKEPOINT_TOKEN is too long");
    if (!c->token[0])
        return usage_error("CHOKEPOINT_TOKEN is not set: agents must have something to show");
    return r < 0 ? usage_error("CHOKEPOINT_KEY is no private key") : 0;
}

static int print_key(const struct collector *c) {
    char key[HOST_KEY_SIZE];
    if (credentials_host_key(c->token, c->key_of, key) < 0)
        return 1;
    return printf("%s\n", key) < 0;
}

static void print_event(void *ctx, const char *line) {
    struct collector *c = ctx;
    c->hosts += strncmp(line, "host ", 5) == 0;
    c->finals += strncmp(line, "final ", 6) == 0;
    /* A closed standard output does not stop the collector. */
    if (printf("%s\n", line) < 0 || fflush(stdout) != 0)
        clearerr(stdout);
}

static int fail(const char *why) {
    verb_complain("collector", "%s", why);
    return 1;
}

/* The parent makes the database and the run in it: a mistyped name makes no new ones. */
static int open_store(struct collector *c) {
    char why[256] = "", id[24];
    struct store_run run;
    if (access(c->db, F_OK) != 0)
        snprintf(why, sizeof why, "no database at %s: `chokepoint run` makes it", c->db);
    if (why[0] || (c->file.inode ? store_open_again(c->db, &c->file, &c->store, why, sizeof why)
                                 : store_open_write(c->db, &c->store, why, sizeof why)))
        return fail(why);
    snprintf(id, sizeof id, "%" PRIu64, c->run);
    if (store_find_run(c->store, id, &run) != 0) {
        snprintf(why, sizeof why, "no run %s in %s: `chokepoint list` shows those there are", id,
                 c->db);
        return fail(why);
    }
    store_run_release(&run);
    return 0;
}

static int open_all(struct collector *c) {
    char why[256] = "", line[SERVER_ADDRESS_TEXT_MAX + 16];
    if (open_store(c))
        return 1;
    int r = confine_files(CONFINE_STORES, c->db); /* before threads begin */
    if (r < 0)
        return fail(strerror(-r));
    const struct writer_options writer = {.store = c->store,
                                          .run = (int64_t)c->run,
                                          .pack_after_ns = (int64_t)(c->pack_after_s * 1e9),
                                          .event = print_event,
                                          .event_ctx = c};
    r = writer_start(&writer, &c->writer);
    if (r < 0)
        return fail(strerror(-r));
    const struct server_options server = {.listen = c->listen,
                                          .token = c->token,
                                          .writer = c->writer,
                                          .credentials = &c->credentials};
    if (server_start(&server, &c->server, why, sizeof why) < 0)
        return fail(why);
    if ((r = confine_calls(CONFINE_STORES)) < 0)
        return fail(strerror(-r));
    snprintf(line, sizeof line, "pin %s", c->credentials.pin);
    print_event(c, line);
    for (size_t i = 0; server_address(c->server, i); i++) {
        snprintf(line, sizeof line, "listening %s", server_address(c->server, i));
        print_event(c, line);
    }
    return 0;
}

static void close_all(struct collector *c) {
    server_finish(c->server);
    writer_free(c->writer);
    store_close(c->store);
    explicit_bzero(c->token, sizeof c->token);
    credentials_release(&c->credentials);
}

/* Blocked before the first thread starts, so that all threads inherit it. */
static int signals_to_descriptor(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    if (isatty(STDIN_FILENO))
        sigaddset(&set, SIGINT);
    else
        signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Takes whole lines out of buf; an overlong one is no order and is dropped. */
static size_t obey_lines(struct collector *c, char *buf, size_t size, size_t capacity) {
    char *newline;
    while ((newline = memchr(buf, '\n', size))) {
        if (newline - buf == 4 && memcmp(buf, "stop", 4) == 0)
            server_ask_stop(c->server);
        size -= (size_t)(newline + 1 - buf);
        memmove(buf, newline + 1, size);
    }
    return size == capacity ? 0 : size;
}

/* Runs until the end of stdin or a signal. */
static void wait_for_end(struct collector *c, int signal_fd) {
    char buf[64];
    size_t size = 0;
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = signal_fd, .events = POLLIN}};
    for (;;) {
        if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
            return;
        if (fds[1].revents)
            return;
        if (!fds[0].revents)
            continue;
        ssize_t n = read(STDIN_FILENO, buf + size, sizeof buf - size);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            return;
        if (n > 0)
            size = obey_lines(c, buf, size + (size_t)n, sizeof buf);
    }
}

/* When the run was killed its agents know, and their remaining frames are taken. stdin ends a
 * moment before the parent changes. */
static void outlive_parent(struct collector *c, pid_t parent) {
    int64_t began_ns = clock_monotonic_ns(), gone_ns = 0;
    while (c->finals < c->hosts && gone_ns < (getppid() == parent ? ORPHANED_NS : ORPHAN_NS)) {
        poll(NULL, 0, ORPHAN_CHECK_MS);
        gone_ns = clock_monotonic_ns() - began_ns;
    }
}

/* One arena, which grows by large pieces: another thread's arena grows and shrinks by a page or
 * two, with a system call each. Setting any of these stops glibc from raising the size above which
 * memory is mapped; bodies of requests would then be mapped each time. */
static void take_memory_at_once(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
}

static int collector_main(int argc, char **argv) {
    struct collector c = {0};
    pid_t parent = getppid();
    int r = parse_options(&c, argc, argv);
    if (r == 0)
        r = take_secrets(&c);
    if (r)
        return verb_words_status(r);
    if (c.key_of)
        return print_key(&c);
    limits_raise(NULL); /* above all for a descriptor per connection */
    take_memory_at_once();
    int signal_fd = signals_to_descriptor();
    r = signal_fd < 0 ? fail(strerror(errno)) : open_all(&c);
    if (r == 0) {
        wait_for_end(&c, signal_fd);
        outlive_parent(&c, parent);
    }
    close_all(&c);
    if (signal_fd >= 0)
        close(signal_fd);
    return r;
}

const struct verb verb_collector = {
    .name = "collector",
    .help = "take frames from agents into a database (started by run)",
    .main = collector_main,
};
