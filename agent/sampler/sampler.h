/* SPDX-License-Identifier: MIT */
/*
 * The sampler: runs the probes at each slot and makes one frame of their rows. It uses neither a
 * real clock nor a file: both are function pointers, so that a test controls time and sees what a
 * host would do.
 *
 * sampler_open allocates all memory; later calls allocate nothing.
 */
#ifndef CHOKEPOINT_AGENT_SAMPLER_H
#define CHOKEPOINT_AGENT_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/note.h"
#include "agent/base/probe.h"
#include "common/wire.h"

struct sampler;

/* Positive results of sampler_clock.wait. */
#define SAMPLER_AGAIN 1 /* not yet: read the clocks again, the wall clock was set */
#define SAMPLER_STOP 2
#define SAMPLER_CALLED 3 /* not yet: ask the bulk probes for their pressure */
#define SAMPLER_IDLE 4   /* not yet: a core has nothing else to do, as was asked */

struct sampler_clock {
    void *ctx;
    int64_t (*wall_ns)(void *ctx);
    int64_t (*mono_ns)(void *ctx);
    int64_t (*cpu_ns)(void *ctx); /* CPU time of this thread */
    /* Waits until the wall clock shows wall_ns: 0, SAMPLER_AGAIN, SAMPLER_STOP or -errno. A time in
     * the past is no error: the call then only asks whether to stop. */
    int (*wait)(void *ctx, int64_t wall_ns);
    /* Has a later wait return SAMPLER_IDLE once a core has nothing else to do, which may be never.
     * False: that cannot be told. NULL: as false. */
    bool (*ask_idle)(void *ctx);
};

/* Where frames go. append takes one frame record; lost is asked before each frame. */
struct frame_sink {
    void *ctx;
    int (*append)(void *ctx, const void *frame, size_t size, uint64_t seq);
    uint64_t (*lost)(void *ctx);
};

struct sampler_config {
    const struct probe *const *probes; /* borrowed, like all pointers here */
    size_t n_probes;
    const struct probe_env *env; /* copied; the sampler sets mono_ns and previous_mono_ns */
    int64_t period_ns, slow_period_ns;
    uint64_t max_frames; /* 0: until told to stop */
    struct sampler_clock clock;
    /* Called with each note of the note table, each kind once; may be NULL. */
    void (*say)(void *ctx, enum note_level level, const char *subject, const char *text);
    void *say_ctx;
};

/* Opens the probes. A probe that is absent or cannot be opened is left out, with a note.
 * -ENOMEM. */
int sampler_open(const struct sampler_config *config, struct sampler **ret_sampler);
/* Call it after sampler_run: frees the sources for another agent, while frames are delivered. */
void sampler_close_probes(struct sampler *sampler);
void sampler_free(struct sampler *sampler); /* closes the probes; takes NULL */

/* The tables of the frames, in the order of their indexes. Borrowed from the sampler. */
const struct table *const *sampler_tables(const struct sampler *sampler, size_t *ret_n);

/* The tables of the bulk probes' frames; *ret_n 0: none was opened. */
const struct table *const *sampler_bulk_tables(const struct sampler *sampler, size_t *ret_n);

/* Sets the sink for bulk frames; without one, bulk probes are not sampled. last: the last bulk
 * frame of an earlier process, or NULL. The sink is borrowed. */
void sampler_set_bulk(struct sampler *sampler, const struct frame_sink *sink,
                      const struct frame_head *last);

/* Continues a stream of an earlier process after its last frame. */
void sampler_resume(struct sampler *sampler, const struct frame_head *last);

/* Adds a note to the next frame, and passes it to say. From the sampling thread only. */
void sampler_note(struct sampler *sampler, enum note_level level, const char *subject,
                  const char *text);

/* Takes a frame at once, one at each slot, and a last one when told to stop (none beyond
 * max_frames). Returns 0, or -errno of a clock that cannot wait. */
int sampler_run(struct sampler *sampler, const struct frame_sink *sink);

#endif
