/* SPDX-License-Identifier: MIT */
/*
 * A probe that fails loses its own rows and is tried again at its next turn: sources come back (a
 * device, a mount), and a try costs less than a rule for giving up.
 *
 * Single events are taken on idle cores first: their rings hold them until a core has nothing else
 * to do, or until one of them fills up. Slots come before them: taking stops when one is due, and
 * goes on afterwards.
 */
#include "agent/sampler/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sampler/core_speed.h"
#include "agent/sampler/frame_stream.h"
#include "agent/sampler/schedule.h"
#include "agent/sampler/self.h"
#include "common/clock.h"
#include "common/error.h"

#define NOTE_ROWS 0
#define SELF_ROWS 1
#define TABLES_OWN 2
#define BULK_FRAMES_MAX 256                /* for one sample; further rows go into the next */
#define BULK_FRAMES_LAST 16384             /* for the last one: all rings of all ranks */
#define CHECK_EVERY_NS (25 * NS_PER_MS)    /* of rings whose writers cannot call */
#define TROUBLE_OVER_NS (3 * NS_PER_S / 2) /* large frames are a second apart */

/* An open probe, and its table in the frame. */
struct probe_instance {
    const struct probe *probe;
    void *state;
    const struct frame_stream *stream;
    struct rows *rows; /* index in the stream */
    struct self_cost cost;
    int error; /* error of its last sample; reported when it changes */
};

struct trouble { /* State of a sink; reported when an error begins and ends. */
    int error;
    int64_t last_ns; /* time of the last refused frame */
};

struct sampler {
    struct sampler_config config;
    struct probe_env env;
    struct schedule schedule;
    struct probe_instance *instances;
    size_t n_instances;
    struct frame_stream samples, bulk;
    const struct frame_sink *bulk_sink; /* NULL: no such stream */
    struct self_agent self;
    struct self_cost core_speed;
    int64_t fast_mono_ns, slow_mono_ns; /* of the previous samples */
    struct trouble sink_trouble, bulk_trouble;
    int64_t bulk_began_ns; /* when the first bulk frame was sent; 0: none was */
    bool told_dropped;
    bool news;      /* the slow tables must join the next frame */
    bool bulk_left; /* a slot came before all bulk rows were taken */
};

/* ---- opening ---- */

void sampler_note(struct sampler *sampler, enum note_level level, const char *subject,
                  const char *text) {
    note_append(&sampler->samples.rows[NOTE_ROWS], level, subject, text);
    if (sampler->config.say)
        sampler->config.say(sampler->config.say_ctx, level, subject, text);
}

static void note_of_probe(void *ctx, enum note_level level, const char *subject, const char *text) {
    sampler_note(ctx, level, subject, text);
}

static void close_probe(const struct probe *probe, void *state) {
    if (probe->close)
        probe->close(state);
    free(state);
}

static size_t rows_at_most(const struct sampler *sampler, const struct probe *probe,
                           const void *state) {
    size_t n = probe->max_rows(state, &sampler->env);
    return n > FRAME_ROWS_MAX ? FRAME_ROWS_MAX : n;
}

static int open_probe(struct sampler *sampler, const struct probe *probe) {
    char why[128] = "";
    void *state = calloc(1, probe->state_size ? probe->state_size : 1);
    if (!state)
        return -ENOMEM;
    int r = probe->open(state, &sampler->env, why, sizeof why);
    if (r != 0) {
        enum note_level level = r == PROBE_ABSENT ? NOTE_INFO : NOTE_WARNING;
        if (why[0] || r < 0)
            sampler_note(sampler, level, probe->table->name, why[0] ? why : strerror(-r));
        close_probe(probe, state);
        return 0;
    }
    if (why[0])
        sampler_note(sampler, NOTE_INFO, probe->table->name, why);
    struct frame_stream *stream = probe->bulk ? &sampler->bulk : &sampler->samples;
    r = frame_stream_add(stream, probe->table, rows_at_most(sampler, probe, state));
    if (r < 0) {
        close_probe(probe, state);
        return r;
    }
    sampler->instances[sampler->n_instances++] = (struct probe_instance){
        .probe = probe, .state = state, .stream = stream, .rows = &stream->rows[stream->n - 1]};
    return 0;
}

