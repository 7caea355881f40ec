/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint serve`: the page for a browser. One thread and one loop; only children read the
 * database (pages.h, feeds.h). All of it runs at a low priority, since the recorded run may be
 * beside it.
 */
#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "cli/serve/options.h"
#include "cli/serve/site.h"
#include "collector/confine.h"
#include "collector/credentials.h"
#include "collector/server_listen.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/own_program.h"
#include "common/signals.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define NICENESS 10
#define FINISH_NS (3 * NS_PER_S) /* for the last events to watchers */

struct server {
    const struct serve_options *options;
    char program[PATH_MAX];
    char address[64]; /* with the actual port */
    struct credentials credentials;
    struct site site;
    struct http *http;
    int signal_fd;
    bool ending;
};

static int fail(const char *what, int error) {
    verb_complain("serve", "%s: %s", what, strerror(-error));
    return 1;
}

/* ---- output ---- */

static int print_address(const struct server *s) {
    const struct serve_options *o = s->options;
    const struct guard *guard = &s->site.guard;
    printf("chokepoint serve: %s://%s/", o->tls ? "https" : "http", s->address);
    if (guard->token[0])
        printf("enter/%s", guard->way_in);
    else if (o->run)
        printf("live/%s", o->run);
    putchar('\n');
    return fflush(stdout) == 0 ? 0 : -EIO;
}

/* A watched run will have its database soon. */
static void say_if_missing(const struct serve_options *o) {
    if (!o->run && access(o->database, F_OK) < 0 && errno == ENOENT)
        verb_complain("serve", "there is no database '%s' yet: its runs are listed once it is",
                      o->database);
}

/* The user can compare a certificate that nobody vouches for. */
static void print_fingerprint(const struct server *s) {
    char fingerprint[FINGERPRINT_SIZE];
    if (s->options->tls && credentials_fingerprint(s->credentials.certificate, fingerprint) == 0)
        printf("its certificate (SHA-256): %s\n", fingerprint);
    fflush(stdout);
}

static void on_entered(void *ctx) {
    print_address(ctx);
}

/* ---- parts ---- */

static int listen_somewhere(struct server *s, int *ret_fd) {
    const struct serve_options *o = s->options;
    char spec[80], why[200];
    bool v6 = strchr(o->address, ':');
    snprintf(spec, sizeof spec, v6 ? "[%s]:%u" : "%s:%u", o->address, o->port);
    int fd = listen_on(spec, s->address, sizeof s->address, why, sizeof why);
    if (fd == -EADDRINUSE && o->any_port) {
        snprintf(spec, sizeof spec, v6 ? "[%s]:0" : "%s:0", o->address);
        fd = listen_on(spec, s->address, sizeof s->address, why, sizeof why);
    }
    if (fd < 0)
        return verb_complain("serve", "%s", why), fd;
    *ret_fd = fd;
    return 0;
}

/* If root runs the server for a user (sudo), that user may read, too. */
static void allow_users(struct guard *guard) {
    const char *behind_sudo = getenv("SUDO_UID");
    char *end;
    guard_allow(guard, geteuid());
    unsigned long uid = behind_sudo ? strtoul(behind_sudo, &end, 10) : 0;
    if (behind_sudo && geteuid() == 0 && *behind_sudo && !*end)
        guard_allow(guard, (uid_t)uid);
}

static int make_guard(struct server *s) {
    struct guard *guard = &s->site.guard;
    const struct serve_options *o = s->options;
    int r = guard_init(guard);
    snprintf(guard->address, sizeof guard->address, "%s", o->address);
    snprintf(guard->token, sizeof guard->token, "%s", o->token);
    snprintf(guard->cookie, sizeof guard->cookie, "chokepoint-%s", strrchr(s->address, ':') + 1);
    guard->everywhere = strcmp(o->address, "0.0.0.0") == 0 || strcmp(o->address, "::") == 0;
    if (!o->loopback && gethostname(guard->own_name, sizeof guard->own_name - 1) < 0)
        guard->own_name[0] = '\0';
    allow_users(guard);
    s->site.encrypted = o->tls;
    s->site.entered = on_entered;
    s->site.ctx = s;
    return r;
}

static int open_parts(struct server *s) {
    struct site *site = &s->site;
    const char *database = s->options->database;
    const struct pages_options pages = {s->program, database, site_page_done, site};
    const struct feeds_options feeds = {s->program, database, site_news, site};
    int r = own_program_path(s->program);
    if (r == 0)
        r = pages_new(&pages, &site->pages);
    if (r == 0)
        r = feeds_new(&feeds, &site->feeds);
    if (r == 0 && s->options->tls)
        r = credentials_make(NULL, &s->credentials);
    return r;
}

/* 0, or a negative errno after one line. */
static int open_server(struct server *s) {
    int fd;
    int r = open_parts(s);
    if (r < 0)
        return fail("cannot start", r), r;
    r = listen_somewhere(s, &fd);
    if (r < 0)
        return r;
    r = make_guard(s);
    const struct http_options http = {.listen_fd = fd,
                                      .credentials = s->options->tls ? &s->credentials : NULL,
                                      .is_reader = site_is_reader,
                                      .request = site_request,
                                      .gone = site_gone,
                                      .ctx = &s->site};
    if (r == 0)
        r = http_start(&http, &s->http);
    if (r < 0)
        return close(fd), fail("cannot start", r), r;
    return 0;
}

/* Confines also the programs that it starts: CONFINE_VARIABLE. */
static int confine_server(const struct server *s) {
    int r = setenv(CONFINE_VARIABLE, s->options->database, 1) < 0 ? negative_errno() : 0;
    if (r == 0)
        r = confine_files(CONFINE_SERVES, s->options->database);
    if (r == 0)
        r = confine_calls(CONFINE_SERVES);
    return r < 0 ? fail("cannot confine itself", r), r : 0;
}

/* ---- the loop ---- */

static int timeout_ms(const struct server *s, int64_t until_ns) {
    int64_t due_ns = pages_deadline_ns(s->site.pages);
    int64_t feeds_ns = feeds_deadline_ns(s->site.feeds), now_ns = clock_monotonic_ns();
    int http_ms = http_timeout_ms(s->http);
    due_ns = feeds_ns < due_ns ? feeds_ns : due_ns;
    due_ns = until_ns < due_ns ? until_ns : due_ns;
    int64_t left_ms = due_ns <= now_ns ? 0 : (due_ns - now_ns) / NS_PER_MS + 1;
    left_ms = left_ms > 60000 ? 60000 : left_ms;
    return http_ms >= 0 && http_ms < left_ms ? http_ms : (int)left_ms;
}

static void read_signals(struct server *s) {
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == sizeof info)
        s->ending |= info.ssi_signo != SIGCHLD;
}

static void turn(struct server *s, int64_t until_ns) {
    struct pollfd fds[FEEDS_MAX + 2] = {{.fd = s->signal_fd, .events = POLLIN},
                                        {.fd = http_fd(s->http), .events = POLLIN}};
    size_t n = 2 + feeds_fds(s->site.feeds, fds + 2);
    poll(fds, n, timeout_ms(s, until_ns));
    read_signals(s);
    feeds_check(s->site.feeds);
    pages_check(s->site.pages);
    http_run(s->http);
}

static void serve(struct server *s) {
    while (!s->ending)
        turn(s, INT64_MAX);
    int64_t until_ns = clock_monotonic_ns() + FINISH_NS;
    pages_close(s->site.pages);
    feeds_close(s->site.feeds);
    while (!http_is_idle(s->http) && clock_monotonic_ns() < until_ns)
        turn(s, until_ns);
}

static void close_server(struct server *s) {
    http_finish(s->http);
    feeds_free(s->site.feeds);
    pages_free(s->site.pages);
    guard_release(&s->site.guard);
    credentials_release(&s->credentials);
    if (s->signal_fd >= 0)
        close(s->signal_fd);
}

static int run_server(const struct serve_options *options) {
    struct server server = {.options = options, .signal_fd = signals_open()};
    int status = 1;
    signal(SIGPIPE, SIG_IGN);
    limits_raise(NULL);
    (void)!nice(NICENESS);
    if (server.signal_fd < 0)
        fail("cannot start", server.signal_fd);
    else if (open_server(&server) == 0 && confine_server(&server) == 0 &&
             print_address(&server) == 0) {
        say_if_missing(server.options);
        print_fingerprint(&server);
        serve(&server);
        status = 0;
    }
    close_server(&server);
    return status;
}

static int serve_main(int argc, char **argv) {
    struct serve_options options;
    int r = serve_options_read(argc, argv, &options);
    if (r)
        return verb_words_status(r);
    int status = run_server(&options);
    explicit_bzero(options.token, sizeof options.token);
    return status;
}

const struct verb verb_serve = {
    .name = "serve", .help = "serve runs and live views to a browser", .main = serve_main};
