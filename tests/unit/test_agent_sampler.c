/* SPDX-License-Identifier: MIT */
/*
 * The sampler on a simulated clock: lateness, overload and steps of the wall clock are planted, and
 * the frames are compared with them. Probes are simulated, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sampler/sampler.h"
#include "agent/sampler/schedule.h"
#include "common/clock.h"
#include "common/error.h"

#define PERIOD (100 * NS_PER_MS)
#define SLOW NS_PER_S
#define FRAMES_MAX 4096
#define START_WALL (INT64_C(1700000000) * NS_PER_S + 37 * NS_PER_MS)

/* An event during wait number `at` (1: the first after the first frame). */
struct event {
    uint64_t at;
    int64_t step_ns;      /* the wall clock is set half way through the wait */
    int64_t oversleep_ns; /* the wait ends this much too late */
    bool silently;        /* the step does not end the wait: it came right after its begin */
};

struct seen {
    struct frame_head head;
    size_t n_rows[8]; /* by table */
    uint64_t sampled; /* a bit for each table */
};

struct world {
    int64_t wall_ns, mono_ns, cpu_ns;
    uint64_t waits, stop_at; /* stops at that wait; 0: never */
    int64_t idle_after_ns;   /* a core is idle this long after somebody asks; 0: never */
    int64_t idle_ns;         /* on the wall clock: somebody asked; 0: nobody did */
    int asked;
    int64_t (*next_call)(
        const struct world *world); /* when the ring's writer calls next; 0: never */
    const struct event *events;
    size_t n_events;
    int64_t sample_takes_ns; /* of each sample of a fast probe */
    int events_a_sample;
    /* probes */
    int fail_from, fail_to; /* of the flaky probe's samples */
    int n_samples;
    int checks;               /* checks of a ring */
    int64_t previous_mono_ns; /* the value that the probe was given last */
    /* sink */
    struct buffer stream;
    struct seen *seen;
    size_t n_seen;
    uint64_t lost, lost_at; /* one more is lost with that frame; 0: none */
    int sink_error;
    /* lines of notes */
    char said[16][160];
    size_t n_said;
};

/* ---- the clock ---- */

static int64_t world_wall(void *ctx) {
    return ((struct world *)ctx)->wall_ns;
}

static int64_t world_mono(void *ctx) {
    return ((struct world *)ctx)->mono_ns;
}

static int64_t world_cpu(void *ctx) {
    return ((struct world *)ctx)->cpu_ns;
}

static void pass(struct world *world, int64_t ns) {
    world->wall_ns += ns;
    world->mono_ns += ns;
}

static const struct event *event_now(const struct world *world) {
    static const struct event none;
    for (size_t i = 0; i < world->n_events; i++)
        if (world->events[i].at == world->waits)
            return &world->events[i];
    return &none;
}

static int world_wait(void *ctx, int64_t wall_ns) {
    struct world *world = ctx;
    assert_true(++world->waits < 100000);                /* it does not spin */
    assert_true(wall_ns - world->wall_ns <= 2 * PERIOD); /* and does not stall */
    int64_t called = world->next_call ? world->next_call(world) : 0;
    if (world->idle_ns && world->idle_ns < wall_ns && !(called && called < world->idle_ns)) {
        pass(world, world->idle_ns - world->wall_ns);
        world->idle_ns = 0;
        return SAMPLER_IDLE;
    }
    if (called && called < wall_ns) {
        pass(world, called - world->wall_ns);
        return SAMPLER_CALLED;
    }
    if (world->stop_at && world->waits >= world->stop_at) {
        pass(world, PERIOD / 3);
        return SAMPLER_STOP;
    }
    const struct event *event = event_now(world);
    int64_t left = wall_ns > world->wall_ns ? wall_ns - world->wall_ns : 0;
    if (event->step_ns && !event->silently) {
        pass(world, left / 2);
        world->wall_ns += event->step_ns;
        return SAMPLER_AGAIN;
    }
    pass(world, left + event->oversleep_ns + 40 * NS_PER_US);
    world->wall_ns += event->step_ns;
    return 0;
}

static bool world_ask_idle(void *ctx) {
    struct world *world = ctx;
    world->asked++;
    if (world->idle_after_ns && !world->idle_ns)
        world->idle_ns = world->wall_ns + world->idle_after_ns;
    return true;
}

/* ---- probes ---- */

static const struct column columns[] = {{"count", UNIT_EVENTS, COLUMN_COUNTER, "of samples"}};

struct played {
    int64_t count;
    int64_t at_ns; /* the present sample */
    int left;      /* its remaining events */
};

static struct world *the_world; /* cmocka runs one test at a time */

static int play_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    (void)state, (void)env, (void)why, (void)why_size;
    return 0;
}

static size_t two_rows(const void *state, const struct probe_env *env) {
    (void)state, (void)env;
    return 2;
}

static void put_row(struct rows *rows, const char *name, int64_t value) {
    struct row *row = rows_append(rows, name, strlen(name));
    if (row)
        row->values[0] = value;
}

static int fast_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct played *played = state;
    assert_int_equal(env->mono_ns,
                     the_world->mono_ns); /* no time has passed since the frame began */
    the_world->previous_mono_ns = env->previous_mono_ns;
    the_world->cpu_ns += 1000;
    pass(the_world, the_world->sample_takes_ns);
    put_row(rows, "x", ++played->count);
    return 0;
}

static int slow_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct played *played = state;
    (void)env;
    the_world->cpu_ns += 70000;
    played->count++;
    for (int i = 0; i < 5; i++) /* three more than there is room for */
        put_row(rows, "x", played->count);
    return 0;
}

static int empty_sample(void *state, const struct probe_env *env, struct rows *rows) {
    (void)state, (void)env, (void)rows;
    return 0;
}

