/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of this folder. One thread owns the struct gpus and asks the drivers; a
 * snapshot is all that others see of it.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_GPU_GPU_PRIVATE_H
#define CHOKEPOINT_AGENT_PROBES_GPU_GPU_PRIVATE_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "agent/probes/gpu/gpu.h"
#include "agent/probes/gpu/nvml.h"

#define GPU_PARTS_MAX 128 /* cards and instances of MIG */
#define GPU_USERS_MAX 512 /* processes on them */
#define GPU_NAME_MAX 23
#define GPU_GPM_METRICS 12
#define GPU_SLOW_COUNTERS 5
#define GPU_SLOW_KINDS 5

/* A share or a rate that becomes a counter: its growth is the mean times the time that passed.
 * While a source says nothing, its next answer counts for that time, too. before: the answer
 * before the last. */
struct gpu_flow {
    bool known; /* answered once */
    int64_t since_ns, sum, before_ns, before_sum;
};

/* A card of the kernel's own graphics (DRM), whose part bears its name. */
struct drm_card {
    char driver[8];
    char hwmon[40]; /* "device/hwmon/hwmon3"; "": it has none */
};

/* A card or an instance of one. */
struct gpu_part {
    char name[GPU_NAME_MAX + 1]; /* "gpu0", "gpu0/mig1", "card1" */
    char fact[INSTANCE_MAX + 1]; /* name of its row in gpu_device */
    int64_t facts[GPU_DEVICE_COLUMNS];
    int64_t values[GPU_COLUMNS];
    bool is_nvml, lost;
    nvml_handle handle, card; /* they differ for an instance */
    int instance;             /* -1: the whole card */
    bool has_gpm, has_nvlink;
    nvml_gpm_sample before, now;
    bool has_before;
    struct gpu_flow busy, memory_busy, gpm[GPU_GPM_METRICS], pcie[2];
    uint8_t counter_by[GPU_SLOW_COUNTERS]; /* enum counter_by */
    bool no_energy;
    int64_t first_energy;
    struct gpu_flow energy; /* nJ */
    unsigned long long process_since_us;
    int64_t process_since_ns;
    struct drm_card drm;
    char address[24]; /* of a DRM card on PCI */
};

/* A process on a part. */
struct gpu_user {
    uint16_t part;
    bool listed, shared; /* in the last list; it had some of the last share */
    int32_t pid;
    int64_t memory, busy_ns; /* as rows show them; VALUE_ABSENT: not told */
    struct gpu_flow busy;    /* ns */
};

/* When calls of a kind were made last (0: never), and the pause that their CPU time demands. */
struct gpu_turn {
    int64_t last_ns, pause_ns;
};

struct gpu_snapshot {
    int64_t taken_ns; /* 0: never */
    size_t n_parts, n_users;
    int64_t values[GPU_PARTS_MAX][GPU_COLUMNS];
    struct gpu_user users[GPU_USERS_MAX];
};

struct gpus {
    char sys[PATH_MAX];
    struct nvml nvml;
    bool has_nvml;
    nvml_event_set events;
    bool has_events;
    struct nvml_gpm_metrics metrics;
    char driver[32];
    size_t n_parts, n_users;
    struct gpu_part parts[GPU_PARTS_MAX];
    struct gpu_user users[GPU_USERS_MAX];
    struct gpu_turn turns[GPU_SLOW_KINDS];
    double slow_cpu_most; /* share of a core for each slow kind and each card; 0: any */
    /* Figures of units: at each such reading, and at most for that share of a core. */
    int units_every;       /* 0: at each one */
    double units_cpu_most; /* 0: any */
    int units_skipped;     /* readings since the last */
    bool reads_units;      /* at this one */
    struct gpu_turn units;
    int64_t fast_cpu_ns; /* CPU time of a reading, smoothed */
    char why[160];       /* why there are none */
    /* The thread. */
    pthread_t thread;
    int news_fd, stop_fd;                /* readable: the thread has set a flag; it shall end */
    _Atomic bool looked, ended;          /* it has looked for GPUs; it does nothing any more */
    _Atomic bool is_open;                /* the parts stand */
    _Atomic int64_t frame_ns, period_ns; /* the last frame, and the time between two */
    _Atomic int64_t cpu_ns;              /* of the thread */
    /* Three snapshots: one is written, one read, one waits between; a swap hands it over. */
    struct gpu_snapshot snapshots[3];
    _Atomic unsigned waiting; /* its number, | GPU_FRESH if nobody has read it */
    unsigned writing, reading;
};
#define GPU_FRESH 4u

/* ---- gpu_read.c ---- */

/* Finds the GPUs. Returns how many there are; gpus->why tells why there are none. */
size_t gpus_find(struct gpus *gpus);

/* Reads what is asked at each frame, and in some of them what its units did: a mean since the last
 * time. The slow calls are made each second, or, where a kind of them
 * takes much CPU time, up to fifty times more seldom. */
void gpus_read_fast(struct gpus *gpus, int64_t now_ns);
void gpus_read_slow(struct gpus *gpus, int64_t now_ns);

