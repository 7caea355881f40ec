/* SPDX-License-Identifier: MIT */
#include "cli/remote/sender.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/remote/journal.h"
#include "cli/remote/series.h"
#include "common/clock.h"
#include "common/crc32c.h"
#include "common/error.h"

#define ROUND_FRAMES 1024 /* with 300 series a host: about 300,000 samples, 5 MB */
#define BODY_SAMPLES 10000
#define POLL_NS (2 * NS_PER_S)          /* between rounds that had all there was */
#define GONE_MS (INT64_C(30) * 1000)    /* a host that has sent nothing for so long has ended */
#define SILENT_MS (INT64_C(600) * 1000) /* nobody records a run with nothing for so long */
#define PAUSE_MIN_NS (NS_PER_S / 2)
#define PAUSE_MAX_NS (30 * NS_PER_S)
#define ASKED_MAX_S 600 /* an engine may ask for a longer pause; we do not believe it */

struct sender {
    const struct sender_config *config;
    struct store *store;
    struct store_follow *follow;
    struct remote_set *series;
    struct message *message;
    struct journal *journal;
    struct journal_place place;
    struct post *post;
    struct buffer packed, body, memory;
    sender_say *say;
    bool said_away, said_left_out;
    char refusal[256]; /* the last one that was said */
    bool maybe_taken;  /* the body may have come to the engine, whose answer did not come */
};