static int flaky_sample(void *state, const struct probe_env *env, struct rows *rows) {
    (void)state, (void)env;
    int n = ++the_world->n_samples;
    put_row(rows, "half", 1);
    return n >= the_world->fail_from && n <= the_world->fail_to ? -EIO : 0;
}

static int absent_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    (void)state, (void)env;
    snprintf(why, why_size, "this kernel has none");
    return PROBE_ABSENT;
}

static int broken_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    (void)state, (void)env, (void)why, (void)why_size;
    return -EACCES;
}

#define PLAY(word, at_pace, open_fn, sample_fn)                                                    \
    {                                                                                              \
        .table = &(const struct table){word, "thing", "", TABLE_SAMPLES, columns, 1},              \
        .pace = at_pace, .state_size = sizeof(struct played), .max_rows = two_rows,                \
        .open = open_fn, .sample = sample_fn                                                       \
    }

static bool comes_third(void *state) {
    return ((const struct played *)state)->count == 3;
}

static const struct probe fast = PLAY("fast", PACE_SYSTEM, play_open, fast_sample);
static const struct probe slow = PLAY("slow", PACE_PROCESS, play_open, slow_sample);
static const struct probe empty = PLAY("empty", PACE_PROCESS, play_open, empty_sample);
static const struct probe newsy = {
    .table = &(const struct table){"newsy", "thing", "", TABLE_SAMPLES, columns, 1},
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct played),
    .max_rows = two_rows,
    .open = play_open,
    .sample = fast_sample,
    .has_news = comes_third};
static const struct probe flaky = PLAY("flaky", PACE_SYSTEM, play_open, flaky_sample);
static const struct probe absent = PLAY("absent", PACE_SYSTEM, absent_open, fast_sample);
static const struct probe broken = PLAY("broken", PACE_SYSTEM, broken_open, fast_sample);

/* Takes this many events in each sample, in parts of two. */
static int crowd_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct played *played = state;
    the_world->cpu_ns += 500;
    if (played->at_ns != env->mono_ns)
        played->left = the_world->events_a_sample;
    played->at_ns = env->mono_ns;
    for (; played->left && rows->n < rows->capacity; played->left--)
        put_row(rows, "event", ++played->count);
    return 0;
}

static uint64_t announced; /* the frame that takes the last sample's events */

static void crowd_keeping(void *state, uint64_t seq) {
    (void)state;
    announced = seq;
}

static const struct probe crowd = {
    .table = &(const struct table){"crowd", "thing", "", TABLE_EVENTS, columns, 1},
    .pace = PACE_SYSTEM,
    .bulk = true,
    .state_size = sizeof(struct played),
    .max_rows = two_rows,
    .open = play_open,
    .sample = crowd_sample,
    .keeping = crowd_keeping};

/* A ring that fills within less than a slot: one event every BURST_NS / BURST ns for BURST_NS,
 * between two slots, and before that one every ms.
 */
#define RING 16384
#define BURST 20500
#define BURST_BEGIN (1000 * NS_PER_S + 170 * NS_PER_MS)
#define BURST_NS (60 * NS_PER_MS)
#define CHECK_TAKES 300 /* ns of CPU */

struct ring {
    int64_t read, lost;
};

static int64_t ring_written(void) {
    int64_t into = the_world->mono_ns - BURST_BEGIN;
    int64_t burst = into < 0 ? 0 : into < BURST_NS ? into * BURST / BURST_NS : BURST;
    return (the_world->mono_ns - 1000 * NS_PER_S) / NS_PER_MS + burst;
}

/* The writer calls after each eighth of the ring. */
static int64_t call_of_ring(const struct world *world) {
    int64_t nth = ring_written() / (RING / 8) + 1;
    int64_t before = (BURST_BEGIN - 1000 * NS_PER_S) / NS_PER_MS; /* written before the burst */
    int64_t into = (nth * (RING / 8) - before) * BURST_NS / BURST + NS_PER_US;
    int64_t left = BURST_BEGIN + into - world->mono_ns;
    return into < BURST_NS && left > 0 ? world->wall_ns + left : 0;
}

static enum probe_pressure ring_pressure(void *state) {
    int64_t waiting = ring_written() - ((const struct ring *)state)->read;
    the_world->cpu_ns += CHECK_TAKES;
    the_world->checks++;
    return waiting >= RING / 4   ? PRESSURE_HIGH
           : waiting >= RING / 8 ? PRESSURE_SOME
                                 : PRESSURE_NONE;
}

static int ring_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct ring *ring = state;
    int64_t written = ring_written();
    assert_true(the_world->mono_ns - env->mono_ns < PERIOD); /* also between two slots */
    if (written - ring->read > RING) {
        ring->lost += written - ring->read - RING;
        ring->read = written - RING;
    }
    while (ring->read < written && rows->n < rows->capacity) {
        ring->read++;
        put_row(rows, "event", ring->lost);
    }
    return 0;
}

static size_t many_rows(const void *state, const struct probe_env *env) {
    (void)state, (void)env;
    return 1024;
}

static bool ring_is_called(const void *state) {
    (void)state;
    return true;
}

static int slow_ring_sample(void *state, const struct probe_env *env, struct rows *rows) {
    int r = ring_sample(state, env, rows);
    pass(the_world, PERIOD / 8);
    return r;
}

#define RING_PROBE(pressed, called)                                                                \
    {                                                                                              \
        .table = &(const struct table){"ring", "thing", "", TABLE_EVENTS, columns, 1},             \
        .pace = PACE_SYSTEM, .bulk = true, .state_size = sizeof(struct ring),                      \
        .max_rows = many_rows, .open = play_open, .sample = ring_sample, .pressure = pressed,      \
        .is_called = called,                                                                       \
    }