static int take_memory(struct sampler *sampler) {
    size_t n = sampler->config.n_probes;
    int r = frame_stream_init(&sampler->samples, n + TABLES_OWN);
    if (r == 0)
        r = frame_stream_init(&sampler->bulk, n);
    sampler->bulk.packed = true;
    sampler->instances = calloc(n + 1, sizeof *sampler->instances);
    if (r == 0 && !sampler->instances)
        r = -ENOMEM;
    if (r == 0)
        r = frame_stream_add(&sampler->samples, &all_tables[TABLE_NOTE], NOTES_A_FRAME);
    return r < 0 ? r : frame_stream_add(&sampler->samples, &all_tables[TABLE_SELF], n + 2);
}

static int sampler_fill(struct sampler *sampler) {
    int r = take_memory(sampler);
    for (size_t i = 0; r == 0 && i < sampler->config.n_probes; i++)
        r = open_probe(sampler, sampler->config.probes[i]);
    if (r == 0)
        r = frame_stream_reserve(&sampler->samples);
    return r < 0 || !sampler->bulk.n ? r : frame_stream_reserve(&sampler->bulk);
}

int sampler_open(const struct sampler_config *config, struct sampler **ret_sampler) {
    struct sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler)
        return -ENOMEM;
    sampler->config = *config;
    sampler->env = *config->env;
    sampler->env.note = note_of_probe;
    sampler->env.note_ctx = sampler;
    sampler->self = (struct self_agent){.statm_fd = self_open_statm(config->env->proc),
                                        .page_size = config->env->page_size};
    schedule_init(&sampler->schedule, config->period_ns, config->slow_period_ns);
    int r = sampler_fill(sampler);
    if (r < 0) {
        sampler_free(sampler);
        return r;
    }
    *ret_sampler = sampler;
    return 0;
}

void sampler_close_probes(struct sampler *sampler) {
    for (size_t i = sampler->n_instances; i-- > 0;) /* a probe may use those before it */
        close_probe(sampler->instances[i].probe, sampler->instances[i].state);
    sampler->n_instances = 0;
}

void sampler_free(struct sampler *sampler) {
    if (!sampler)
        return;
    sampler_close_probes(sampler);
    frame_stream_release(&sampler->samples);
    frame_stream_release(&sampler->bulk);
    if (sampler->self.statm_fd >= 0)
        close(sampler->self.statm_fd);
    free(sampler->instances);
    free(sampler);
}

const struct table *const *sampler_tables(const struct sampler *sampler, size_t *ret_n) {
    *ret_n = sampler->samples.n;
    return sampler->samples.tables;
}

const struct table *const *sampler_bulk_tables(const struct sampler *sampler, size_t *ret_n) {
    *ret_n = sampler->bulk.n;
    return sampler->bulk.tables;
}

void sampler_set_bulk(struct sampler *sampler, const struct frame_sink *sink,
                      const struct frame_head *last) {
    sampler->bulk_sink = sink;
    if (last)
        sampler->bulk.head = *last;
}

void sampler_resume(struct sampler *sampler, const struct frame_head *last) {
    sampler->samples.head = *last;
    schedule_resume(&sampler->schedule, last->slot_ns, last->wall_ns, last->mono_ns, last->missed);
}

/* ---- sampling ---- */

static int64_t cpu_now(const struct sampler *sampler) {
    return sampler->config.clock.cpu_ns(sampler->config.clock.ctx);
}

