/* SPDX-License-Identifier: MIT */
/*
 * A probe that fails loses its own rows and is tried again at its next turn: sources come back
 * (a device, a mount), and a try costs less than a rule about when to give up.
 */
#include "agent/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/schedule.h"
#include "agent/self.h"
#include "common/error.h"

#define TABLE_NOTE 0
#define TABLE_SELF 1
#define TABLES_OWN 2

/* A probe that could be opened, and its table of the frame. */
struct station {
    const struct probe *probe;
    void *state;
    struct rows *rows;
    struct self_cost cost;
    int error; /* of its last sample: told when it changes */
};

struct sampler {
    struct sampler_config config;
    struct probe_env env;
    struct schedule schedule;
    struct station *stations;
    size_t n_stations, n_tables;
    struct rows *rows;           /* by table */
    struct rows **frame_rows;    /* by table: pointers into rows, as the encoder takes them */
    const struct table **tables; /* by table */
    unsigned *indexes;           /* by table: 0, 1, 2 ... */
    struct buffer frame, scratch;
    struct frame_head head;
    struct self_agent self;
    int64_t fast_mono_ns, slow_mono_ns; /* of the previous samples */
    int sink_error;                     /* of the last append: told when it changes */
};

/* ---- opening ---- */

void sampler_note(struct sampler *sampler, enum note_level level, const char *subject,
                  const char *text) {
    note_append(&sampler->rows[TABLE_NOTE], level, subject, text);
    if (sampler->config.say)
        sampler->config.say(sampler->config.say_ctx, level, subject, text);
}

static int add_table(struct sampler *sampler, const struct table *table, size_t max_rows) {
    size_t i = sampler->n_tables;
    int r = rows_init(&sampler->rows[i], table, max_rows);
    if (r < 0)
        return r;
    sampler->tables[i] = table;
    sampler->frame_rows[i] = &sampler->rows[i];
    sampler->indexes[i] = (unsigned)i;
    sampler->n_tables++;
    return 0;
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
        sampler_note(sampler, level, probe->table.name, why[0] || r > 0 ? why : strerror(-r));
        close_probe(probe, state);
        return 0;
    }
    if (why[0])
        sampler_note(sampler, NOTE_INFO, probe->table.name, why);
    r = add_table(sampler, &probe->table, rows_at_most(sampler, probe, state));
    if (r < 0) {
        close_probe(probe, state);
        return r;
    }
    sampler->stations[sampler->n_stations++] = (struct station){
        .probe = probe, .state = state, .rows = &sampler->rows[sampler->n_tables - 1]};
    return 0;
}

/* No varint is longer than ten bytes. */
static size_t frame_bytes_at_most(const struct sampler *sampler) {
    size_t size = 128 + 2 * 10 * sampler->n_tables;
    for (size_t i = 0; i < sampler->n_tables; i++)
        size +=
            sampler->rows[i].capacity * (2 + INSTANCE_MAX + 10 * sampler->rows[i].table->n_columns);
    return size;
}

static int take_memory(struct sampler *sampler) {
    size_t n = sampler->config.n_probes + TABLES_OWN;
    if (n > TABLES_MAX)
        return -E2BIG;
    sampler->stations = calloc(n, sizeof *sampler->stations);
    sampler->rows = calloc(n, sizeof *sampler->rows);
    sampler->frame_rows = calloc(n, sizeof *sampler->frame_rows);
    sampler->tables = calloc(n, sizeof *sampler->tables);
    sampler->indexes = calloc(n, sizeof *sampler->indexes);
    if (!sampler->stations || !sampler->rows || !sampler->frame_rows || !sampler->tables ||
        !sampler->indexes)
        return -ENOMEM;
    int r = add_table(sampler, &note_table, NOTES_A_FRAME);
    return r < 0 ? r : add_table(sampler, &self_table, sampler->config.n_probes + 1);
}

static int sampler_fill(struct sampler *sampler) {
    int r = take_memory(sampler);
    for (size_t i = 0; r == 0 && i < sampler->config.n_probes; i++)
        r = open_probe(sampler, sampler->config.probes[i]);
    if (r == 0)
        r = buffer_reserve(&sampler->scratch, frame_bytes_at_most(sampler));
    if (r == 0)
        r = buffer_reserve(&sampler->frame, frame_bytes_at_most(sampler));
    return r;
}

int sampler_open(const struct sampler_config *config, struct sampler **ret_sampler) {
    struct sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler)
        return -ENOMEM;
    sampler->config = *config;
    sampler->env = *config->env;
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

void sampler_free(struct sampler *sampler) {
    if (!sampler)
        return;
    for (size_t i = 0; i < sampler->n_stations; i++)
        close_probe(sampler->stations[i].probe, sampler->stations[i].state);
    for (size_t i = 0; i < sampler->n_tables; i++)
        rows_release(&sampler->rows[i]);
    if (sampler->self.statm_fd >= 0)
        close(sampler->self.statm_fd);
    buffer_release(&sampler->frame);
    buffer_release(&sampler->scratch);
    free(sampler->stations);
    free(sampler->rows);
    free(sampler->frame_rows);
    free(sampler->tables);
    free(sampler->indexes);
    free(sampler);
}

const struct table *const *sampler_tables(const struct sampler *sampler, size_t *ret_n) {
    *ret_n = sampler->n_tables;
    return sampler->tables;
}

void sampler_resume(struct sampler *sampler, const struct frame_head *last) {
    sampler->head = *last;
    schedule_resume(&sampler->schedule, last->slot_ns, last->wall_ns, last->mono_ns, last->missed);
}

void sampler_last(const struct sampler *sampler, struct frame_head *ret_head) {
    *ret_head = sampler->head;
}

/* ---- sampling ---- */