static const struct probe looked_after = RING_PROBE(ring_pressure, NULL);
static const struct probe called_for = RING_PROBE(ring_pressure, ring_is_called);
static const struct probe left_alone = RING_PROBE(NULL, NULL);

static const struct probe slow_ring = {
    .table = &(const struct table){"ring", "thing", "", TABLE_EVENTS, columns, 1},
    .pace = PACE_SYSTEM,
    .bulk = true,
    .state_size = sizeof(struct ring),
    .max_rows = many_rows,
    .open = play_open,
    .sample = slow_ring_sample,
    .pressure = ring_pressure,
    .is_called = ring_is_called};

/* ---- running ---- */

static int sink_append(void *ctx, const void *frame, size_t size, uint64_t seq) {
    struct world *world = ctx;
    world->lost += seq == world->lost_at;
    if (world->sink_error) {
        world->lost++;
        return world->sink_error;
    }
    buffer_put(&world->stream, frame, size);
    return 0;
}

static uint64_t sink_lost(void *ctx) {
    return ((struct world *)ctx)->lost;
}

static void hear(void *ctx, enum note_level level, const char *subject, const char *text) {
    struct world *world = ctx;
    (void)level;
    if (world->n_said < 16)
        snprintf(world->said[world->n_said++], 160, "%s: %s", subject, text);
}

static struct sampler *open_sampler(struct world *world, const struct probe *const *probes,
                                    size_t n_probes, uint64_t max_frames) {
    static const struct probe_env env = {.proc = "/proc", .page_size = 4096};
    struct sampler *sampler = NULL;
    struct sampler_config config = {
        .probes = probes,
        .n_probes = n_probes,
        .env = &env,
        .period_ns = PERIOD,
        .slow_period_ns = SLOW,
        .max_frames = max_frames,
        .clock = {world, world_wall, world_mono, world_cpu, world_wait, world_ask_idle},
        .say = hear,
        .say_ctx = world};
    world->wall_ns = world->wall_ns ? world->wall_ns : START_WALL;
    world->mono_ns = world->mono_ns ? world->mono_ns : 1000 * NS_PER_S;
    the_world = world;
    assert_int_equal(sampler_open(&config, &sampler), 0);
    struct wire_stream stream = {.host = "h", .stream_id = 1, .period_ns = PERIOD};
    size_t n;
    const struct table *const *tables = sampler_tables(sampler, &n);
    wire_put_stream(&world->stream, &stream);
    for (size_t i = 0; i < n; i++)
        wire_put_table(&world->stream, (unsigned)i, tables[i]);
    return sampler;
}

/* Decodes the sink's bytes into world->seen; calls each (may be NULL) for every row. */
typedef void row_fn(struct world *world, const struct frame_head *head, const struct table *table,
                    const struct wire_row *row);

static void decode(struct world *world, row_fn *each) {
    struct wire_reader reader;
    struct wire_record record;
    const struct table *table;
    struct wire_row row;
    unsigned index;
    int r;
    world->seen = calloc(FRAMES_MAX, sizeof *world->seen);
    wire_reader_init(&reader, world->stream.data, world->stream.size);
    while ((r = wire_next(&reader, &record)) == 0) {
        if (record.type != WIRE_FRAME)
            continue;
        assert_true(world->n_seen < FRAMES_MAX);
        struct seen *seen = &world->seen[world->n_seen++];
        seen->head = record.head;
        seen->sampled = record.sampled;
        while (wire_frame_row(&reader, &record, &table, &index, &row)) {
            seen->n_rows[index]++;
            if (each)
                each(world, &seen->head, table, &row);
        }
    }
    assert_int_equal(r, WIRE_END);
    wire_reader_release(&reader);
}

static void run_with(struct world *world, const struct probe *const *probes, size_t n_probes,
                     uint64_t max_frames, row_fn *each) {
    struct sampler *sampler = open_sampler(world, probes, n_probes, max_frames);
    struct frame_sink sink = {world, sink_append, sink_lost};
    assert_int_equal(sampler_run(sampler, &sink), 0);
    sampler_free(sampler);
    decode(world, each);
}

static void run(struct world *world, uint64_t max_frames) {
    static const struct probe *const probes[] = {&fast, &slow};
    run_with(world, probes, 2, max_frames, NULL);
}

static void release(struct world *world) {
    buffer_release(&world->stream);
    free(world->seen);
}

enum { OF_NOTES, OF_SELF, OF_FAST, OF_SLOW };

/* Checks that hold for every stream of frames. */
static void check_sound(const struct world *world) {
    for (size_t i = 0; i < world->n_seen; i++) {
        const struct frame_head *head = &world->seen[i].head;
        assert_int_equal(head->seq, i + 1);
        assert_int_equal(head->slot_ns % PERIOD, 0);
        if (i == 0)
            continue;
        const struct frame_head *before = &world->seen[i - 1].head;
        assert_true(head->mono_ns > before->mono_ns);
        assert_true(head->missed >= before->missed);
    }
}

/* ---- tests ---- */

static void frames_are_on_slots_and_the_first_waits_for_none(void **state) {
    (void)state;
    struct world world = {0};
    run(&world, 35);
    check_sound(&world);
    assert_int_equal(world.n_seen, 35);
    assert_int_equal(world.seen[0].head.wall_ns, START_WALL);
    assert_int_equal(world.seen[0].head.late_ns, 0);
    for (size_t i = 1; i < 35; i++) {
        const struct frame_head *head = &world.seen[i].head;
        assert_int_equal(head->slot_ns, START_WALL - START_WALL % PERIOD + (int64_t)i * PERIOD);
        assert_int_equal(head->late_ns, 40 * NS_PER_US);
        assert_int_equal(head->missed, 0);
    }
    release(&world);
}

