/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-remote-write: a program of its own, which `chokepoint export --remote-write` becomes
 * and `chokepoint run --remote-write` starts. Its libraries would double the time that every other
 * verb takes to begin, and a build may lack them.
 */
#include "cli/remote/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "cli/launch/remote_program.h"
#include "common/error.h"

#define SECRET_MAX 8192

struct words {
    const char *database, *run, *verb;
    struct remote_words remote;
    bool follows;
};

static const char *verb = "export";

static int read_main_words(int argc, char **argv, struct words *words) {
    const struct option_row rows[] = {
        {"--db FILE", "the database", .text = &words->database},
        {"--run ID", "the run", .text = &words->run},
        {"--verb NAME", "whose words messages begin with", .text = &words->verb},
        REMOTE_ROWS(&words->remote),
        {"--follow", "wait for the run's end however long nothing comes", .flag = &words->follows},
    };
    const struct option_table table = {
        "usage: chokepoint-remote-write --db FILE --run ID --remote-write URL\n\n"
        "Part of `chokepoint export` and `chokepoint run`, which start it.\n\n",
        rows,
        ARRAY_SIZE(rows),
        NULL,
        2,
        27,
        false};
    char **rest;
    *words = (struct words){.verb = "export"};
    int r = verb_words_read("export", &table, argc, argv, &rest);
    if (r)
        return r;
    if (!words->database || !words->run || !words->remote.url || rest[0])
        return verb_refuse("export", "wrong words for chokepoint-remote-write", NULL,
                           "`chokepoint export --help` tells more");
    verb = words->verb;
    return 0;
}

/* The first line of a file. */
static int read_secret(const char *path, char to[SECRET_MAX]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, SECRET_MAX - 1);
    int error = n < 0 ? negative_errno() : 0;
    if (fd >= 0)
        close(fd);
    if (error)
        return verb_complain(verb, "%s: %s", path, strerror(-error)), error;
    to[n] = '\0';
    to[strcspn(to, "\r\n")] = '\0';
    if (to[0])
        return 0;
    verb_complain(verb, "%s: its first line is empty", path);
    return -EINVAL;
}

static int fill_post(const struct words *words, char secret[SECRET_MAX], struct post_config *post) {
    const char *token = getenv(REMOTE_TOKEN_VARIABLE), *file = words->remote.token_file;
    char why[160];
    int r = 0;
    *post =
        (struct post_config){.url = words->remote.url, .authorities = words->remote.authorities};
    if (file || words->remote.login_file)
        r = read_secret(file ? file : words->remote.login_file, secret);
    else if (token && *token)
        snprintf(secret, SECRET_MAX, "%s", token);
    if (r)
        return r;
    *(words->remote.login_file ? &post->login : &post->token) = secret[0] ? secret : NULL;
    r = post_check_url(post->url, secret[0], why, sizeof why);
    return r ? verb_complain(verb, "%s", why), r : 0;
}

static void say_line(const char *line) {
    verb_complain(verb, "%s", line);
}

static int finish(const struct words *words, int r, const char *why) {
    if (r == SENDER_IN_USE)
        verb_complain(verb, "another process sends run %s there already", words->run);
    else if (r == -EBADMSG)
        verb_complain(verb, "%s: what stands there of run %s is damaged",
                      why[0] ? why : words->database, words->run);
    else if (r < 0)
        verb_complain(verb, "%s: %s", why[0] ? why : words->database, strerror(-r));
    return r < 0 || r == SENDER_IN_USE ? EXIT_USAGE : r ? EXIT_FAILURE : 0;
}

static int send_chosen(const struct words *words, struct store *store,
                       const struct post_config *post) {
    struct store_run run;
    struct sender_sent sent;
    char why[320];
    int r = store_find_run(store, words->run, &run);
    if (r < 0)
        return finish(words, r, words->run);
    const struct sender_config config = {
        .database = words->database, .run = &run, .post = *post, .follows = words->follows};
    r = sender_run(&config, store, say_line, &sent, why);
    if (r == 0 && sent.series)
        verb_tell("run %s: %llu samples of %zu series were sent", words->run,
                  (unsigned long long)sent.samples, sent.series);
    else if (r == 0)
        verb_tell("run %s was sent before", words->run);
    store_run_release(&run);
    return finish(words, r, why);
}

/* SIGCONT ends a pause between two looks at the database; by default it does nothing. */
static void end_pause(int signal) {
    (void)signal;
}

int main(int argc, char **argv) {
    const struct sigaction go_on = {.sa_handler = end_pause};
    static char secret[SECRET_MAX];
    struct words words;
    struct post_config post;
    struct store *store;
    char why[320];
    int r = read_main_words(argc, argv, &words);
    if (r)
        return verb_words_status(r);
    sigaction(SIGCONT, &go_on, NULL);
    if (fill_post(&words, secret, &post) < 0)
        return EXIT_USAGE;
    r = store_open_read(words.database, &store, why, sizeof why);
    if (r) {
        verb_complain(verb, "%s", why);
        return EXIT_USAGE;
    }
    r = send_chosen(&words, store, &post);
    store_close(store);
    explicit_bzero(secret, sizeof secret);
    return r;
}
