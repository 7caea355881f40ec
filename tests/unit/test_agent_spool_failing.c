/* SPDX-License-Identifier: MIT */
/*
 * The life of a small agent: it makes frames, keeps them in the spool, pushes them, and is started
 * again. The n-th write, open, name, read or allocation fails, once, for a while or from then on,
 * for all n. After each failure nothing crashes and no descriptor stays open. Once failures end,
 * the spool opens again, continues, and delivers each frame that was reported as kept, bit for bit
 * and in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "tests/unit/fail_nth.h"

#include "agent/push/push.h"
#include "agent/push/push_http.h"
#include "agent/sampler/frame_stream.h"
#include "agent/sampler/sampler.h"
#include "agent/spool/spool.h"
#include "agent/spool/spool_dir.h"
#include "common/clock.h"
#include "common/error.h"

#define N_LIVES 3
#define FRAMES_A_LIFE 24
#define FRAMES_A_PUSH 8
#define N_STREAMS 8 /* a damaged stream is left, and a new one begun */
#define N_SEQ (2 * N_LIVES * FRAMES_A_LIFE)
#define STREAM_ID UINT64_C(0xabc0)

static const struct column columns[] = {{"number", UNIT_NONE, COLUMN_LEVEL, "of the frame"}};
static const struct table table_a = {"a", "thing", "", TABLE_SAMPLES, columns, 1};
static const struct table *const tables[] = {&table_a};

/* The frames that the agent believes kept, and those that the collector has committed. */
struct stream_truth {
    struct buffer frames[N_SEQ]; /* by sequence number */
    bool kept[N_SEQ], came[N_SEQ];
    uint64_t committed;
};

struct play {
    char dir[48];
    struct spool *spool;
    struct spool_memory memory;
    size_t stream; /* the agent's present stream */
    uint64_t appended_badly;
    struct stream_truth streams[N_STREAMS];
};

static struct play *the_play; /* for the push's thread, which gets no argument */

/* ---- a clock that a wait moves, and a collector without a network ---- */

static atomic_int_fast64_t virtual_ns;
static atomic_bool is_finishing; /* before that, time stands still: no deadline passes */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret) {
    int64_t now_ns = atomic_fetch_add(&virtual_ns, 1000);
    (void)clock;
    *ret = (struct timespec){now_ns / NS_PER_S, now_ns % NS_PER_S};
    return 0;
}

int push_http_open(const struct push_config *config, struct push_http **ret_http) {
    (void)config, (void)ret_http;
    atomic_store(&is_finishing, false);
    return 0;
}

void push_http_close(struct push_http *http) {
    (void)http;
}

void push_http_wake(struct push_http *http) {
    (void)http;
    atomic_store(&is_finishing, true);
}

void push_http_wait(struct push_http *http, int64_t until_ns, int fd) {
    (void)http, (void)fd;
    if (!atomic_load(&is_finishing))
        sched_yield();
    else if (until_ns > atomic_load(&virtual_ns))
        atomic_store(&virtual_ns, until_ns);
}

static void take_frame(struct stream_truth *truth, const struct buffer *body,
                       const struct wire_record *record) {
    uint64_t seq = record->head.seq;
    MUST(seq < N_SEQ && truth->frames[seq].size == record->size &&
             memcmp(truth->frames[seq].data, body->data + record->offset, record->size) == 0,
         "frame %llu is another one", (unsigned long long)seq);
    if (seq <= truth->committed)
        return;
    truth->committed = seq;
    truth->came[seq] = true;
}

static void take_body(const struct buffer *body, struct stream_truth **ret_truth) {
    struct wire_reader reader;
    struct wire_record record;
    uint64_t last = 0;
    int r;
    wire_reader_init(&reader, body->data, body->size);
    while ((r = wire_next(&reader, &record)) == 0) {
        size_t stream = (reader.stream.stream_id - STREAM_ID) / 2;
        MUST(stream < N_STREAMS, "stream %zu", stream);
        *ret_truth = &the_play->streams[stream];
        if (record.type != WIRE_FRAME)
            continue;
        MUST(record.head.seq > last, "out of order");
        last = record.head.seq;
        take_frame(*ret_truth, body, &record);
    }
    MUST(r == WIRE_END && reader.have_stream, "a bad body: %s", reader.why);
    wire_reader_release(&reader);
}

int push_http_post(struct push_http *http, const struct push_request *request,
                   struct push_answer *ret_answer) {
    struct stream_truth *truth = NULL;
    (void)http;
    fail_paused = true;
    take_body(request->body, &truth);
    *ret_answer = (struct push_answer){.status = 200, .sent_ns = 1, .heard_ns = 2};
    snprintf(ret_answer->text, sizeof ret_answer->text,
             "committed %llu\nreceived_ns 1\nreplied_ns 2\nstop 0\n",
             (unsigned long long)truth->committed);
    fail_paused = false;
    return 0;
}