static void slow_tables_join_at_multiples_of_their_period(void **state) {
    (void)state;
    struct world world = {0};
    run(&world, 35);
    for (size_t i = 0; i < 35; i++) {
        bool due = i == 0 || world.seen[i].head.slot_ns % SLOW == 0;
        assert_int_equal(world.seen[i].n_rows[OF_FAST], 1);
        assert_int_equal(world.seen[i].n_rows[OF_SLOW], due ? 2 : 0);
        assert_int_equal(world.seen[i].n_rows[OF_SELF], due ? 4 : 0);
    }
    release(&world);
}

static void slow_tables_join_the_frame_after_news(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&newsy, &slow};
    struct world world = {0};
    run_with(&world, probes, 2, 25, NULL);
    for (size_t i = 0; i < 25; i++) {
        bool due = i == 0 || i == 3 || world.seen[i].head.slot_ns % SLOW == 0;
        assert_int_equal(world.seen[i].n_rows[OF_SLOW], due ? 2 : 0);
    }
    release(&world);
}

/* Later growth is counted from there. */
static void frames_tell_what_was_sampled_even_without_rows(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&flaky, &empty};
    struct world world = {.fail_from = 4, .fail_to = 5};
    run_with(&world, probes, 2, 25, NULL);
    for (size_t i = 0; i < 25; i++) {
        bool due = i == 0 || world.seen[i].head.slot_ns % SLOW == 0;
        bool works = i + 1 < 4 || i + 1 > 5;
        assert_int_equal(world.seen[i].sampled >> OF_FAST & 1, works);
        assert_int_equal(world.seen[i].sampled >> OF_SLOW & 1, due);
        assert_int_equal(world.seen[i].n_rows[OF_SLOW], 0);
    }
    release(&world);
}

static void a_stop_takes_a_last_frame_of_all_tables(void **state) {
    (void)state;
    struct world world = {.stop_at = 15};
    run(&world, 0);
    check_sound(&world);
    assert_int_equal(world.n_seen, 16);
    assert_int_equal(world.seen[15].n_rows[OF_SLOW], 2);
    assert_int_equal(world.seen[15].head.wall_ns - world.seen[14].head.wall_ns, PERIOD / 3);
    assert_int_equal(world.seen[15].head.missed, 0);
    release(&world);
}

static void a_slow_slot_that_was_missed_is_made_up_for(void **state) {
    (void)state;
    /* Frame 2 is for slot .1 s; the wait of frame 11 sleeps over the full second. */
    struct event late = {.at = 9, .oversleep_ns = 250 * NS_PER_MS};
    struct world world = {.events = &late, .n_events = 1};
    run(&world, 20);
    check_sound(&world);
    size_t slow_frames = 0;
    for (size_t i = 1; i < world.n_seen; i++)
        slow_frames += world.seen[i].n_rows[OF_SLOW] > 0;
    assert_int_equal(slow_frames, 2);
    assert_int_equal(world.seen[10].n_rows[OF_SLOW], 2);
    release(&world);
}

static void lateness_is_told_and_slots_slept_over_are_missed(void **state) {
    (void)state;
    struct event late = {.at = 5, .oversleep_ns = 370 * NS_PER_MS};
    struct world world = {.events = &late, .n_events = 1};
    run(&world, 12);
    check_sound(&world);
    /* Its own slot is late; then slots 6, 7 and 8 are missed. */
    assert_int_equal(world.seen[5].head.late_ns, 370 * NS_PER_MS + 40 * NS_PER_US);
    assert_int_equal(world.seen[5].head.missed, 0);
    assert_int_equal(world.seen[6].head.missed, 3);
    assert_int_equal(world.seen[6].head.slot_ns - world.seen[5].head.slot_ns, 4 * PERIOD);
    assert_int_equal(world.seen[11].head.missed, 3);
    release(&world);
}

static void overload_skips_slots_instead_of_piling_up(void **state) {
    (void)state;
    struct world world = {.sample_takes_ns = 230 * NS_PER_MS};
    run(&world, 50);
    check_sound(&world);
    for (size_t i = 2; i < 50; i++)
        assert_int_equal(world.seen[i].head.slot_ns - world.seen[i - 1].head.slot_ns, 3 * PERIOD);
    assert_int_equal(world.seen[49].head.missed, 2 * 49);
    release(&world);
}

/* Frames keep their pace through a step of any size at any point of a wait, noticed or not. */
static void check_step(int64_t step_ns, bool silently) {
    struct event step = {.at = 7, .step_ns = step_ns, .silently = silently};
    struct world world = {.events = &step, .n_events = 1};
    run(&world, 40);
    check_sound(&world);
    for (size_t i = 2; i < 40; i++) {
        int64_t apart = world.seen[i].head.mono_ns - world.seen[i - 1].head.mono_ns;
        assert_true(apart >= PERIOD / 2 && apart < PERIOD * 8 / 5);
        assert_true(world.seen[i].head.late_ns >= 0 && world.seen[i].head.late_ns < PERIOD);
    }
    assert_int_equal(world.seen[39].head.missed, 0);
    int64_t wall = world.seen[39].head.wall_ns - world.seen[0].head.wall_ns;
    int64_t mono = world.seen[39].head.mono_ns - world.seen[0].head.mono_ns;
    assert_int_equal(wall - mono, step_ns);
    release(&world);
}

static void a_step_of_the_wall_clock_is_no_missed_time(void **state) {
    (void)state;
    static const int64_t sizes[] = {51 * NS_PER_MS,        100 * NS_PER_MS, 149 * NS_PER_MS,
                                    990 * NS_PER_MS,       2 * NS_PER_S,    3600 * NS_PER_S,
                                    400 * 86400 * NS_PER_S};
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int silently = 0; silently <= 1; silently++)
                check_step(sign * sizes[i], silently);
}

