/* SPDX-License-Identifier: MIT */
/*
 * A probe: one file that fills one table from one source of the kernel. A new source is one new
 * file in agent/probes and one line in agent/probes/probes.c.
 *
 * A probe's state is an instance (two agents and two tests live in one process); roots and clocks
 * come through the environment; sample() allocates nothing. A probe that fails loses its own rows,
 * not the frame.
 */
#ifndef CHOKEPOINT_AGENT_PROBE_H
#define CHOKEPOINT_AGENT_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/note.h"
#include "common/rows.h"
#include "common/table.h"

struct call_watch;
struct job;
struct job_choice;
struct scope;
struct wait_watch;

enum probe_pace {
    PACE_SYSTEM,  /* every frame: 10 Hz unless told otherwise */
    PACE_PROCESS, /* the slower pace: 1 Hz unless told otherwise */
};

/* How an agent ends, and who reads the rings of programs from then on. */
enum probe_end {
    ENDING_ALONE,    /* nobody may, or an agent that comes later: rings in use stay */
    ENDING_WITH_RUN, /* nobody: all rings go */
    ENDING_REPLACED, /* the agent that takes its place: all rings stay */
};

/* The environment of a probe. Lives as long as the agent. */
struct probe_env {
    const char *proc;                 /* root of /proc, no trailing slash */
    const char *sys;                  /* root of /sys */
    int32_t job_parent;               /* its children are the job, whatever they carry; 0: none */
    const struct job_choice *choices; /* who else is the job; borrowed */
    size_t n_choices;
    const char *run_token_id;  /* value of CHOKEPOINT_RUN in the job's environment, or NULL */
    const char *marks;         /* value of CHOKEPOINT_MARKS (see mark/chokepoint.h), or NULL */
    const char *host;          /* this host's name */
    const struct scope *scope; /* the host, or the cgroup the agent lives in */
    struct job *job;           /* its processes here: the process probe writes, others read */
    struct call_watch *calls;  /* its files of MPI calls: the mpi probe opens them, others read */
    struct wait_watch *waits;  /* wait clocks: the wait probe opens them, others read; NULL: off */
    int64_t ticks_per_s;       /* of /proc: sysconf(_SC_CLK_TCK) */
    int64_t page_size;
    size_t foreign_processes; /* how many of the busiest processes outside the job to report */
    bool no_command_lines;    /* no name is made of them */
    bool flows;               /* whether packets may be captured */
    int64_t mono_ns;          /* of the frame being taken: set before each sample() */
    int64_t previous_mono_ns; /* of the previous sample of this pace; 0 at the first */
    /* Tells the user something that a sample brought to light, e.g. what it cannot see and what
     * would mend it. Once a kind is the caller's duty. May be NULL. */
    void (*note)(void *ctx, enum note_level level, const char *subject, const char *text);
    void *note_ctx;
    /* The last frame that is kept of a stream, which may be another agent's; UINT64_MAX: nobody can
     * tell. NULL: as that. */
    uint64_t (*kept)(void *ctx, uint64_t stream);
    void *kept_ctx;
    const uint64_t *stream;       /* of the samples; bulk frames have the next one. NULL: none */
    const enum probe_end *ending; /* read in close(); NULL: ENDING_ALONE */
};

/* Whether rings in that directory go with the agent. */
bool probe_may_remove_rings(const struct probe_env *env, const char *directory);

/* open() result: the kernel has no such source, or it may not be read; the reason goes to `why`. */
#define PROBE_ABSENT 1

struct probe {
    struct table table;
    enum probe_pace pace;
    /* Its rows are too many to be sent while the job runs: they make frames of their own, in a
     * spool of their own, delivered at the end. One sample may be asked for in several parts: again
     * for as long as it fills all rows. */
    bool bulk;
    size_t state_size; /* bytes of zeroed state the agent provides */
    /* How many rows a sample may have at most on this host: asked once, after open. */
    size_t (*max_rows)(const void *state, const struct probe_env *env);
    /* 0, PROBE_ABSENT or negative errno; both of the latter leave one line in why[why_size], and so
     * may the first, about what the probe will not see. PROBE_ABSENT without a line: nothing worth
     * telling, nobody asked for it. */
    int (*open)(void *state, const struct probe_env *env, char *why, size_t why_size);
    /* Appends rows. 0 or negative errno: the rows of this sample are then discarded and the failure
     * counted. */
    int (*sample)(void *state, const struct probe_env *env, struct rows *rows);
    /* For bulk probes, asked between two frames: whether so much has come that some may be lost by
     * the next one. Cheap; may be NULL. */
    bool (*is_pressed)(void *state);
    /* Whether sampler_clock.wait comes back with SAMPLER_CALLED when that is to be asked: then what
     * came waits for that or a slow slot; else it is asked every 25 ms, and sampled at every slot.
     * May be NULL: it does not. */
    bool (*is_called)(const void *state);
    /* For probes at the pace of the system, asked after each sample: whether it found something
     * that the slow tables must see before it is gone. They then join the next frame. May be
     * NULL. */
    bool (*has_news)(void *state);
    /* Called before the frame with that number is kept, which has the rows of the last sample:
     * for probes whose source says how far it has been read. May be NULL. */
    void (*keeping)(void *state, uint64_t seq);
    void (*close)(void *state); /* may be NULL; called also after a failed open */
};

/* All probes this build has, in the order of their tables. agent/probes/probes.c. */
extern const struct probe *const probe_list[];
extern const size_t probe_list_size;

#endif