__attribute__((format(printf, 2, 3))) static void say(const struct sender *s, const char *format,
                                                      ...) {
    char line[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    s->say(line);
}

/* ---- sending ---- */

static void sleep_ns(int64_t ns) {
    struct timespec pause = {ns / NS_PER_S, ns % NS_PER_S};
    while (nanosleep(&pause, &pause) < 0 && errno == EINTR)
        ;
}

/* A signal ends it early. */
static void look_later(void) {
    const struct timespec pause = {POLL_NS / NS_PER_S, POLL_NS % NS_PER_S};
    nanosleep(&pause, NULL);
}

static void say_away(struct sender *s, const struct post_answer *answer) {
    if (s->said_away)
        return;
    s->said_away = true;
    if (answer->status)
        say(s, "the engine answers %ld: %s; trying again", answer->status,
            answer->words[0] ? answer->words : "no reason");
    else
        say(s, "the engine does not answer: %s; trying again", answer->words);
}

/* Engines refuse a sample that they have, or that is older than one they have: after an answer that
 * was lost this means that they took the body the first time. */
static bool is_known(const struct sender *s, const struct post_answer *answer) {
    return s->maybe_taken &&
           (strstr(answer->words, "out of order") || strstr(answer->words, "duplicate sample"));
}

static void refuse(struct sender *s, const struct post_answer *answer, size_t n_samples) {
    if (is_known(s, answer))
        return;
    s->place.refused += n_samples;
    if (strcmp(s->refusal, answer->words) == 0)
        return;
    snprintf(s->refusal, sizeof s->refusal, "%s", answer->words);
    say(s, "the engine refuses %zu samples for good, %ld: %s", n_samples, answer->status,
        answer->words[0] ? answer->words : "no reason");
}

/* Sends one body until the engine has said something final. 0 or SENDER_STOPPED. */
static int send_body(struct sender *s, struct span body, size_t n_samples) {
    struct post_answer answer;
    int64_t pause_ns = PAUSE_MIN_NS;
    for (;;) {
        post_send(s->post, body.data, body.size, &answer);
        if (answer.end == POST_STOP) {
            say(s, "the engine takes nothing from here, %ld: %s", answer.status,
                answer.words[0] ? answer.words : "no reason");
            return SENDER_STOPPED;
        }
        if (answer.end != POST_LATER)
            break;
        say_away(s, &answer);
        s->maybe_taken = true;
        int64_t asked_s = answer.after_s < ASKED_MAX_S ? answer.after_s : ASKED_MAX_S;
        sleep_ns(asked_s ? asked_s * NS_PER_S : pause_ns);
        pause_ns = pause_ns * 2 < PAUSE_MAX_NS ? pause_ns * 2 : PAUSE_MAX_NS;
    }
    if (answer.end == POST_REFUSED)
        refuse(s, &answer, n_samples);
    if (s->said_away)
        say(s, "the engine answers again");
    s->said_away = s->maybe_taken = false;
    return 0;
}

static int send_bodies(struct sender *s) {
    struct span body;
    size_t n_samples;
    int r = 0;
    while (!r && journal_next_body(s->journal, &body, &n_samples)) {
        r = send_body(s, body, n_samples);
        if (!r)
            r = journal_took_body(s->journal);
    }
    return r;
}

/* ---- a round ---- */

static int add_body(struct sender *s, const struct message_series *series, size_t n,
                    size_t n_samples) {
    int r = message_pack(s->message, series, n, &s->packed);
    buffer_reset(&s->body);
    if (!r)
        r = message_compress(&s->packed, &s->body);
    if (!r)
        journal_add_body(s->journal, &s->body, n_samples);
    return r;
}

/* Makes bodies of whole series: so each has the samples of a series in order, and its labels once.
 */
static int make_bodies(struct sender *s) {
    const struct message_series *series = NULL;
    size_t n = remote_list(s->series, &series), from = 0, n_samples = 0;
    int r = 0;
    for (size_t i = 0; !r && i < n; i++) {
        n_samples += series[i].n_samples;
        s->place.samples += series[i].n_samples;
        if (n_samples < BODY_SAMPLES && i + 1 < n)
            continue;
        r = add_body(s, series + from, i + 1 - from, n_samples);
        from = i + 1;
        n_samples = 0;
    }
    remote_clear(s->series);
    return r;
}

static void say_left_out(struct sender *s) {
    const char *host;
    size_t n = remote_left_out(s->series, &host);
    if (!n || s->said_left_out)
        return;
    s->said_left_out = true;
    say(s, "%s has more than %d series: %zu are left out", host, REMOTE_SERIES_MAX, n);
}

static int save_and_send(struct sender *s) {
    int r = make_bodies(s);
    if (!r && !s->place.identity) /* its first host has just come */
        r = store_follow_identity(s->follow, &s->place.identity);
    buffer_reset(&s->memory);
    if (!r && !s->place.done)
        remote_save(s->series, &s->memory);
    if (!r)
        r = journal_save(s->journal, &s->place, &s->memory);
    if (!r)
        say_left_out(s);
    return r ? r : send_bodies(s);
}

/* Reads what is there. *ret_all: it was all there was. */
static int read_round(struct sender *s, bool *ret_all) {
    int64_t until = s->place.frame;
    int r =
        store_follow_next(s->follow, s->place.frame, ROUND_FRAMES, remote_take, s->series, &until);
    if (!r)
        r = remote_taken(s->series);
    *ret_all = r == 0 && until == s->place.frame;
    s->place.frame = r ? s->place.frame : until;
    return r;
}

/* Since the run's last sample, or since it began. */
static int64_t silent_ms(const struct sender *s) {
    int64_t began_ms = s->config->run->started_wall_ns / NS_PER_MS,
            newest_ms = remote_newest_ms(s->series);
    return clock_wall_ns() / NS_PER_MS - (newest_ms > began_ms ? newest_ms : began_ms);
}

/* Nothing new is there: what has ended meanwhile? */
static int look_for_ends(struct sender *s, bool ended) {
    int64_t before_ms = ended ? INT64_MAX : clock_wall_ns() / NS_PER_MS - GONE_MS;
    int r = remote_end(s->series, before_ms);
    const struct message_series *series;
    s->place.done = ended;
    return r || (!ended && remote_list(s->series, &series) == 0) ? r : save_and_send(s);
}

/* Round by round, until the run has ended and all of it is sent. */
static int send_run(struct sender *s) {
    bool all, ended = false, given_up = false;
    int r = send_bodies(s);
    while (!r && !s->place.done && !given_up) {
        r = store_follow_has_ended(s->follow, &ended); /* first: rows come before the end */
        if (!r)
            r = read_round(s, &all);
        if (!r && !all)
            r = save_and_send(s);
        else if (!r) {
            r = look_for_ends(s, ended);
            given_up = !ended && !s->config->follows && silent_ms(s) > SILENT_MS;
        }
        if (!r && all && !s->place.done && !given_up)
            look_later();
    }
    if (!r && given_up)
        say(s, "nobody records this run any more; what there is was sent");
    return r;
}

/* ---- beginning ---- */

static uint32_t layout_of(const struct remote_run *run) {
    struct remote_table *tables = calloc(REMOTE_TABLES, sizeof *tables);
    uint32_t crc = crc32c(0, &run->id, sizeof run->id);
    if (!tables)
        return 0;
    remote_tables_fill(tables);
    for (size_t t = 0; t < REMOTE_TABLES; t++)
        crc = crc32c(crc, tables[t].names, sizeof tables[t].names);
    free(tables);
    return crc;
}

/* Goes on where the last sender ended. A state of another run under the same number is
 * forgotten. */
static int resume(struct sender *s) {
    bool usable;
    int64_t identity;
    int r = store_follow_identity(s->follow, &identity);
    if (!r && s->place.identity && s->place.identity != identity)
        journal_forget(s->journal, &s->place);
    s->place.identity = identity;
    struct cursor memory = journal_memory(s->journal, &usable);
    if (!r && usable)
        r = remote_restore(s->series, &memory);
    struct span body;
    size_t n_samples;
    s->maybe_taken = journal_next_body(s->journal, &body, &n_samples);
    return r;
}

static int open_all(struct sender *s, const struct remote_run *run,
                    const struct table *const *tables) {
    int r = store_follow_open(s->store, run->id, tables, REMOTE_TABLES, &s->follow);
    if (r)
        return r;
    s->series = remote_new(run, s->follow);
    s->message = message_new();
    r = s->series && s->message ? post_open(&s->config->post, &s->post) : -ENOMEM;
    return r ? r : resume(s);
}

static void close_all(struct sender *s) {
    post_close(s->post);
    journal_close(s->journal);
    message_free(s->message);
    remote_free(s->series);
    store_follow_close(s->follow);
    buffer_release(&s->packed);
    buffer_release(&s->body);
    buffer_release(&s->memory);
}

int sender_run(const struct sender_config *config, struct store *store, sender_say *say_line,
               struct sender_sent *ret_sent, char why[320]) {
    struct sender s = {.config = config, .store = store, .say = say_line};
    const struct remote_run run = {config->run->id, config->run->name, config->run->command};
    struct remote_table *filled = calloc(REMOTE_TABLES, sizeof *filled);
    const struct table *tables[REMOTE_TABLES];
    why[0] = '\0';
    if (!filled)
        return -ENOMEM;
    remote_tables_fill(filled);
    for (size_t t = 0; t < REMOTE_TABLES; t++)
        tables[t] = filled[t].table;
    free(filled);
    int r = journal_open(config->database, run.id, config->post.url, layout_of(&run), &s.journal,
                         &s.place);
    if (r < 0)
        snprintf(why, 320, "%s-remote%s", config->database,
                 r == -EPERM ? ", a folder that must be your own and closed to others" : "");
    if (r)
        return r == JOURNAL_IN_USE ? SENDER_IN_USE : r;
    r = open_all(&s, &run, tables);
    if (!r)
        r = send_run(&s);
    if (!r && s.place.refused)
        r = SENDER_REFUSED;
    *ret_sent = (struct sender_sent){s.place.samples, s.series ? remote_count(s.series) : 0};
    close_all(&s);
    return r;
}