static void slow_tables_go_on_through_a_step_back(void **state) {
    (void)state;
    struct event step = {.at = 23, .step_ns = -5 * NS_PER_S};
    struct world world = {.events = &step, .n_events = 1};
    run(&world, 80);
    int64_t before = world.seen[0].head.mono_ns;
    for (size_t i = 1; i < 80; i++) {
        if (!world.seen[i].n_rows[OF_SLOW])
            continue;
        assert_true(world.seen[i].head.mono_ns - before <= SLOW + PERIOD * 3 / 2);
        before = world.seen[i].head.mono_ns;
    }
    assert_true(world.seen[79].head.mono_ns - before <= SLOW);
    release(&world);
}

static void a_clock_that_is_set_all_the_time_neither_stalls_nor_spins(void **state) {
    (void)state;
    struct event events[400];
    uint32_t random = 1;
    for (size_t i = 0; i < 400; i++) {
        random = random * 1664525 + 1013904223;
        events[i] =
            (struct event){.at = 3 + 2 * i, .step_ns = ((int64_t)(random >> 8) - (1 << 23)) * 1000};
    }
    struct world world = {.events = events, .n_events = 400};
    run(&world, 300);
    check_sound(&world);
    assert_true(world.waits < 1000);
    for (size_t i = 1; i < 300; i++)
        assert_true(world.seen[i].head.mono_ns - world.seen[i - 1].head.mono_ns < 4 * PERIOD);
    release(&world);
}

static void a_probe_that_fails_loses_its_own_rows_only(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&flaky, &fast};
    struct world world = {.fail_from = 4, .fail_to = 6};
    run_with(&world, probes, 2, 10, NULL);
    check_sound(&world);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(world.seen[i].n_rows[2], i >= 3 && i <= 5 ? 0 : 1);
        assert_int_equal(world.seen[i].n_rows[3], 1);
        assert_int_equal(world.seen[i].n_rows[OF_NOTES], i == 3 || i == 6 ? 1 : 0);
    }
    assert_int_equal(world.n_said, 2); /* the failure, and the recovery */
    assert_string_equal(world.said[0], "flaky: Input/output error");
    release(&world);
}

static void absent_probes_have_no_table_and_a_note_says_why(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&absent, &fast, &broken};
    struct world world = {0};
    run_with(&world, probes, 3, 5, NULL);
    assert_int_equal(world.seen[0].n_rows[OF_NOTES], 2);
    assert_int_equal(world.seen[1].n_rows[OF_NOTES], 0);
    assert_int_equal(world.seen[4].n_rows[OF_FAST], 1);
    assert_string_equal(world.said[0], "absent: this kernel has none");
    assert_string_equal(world.said[1], "broken: Permission denied");
    release(&world);
}

static struct {
    int64_t fast_cpu, slow_cpu, ring_cpu, slow_dropped, agent_frames, agent_late, flaky_failures,
        core_speed;
} self_seen;

static void take_self(struct world *world, const struct frame_head *head, const struct table *table,
                      const struct wire_row *row) {
    (void)world, (void)head;
    if (strcmp(table->name, "self") != 0)
        return;
    int cpu = table_find_column(table, "cpu_ns"), frames = table_find_column(table, "samples"),
        dropped = table_find_column(table, "dropped_rows"),
        failures = table_find_column(table, "failures"), late = table_find_column(table, "late_ns");
    if (span_equal(row->name, "fast"))
        self_seen.fast_cpu = row->values[cpu];
    if (span_equal(row->name, "ring"))
        self_seen.ring_cpu = row->values[cpu];
    if (span_equal(row->name, "flaky"))
        self_seen.flaky_failures = row->values[failures];
    if (span_equal(row->name, "slow")) {
        self_seen.slow_cpu = row->values[cpu];
        self_seen.slow_dropped = row->values[dropped];
    }
    if (span_equal(row->name, "core"))
        self_seen.core_speed = row->values[frames];
    if (span_equal(row->name, "agent")) {
        self_seen.agent_frames = row->values[frames];
        self_seen.agent_late = row->values[late];
    }
}

static void self_tells_what_each_probe_cost_and_lost(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&fast, &slow, &flaky};
    struct event late = {.at = 15, .oversleep_ns = 33 * NS_PER_MS};
    struct world world = {
        .fail_from = 2, .fail_to = 3, .stop_at = 19, .events = &late, .n_events = 1};
    run_with(&world, probes, 3, 0, take_self);
    assert_int_equal(world.n_seen, 20);
    assert_int_equal(self_seen.fast_cpu, 20 * 1000);
    assert_int_equal(self_seen.slow_cpu, 3 * 70000); /* first, full second, last */
    assert_int_equal(self_seen.slow_dropped, 3 * 3);
    assert_int_equal(self_seen.flaky_failures, 2);
    assert_int_equal(self_seen.agent_frames, 20);
    assert_int_equal(self_seen.core_speed, 20);
    assert_int_equal(self_seen.agent_late, 33 * NS_PER_MS + 40 * NS_PER_US);
    release(&world);
}

/* Rows of `self` in the frame: those of two probes, of the core and of the agent. */
static void costs_are_told_each_tenth_second_after_half_a_minute(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&fast, &empty};
    struct world world = {0};
    run_with(&world, probes, 2, 655, take_self);
    assert_int_equal(world.n_seen, 655);
    for (size_t i = 0; i < 655; i++) {
        const struct frame_head *head = &world.seen[i].head;
        bool told = i == 0 || head->slot_ns % SLOW == 0;
        bool young = head->mono_ns - world.seen[0].head.mono_ns < 30 * NS_PER_S;
        bool due = young || head->slot_ns % (10 * NS_PER_S) == 0;
        assert_int_equal(world.seen[i].n_rows[OF_SELF], told ? (due ? 4 : 1) : 0);
    }
    assert_int_equal(self_seen.core_speed, 651);
    release(&world);
}

