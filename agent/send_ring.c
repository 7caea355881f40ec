/* SPDX-License-Identifier: MIT */
#include "agent/send_ring.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/observe.h"
#include "agent/options.h"
#include "agent/push/push.h"
#include "agent/ring/ring_frame.h"
#include "agent/ring/ring_marks.h"
#include "agent/ring/ring_read.h"
#include "agent/ring/ring_thin.h"
#include "agent/spool/spool.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/segment_name.h"

#define EXIT_FAILED 1
#define EXIT_NOTHING 4
#define PUSH_INTERVAL_NS (20 * NS_PER_MS)
#define PATIENCE_NS (20 * NS_PER_S) /* without an answer of the collector */
#define DELIVER_NS (3600 * NS_PER_S)
#define SPOOL_BYTES (UINT64_C(64) << 30)
#define EDGE_NS (10 * NS_PER_S) /* what is missing at an end for longer is told */

struct sender {
    const struct agent_options *options;
    int64_t step_ns; /* frames within so long become one; 0: none do */
    struct ring_marks *marks;
    struct spool *spool; /* of the present stream; NULL before any */
    struct push *push;
    struct buffer opening;        /* the bytes of its opening, by which it is known */
    struct wire_reader known;     /* that opening, read */
    struct ring_thin *thin;       /* NULL: each frame is sent */
    struct frame_head held;       /* of the last frame in it; seq 0: none */
    int64_t held_step, sent_step; /* number of its time, in steps */
    struct frame_head before;     /* of the last frame of this stream; seq 0: none */
    uint64_t stream_id;           /* of the ring */
    uint64_t sent_seq;            /* of its last frame, as sent */
    uint64_t missed, lost;        /* when its first frame was taken */
    struct buffer frame;
    int64_t first_ns, last_ns;           /* wall times of frames that were taken */
    int64_t seen_first_ns, seen_last_ns; /* and of all that were read; last 0: none */
    uint64_t n_frames, n_job;
    bool undelivered;
};

static int open_stream(struct sender *sender) {
    const struct agent_options *options = sender->options;
    const struct table *tables[TABLES_MAX];
    struct spool_config config = {.dir = options->spool,
                                  .limit_bytes = SPOOL_BYTES,
                                  .stream = sender->known.stream,
                                  .tables = tables};
    while (config.n_tables < TABLES_MAX && sender->known.tables[config.n_tables]) {
        tables[config.n_tables] = &sender->known.tables[config.n_tables]->table;
        config.n_tables++;
    }
    memcpy(config.stream.host, options->host, sizeof config.stream.host);
    bool thins = sender->step_ns > config.stream.period_ns;
    if (thins)
        config.stream.period_ns = sender->step_ns;
    int r = thins ? ring_thin_new(sender->known.tables, &sender->thin) : 0;
    if (r == 0)
        r = spool_open(&config, &sender->spool);
    if (r < 0)
        return r;
    const struct push_config push = {.url = options->collector,
                                     .token = options->token[0] ? options->token : NULL,
                                     .host = options->host,
                                     .pin = options->pin,
                                     .spool = sender->spool,
                                     .interval_ns = PUSH_INTERVAL_NS,
                                     .patience_ns = PATIENCE_NS,
                                     .no_clock = true,
                                     .notify_fd = -1};
    return push_start(&push, &sender->push);
}

static bool is_asked(const struct sender *sender, const struct wire_reader *reader,
                     const struct frame_head *head) {
    int64_t from_ns = (int64_t)sender->options->from_ns, to_ns = (int64_t)sender->options->to_ns;
    /* counters grow since the frame before */
    return head->wall_ns >= from_ns - 2 * reader->stream.period_ns && head->wall_ns <= to_ns;
}

/* The counts of missed and lost frames begin anew; gaps within the cut stay gaps. A thinned stream
 * counts its own, longer slots. */
static struct frame_head head_of(struct sender *sender, const struct frame_head *of, uint64_t ahead,
                                 uint64_t slots) {
    struct frame_head head = *of;
    if (!sender->sent_seq || head.missed < sender->missed || head.lost < sender->lost) {
        sender->missed = head.missed;
        sender->lost = head.lost;
    }
    head.seq = sender->sent_seq ? sender->sent_seq + ahead : 1;
    head.missed = (head.missed - sender->missed) / slots;
    head.lost = (head.lost - sender->lost) / slots;
    return head;
}

static int send_frame(struct sender *sender, const struct frame_head *head) {
    int r = spool_append(sender->spool, sender->frame.data, sender->frame.size, head->seq);
    if (r == 0)
        sender->sent_seq = head->seq;
    return r;
}

static int send_one(struct sender *sender, const struct wire_record *record) {
    uint64_t ahead = record->head.seq - sender->before.seq;
    const struct frame_head head = head_of(sender, &record->head, ahead, 1);
    int r = ring_frame_put(&sender->frame, record, &head);
    return r < 0 ? r : send_frame(sender, &head);
}