static int64_t cpu_now(const struct sampler *sampler) {
    return sampler->config.clock.cpu_ns(sampler->config.clock.ctx);
}

static void tell_error(struct sampler *sampler, struct station *station, int error) {
    if (error == station->error)
        return;
    station->error = error;
    sampler_note(sampler, error ? NOTE_WARNING : NOTE_INFO, station->probe->table.name,
                 error ? strerror(-error) : "works again");
}

static void sample_station(struct sampler *sampler, struct station *station) {
    bool slow = station->probe->pace == PACE_PROCESS;
    sampler->env.previous_mono_ns = slow ? sampler->slow_mono_ns : sampler->fast_mono_ns;
    int r = station->probe->sample(station->state, &sampler->env, station->rows);
    station->cost.samples++;
    station->cost.dropped_rows = station->rows->dropped;
    if (r != 0) {
        rows_reset(station->rows);
        station->cost.failures++;
    }
    tell_error(sampler, station, r < 0 ? r : r > 0 ? -EIO : 0);
}

/* Each probe's time ends where the next one's begins: one clock call a probe. */
static void sample_all(struct sampler *sampler, bool slow) {
    int64_t before = cpu_now(sampler);
    for (size_t i = 0; i < sampler->n_stations; i++) {
        struct station *station = &sampler->stations[i];
        if (station->probe->pace == PACE_PROCESS && !slow)
            continue;
        sample_station(sampler, station);
        int64_t after = cpu_now(sampler);
        station->cost.cpu_ns += after - before;
        before = after;
    }
}

static void append_self(struct sampler *sampler) {
    struct rows *rows = &sampler->rows[TABLE_SELF];
    for (size_t i = 0; i < sampler->n_stations; i++)
        self_append_probe(rows, sampler->stations[i].probe->table.name, &sampler->stations[i].cost);
    self_append_agent(rows, &sampler->self);
    sampler->self.late_ns = 0;
}

static void tell_sink_error(struct sampler *sampler, int error) {
    if (error == sampler->sink_error)
        return;
    sampler->sink_error = error;
    sampler_note(sampler, error ? NOTE_WARNING : NOTE_INFO, "spool",
                 error ? strerror(-error) : "takes frames again");
}

/* Notes made between two frames go with the next one that the sink takes. */
static void send_frame(struct sampler *sampler, const struct frame_sink *sink) {
    buffer_reset(&sampler->frame);
    wire_put_frame(&sampler->frame, &sampler->scratch, &sampler->head, sampler->frame_rows,
                   sampler->indexes, sampler->n_tables);
    int r = sampler->frame.error;
    if (r == 0)
        r = sink->append(sink->ctx, sampler->frame.data, sampler->frame.size, sampler->head.seq);
    for (size_t i = r == 0 ? 0 : TABLE_NOTE + 1; i < sampler->n_tables; i++)
        rows_reset(&sampler->rows[i]);
    tell_sink_error(sampler, r);
}

static void take_frame(struct sampler *sampler, const struct slot *slot,
                       const struct frame_sink *sink) {
    sampler->env.mono_ns = slot->mono_ns;
    if (slot->late_ns > sampler->self.late_ns)
        sampler->self.late_ns = slot->late_ns;
    sampler->self.frames++;
    sampler->self.lost = sink->lost(sink->ctx);
    sample_all(sampler, slot->slow);
    if (slot->slow)
        append_self(sampler);
    sampler->fast_mono_ns = slot->mono_ns;
    if (slot->slow)
        sampler->slow_mono_ns = slot->mono_ns;
    sampler->head = (struct frame_head){.seq = sampler->head.seq + 1,
                                        .wall_ns = slot->wall_ns,
                                        .mono_ns = slot->mono_ns,
                                        .slot_ns = slot->slot_ns,
                                        .late_ns = slot->late_ns,
                                        .missed = slot->missed,
                                        .lost = sampler->self.lost};
    send_frame(sampler, sink);
}

static void take_unplanned(struct sampler *sampler, const struct frame_sink *sink) {
    const struct sampler_clock *clock = &sampler->config.clock;
    struct slot slot;
    schedule_take_unplanned(&sampler->schedule, clock->wall_ns(clock->ctx),
                            clock->mono_ns(clock->ctx), &slot);
    take_frame(sampler, &slot, sink);
}

static bool frames_left(const struct sampler *sampler) {
    return !sampler->config.max_frames || sampler->self.frames < sampler->config.max_frames;
}

/* Waits for the next slot and takes it: 0, SAMPLER_AGAIN, SAMPLER_STOP, -errno. */
static int next_frame(struct sampler *sampler, const struct frame_sink *sink) {
    const struct sampler_clock *clock = &sampler->config.clock;
    int64_t planned =
        schedule_next(&sampler->schedule, clock->wall_ns(clock->ctx), clock->mono_ns(clock->ctx));
    int r = clock->wait(clock->ctx, planned);
    if (r != 0)
        return r;
    int64_t wall = clock->wall_ns(clock->ctx), mono = clock->mono_ns(clock->ctx);
    if (!schedule_is_due(&sampler->schedule, planned, wall, mono))
        return SAMPLER_AGAIN;
    struct slot slot;
    schedule_take(&sampler->schedule, planned, wall, mono, &slot);
    take_frame(sampler, &slot, sink);
    return 0;
}

int sampler_run(struct sampler *sampler, const struct frame_sink *sink) {
    int r = 0;
    take_unplanned(sampler, sink);
    while (frames_left(sampler) && (r == 0 || r == SAMPLER_AGAIN))
        r = next_frame(sampler, sink);
    if (r == SAMPLER_STOP && frames_left(sampler))
        take_unplanned(sampler, sink);
    return r < 0 ? r : 0;
}
