/* SPDX-License-Identifier: MIT */
/*
 * A probe: one file that fills one table from one source of the kernel. A new source is one new
 * file in agent/probes and one line in agent/probes/probes.c.
 *
 * A probe's state is an instance (two agents and two tests may live in one process); roots and
 * clocks come from the environment; sample() allocates nothing. A probe that fails loses its own
 * rows, not the frame.
 */
#ifndef CHOKEPOINT_AGENT_PROBE_H
#define CHOKEPOINT_AGENT_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/note.h"
#include "common/rows.h"
#include "tables/tables.h"

struct call_watch;
struct gpu_watch;
struct job;
struct job_choice;
struct lineage;
struct scope;
struct wait_watch;

enum probe_pace {
    PACE_SYSTEM,  /* every frame: 10 Hz by default */
    PACE_PROCESS, /* the slower pace: 1 Hz by default */
};

/* How an agent ends, and who reads the rings of programs afterwards. */
enum probe_end {
    ENDING_ALONE,    /* nobody, or an agent that starts later: rings in use stay */
    ENDING_WITH_RUN, /* nobody: all rings are removed */
    ENDING_REPLACED, /* the agent that replaces it: all rings stay */
};

/* The environment of a probe. Lives as long as the agent. */
struct probe_env {
    const char *proc;                 /* root of /proc, no trailing slash */
    const char *sys;                  /* root of /sys */
    int32_t job_parent;               /* the parent of all job processes; 0: none */
    const struct job_choice *choices; /* further job processes by choice; borrowed */
    size_t n_choices;
    const char *run_token_id;  /* value of CHOKEPOINT_RUN in the job's environment, or NULL */
    const char *marks;         /* value of CHOKEPOINT_MARKS (see mark/chokepoint.h), or NULL */
    const char *host;          /* name of this host */
    const struct scope *scope; /* the host, or the agent's cgroup */
    struct job *job;           /* its processes here: the process probe writes, others read */
    struct call_watch *calls;  /* files of MPI calls: the mpi probe opens them, others read */
    struct wait_watch *waits;  /* wait clocks: the wait probe opens them, others read; NULL: off */
    struct gpu_watch *gpus;    /* GPUs: the gpu probe opens them, others read; NULL: off */
    int64_t ticks_per_s;       /* of /proc: sysconf(_SC_CLK_TCK) */
    int64_t page_size;
    size_t foreign_processes; /* number of the busiest processes outside the job to report */
    bool watches_busiest;     /* there is no job: busy processes are read as if they were one */
    struct lineage *lineage;  /* whose the reported processes are; NULL: nobody asks */
    bool no_command_lines;    /* false: their names are left out */
    bool flows;               /* whether packets may be captured */
    int64_t mono_ns;          /* times of the current frame, set before each sample() */
    bool last;                /* no frame follows the current one */
    int64_t previous_mono_ns; /* time of the previous sample of this pace; 0 at the first */
    /* Reports a remark on a sample to the user, e.g. what it cannot see and a remedy. The caller
     * reports each kind once. May be NULL. */
    void (*note)(void *ctx, enum note_level level, const char *subject, const char *text);
    void *note_ctx;
    /* The last kept frame of a stream, which may be another agent's; UINT64_MAX: not known. NULL:
     * never known. */
    uint64_t (*kept)(void *ctx, uint64_t stream);
    void *kept_ctx;
    const uint64_t *stream;       /* id of the samples; bulk frames have the next id. NULL: none */
    const enum probe_end *ending; /* read in close(); NULL: ENDING_ALONE */
};

/* Whether the rings in that directory are removed with the agent. */
bool probe_may_remove_rings(const struct probe_env *env, const char *directory);

/* How full the source of a bulk probe is. */
enum probe_pressure {
    PRESSURE_NONE,
    PRESSURE_SOME, /* enough rows for a frame; they can wait for a core without other work */
    PRESSURE_HIGH, /* rows may be lost soon */
};

/* Result of open(): the kernel lacks the source, or it may not be read; `why` has the reason. */
#define PROBE_ABSENT 1

struct probe {
    const struct table *table;
    enum probe_pace pace;
    /* Its rows are too many to be sent while the job runs: they go into frames and a spool of their
     * own, delivered at the end. A sample may be taken in several parts: it is asked again as long
     * as it fills all rows. */
    bool bulk;
    size_t state_size; /* bytes of zeroed state that the agent provides */
    /* Most rows of a sample on this host; asked once, after open. */
    size_t (*max_rows)(const void *state, const struct probe_env *env);
    /* 0, PROBE_ABSENT or negative errno. The latter two leave one line in why[why_size]; 0 may,
     * too, about what the probe will not see. PROBE_ABSENT without a line: nobody asked for the
     * table. */
    int (*open)(void *state, const struct probe_env *env, char *why, size_t why_size);
    /* Appends rows. 0 or negative errno: the rows of this sample are then discarded and the failure
     * is counted. */
    int (*sample)(void *state, const struct probe_env *env, struct rows *rows);
    /* For bulk probes, asked between two frames: whether rows may be lost before the next one.
     * Cheap; may be NULL. */
    enum probe_pressure (*pressure)(void *state);
    /* Whether sampler_clock.wait returns SAMPLER_CALLED when pressure() is worth asking. If so,
     * rows wait for that or for a slow slot. If not, pressure() is asked every 25 ms, and every
     * slot takes a sample. NULL: it does not. */
    bool (*is_called)(const void *state);
    /* For probes at the pace of the system, asked after each sample: whether the slow tables must
     * see something before it is gone. They then join the next frame. May be NULL. */
    bool (*has_news)(void *state);
    /* CPU time of threads of its own, which its cost includes. NULL: it has none. */
    int64_t (*thread_cpu_ns)(const void *state);
    /* Called before the frame `seq` with the rows of the last sample is kept: for probes that store
     * their progress in the source. May be NULL. */
    void (*keeping)(void *state, uint64_t seq);
    void (*close)(void *state); /* may be NULL; also called after a failed open */
};

/* All probes of this build, in the order of their tables. agent/probes/probes.c. */
extern const struct probe *const probe_list[];
extern const size_t probe_list_size;

#endif