/* Sends what was taken together. */
static int send_held(struct sender *sender) {
    if (!sender->held.seq)
        return 0;
    int64_t ahead = sender->held_step - sender->sent_step;
    int64_t slots = sender->step_ns / sender->known.stream.period_ns;
    const struct frame_head head = head_of(sender, &sender->held, ahead > 1 ? (uint64_t)ahead : 1,
                                           slots > 1 ? (uint64_t)slots : 1);
    int r = ring_thin_put(sender->thin, &head, &sender->frame);
    sender->held.seq = 0;
    sender->sent_step = sender->held_step;
    return r < 0 ? r : send_frame(sender, &head);
}

static int hold(struct sender *sender, const struct wire_reader *reader,
                const struct wire_record *record) {
    int64_t step = record->head.wall_ns / sender->step_ns;
    int r = step == sender->held_step ? 0 : send_held(sender);
    if (r < 0)
        return r;
    bool all = ring_thin_add(sender->thin, reader, *record);
    sender->held = record->head;
    sender->held_step = step;
    return all ? 0 : send_held(sender);
}

/* The collector hears of the end with the last stream alone. */
static int close_stream(struct sender *sender, bool last) {
    if (!sender->push)
        return 0;
    int r = send_held(sender);
    if (!last)
        push_keep_open(sender->push);
    if (push_finish(sender->push, clock_monotonic_ns() + DELIVER_NS) != 0)
        sender->undelivered = true;
    push_free(sender->push);
    spool_close(sender->spool, true);
    sender->push = NULL;
    sender->spool = NULL;
    ring_thin_free(sender->thin);
    sender->thin = NULL;
    wire_reader_release(&sender->known);
    return r;
}

static bool is_open(const struct sender *sender, const uint8_t *opening, size_t size) {
    return sender->push && sender->opening.size == size &&
           memcmp(sender->opening.data, opening, size) == 0;
}

static int need_stream(struct sender *sender, const struct wire_reader *reader, size_t opening) {
    struct wire_record record;
    if (is_open(sender, reader->data, opening))
        return 0;
    int r = close_stream(sender, false);
    if (r < 0)
        return r;
    if (reader->stream.stream_id != sender->stream_id) {
        sender->before.seq = sender->sent_seq = 0;
        sender->stream_id = reader->stream.stream_id;
    }
    buffer_reset(&sender->opening);
    buffer_put(&sender->opening, reader->data, opening);
    if (sender->opening.error)
        return sender->opening.error;
    wire_reader_init(&sender->known, sender->opening.data, opening);
    while ((r = wire_next(&sender->known, &record)) == 0)
        ;
    return r < 0 ? r : open_stream(sender);
}

static int take_frame(struct sender *sender, const struct wire_reader *reader,
                      const struct wire_record *record, uint8_t *bytes, size_t opening) {
    if (!is_asked(sender, reader, &record->head))
        return 0;
    int r = need_stream(sender, reader, opening);
    if (r < 0 || record->packed || record->head.seq <= sender->before.seq)
        return r;
    sender->n_job += ring_marks_set(sender->marks, reader, *record, bytes);
    r = sender->thin ? hold(sender, reader, record) : send_one(sender, record);
    if (r < 0)
        return r;
    sender->before = record->head;
    if (!sender->n_frames || record->head.wall_ns < sender->first_ns)
        sender->first_ns = record->head.wall_ns;
    if (record->head.wall_ns > sender->last_ns)
        sender->last_ns = record->head.wall_ns;
    sender->n_frames++;
    return 0;
}

static void see(struct sender *sender, int64_t wall_ns) {
    if (!sender->seen_last_ns || wall_ns < sender->seen_first_ns)
        sender->seen_first_ns = wall_ns;
    if (wall_ns > sender->seen_last_ns)
        sender->seen_last_ns = wall_ns;
}

static int take_frames(struct sender *sender, struct ring_piece *piece) {
    struct wire_reader reader;
    struct wire_record record;
    size_t opening = 0;
    int r = 0;
    wire_reader_init(&reader, piece->data, piece->size);
    while (r == 0 && wire_next(&reader, &record) == 0) {
        if (record.type != WIRE_FRAME)
            continue;
        if (!opening)
            opening = record.offset;
        see(sender, record.head.wall_ns);
        if (reader.stream.period_ns)
            r = take_frame(sender, &reader, &record, piece->data, opening);
    }
    wire_reader_release(&reader);
    return r;
}

static int take_pieces(struct sender *sender, struct ring_reader *ring) {
    struct ring_piece piece;
    int r;
    while ((r = ring_reader_next(ring, &piece)) == 0) {
        r = piece.kind == RING_LINEAGE ? ring_marks_take(sender->marks, piece.data, piece.size)
                                       : take_frames(sender, &piece);
        if (r < 0 && r != -EBADMSG)
            return r;
    }
    return r == RING_END ? 0 : r;
}

/* ---- what is missing ---- */