static void the_last_frame_tells_all_costs(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&fast, &empty};
    struct world world = {.stop_at = 655};
    run_with(&world, probes, 2, 0, take_self);
    assert_int_equal(world.seen[655].n_rows[OF_SELF], 4);
    assert_int_equal(self_seen.fast_cpu, 656 * 1000);
    assert_int_equal(self_seen.agent_frames, 656);
    release(&world);
}

static void a_failure_and_a_loss_are_told_with_the_next_slow_slot(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&flaky, &empty};
    struct world world = {.fail_from = 424, .fail_to = 424, .lost_at = 446};
    run_with(&world, probes, 2, 460, take_self);
    size_t probe_told = 0, agent_told = 0;
    for (size_t i = 415; i < 460; i++) {
        probe_told += i < 435 && world.seen[i].n_rows[OF_SELF] == 2;
        agent_told += i >= 435 && world.seen[i].n_rows[OF_SELF] == 2;
    }
    assert_int_equal(probe_told, 1);
    assert_int_equal(agent_told, 1);
    assert_int_equal(self_seen.flaky_failures, 1);
    release(&world);
}

static void probes_are_told_when_they_were_sampled_last(void **state) {
    (void)state;
    struct world world = {0};
    run(&world, 1);
    assert_int_equal(world.previous_mono_ns, 0);
    release(&world);
    struct world longer = {0};
    run(&longer, 7);
    assert_int_equal(longer.previous_mono_ns, longer.seen[5].head.mono_ns);
    release(&longer);
}

static void a_restart_continues_numbers_and_counts_the_gap(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&fast};
    struct world world = {0};
    struct sampler *sampler = open_sampler(&world, probes, 1, 3);
    struct frame_sink sink = {&world, sink_append, sink_lost};
    struct frame_head last = {.seq = 41,
                              .slot_ns = START_WALL - START_WALL % PERIOD - 20 * PERIOD,
                              .wall_ns = START_WALL - 20 * PERIOD,
                              .mono_ns = 1000 * NS_PER_S - 20 * PERIOD,
                              .missed = 5};
    sampler_resume(sampler, &last);
    assert_int_equal(sampler_run(sampler, &sink), 0);
    sampler_free(sampler);
    decode(&world, NULL);
    assert_int_equal(world.seen[0].head.seq, 42);
    assert_int_equal(world.seen[0].head.missed, 5 + 19);
    assert_int_equal(world.seen[2].head.missed, 5 + 19);
    release(&world);
}

static void a_sink_that_fails_is_noted_once_and_sampling_goes_on(void **state) {
    (void)state;
    static const struct probe *const probes[] = {&fast};
    struct world world = {.sink_error = -ENOSPC};
    struct sampler *sampler = open_sampler(&world, probes, 1, 5);
    struct frame_sink sink = {&world, sink_append, sink_lost};
    assert_int_equal(sampler_run(sampler, &sink), 0);
    assert_int_equal(world.n_said, 1);
    assert_string_equal(world.said[0], "spool: No space left on device");
    world.sink_error = 0;
    assert_int_equal(sampler_run(sampler, &sink), 0); /* its first frame has number 6 */
    assert_int_equal(world.n_said, 1);                /* not over yet: it may be a small step */
    pass(&world, 2 * NS_PER_S);
    assert_int_equal(sampler_run(sampler, &sink), 0);
    sampler_free(sampler);
    decode(&world, NULL);
    assert_int_equal(world.seen[0].head.seq, 6);
    assert_int_equal(world.seen[0].head.lost, 5);
    assert_int_equal(world.seen[0].n_rows[OF_NOTES], 1);
    assert_int_equal(world.n_said, 2);
    assert_string_equal(world.said[1], "spool: takes frames again");
    release(&world);
}

/* ---- the bulk stream ---- */

static void count_up(struct world *world, const struct frame_head *head, const struct table *table,
                     const struct wire_row *row) {
    (void)head;
    assert_string_equal(table->name, "crowd");
    assert_int_equal(row->values[0], ++world->n_samples); /* each event once, in order */
}

static void bulk_rows_make_frames_of_their_own(void **state) {
    static const struct probe *const probes[] = {&crowd, &fast};
    (void)state;
    struct world world = {.events_a_sample = 7}, other = {0};
    struct frame_head before = {.seq = 40};
    struct sampler *sampler = open_sampler(&world, probes, 2, 10);
    struct frame_sink sink = {&world, sink_append, sink_lost};
    struct frame_sink bulk = {&other, sink_append, sink_lost};
    struct wire_stream stream = {.host = "h", .stream_id = 2};
    size_t n;
    const struct table *const *tables = sampler_bulk_tables(sampler, &n);
    assert_int_equal(n, 1);
    wire_put_stream(&other.stream, &stream);
    wire_put_table(&other.stream, 0, tables[0]);
    sampler_set_bulk(sampler, &bulk, &before);
    assert_int_equal(sampler_run(sampler, &sink), 0);
    sampler_free(sampler);
    decode(&world, NULL);
    decode(&other, count_up);
    check_sound(&world);
    assert_int_equal(world.n_seen, 10);
    assert_int_equal(world.seen[3].n_rows[OF_FAST], 1);
    assert_int_equal(other.n_samples, 70);
    assert_int_equal(other.n_seen, 40); /* 2, 2, 2 and 1 of each sample */
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(other.seen[i].head.seq, 41 + i);
        assert_int_equal(other.seen[i].head.mono_ns, world.seen[i / 4].head.mono_ns);
        assert_int_equal(other.seen[i].head.slot_ns, world.seen[i / 4].head.slot_ns);
    }
    release(&world);
    release(&other);
}