static void tell_error(struct sampler *sampler, struct probe_instance *instance, int error) {
    if (error == instance->error)
        return;
    instance->error = error;
    sampler_note(sampler, NOTE_WARNING, instance->probe->table->name,
                 error ? strerror(-error) : "works again");
}

static void sample_instance(struct sampler *sampler, struct probe_instance *instance) {
    bool slow = instance->probe->pace == PACE_PROCESS;
    sampler->env.previous_mono_ns = slow ? sampler->slow_mono_ns : sampler->fast_mono_ns;
    int r = instance->probe->sample(instance->state, &sampler->env, instance->rows);
    instance->cost.samples++;
    instance->cost.dropped_rows = instance->rows->dropped;
    instance->rows->sampled = instance->stream == &sampler->samples;
    if (r != 0) {
        rows_reset(instance->rows);
        instance->cost.failures++;
    }
    if (instance->probe->has_news)
        sampler->news |= instance->probe->has_news(instance->state);
    tell_error(sampler, instance, r < 0 ? r : r > 0 ? -EIO : 0);
}

static void measure_core_speed(struct sampler *sampler) {
    const struct sampler_clock *clock = &sampler->config.clock;
    sampler->core_speed.cpu_ns += core_speed_measure(clock->cpu_ns, clock->ctx);
    sampler->core_speed.samples++;
}

/* Each probe's time ends where the next one's begins: one clock reading a probe. */
static void sample_all(struct sampler *sampler, bool slow) {
    int64_t before = cpu_now(sampler);
    for (size_t i = 0; i < sampler->n_instances; i++) {
        struct probe_instance *instance = &sampler->instances[i];
        if (instance->stream == &sampler->bulk || (instance->probe->pace == PACE_PROCESS && !slow))
            continue;
        sample_instance(sampler, instance);
        int64_t after = cpu_now(sampler);
        instance->cost.cpu_ns += after - before;
        before = after;
    }
}

/* The row's time includes that of the probe's own threads; its cost here does not. */
static void append_cost(struct rows *rows, struct probe_instance *instance) {
    struct self_cost cost = instance->cost;
    if (instance->probe->thread_cpu_ns)
        cost.cpu_ns += instance->probe->thread_cpu_ns(instance->state);
    self_append_probe(rows, instance->probe->table->name, &cost);
    instance->cost.told = cost.told;
}

static void append_self(struct sampler *sampler, const struct slot *slot, bool last) {
    struct rows *rows = &sampler->samples.rows[SELF_ROWS];
    bool due = self_is_due(&sampler->self, slot->slot_ns, slot->mono_ns, last);
    for (size_t i = 0; i < sampler->n_instances; i++)
        if (due || self_probe_has_news(&sampler->instances[i].cost))
            append_cost(rows, &sampler->instances[i]);
    self_append_probe(rows, SELF_CORE, &sampler->core_speed);
    if (due || self_agent_has_news(&sampler->self))
        self_append_agent(rows, &sampler->self);
}

/* When space is short, small frames may fit and large ones not: the error ends after a while
 * without any, or each frame would be reported. */
static void tell_trouble(struct sampler *sampler, const char *subject, struct trouble *trouble,
                         int error, int64_t now_ns) {
    if (error)
        trouble->last_ns = now_ns;
    if (error == trouble->error || (!error && now_ns - trouble->last_ns < TROUBLE_OVER_NS))
        return;
    trouble->error = error;
    sampler_note(sampler, NOTE_WARNING, subject, error ? strerror(-error) : "takes frames again");
}

/* Adds the rows of these probes to the next frame of the stream. */
static void tell_keeping(struct sampler *sampler, const struct frame_stream *stream) {
    for (size_t i = 0; i < sampler->n_instances; i++) {
        const struct probe_instance *instance = &sampler->instances[i];
        if (instance->stream == stream && instance->probe->keeping)
            instance->probe->keeping(instance->state, stream->head.seq + 1);
    }
}