/* ---- the agent ---- */

static int append(void *ctx, const void *data, size_t size, uint64_t seq) {
    struct play *p = ctx;
    struct stream_truth *truth = &p->streams[p->stream];
    MUST(seq < N_SEQ, "frame %llu", (unsigned long long)seq);
    fail_paused = true;
    buffer_reset(&truth->frames[seq]);
    buffer_put(&truth->frames[seq], data, size);
    fail_paused = false;
    uint64_t failed = atomic_load(&fail_nth.failed);
    int r = spool_append(p->spool, data, size, seq);
    MUST(r == 0 || atomic_load(&fail_nth.failed) > failed,
         "frame %llu is lost to an earlier failure: %d", (unsigned long long)seq, r);
    truth->kept[seq] = r == 0;
    p->appended_badly += r != 0;
    MUST(spool_lost(p->spool) == p->appended_badly, "%llu are called lost, not %llu",
         (unsigned long long)spool_lost(p->spool), (unsigned long long)p->appended_badly);
    return r;
}

static struct spool_config config_of(struct play *p, size_t stream) {
    return (struct spool_config){
        .dir = p->dir,
        .limit_bytes = 1 << 20,
        .segment_bytes = 600,
        .stream = {.host = "h", .stream_id = STREAM_ID + 2 * stream, .period_ns = 1},
        .tables = tables,
        .n_tables = 1,
        .memory = &p->memory};
}

/* On a full disk the newest segment may be removed once it is committed, and with it the position
 * of the stream.
 */
static void expect_nothing_left(const struct stream_truth *truth) {
    for (uint64_t seq = truth->committed + 1; seq < N_SEQ; seq++)
        MUST(!truth->kept[seq], "a stream is left, and frame %llu of it is not committed",
             (unsigned long long)seq);
}

static int open_spool(struct play *p) {
    struct spool_config config = config_of(p, p->stream);
    int r = spool_open(&config, &p->spool);
    if (r == 0 && spool_is_torn(p->spool)) {
        spool_close(p->spool, false);
        expect_nothing_left(&p->streams[p->stream]);
        p->memory = (struct spool_memory){0};
        p->stream++;
        MUST(p->stream < N_STREAMS, "too many streams");
        config = config_of(p, p->stream);
        r = spool_open(&config, &p->spool);
    }
    return r;
}

static void deliver(struct play *p) {
    const struct push_config config = {
        .spool = p->spool, .interval_ns = NS_PER_S, .notify_fd = -1, .host = "h"};
    struct push *push;
    if (push_start(&config, &push) != 0)
        return;
    push_finish(push, atomic_load(&virtual_ns) + 60 * NS_PER_S);
    push_free(push);
}

static int make_stream(struct frame_stream *stream) {
    int r = frame_stream_init(stream, 1);
    if (r == 0)
        r = frame_stream_add(stream, &table_a, 4);
    return r ? r : frame_stream_reserve(stream);
}

static void send_frames(struct play *p, struct frame_stream *stream) {
    const struct frame_sink sink = {p, append, NULL};
    for (uint64_t i = 0; i < FRAMES_A_LIFE; i++) {
        struct frame_head head = {.wall_ns = (int64_t)i, .mono_ns = (int64_t)i};
        for (uint64_t k = 0; k <= i % 3; k++)
            rows_append(&stream->rows[0], k ? "one" : "other", 3)->values[0] = (int64_t)i;
        (void)!frame_stream_send(stream, &head, &sink);
        frame_stream_reset(stream, 0);
        if (i % FRAMES_A_PUSH == FRAMES_A_PUSH - 1 && i + 1 < FRAMES_A_LIFE)
            deliver(p);
    }
}

/* Looks for a stream as a restarted agent does. */
static void look_for_stream(struct play *p) {
    uint64_t stream;
    int fd = spool_dir_open(p->dir, NULL);
    if (fd < 0)
        return;
    (void)!spool_dir_find_stream(fd, &stream);
    close(fd);
}

static void live(struct play *p) {
    struct frame_stream stream;
    struct frame_head last = {0};
    look_for_stream(p);
    if (make_stream(&stream) == 0 && open_spool(p) == 0) {
        if (spool_recovered(p->spool, &last))
            stream.head.seq = last.seq;
        p->appended_badly = spool_lost(p->spool);
        send_frames(p, &stream);
        spool_close(p->spool, false);
    }
    frame_stream_release(&stream);
}