static int append_announced(void *ctx, const void *frame, size_t size, uint64_t seq) {
    assert_int_equal(announced, seq);
    announced = 0;
    return sink_append(ctx, frame, size, seq);
}

static void a_frame_is_announced_before_it_is_kept(void **state) {
    static const struct probe *const probes[] = {&crowd, &fast};
    (void)state;
    struct world world = {.events_a_sample = 7}, other = {.sink_error = -ENOSPC};
    struct frame_head before = {.seq = 40};
    struct sampler *sampler = open_sampler(&world, probes, 2, 3);
    struct frame_sink sink = {&world, sink_append, sink_lost};
    struct frame_sink bulk = {&other, append_announced, sink_lost};
    sampler_set_bulk(sampler, &bulk, &before);
    assert_int_equal(sampler_run(sampler, &sink), 0);
    assert_int_equal(other.lost, 12); /* also one that no agent takes */
    sampler_free(sampler);
    release(&world);
    release(&other);
}

static void without_a_bulk_stream_its_probes_are_left_alone(void **state) {
    static const struct probe *const probes[] = {&crowd, &fast};
    (void)state;
    struct world world = {.events_a_sample = 7};
    run_with(&world, probes, 2, 10, NULL);
    assert_int_equal(world.n_seen, 10);
    assert_int_equal(world.seen[9].n_rows[OF_FAST], 1);
    release(&world);
}

static void a_full_bulk_spool_is_told_once_and_samples_go_on(void **state) {
    static const struct probe *const probes[] = {&crowd, &fast};
    (void)state;
    struct world world = {.events_a_sample = 1}, other = {.sink_error = -ENOSPC};
    struct sampler *sampler = open_sampler(&world, probes, 2, 10);
    struct frame_sink sink = {&world, sink_append, sink_lost};
    struct frame_sink bulk = {&other, sink_append, sink_lost};
    sampler_set_bulk(sampler, &bulk, NULL);
    assert_int_equal(sampler_run(sampler, &sink), 0);
    sampler_free(sampler);
    decode(&world, NULL);
    assert_int_equal(world.n_seen, 10);
    assert_int_equal(other.lost, 10);
    assert_int_equal(world.n_said, 1);
    assert_non_null(strstr(world.said[0], "spool of MPI calls: No space left"));
    release(&world);
}

static void dropped_events_are_told_once(void **state) {
    static const struct probe *const probes[] = {&crowd, &fast};
    (void)state;
    struct world world = {.events_a_sample = 1}, other = {.lost = 3};
    struct sampler *sampler = open_sampler(&world, probes, 2, 10);
    struct frame_sink sink = {&world, sink_append, sink_lost};
    struct frame_sink bulk = {&other, sink_append, sink_lost};
    sampler_set_bulk(sampler, &bulk, NULL);
    assert_int_equal(sampler_run(sampler, &sink), 0);
    sampler_free(sampler);
    assert_int_equal(world.n_said, 1);
    assert_non_null(strstr(world.said[0], "holds the last 1 s at this rate, older ones go: see "
                                          "--call-spool-limit"));
    release(&world);
    release(&other);
}

static int64_t last_lost;

static int64_t bulk_events;

static void take_lost(struct world *world, const struct frame_head *head, const struct table *table,
                      const struct wire_row *row) {
    (void)world, (void)head, (void)table;
    last_lost = row->values[0];
    bulk_events++;
}

static int asked; /* for an idle core, in the last run */

/* Runs a probe of the bulk stream beside the fast one; bulk frames go to `other`. */
static void run_beside(struct world *world, struct world *other, const struct probe *ring,
                       uint64_t max_frames) {
    const struct probe *const probes[] = {ring, &fast};
    struct sampler *sampler = open_sampler(world, probes, 2, max_frames);
    struct frame_sink sink = {world, sink_append, sink_lost};
    struct frame_sink bulk = {other, sink_append, sink_lost};
    struct wire_stream stream = {.host = "h", .stream_id = 2};
    size_t n;
    wire_put_stream(&other->stream, &stream);
    wire_put_table(&other->stream, 0, sampler_bulk_tables(sampler, &n)[0]);
    sampler_set_bulk(sampler, &bulk, NULL);
    assert_int_equal(sampler_run(sampler, &sink), 0);
    sampler_free(sampler);
}

/* How many events of the burst were lost; *ret_frames: how many frames contain the others. A core
 * is idle idle_after_ns after each question; 0: never. */
static int64_t run_through_burst(const struct probe *ring, bool calls, int64_t idle_after_ns,
                                 size_t *ret_frames) {
    struct world world = {.next_call = calls ? call_of_ring : NULL, .idle_after_ns = idle_after_ns};
    struct world other = {0};
    run_beside(&world, &other, ring, 11); /* the last frame has the slow tables */
    decode(&world, take_self);
    decode(&other, take_lost);
    check_sound(&world);
    assert_int_equal(world.n_seen, 11);
    for (size_t i = 0; i < world.n_seen; i++)
        assert_int_equal(world.seen[i].n_rows[OF_FAST], 1);
    assert_int_equal(self_seen.ring_cpu, world.checks * CHECK_TAKES); /* checks cost CPU time */
    *ret_frames = other.n_seen;
    asked = world.asked;
    release(&world);
    release(&other);
    return last_lost;
}