static const char *words_of_time(int64_t ns, char text[32]) {
    time_t s = (time_t)(ns / NS_PER_S);
    struct tm tm;
    if (!localtime_r(&s, &tm) || !strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(text, 32, "%lld s", (long long)s);
    return text;
}

__attribute__((format(printf, 2, 3))) static void tell(const struct sender *sender,
                                                       const char *format, ...) {
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    agent_say(sender->options, text);
}

static void tell_missing(const struct sender *sender, const struct ring_reading *told) {
    char first[32], last[32];
    const struct agent_options *options = sender->options;
    int64_t first_ns = told->first_ns, last_ns = told->last_ns;
    if (sender->seen_last_ns) {
        first_ns = sender->seen_first_ns < first_ns ? sender->seen_first_ns : first_ns;
        last_ns = sender->seen_last_ns > last_ns ? sender->seen_last_ns : last_ns;
    }
    if (told->damaged)
        tell(sender, "its ring has %zu damaged blocks, which are left out", told->damaged);
    if (told->unpackable)
        tell(sender, "its ring has %zu packed blocks, and this agent was built without zstd",
             told->unpackable);
    if (told->refused)
        tell(sender, "its ring has %zu files that may not be read, or are not its owner's",
             told->refused);
    if (!sender->n_frames && first_ns <= last_ns)
        tell(sender, "its ring has nothing of that time, only of %s to %s",
             words_of_time(first_ns, first), words_of_time(last_ns, last));
    else if (!sender->n_frames)
        tell(sender, "its ring has nothing of that time");
    else if (sender->first_ns > (int64_t)options->from_ns + EDGE_NS)
        tell(sender, "its ring begins at %s", words_of_time(sender->first_ns, first));
    if (sender->n_frames && sender->last_ns < (int64_t)options->to_ns - EDGE_NS)
        tell(sender, "its ring ends at %s", words_of_time(sender->last_ns, last));
    if (sender->n_frames && options->n_choices && !sender->n_job)
        tell(sender, "its ring has no process of the job");
}

static int end(struct sender *sender, struct ring_reader *ring, int error) {
    int r = close_stream(sender, true);
    error = error < 0 ? error : r;
    if (error < 0)
        tell(sender, "%s: %s", sender->options->send_ring, strerror(-error));
    if (sender->undelivered)
        tell(sender, "the collector has not taken all of its ring");
    if (ring)
        tell_missing(sender, ring_reader_told(ring));
    return error < 0               ? EXIT_FAILED
           : sender->undelivered   ? EXIT_UNDELIVERED
           : sender->n_frames == 0 ? EXIT_NOTHING
                                   : 0;
}

/* In whole seconds. */
static int64_t choose_step(const struct agent_options *options, int64_t covered_ns) {
    int64_t most = options->max_frames < INT32_MAX ? (int64_t)options->max_frames : INT32_MAX;
    if (options->step_ns || !most)
        return options->step_ns;
    int64_t least_ns = covered_ns / most;
    return least_ns / NS_PER_S * NS_PER_S + (least_ns % NS_PER_S ? NS_PER_S : 0);
}

static const char *words_of_open(int error) {
    return error == -EPERM   ? "others may write to this ring's directory"
           : error == -ELOOP ? "is a symbolic link, which no ring may be"
                             : strerror(-error);
}

static int send_all(const struct agent_options *options) {
    struct sender sender = {.options = options};
    struct ring_reader *ring = NULL;
    int r = ring_reader_open(options->send_ring, (int64_t)options->from_ns, (int64_t)options->to_ns,
                             &ring);
    if (r < 0) {
        tell(&sender, "%s: %s", options->send_ring, words_of_open(r));
        return EXIT_FAILED;
    }
    sender.step_ns = choose_step(options, ring_reader_covered(ring));
    r = ring_marks_new(options->choices, options->n_choices, &sender.marks);
    if (r == 0)
        r = take_pieces(&sender, ring);
    int status = end(&sender, ring, r);
    ring_reader_close(ring);
    ring_marks_free(sender.marks);
    buffer_release(&sender.opening);
    buffer_release(&sender.frame);
    return status;
}

/* ---- its end, which may come at any time ---- */

static void remove_copies(const char *path) {
    uint64_t stream;
    uint32_t number;
    DIR *files = opendir(path);
    for (struct dirent *entry; files && (entry = readdir(files));)
        if (segment_name_get(entry->d_name, &stream, &number))
            unlinkat(dirfd(files), entry->d_name, 0);
    if (files)
        closedir(files);
}

/* Waits for the child, or ends it when asked to end. Returns the exit status. */
static int await_child(pid_t child, const sigset_t *signals) {
    int status = 0, signal = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        signal = sigwaitinfo(signals, NULL);
        if (signal == SIGCHLD || signal < 0)
            continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return 128 + signal;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

int send_ring(const struct agent_options *options) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGCHLD, SIG_DFL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        exit(send_all(options));
    }
    if (child < 0)
        return EXIT_FAILED;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int status = await_child(child, &signals);
    remove_copies(options->spool);
    return status;
}