/* ---- after the failure ---- */

static void expect_delivered(struct play *p) {
    for (size_t s = 0; s < N_STREAMS; s++)
        for (uint64_t seq = 1; seq < N_SEQ; seq++)
            MUST(p->streams[s].kept[seq] == p->streams[s].came[seq],
                 "frame %llu of stream %zu was %s and %s", (unsigned long long)seq, s,
                 p->streams[s].kept[seq] ? "kept" : "not kept",
                 p->streams[s].came[seq] ? "came" : "never came");
}

static void check(struct play *p, size_t files) {
    fail_disarm();
    MUST(fail_open_files() == files, "%zu descriptors, not %zu", fail_open_files(), files);
    live(p);
    MUST(p->appended_badly == 0 || p->streams[p->stream].kept[1], "it does not go on");
    for (size_t s = 0; s <= p->stream; s++) { /* includes abandoned streams, as import does */
        struct spool_config config = config_of(p, s);
        config.memory = NULL;
        int r = spool_open(&config, &p->spool);
        MUST(r == 0, "stream %zu does not open: %d", s, r);
        deliver(p);
        spool_close(p->spool, true);
    }
    expect_delivered(p);
    MUST(p->streams[p->stream].committed >= FRAMES_A_LIFE, "the last life's frames are missing");
}

static void remove_files(const struct play *p) {
    DIR *dir = opendir(p->dir);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

static void forget(struct play *p) {
    for (size_t s = 0; s < N_STREAMS; s++)
        for (uint64_t seq = 0; seq < N_SEQ; seq++)
            buffer_release(&p->streams[s].frames[seq]);
    memset(p->streams, 0, sizeof p->streams);
    p->stream = 0;
    p->memory = (struct spool_memory){0};
}

static void play(void *ctx) {
    struct play *p = ctx;
    unsigned kinds = fail_nth.kinds;
    fail_disarm();
    forget(p);
    remove_files(p);
    size_t files = fail_open_files();
    fail_nth.kinds = kinds;
    for (int life = 0; life < N_LIVES; life++)
        live(p);
    check(p, files);
}

/* ---- tests ---- */

static int set_up(void **state) {
    struct play *p = calloc(1, sizeof *p);
    bool in_memory = access("/dev/shm", W_OK) == 0;
    snprintf(p->dir, sizeof p->dir, "%s/failing-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(p->dir));
    *state = the_play = p;
    return 0;
}

static int tear_down(void **state) {
    struct play *p = *state;
    forget(p);
    remove_files(p);
    assert_int_equal(rmdir(p->dir), 0);
    free(p);
    return 0;
}

static void all_ways(void *ctx, const struct fail_series *series) {
    fail_each(series, FAIL_ONCE, play, ctx);
    fail_each(series, FAIL_FOR_A_WHILE, play, ctx);
    fail_each(series, FAIL_FROM_THEN_ON, play, ctx);
}

static void a_write_that_fails_costs_its_own_frame(void **state) {
    all_ways(*state, &(struct fail_series){"write", FAIL_WRITE, 1, false});
}

static void a_write_that_comes_short_costs_its_own_frame(void **state) {
    all_ways(*state, &(struct fail_series){"half of a write", FAIL_WRITE, 1, true});
}

static void a_file_that_cannot_be_named_costs_its_own_frame(void **state) {
    all_ways(*state, &(struct fail_series){"open", FAIL_OPEN | FAIL_NAME, 1, false});
}

static void a_disk_that_fails_costs_no_frame_that_was_kept(void **state) {
    all_ways(*state,
             &(struct fail_series){"any call of the disk",
                                   FAIL_OPEN | FAIL_NAME | FAIL_WRITE | FAIL_READ, 1, true});
}

static void a_read_that_fails_costs_no_frame_that_was_kept(void **state) {
    all_ways(*state, &(struct fail_series){"read", FAIL_READ, 1, false});
}

static void memory_that_is_not_there_costs_no_frame_that_was_kept(void **state) {
    all_ways(*state, &(struct fail_series){"allocation", FAIL_MEMORY, 1, false});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TEST(a_write_that_fails_costs_its_own_frame),
        TEST(a_write_that_comes_short_costs_its_own_frame),
        TEST(a_file_that_cannot_be_named_costs_its_own_frame),
        TEST(a_disk_that_fails_costs_no_frame_that_was_kept),
        TEST(a_read_that_fails_costs_no_frame_that_was_kept),
        TEST(memory_that_is_not_there_costs_no_frame_that_was_kept),
    };
    fail_read_arguments(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
