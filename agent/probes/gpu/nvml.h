/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's management library, as far as the agent calls it. Its structures are declared here, as
 * its documentation describes them: no header of theirs is needed to build, and the library is
 * loaded where there is one. Sizes and versions are part of its binary interface; each is asserted.
 *
 * Every function may be missing (an older driver), may refuse (no rights, a virtual machine, MIG)
 * and may take long (up to 67 ms were seen while a process starts). A call through NVML() notes its
 * last answer and its time, which `doctor` prints.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_GPU_NVML_H
#define CHOKEPOINT_AGENT_PROBES_GPU_NVML_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"

enum nvml_answer {
    NVML_SUCCESS = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_NEVER_ASKED = -1, /* ours */
};

typedef struct nvml_device_opaque *nvml_handle;
typedef struct nvml_gpm_sample_opaque *nvml_gpm_sample;
typedef struct nvml_event_set_opaque *nvml_event_set;

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
static_assert(sizeof(struct nvml_memory_v2) == 40, "the size is part of the version");
#define NVML_MEMORY_VERSION (40u | 2u << 24)

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_POLICY_POWER = 0, NVML_POLICY_THERMAL = 1 };
enum { NVML_PCIE_SEND = 0, NVML_PCIE_RECEIVE = 1 };
#define NVML_TEMPERATURE_GPU 0
#define NVML_NAME_SIZE 96
#define NVML_NVLINKS_MAX 18

struct nvml_violation {
    unsigned long long reference_us, violation_ns;
};

enum { /* of fields */
       NVML_FIELD_ECC_CORRECTED = 3,
       NVML_FIELD_ECC_UNCORRECTED = 4,
       NVML_FIELD_POWER_CAP = 74, /* ns */
       NVML_FIELD_HEAT_CAP = 75,  /* ns */
       NVML_FIELD_ENERGY = 83,    /* mJ */
       NVML_FIELD_PCIE_REPLAYS = 94,
};

union nvml_value {
    double real;
    unsigned small;
    unsigned long wide;
    unsigned long long widest;
    signed long long negative;
    int integer;
};
enum { NVML_REAL = 0, NVML_SMALL = 1, NVML_WIDE = 2, NVML_WIDEST = 3 };

struct nvml_field {
    unsigned id, scope;
    long long timestamp_us, latency_us;
    int type; /* NVML_REAL and so on */
    int answer;
    union nvml_value value;
};
static_assert(sizeof(struct nvml_field) == 40, "an array of them is passed");

/* Drivers write 24 bytes a process; some early ones of release 535 write 32, the first 24 of which
 * are the same. */
struct nvml_process {
    unsigned pid;
    unsigned long long memory;               /* NVML_MEMORY_UNKNOWN where it is not told */
    unsigned gpu_instance, compute_instance; /* UINT_MAX without MIG */
};
static_assert(sizeof(struct nvml_process) == 24, "an array of them is passed");
#define NVML_PROCESS_SIZE_535 32
#define NVML_MEMORY_UNKNOWN (~0ull)

struct nvml_process_v1 {
    unsigned pid;
    unsigned long long memory;
};

struct nvml_process_sample {
    unsigned pid;
    unsigned long long timestamp_us;
    unsigned sm, memory, encoder, decoder; /* percent */
};
static_assert(sizeof(struct nvml_process_sample) == 32, "an array of them is passed");

struct nvml_gpm_support {
    unsigned version; /* 1 */
    unsigned is_supported;
};

enum { /* of GPM metrics */
       NVML_GPM_GRAPHICS = 1,
       NVML_GPM_SM = 2,
       NVML_GPM_OCCUPANCY = 3,
       NVML_GPM_TENSOR = 5,
       NVML_GPM_DRAM = 10,
       NVML_GPM_FP64 = 11,
       NVML_GPM_FP32 = 12,
       NVML_GPM_FP16 = 13,
       NVML_GPM_PCIE_SEND = 20,    /* MiB/s */
       NVML_GPM_PCIE_RECEIVE = 21, /* MiB/s */
       NVML_GPM_NVLINK_RECEIVE = 60,
       NVML_GPM_NVLINK_SEND = 61,
};

struct nvml_gpm_metric {
    unsigned id;
    int answer;
    double value;
    const char *short_name, *long_name, *unit;
};
static_assert(sizeof(struct nvml_gpm_metric) == 40, "an array of them is passed");

/* The library reads `n` of them. Its own array grew from release to release: ours has room for more
 * than any, in case one is written whole. */
#define NVML_GPM_ROOM 400
struct nvml_gpm_metrics {
    unsigned version; /* 1 */
    unsigned n;
    nvml_gpm_sample before, now;
    struct nvml_gpm_metric metrics[NVML_GPM_ROOM];
};

#define NVML_EVENT_XID 8ull
struct nvml_event {
    nvml_handle handle;
    unsigned long long type, data; /* the number of the Xid */
    unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(struct nvml_event) == 32, "it is written whole");

enum nvml_call {
#define CALL(ID, name, older, parameters) NVML_##ID##_CALL,
#include "agent/probes/gpu/nvml_calls.def"
#undef CALL
    NVML_CALLS
};

/* How a function answered. */
struct nvml_told {
    int answer;                 /* the last one; NVML_NEVER_ASKED */
    int64_t longest_ns, cpu_ns; /* cpu_ns: of all calls together, if it is measured */
    uint64_t n;
};

struct nvml { /* all zero: not open */
    void *library;
    struct {
#define CALL(ID, name, older, parameters) int(*ID) parameters;
#include "agent/probes/gpu/nvml_calls.def"
#undef CALL
    } call;
    struct nvml_told told[NVML_CALLS];
    bool measures_cpu;
};

/* Loads the library and looks up its functions. PROBE_ABSENT: there is none, which is usual;
 * -EPERM: it lies where others could have put it, and this process has rights that they lack. The
 * latter leaves a line in why. */
int nvml_library_open(struct nvml *nvml, char *why, size_t why_size);
void nvml_library_close(struct nvml *nvml);

/* The function's name in this driver. */
const char *nvml_call_name(enum nvml_call call);

/* Words for an answer: "not supported", "answer 4711". */
const char *nvml_answer_words(int answer);

struct nvml_began {
    int64_t ns, cpu_ns;
};

static inline int64_t nvml_cpu_now(const struct nvml *nvml) {
    return nvml->measures_cpu ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

static inline int nvml_note(struct nvml *nvml, enum nvml_call call, struct nvml_began began,
                            int answer) {
    struct nvml_told *told = &nvml->told[call];
    int64_t ns = clock_monotonic_ns() - began.ns;
    told->cpu_ns += nvml_cpu_now(nvml) - began.cpu_ns;
    told->answer = answer;
    told->longest_ns = ns > told->longest_ns ? ns : told->longest_ns;
    told->n++;
    return answer;
}

/* Calls the function ID, e.g. NVML(nvml, COUNT, &n). Returns its answer. */
#define NVML(nvml, ID, ...)                                                                        \
    __extension__({                                                                                \
        struct nvml_began began_ = {clock_monotonic_ns(), nvml_cpu_now(nvml)};                     \
        nvml_note((nvml), NVML_##ID##_CALL, began_,                                                \
                  (nvml)->call.ID ? (nvml)->call.ID(__VA_ARGS__) : NVML_FUNCTION_NOT_FOUND);       \
    })

#endif