/* Notes made between two frames join the next one that the sink accepts. */
static void send_frame(struct sampler *sampler, const struct frame_head *head,
                       const struct frame_sink *sink) {
    tell_keeping(sampler, &sampler->samples);
    int r = frame_stream_send(&sampler->samples, head, sink);
    frame_stream_reset(&sampler->samples, r == 0 ? 0 : NOTE_ROWS + 1);
    tell_trouble(sampler, "spool", &sampler->sink_trouble, r, head->mono_ns);
}

/* ---- the bulk stream ---- */

/* Whether there may be more events than rows. */
static bool sample_bulk(struct sampler *sampler) {
    bool more = false;
    int64_t before = cpu_now(sampler);
    for (size_t i = 0; i < sampler->n_instances; i++) {
        struct probe_instance *instance = &sampler->instances[i];
        if (instance->stream != &sampler->bulk)
            continue;
        sample_instance(sampler, instance);
        int64_t after = cpu_now(sampler);
        instance->cost.cpu_ns += after - before;
        before = after;
        more |= instance->rows->n == instance->rows->capacity;
    }
    return more;
}

static bool has_rows(const struct frame_stream *stream) {
    for (size_t i = 0; i < stream->n; i++)
        if (stream->rows[i].n)
            return true;
    return false;
}

/* The first loss tells how long the spool took to fill: so much of the calls it holds at that rate.
 * A note has 95 bytes, its subject included. */
static void tell_dropped(struct sampler *sampler, const struct frame_head *head) {
    char text[96];
    if (!head->lost || sampler->bulk_trouble.error || sampler->told_dropped)
        return;
    sampler->told_dropped = true;
    int64_t held_s = (head->mono_ns - sampler->bulk_began_ns) / NS_PER_S;
    snprintf(
        text, sizeof text,
        "their spool holds the last %lld s at this rate, older ones go: see --call-spool-limit",
        (long long)(held_s < 1 ? 1 : held_s));
    sampler_note(sampler, NOTE_WARNING, "calls", text);
}

static void send_bulk(struct sampler *sampler, const struct slot *slot) {
    const struct frame_sink *sink = sampler->bulk_sink;
    struct frame_head head = {.wall_ns = slot->wall_ns,
                              .mono_ns = slot->mono_ns,
                              .slot_ns = slot->slot_ns,
                              .late_ns = slot->late_ns,
                              .lost = sink->lost(sink->ctx)};
    tell_keeping(sampler, &sampler->bulk);
    if (!sampler->bulk_began_ns)
        sampler->bulk_began_ns = head.mono_ns;
    int r = frame_stream_send(&sampler->bulk, &head, sink);
    frame_stream_reset(&sampler->bulk, 0);
    tell_trouble(sampler, "spool of MPI calls", &sampler->bulk_trouble, r, head.mono_ns);
    tell_dropped(sampler, &head);
}

/* Takes bulk rows until there are no more, or until another frame of them would end after the time
 * on the wall clock when the next slot is due. */
static void take_bulk(struct sampler *sampler, const struct slot *slot, int64_t due_ns) {
    const struct sampler_clock *clock = &sampler->config.clock;
    int frames = sampler->env.last ? BULK_FRAMES_LAST : BULK_FRAMES_MAX;
    bool more = sampler->bulk_sink && sampler->bulk.n;
    int64_t before_ns = clock->wall_ns(clock->ctx), after_ns;
    for (int i = 0; more && i < frames; i++, before_ns = after_ns) {
        more = sample_bulk(sampler);
        if (has_rows(&sampler->bulk))
            send_bulk(sampler, slot);
        after_ns = clock->wall_ns(clock->ctx);
        if (!sampler->env.last && 2 * after_ns - before_ns >= due_ns)
            break;
    }
    sampler->bulk_left = more;
}

/* Bulk rows wait for a slow slot if their writers call when there are many: a frame costs as much
 * as a hundred rows. */