static void a_burst_between_two_slots_overruns_no_ring(void **state) {
    size_t alone, looked, called;
    (void)state;
    assert_true(run_through_burst(&left_alone, false, 0, &alone) > 3000);
    assert_int_equal(self_seen.ring_cpu, 0);
    assert_int_equal(run_through_burst(&looked_after, false, 0, &looked), 0);
    int64_t checks = self_seen.ring_cpu / CHECK_TAKES;
    assert_true(checks > 20); /* at each quarter of a slot, with or without events */
    assert_in_range(looked, alone, alone + 10); /* the few calls before and after the burst make no
                                                   frames */
    assert_int_equal(run_through_burst(&looked_after, true, 0, &called),
                     0); /* one writer calls, one cannot */
    assert_int_equal(run_through_burst(&called_for, true, 0, &called), 0);
    assert_in_range(self_seen.ring_cpu / CHECK_TAKES, 1,
                    BURST / (RING / 8)); /* and no other checks */
}

/* On cores that are all in use an eighth of the ring waits, and a quarter is taken. */
static void rows_wait_for_an_idle_core_until_their_ring_fills_up(void **state) {
    size_t full, idle;
    (void)state;
    assert_int_equal(run_through_burst(&called_for, true, 0, &full), 0);
    assert_in_range(asked, 1, BURST / (RING / 8));
    assert_int_equal(run_through_burst(&called_for, true, NS_PER_US, &idle), 0);
    assert_in_range(asked, BURST / (RING / 8) - 2, BURST / (RING / 8) + 2);
}

/* Each sample of the ring takes an eighth of a slot, and it is full: slots come first. */
static void slots_come_before_a_full_ring_which_is_emptied_all_the_same(void **state) {
    (void)state;
    struct world world = {.mono_ns = BURST_BEGIN + BURST_NS}, other = {0};
    run_beside(&world, &other, &slow_ring, 30);
    bulk_events = 0;
    decode(&world, NULL);
    decode(&other, take_lost);
    for (size_t i = 1; i < world.n_seen; i++)
        assert_int_equal(world.seen[i].head.missed, 0);
    assert_true(other.n_seen > 16); /* the ring alone has sixteen frames, which are two slots */
    /* the last sample takes time, too, in which the ring is written */
    assert_in_range(bulk_events + last_lost, ring_written() - PERIOD / 8 / NS_PER_MS - 1,
                    ring_written());
    release(&world);
    release(&other);
}

/* An event every ms in a ring that was overrun at the start, until the stop at that wait (0: the
 * last of so many frames); no event may be left. Returns how many frames they made.
 */
static size_t run_in_calm(const struct probe *ring, uint64_t stop_at, uint64_t max_frames) {
    struct world world = {.mono_ns = BURST_BEGIN + BURST_NS, .stop_at = stop_at}, other = {0};
    run_beside(&world, &other, ring, max_frames);
    bulk_events = 0;
    decode(&other, take_lost);
    assert_int_equal(bulk_events + last_lost, ring_written());
    size_t n = other.n_seen;
    release(&world);
    release(&other);
    return n;
}

static void few_calls_wait_for_a_slow_slot_or_the_end(void **state) {
    (void)state;
    size_t first = run_in_calm(&called_for, 0, 1);
    assert_int_equal(run_in_calm(&looked_after, 0, 16), first + 15); /* when no writer can call */
    assert_in_range(run_in_calm(&called_for, 15, 0), first + 2, first + 3);
    assert_in_range(run_in_calm(&called_for, 0, 16), first + 2, first + 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_on_slots_and_the_first_waits_for_none),
        cmocka_unit_test(slow_tables_join_at_multiples_of_their_period),
        cmocka_unit_test(slow_tables_join_the_frame_after_news),
        cmocka_unit_test(frames_tell_what_was_sampled_even_without_rows),
        cmocka_unit_test(a_stop_takes_a_last_frame_of_all_tables),
        cmocka_unit_test(a_slow_slot_that_was_missed_is_made_up_for),
        cmocka_unit_test(lateness_is_told_and_slots_slept_over_are_missed),
        cmocka_unit_test(overload_skips_slots_instead_of_piling_up),
        cmocka_unit_test(a_step_of_the_wall_clock_is_no_missed_time),
        cmocka_unit_test(slow_tables_go_on_through_a_step_back),
        cmocka_unit_test(a_clock_that_is_set_all_the_time_neither_stalls_nor_spins),
        cmocka_unit_test(a_probe_that_fails_loses_its_own_rows_only),
        cmocka_unit_test(absent_probes_have_no_table_and_a_note_says_why),
        cmocka_unit_test(self_tells_what_each_probe_cost_and_lost),
        cmocka_unit_test(costs_are_told_each_tenth_second_after_half_a_minute),
        cmocka_unit_test(the_last_frame_tells_all_costs),
        cmocka_unit_test(a_failure_and_a_loss_are_told_with_the_next_slow_slot),
        cmocka_unit_test(probes_are_told_when_they_were_sampled_last),
        cmocka_unit_test(a_restart_continues_numbers_and_counts_the_gap),
        cmocka_unit_test(a_sink_that_fails_is_noted_once_and_sampling_goes_on),
        cmocka_unit_test(bulk_rows_make_frames_of_their_own),
        cmocka_unit_test(a_frame_is_announced_before_it_is_kept),
        cmocka_unit_test(without_a_bulk_stream_its_probes_are_left_alone),
        cmocka_unit_test(a_full_bulk_spool_is_told_once_and_samples_go_on),
        cmocka_unit_test(dropped_events_are_told_once),
        cmocka_unit_test(a_burst_between_two_slots_overruns_no_ring),
        cmocka_unit_test(rows_wait_for_an_idle_core_until_their_ring_fills_up),
        cmocka_unit_test(slots_come_before_a_full_ring_which_is_emptied_all_the_same),
        cmocka_unit_test(few_calls_wait_for_a_slow_slot_or_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