void gpus_release(struct gpus *gpus);

/* Adds rate x time; rate: of a share (0 to 1) in ns, of bytes in bytes a ns. Negative or NaN: the
 * source says nothing. */
void gpu_flow_add(struct gpu_flow *flow, double rate, int64_t now_ns);
/* The same by the amount since the answer before. */
void gpu_flow_grow(struct gpu_flow *flow, int64_t amount, int64_t now_ns);
static inline int64_t gpu_flow_sum(const struct gpu_flow *flow) {
    return flow->known ? flow->sum : VALUE_ABSENT;
}
/* The counter of a source that is asked more seldom than rows are made: what its last answer added
 * is spread over as much time as that answer tells of, from then on. So rows have its mean, late by
 * one answer, and not all of it in one row. */
int64_t gpu_flow_spread(const struct gpu_flow *flow, int64_t now_ns);

/* The counter of a figure of units. */
static inline int64_t gpu_units_value(const struct gpus *gpus, const struct gpu_flow *flow,
                                      int64_t now_ns) {
    return gpus->units_every > 1 ? gpu_flow_spread(flow, now_ns) : gpu_flow_sum(flow);
}

/* A new part, all its values absent; NULL: no room. */
struct gpu_part *gpus_add(struct gpus *gpus);

/* The process on that part, added if needed; NULL: no room. */
struct gpu_user *gpus_user(struct gpus *gpus, size_t part, int32_t pid);

/* ---- nvml_open.c, nvml_read.c, nvml_gpm.c, nvml_process.c ---- */

void nvml_find(struct gpus *gpus);
void nvml_read_fast(struct gpus *gpus, struct gpu_part *part, int64_t now_ns);
void nvml_read_counters(struct gpus *gpus, size_t at, int64_t now_ns);
void nvml_read_energy(struct gpus *gpus, size_t at, int64_t now_ns);
void nvml_read_throughput(struct gpus *gpus, size_t at, int64_t now_ns);
void nvml_read_events(struct gpus *gpus);
/* Makes the calls that fields stand for, so that their answers and costs are known. */
void nvml_try_calls(struct gpus *gpus, struct gpu_part *part);
void nvml_gpm_open(struct gpus *gpus, struct gpu_part *part);
void nvml_gpm_read(struct gpus *gpus, struct gpu_part *part);
/* Puts what is known of units into the part's values. */
void nvml_gpm_show(const struct gpus *gpus, struct gpu_part *part, int64_t now_ns);
/* Lists who is on each card. */
void nvml_list_begin(struct gpus *gpus);
void nvml_list_read(struct gpus *gpus, size_t at, int64_t now_ns);
void nvml_list_end(struct gpus *gpus);
/* Asks for the share that each had of it. */
void nvml_shares_begin(struct gpus *gpus);
void nvml_shares_read(struct gpus *gpus, size_t at, int64_t now_ns);
void nvml_release(struct gpus *gpus);

/* Whether it answered; takes notice of a lost GPU. */
bool nvml_good(struct gpu_part *part, int answer);

/* ---- drm.c ---- */

void drm_find(struct gpus *gpus);
void drm_read(const struct gpus *gpus, struct gpu_part *part, int64_t now_ns);

/* ---- drm_process.c: read by the sampler, as it knows the job ---- */

/* The use that a process makes of a card through one open file. */
struct drm_client {
    char address[24];        /* of the card on PCI: "0000:03:00.0" */
    uint64_t id;             /* two descriptors may be of one file */
    int64_t busy_ns, memory; /* of its busiest engine, and of the card's own memory; VALUE_ABSENT:
                              * not told */
};
#define DRM_CLIENTS_MAX 32

/* Parses the text of an fdinfo. False: it is no client of a card. */
bool drm_client_parse(const char *text, size_t size, struct drm_client *ret_client);

/* Reads the descriptors of a process; clients of one card are added up. Returns how many cards it
 * uses. */
size_t drm_clients_read(const char *proc, int32_t pid, struct drm_client all[DRM_CLIENTS_MAX]);

/* ---- gpu_watch.c: the thread ---- */

/* Starts the thread and waits until it knows the GPUs, at most three seconds. 0, PROBE_ABSENT, or
 * negative errno; why as for probes. */
int gpus_start(struct gpus **ret_gpus, const struct probe_env *env, char *why, size_t why_size);

/* Ends the thread; one that hangs in a driver is left behind with its memory. */
void gpus_stop(struct gpus *gpus);

/* Takes the newest snapshot; false if there is none since the last one. Call it from one thread. */
bool gpus_take(struct gpus *gpus);

/* The snapshot taken last. */
static inline const struct gpu_snapshot *gpus_taken(const struct gpus *gpus) {
    return &gpus->snapshots[gpus->reading];
}

/* The other side: publishes the parts as they stand. */
void gpus_publish(struct gpus *gpus, int64_t now_ns);

/* Tells the thread about a frame, for when to read next. */
void gpus_frame(struct gpus *gpus, const struct probe_env *env);

#endif