static bool bulk_can_wait(const struct sampler *sampler) {
    bool can = sampler->bulk.n > 0;
    for (size_t i = 0; i < sampler->n_instances; i++) {
        const struct probe_instance *instance = &sampler->instances[i];
        const struct probe *probe = instance->probe;
        if (instance->stream == &sampler->bulk)
            can &= probe->is_called && probe->is_called(instance->state);
    }
    return can;
}

/* ---- both streams ---- */

static bool frames_left(const struct sampler *sampler) {
    return !sampler->config.max_frames || sampler->self.frames < sampler->config.max_frames;
}

static void take_frame(struct sampler *sampler, const struct slot *slot,
                       const struct frame_sink *sink) {
    sampler->env.mono_ns = slot->mono_ns;
    if (slot->late_ns > sampler->self.late_ns)
        sampler->self.late_ns = slot->late_ns;
    sampler->self.frames++;
    sampler->self.lost = sink->lost(sink->ctx);
    sample_all(sampler, slot->slow);
    measure_core_speed(sampler);
    if (slot->slow)
        append_self(sampler, slot, sampler->env.last || !frames_left(sampler));
    sampler->fast_mono_ns = slot->mono_ns;
    if (slot->slow)
        sampler->slow_mono_ns = slot->mono_ns;
    struct frame_head head = {.wall_ns = slot->wall_ns,
                              .mono_ns = slot->mono_ns,
                              .slot_ns = slot->slot_ns,
                              .late_ns = slot->late_ns,
                              .missed = slot->missed,
                              .lost = sampler->self.lost};
    send_frame(sampler, &head, sink);
    if (slot->slow || !frames_left(sampler) || !bulk_can_wait(sampler))
        take_bulk(sampler, slot, slot->slot_ns + sampler->config.period_ns);
}

/* ---- between slots ---- */

static enum probe_pressure pressure_of(const struct sampler *sampler,
                                       struct probe_instance *instance) {
    int64_t before = cpu_now(sampler);
    enum probe_pressure pressure = instance->probe->pressure(instance->state);
    instance->cost.cpu_ns += cpu_now(sampler) - before;
    return pressure;
}

static enum probe_pressure highest_pressure(const struct sampler *sampler) {
    enum probe_pressure highest = PRESSURE_NONE;
    for (size_t i = 0; i < sampler->n_instances && highest < PRESSURE_HIGH; i++) {
        enum probe_pressure one = sampler->instances[i].probe->pressure
                                      ? pressure_of(sampler, &sampler->instances[i])
                                      : PRESSURE_NONE;
        highest = one > highest ? one : highest;
    }
    return highest;
}

/* Whether it is time to check a ring whose writer cannot call. */
static bool may_be_pressed(const struct sampler *sampler) {
    bool may = false;
    for (size_t i = 0; i < sampler->n_instances; i++) {
        const struct probe *probe = sampler->instances[i].probe;
        may |=
            probe->pressure && !(probe->is_called && probe->is_called(sampler->instances[i].state));
    }
    return may && sampler->bulk_sink;
}

static void take_between(struct sampler *sampler, int64_t check_ns, int64_t due_ns) {
    const struct sampler_clock *clock = &sampler->config.clock;
    struct slot slot = {.slot_ns = check_ns,
                        .wall_ns = clock->wall_ns(clock->ctx),
                        .mono_ns = clock->mono_ns(clock->ctx)};
    slot.late_ns = slot.wall_ns - check_ns;
    sampler->env.mono_ns = slot.mono_ns;
    take_bulk(sampler, &slot, due_ns);
}

/* Some rows wait for an idle core, if the clock can tell when there is one; many do not wait. */
static bool can_wait(const struct sampler *sampler, enum probe_pressure pressure) {
    const struct sampler_clock *clock = &sampler->config.clock;
    return pressure == PRESSURE_NONE ||
           (pressure == PRESSURE_SOME && clock->ask_idle && clock->ask_idle(clock->ctx));
}

