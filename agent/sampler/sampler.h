/* SPDX-License-Identifier: MIT */
/*
 * The sampler: runs the probes at each slot and makes one frame of what they found. It knows
 * neither a real clock nor a file: both come as function pointers, so that a test steps the clock
 * and a step behaves as it does on a host.
 *
 * All memory is taken in sampler_open; from then on nothing is allocated.
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
#define SAMPLER_AGAIN 1 /* not there yet, look at the clocks again: the wall clock was set */
#define SAMPLER_STOP 2
#define SAMPLER_CALLED 3 /* not there yet: bulk probes are to be asked whether they are pressed */

struct sampler_clock {
    void *ctx;
    int64_t (*wall_ns)(void *ctx);
    int64_t (*mono_ns)(void *ctx);
    int64_t (*cpu_ns)(void *ctx); /* CPU time of this thread */
    /* Waits until the wall clock shows wall_ns: 0, SAMPLER_AGAIN, SAMPLER_STOP or -errno. A time
     * that has passed is no error: it asks whether to stop. */
    int (*wait)(void *ctx, int64_t wall_ns);
};

/* Where frames go. append takes one frame record, lost is asked before each frame is made. */
struct frame_sink {
    void *ctx;
    int (*append)(void *ctx, const void *frame, size_t size, uint64_t seq);
    uint64_t (*lost)(void *ctx);
};

struct sampler_config {
    const struct probe *const *probes; /* borrowed, as is all that is pointed to here */
    size_t n_probes;
    const struct probe_env *env; /* copied; mono_ns and previous_mono_ns are the sampler's */
    int64_t period_ns, slow_period_ns;
    uint64_t max_frames; /* 0: until told to stop */
    struct sampler_clock clock;
    /* Called with each note of the note table, once a kind; may be NULL. */
    void (*say)(void *ctx, enum note_level level, const char *subject, const char *text);
    void *say_ctx;
};

/* Opens the probes. One that is absent or cannot be opened is left out, with a note. -ENOMEM. */
int sampler_open(const struct sampler_config *config, struct sampler **ret_sampler);
/* Once sampler_run has ended: sources are free for another agent, while frames are delivered. */
void sampler_close_probes(struct sampler *sampler);
void sampler_free(struct sampler *sampler); /* closes the probes; takes NULL */

/* The tables of the frames, in the order of their indexes. Borrowed from the sampler. */
const struct table *const *sampler_tables(const struct sampler *sampler, size_t *ret_n);

/* The same of the frames of bulk probes; *ret_n 0: none was opened. */
const struct table *const *sampler_bulk_tables(const struct sampler *sampler, size_t *ret_n);

/* Where these go; without it bulk probes are not sampled. last: the last frame an earlier process
 * made of them, or NULL. The sink is borrowed. */
void sampler_set_bulk(struct sampler *sampler, const struct frame_sink *sink,
                      const struct frame_head *last);

/* Goes on after the last frame of a stream that an earlier process began. */
void sampler_resume(struct sampler *sampler, const struct frame_head *last);

/* Adds a note to the next frame; also passed on to say. From the sampling thread only. */
void sampler_note(struct sampler *sampler, enum note_level level, const char *subject,
                  const char *text);

/* A frame at once, one at each slot, and a last one when told to stop (none beyond max_frames).
 * Returns 0, or -errno of a clock that cannot wait. */
int sampler_run(struct sampler *sampler, const struct frame_sink *sink);

#endif