static void take_if_pressed(struct sampler *sampler, int64_t check_ns, int64_t due_ns) {
    if (!can_wait(sampler, highest_pressure(sampler)))
        take_between(sampler, check_ns, due_ns);
}

static int wait_hearing_calls(struct sampler *sampler, int64_t planned_ns) {
    const struct sampler_clock *clock = &sampler->config.clock;
    for (;;) {
        int r = clock->wait(clock->ctx, planned_ns);
        if (r == SAMPLER_CALLED && sampler->bulk_sink)
            take_if_pressed(sampler, clock->wall_ns(clock->ctx), planned_ns);
        else if (r == SAMPLER_IDLE && sampler->bulk_sink)
            take_between(sampler, clock->wall_ns(clock->ctx), planned_ns);
        else if (r != SAMPLER_CALLED && r != SAMPLER_IDLE)
            return r;
    }
}

/* A burst begins without warning, so the fill of a ring at the last slot predicts nothing: only its
 * writer or a check finds it. Rows wait for a slot unless they are many, so that few calls make few
 * frames. A wake-up is expensive: it takes the core from the observed rank. */
static int wait_for_slot(struct sampler *sampler, int64_t planned_ns) {
    const struct sampler_clock *clock = &sampler->config.clock;
    int64_t checks = may_be_pressed(sampler) ? (sampler->config.period_ns - 1) / CHECK_EVERY_NS : 0;
    if (sampler->bulk_left)
        take_between(sampler, clock->wall_ns(clock->ctx), planned_ns);
    for (; checks > 0; checks--) {
        int64_t check_ns = planned_ns - checks * CHECK_EVERY_NS;
        if (check_ns <= clock->wall_ns(clock->ctx))
            continue;
        int r = wait_hearing_calls(sampler, check_ns); /* some ranks may call, others cannot */
        if (r != 0)
            return r;
        take_if_pressed(sampler, check_ns, planned_ns);
    }
    return wait_hearing_calls(sampler, planned_ns);
}

/* ---- slots ---- */

static void take_unplanned(struct sampler *sampler, const struct frame_sink *sink) {
    const struct sampler_clock *clock = &sampler->config.clock;
    struct slot slot;
    schedule_take_unplanned(&sampler->schedule, clock->wall_ns(clock->ctx),
                            clock->mono_ns(clock->ctx), &slot);
    take_frame(sampler, &slot, sink);
}

/* Waits for the next slot and takes the frame: 0, SAMPLER_AGAIN, SAMPLER_STOP, -errno. */
static int next_frame(struct sampler *sampler, const struct frame_sink *sink) {
    const struct sampler_clock *clock = &sampler->config.clock;
    int64_t planned =
        schedule_next(&sampler->schedule, clock->wall_ns(clock->ctx), clock->mono_ns(clock->ctx));
    int r = wait_for_slot(sampler, planned);
    if (r != 0)
        return r;
    int64_t wall = clock->wall_ns(clock->ctx), mono = clock->mono_ns(clock->ctx);
    if (!schedule_is_due(&sampler->schedule, planned, wall, mono))
        return SAMPLER_AGAIN;
    struct slot slot;
    schedule_take(&sampler->schedule, planned, wall, mono, &slot);
    slot.slow |= sampler->news;
    sampler->news = false;
    take_frame(sampler, &slot, sink);
    return 0;
}

int sampler_run(struct sampler *sampler, const struct frame_sink *sink) {
    int r = 0;
    take_unplanned(sampler, sink);
    while (frames_left(sampler) && (r == 0 || r == SAMPLER_AGAIN))
        r = next_frame(sampler, sink);
    sampler->env.last = true;
    if (r == SAMPLER_STOP && frames_left(sampler))
        take_unplanned(sampler, sink);
    return r < 0 ? r : 0;
}
