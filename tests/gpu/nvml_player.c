/* SPDX-License-Identifier: MIT */
/*
 * A libnvidia-ml.so.1 of ours, which plays a file: CHOKEPOINT_NVML_PLAY. Its lines:
 *
 *   cards N                       how many there are; 1
 *   set CARD KEY VALUE            a figure that stays ("*": of all cards); KEY as in `figures`
 *   name TEXT, driver TEXT        of all cards
 *   mig CARD N                    the card is divided into N instances
 *   process CARD PID BYTES SM     a process on it (SM in percent); of an instance: CARD/INSTANCE;
 *                                 PID 0 is that of the program that asks; @FILE has it inside
 *   answer FUNCTION CODE [CARD]   what the function answers instead, of a card or of all
 *   sleep FUNCTION US             how long it takes besides
 *   spin FUNCTION US              the same, as CPU time
 *   xid CARD NUMBER               an error that is told once
 *   lost CARD                     it has fallen off the bus
 *   frame MS KEY=VALUE ...        figures of all cards from MS after the start on; the last frame
 *                                 is followed by the first one
 *
 * With CHOKEPOINT_NVML_AT=FRAME the frames stand still; nvml_player_at() moves them, for tests that
 * load it themselves, and nvml_player_hold() makes it hang until it is let go. Percentages of GPM
 * are as in NVML, rates in MiB/s. Structures come from the agent's own declarations, whose sizes
 * are asserted there. Built with NVML_PLAYER_OLD it is a driver before GPM and before the third
 * list of processes.
 */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/probes/gpu/nvml.h"
#include "common/error.h"

#define EXPORT __attribute__((visibility("default")))
#define CARDS_MAX 16
#define INSTANCES_MAX 7
#define FRAMES_MAX 4000
#define PROCESSES_MAX 300
#define RULES_MAX 64

enum figure {
    UTIL,
    MEMORY_UTIL,
    TOTAL,
    USED,
    SM_MHZ,
    MEMORY_MHZ,
    MAX_SM_MHZ,
    MAX_MEMORY_MHZ,
    MILLIWATTS,
    LIMIT,
    DEFAULT_LIMIT,
    CELSIUS,
    REASONS,
    MILLIJOULES,
    POWER_NS,
    HEAT_NS,
    CORRECTED,
    UNCORRECTED,
    REPLAYS,
    GENERATION,
    LANES,
    NVLINKS,
    CAPABILITY,
    SEND_KB_S,
    RECEIVE_KB_S,
    GRAPHICS,
    SM,
    OCCUPANCY,
    TENSOR,
    DRAM,
    FP64,
    FP32,
    FP16,
    PCIE_SEND,
    PCIE_RECEIVE,
    NVLINK_RECEIVE,
    NVLINK_SEND,
    GPM,
    FIGURES
};

static const char *const figures[FIGURES] = {
    "util",         "memory_util", "total",      "used",      "sm_mhz",        "memory_mhz",
    "max_sm",       "max_memory",  "milliwatts", "limit",     "default_limit", "celsius",
    "reasons",      "millijoules", "power_ns",   "heat_ns",   "corrected",     "uncorrected",
    "replays",      "generation",  "lanes",      "nvlinks",   "capability",    "send_kb_s",
    "receive_kb_s", "graphics",    "sm",         "occupancy", "tensor",        "dram",
    "fp64",         "fp32",        "fp16",       "pcie_send", "pcie_receive",  "nvlink_receive",
    "nvlink_send",  "gpm"};

struct frame {
    double ms;
    double values[FIGURES]; /* NAN: as set for the card */
    unsigned char given[FIGURES];
};

struct rule {
    char function[64];
    int card, code;
    unsigned sleep_us, spin_us;
};

struct listed {
    char file[200]; /* with its pid; "": of->pid */
    int card, instance;
    unsigned pid, sm;
    unsigned long long bytes;
};

/* A handle of the interface points to one of these. */
struct nvml_device_opaque {
    int card, instance; /* -1: whole */
};
struct nvml_gpm_sample_opaque {
    int frame;
};
struct nvml_event_set_opaque {
    int any;
};

static struct {
    char name[96], driver[80];
    int cards, lost[CARDS_MAX], divided[CARDS_MAX], xid[CARDS_MAX];
    double set[CARDS_MAX][FIGURES];
    struct nvml_device_opaque whole[CARDS_MAX], parts[CARDS_MAX][INSTANCES_MAX];
    struct rule rules[RULES_MAX];
    struct listed processes[PROCESSES_MAX];
    struct frame frames[FRAMES_MAX];
    int n_rules, n_processes, n_frames, at; /* at: -1: by the clock */
    int64_t began_ns;
    struct nvml_event_set_opaque events;
} play;

/* ---- the file ---- */

static int figure_of(const char *name) {
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(figures[i], name) == 0)
            return i;
    fprintf(stderr, "nvml player: no figure %s\n", name);
    abort();
}

static void set_figure(const char *card, const char *name, double value) {
    for (int i = 0; i < CARDS_MAX; i++)
        if (strcmp(card, "*") == 0 || atoi(card) == i)
            play.set[i][figure_of(name)] = value;
}

static void read_frame(char *rest) {
    struct frame *frame = &play.frames[play.n_frames++];
    char *word = strsep(&rest, " ");
    frame->ms = atof(word);
    while ((word = strsep(&rest, " \n"))) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = '\0';
        int i = figure_of(word);
        frame->values[i] = atof(value);
        frame->given[i] = 1;
    }
}

static void read_process(char *rest) {
    struct listed *to = &play.processes[play.n_processes++];
    int pid = 0;
    to->instance = -1;
    if (sscanf(rest, "%d @%199s %llu %u", &to->card, to->file, &to->bytes, &to->sm) == 4)
        return;
    to->file[0] = 0;
    if (sscanf(rest, "%d/%d %d %llu %u", &to->card, &to->instance, &pid, &to->bytes, &to->sm) < 5) {
        to->instance = -1;
        if (sscanf(rest, "%d %d %llu %u", &to->card, &pid, &to->bytes, &to->sm) < 4)
            abort();
    }
    to->pid = pid ? (unsigned)pid : (unsigned)getpid();
}

/* kind: the second letter of its word. */
static void read_rule(char *rest, char kind) {
    struct rule *rule = &play.rules[play.n_rules++];
    rule->card = -1;
    unsigned *us = kind == 'p' ? &rule->spin_us : &rule->sleep_us;
    if (kind != 'n') {
        rule->code = NVML_NEVER_ASKED;
        sscanf(rest, "%63s %u", rule->function, us);
    } else
        sscanf(rest, "%63s %d %d", rule->function, &rule->code, &rule->card);
}

static void read_line(char *line) {
    char key[32] = "", card[16] = "", name[32] = "", *rest = line + strcspn(line, " ");
    double value = 0;
    line[strcspn(line, "\n")] = '\0';
    rest += *rest == ' ';
    if (sscanf(line, "%31s", key) != 1 || *key == '#')
        return;
    if (strcmp(key, "frame") == 0)
        read_frame(rest);
    else if (strcmp(key, "name") == 0)
        snprintf(play.name, sizeof play.name, "%s", rest);
    else if (strcmp(key, "driver") == 0)
        snprintf(play.driver, sizeof play.driver, "%s", rest);
    else if (strcmp(key, "cards") == 0)
        play.cards = atoi(rest);
    else if (strcmp(key, "set") == 0 && sscanf(rest, "%15s %31s %lf", card, name, &value) == 3)
        set_figure(card, name, value);
    else if (strcmp(key, "mig") == 0)
        play.divided[atoi(rest)] = atoi(strchr(rest, ' ') + 1);
    else if (strcmp(key, "process") == 0)
        read_process(rest);
    else if (strcmp(key, "answer") == 0 || strcmp(key, "sleep") == 0 || strcmp(key, "spin") == 0)
        read_rule(rest, key[1]);
    else if (strcmp(key, "xid") == 0)
        play.xid[atoi(rest)] = atoi(strchr(rest, ' ') + 1);
    else if (strcmp(key, "lost") == 0)
        play.lost[atoi(rest)] = 1;
    else {
        fprintf(stderr, "nvml player: %s\n", line);
        abort();
    }
}

static int64_t now_ns(void) {
    return clock_monotonic_ns();
}

static int begin_play(void) {
    static char line[4096];
    const char *path = getenv("CHOKEPOINT_NVML_PLAY"), *at = getenv("CHOKEPOINT_NVML_AT");
    FILE *file = path ? fopen(path, "re") : NULL;
    memset(&play, 0, sizeof play);
    play.cards = 1;
    play.at = at ? atoi(at) : -1;
    play.began_ns = now_ns();
    for (int i = 0; i < CARDS_MAX; i++)
        for (int j = 0; j < FIGURES; j++)
            play.set[i][j] = NAN;
    while (file && fgets(line, sizeof line, file))
        read_line(line);
    if (file)
        fclose(file);
    for (int i = 0; i < CARDS_MAX; i++) {
        play.whole[i] = (struct nvml_device_opaque){i, -1};
        for (int j = 0; j < INSTANCES_MAX; j++)
            play.parts[i][j] = (struct nvml_device_opaque){i, j};
    }
    return file ? NVML_SUCCESS : NVML_DRIVER_NOT_LOADED;
}

/* ---- what is played now ---- */

EXPORT void nvml_player_at(int frame);
void nvml_player_at(int frame) {
    play.at = frame;
}
/* Returns when a call hangs. */
static _Atomic int held, waits;
EXPORT void nvml_player_hold(int hold);
void nvml_player_hold(int hold) {
    atomic_store(&held, hold);
    while (hold && !atomic_load(&waits))
        sched_yield();
}
EXPORT void nvml_player_lose(int card);
void nvml_player_lose(int card) {
    play.lost[card] = 1;
}

/* Waits while the driver is held. */
static void wait_if_held(void) {
    while (atomic_load(&held)) {
        atomic_store(&waits, 1);
        sched_yield();
    }
    atomic_store(&waits, 0);
}

static int frame_now(void) {
    if (play.at >= 0 || !play.n_frames)
        return play.at >= 0 ? play.at : 0;
    double last = play.frames[play.n_frames - 1].ms + 100;
    double ms = fmod((double)(now_ns() - play.began_ns) / 1e6, last);
    int low = 0, high = play.n_frames - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (play.frames[middle].ms <= ms)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static double figure_in(int card, enum figure which, int frame) {
    if (frame < play.n_frames && play.frames[frame].given[which])
        return play.frames[frame].values[which];
    return play.set[card][which];
}

static double figure(nvml_handle handle, enum figure which) {
    return figure_in(handle->card, which, frame_now());
}

static void spin(unsigned us) {
    int64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * NS_PER_US;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        ;
}

/* The code that the file plants for this function; NVML_SUCCESS else. */
static int planted(const char *function, nvml_handle handle) {
    int code = NVML_SUCCESS;
    for (int i = 0; i < play.n_rules; i++) {
        const struct rule *rule = &play.rules[i];
        bool of_card = rule->card < 0 || (handle && rule->card == handle->card);
        if (strcmp(rule->function, function) != 0 || !of_card)
            continue;
        if (rule->sleep_us)
            usleep(rule->sleep_us);
        else if (rule->spin_us)
            spin(rule->spin_us);
        else
            code = rule->code;
    }
    return handle && play.lost[handle->card] ? NVML_GPU_IS_LOST : code;
}

#define PLANTED(handle)                                                                            \
    do {                                                                                           \
        int code_ = planted(__func__, handle);                                                     \
        if (code_ != NVML_SUCCESS)                                                                 \
            return code_;                                                                          \
    } while (0)

static int tell(nvml_handle handle, enum figure which, unsigned *ret) {
    double value = figure(handle, which);
    if (isnan(value))
        return NVML_NOT_SUPPORTED;
    *ret = (unsigned)value;
    return NVML_SUCCESS;
}

static int tell_long(nvml_handle handle, enum figure which, unsigned long long *ret) {
    double value = figure(handle, which);
    if (isnan(value))
        return NVML_NOT_SUPPORTED;
    *ret = (unsigned long long)value;
    return NVML_SUCCESS;
}

/* ---- the interface ---- */

#define TELLS(name, which)                                                                         \
    EXPORT int name(nvml_handle handle, unsigned *ret);                                            \
    int name(nvml_handle handle, unsigned *ret) {                                                  \
        PLANTED(handle);                                                                           \
        return tell(handle, which, ret);                                                           \
    }

TELLS(nvmlDeviceGetPowerUsage, MILLIWATTS)
TELLS(nvmlDeviceGetEnforcedPowerLimit, LIMIT)
TELLS(nvmlDeviceGetPowerManagementDefaultLimit, DEFAULT_LIMIT)
TELLS(nvmlDeviceGetPcieReplayCounter, REPLAYS)
TELLS(nvmlDeviceGetCurrPcieLinkGeneration, GENERATION)
TELLS(nvmlDeviceGetMaxPcieLinkGeneration, GENERATION)
TELLS(nvmlDeviceGetCurrPcieLinkWidth, LANES)
TELLS(nvmlDeviceGetMaxPcieLinkWidth, LANES)

EXPORT int nvmlInit_v2(void);
int nvmlInit_v2(void) {
    int answer = begin_play();
    int code = planted(__func__, NULL);
    return code ? code : answer;
}

EXPORT int nvmlShutdown(void);
int nvmlShutdown(void) {
    return NVML_SUCCESS;
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlSystemGetDriverVersion(char *text, unsigned size) {
    PLANTED(NULL);
    snprintf(text, size, "%s", play.driver);
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *ret);
int nvmlDeviceGetCount_v2(unsigned *ret) {
    PLANTED(NULL);
    *ret = (unsigned)play.cards;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_handle *ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_handle *ret) {
    nvml_handle handle = &play.whole[index % CARDS_MAX];
    PLANTED(handle);
    *ret = handle;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetName(nvml_handle handle, char *text, unsigned size);
int nvmlDeviceGetName(nvml_handle handle, char *text, unsigned size) {
    PLANTED(handle);
    snprintf(text, size, "%s", play.name);
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetUUID(nvml_handle handle, char *text, unsigned size);
int nvmlDeviceGetUUID(nvml_handle handle, char *text, unsigned size) {
    PLANTED(handle);
    snprintf(text, size, "GPU-00000000-0000-0000-0000-%012d", handle->card);
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(nvml_handle handle, int *major, int *minor);
int nvmlDeviceGetCudaComputeCapability(nvml_handle handle, int *major, int *minor) {
    unsigned both = 0;
    PLANTED(handle);
    int answer = tell(handle, CAPABILITY, &both);
    *major = (int)both / 10;
    *minor = (int)both % 10;
    return answer;
}

EXPORT int nvmlDeviceGetUtilizationRates(nvml_handle handle, struct nvml_utilization *ret);
int nvmlDeviceGetUtilizationRates(nvml_handle handle, struct nvml_utilization *ret) {
    PLANTED(handle);
    wait_if_held();
    if (play.divided[handle->card])
        return NVML_NOT_SUPPORTED;
    int answer = tell(handle, UTIL, &ret->gpu);
    return answer ? answer : tell(handle, MEMORY_UTIL, &ret->memory);
}

EXPORT int nvmlDeviceGetMemoryInfo(nvml_handle handle, struct nvml_memory *ret);
int nvmlDeviceGetMemoryInfo(nvml_handle handle, struct nvml_memory *ret) {
    PLANTED(handle);
    int answer = tell_long(handle, TOTAL, &ret->total);
    if (answer == NVML_SUCCESS)
        answer = tell_long(handle, USED, &ret->used);
    ret->free = ret->total - ret->used;
    return answer;
}

EXPORT int nvmlDeviceGetClockInfo(nvml_handle handle, int which, unsigned *ret);
int nvmlDeviceGetClockInfo(nvml_handle handle, int which, unsigned *ret) {
    PLANTED(handle);
    return tell(handle, which == NVML_CLOCK_SM ? SM_MHZ : MEMORY_MHZ, ret);
}

EXPORT int nvmlDeviceGetMaxClockInfo(nvml_handle handle, int which, unsigned *ret);
int nvmlDeviceGetMaxClockInfo(nvml_handle handle, int which, unsigned *ret) {
    PLANTED(handle);
    return tell(handle, which == NVML_CLOCK_SM ? MAX_SM_MHZ : MAX_MEMORY_MHZ, ret);
}

EXPORT int nvmlDeviceGetTemperature(nvml_handle handle, int sensor, unsigned *ret);
int nvmlDeviceGetTemperature(nvml_handle handle, int sensor, unsigned *ret) {
    PLANTED(handle);
    return sensor ? 2 : tell(handle, CELSIUS, ret);
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(nvml_handle handle, unsigned long long *ret);
int nvmlDeviceGetTotalEnergyConsumption(nvml_handle handle, unsigned long long *ret) {
    PLANTED(handle);
    return tell_long(handle, MILLIJOULES, ret);
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_handle handle, unsigned long long *ret);
int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_handle handle, unsigned long long *ret) {
    PLANTED(handle);
    return tell_long(handle, REASONS, ret);
}

EXPORT int nvmlDeviceGetViolationStatus(nvml_handle handle, int policy, struct nvml_violation *ret);
int nvmlDeviceGetViolationStatus(nvml_handle handle, int policy, struct nvml_violation *ret) {
    PLANTED(handle);
    ret->reference_us = (unsigned long long)(now_ns() / 1000);
    return tell_long(handle, policy == NVML_POLICY_POWER ? POWER_NS : HEAT_NS, &ret->violation_ns);
}

EXPORT int nvmlDeviceGetTotalEccErrors(nvml_handle handle, int uncorrected, int lifetime,
                                       unsigned long long *ret);
int nvmlDeviceGetTotalEccErrors(nvml_handle handle, int uncorrected, int lifetime,
                                unsigned long long *ret) {
    (void)lifetime;
    PLANTED(handle);
    return tell_long(handle, uncorrected ? UNCORRECTED : CORRECTED, ret);
}

EXPORT int nvmlDeviceGetPcieThroughput(nvml_handle handle, int direction, unsigned *ret);
int nvmlDeviceGetPcieThroughput(nvml_handle handle, int direction, unsigned *ret) {
    PLANTED(handle);
    return tell(handle, direction == NVML_PCIE_SEND ? SEND_KB_S : RECEIVE_KB_S, ret);
}

EXPORT int nvmlDeviceGetNvLinkState(nvml_handle handle, unsigned link, unsigned *ret);
int nvmlDeviceGetNvLinkState(nvml_handle handle, unsigned link, unsigned *ret) {
    unsigned links = 0;
    PLANTED(handle);
    int answer = tell(handle, NVLINKS, &links);
    *ret = link < links;
    return answer;
}

EXPORT int nvmlDeviceGetMigMode(nvml_handle handle, unsigned *current, unsigned *pending);
int nvmlDeviceGetMigMode(nvml_handle handle, unsigned *current, unsigned *pending) {
    PLANTED(handle);
    *current = *pending = play.divided[handle->card] > 0;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(nvml_handle handle, unsigned *ret);
int nvmlDeviceGetMaxMigDeviceCount(nvml_handle handle, unsigned *ret) {
    PLANTED(handle);
    *ret = INSTANCES_MAX;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(nvml_handle handle, unsigned index,
                                               nvml_handle *ret);
int nvmlDeviceGetMigDeviceHandleByIndex(nvml_handle handle, unsigned index, nvml_handle *ret) {
    PLANTED(handle);
    if ((int)index >= play.divided[handle->card])
        return NVML_NOT_FOUND;
    *ret = &play.parts[handle->card][index];
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetGpuInstanceId(nvml_handle handle, unsigned *ret);
int nvmlDeviceGetGpuInstanceId(nvml_handle handle, unsigned *ret) {
    PLANTED(handle);
    *ret = (unsigned)handle->instance;
    return NVML_SUCCESS;
}

/* ---- fields ---- */

static enum figure figure_of_field(unsigned id) {
    switch (id) {
    case NVML_FIELD_ECC_CORRECTED:
        return CORRECTED;
    case NVML_FIELD_ECC_UNCORRECTED:
        return UNCORRECTED;
    case NVML_FIELD_POWER_CAP:
        return POWER_NS;
    case NVML_FIELD_HEAT_CAP:
        return HEAT_NS;
    case NVML_FIELD_ENERGY:
        return MILLIJOULES;
    case NVML_FIELD_PCIE_REPLAYS:
        return REPLAYS;
    default:
        return FIGURES;
    }
}

EXPORT int nvmlDeviceGetFieldValues(nvml_handle handle, int n, struct nvml_field *fields);
int nvmlDeviceGetFieldValues(nvml_handle handle, int n, struct nvml_field *fields) {
    PLANTED(handle);
    for (int i = 0; i < n; i++) {
        enum figure which = figure_of_field(fields[i].id);
        unsigned long long number = 0;
        fields[i].answer =
            which == FIGURES ? NVML_NOT_SUPPORTED : tell_long(handle, which, &number);
        bool small = which == REPLAYS;
        fields[i].type = small ? NVML_SMALL : NVML_WIDEST;
        if (small)
            fields[i].value.small = (unsigned)number;
        else
            fields[i].value.widest = number;
    }
    return NVML_SUCCESS;
}

/* ---- processes ---- */

/* 0: the file is not there yet. */
static unsigned pid_of(const struct listed *of) {
    FILE *file = of->file[0] ? fopen(of->file, "re") : NULL;
    unsigned pid = of->file[0] ? 0 : of->pid;
    if (file && fscanf(file, "%u", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

static int list(nvml_handle handle, unsigned *n, void *infos, bool first_version) {
    unsigned found = 0;
    for (int i = 0; i < play.n_processes; i++) {
        const struct listed *of = &play.processes[i];
        unsigned pid = of->card == handle->card ? pid_of(of) : 0;
        if (!pid)
            continue;
        unsigned instance = of->instance < 0 ? ~0u : (unsigned)of->instance;
        struct nvml_process process = {pid, of->bytes, instance, ~0u};
        if (found < *n && first_version)
            ((struct nvml_process_v1 *)infos)[found] = (struct nvml_process_v1){pid, of->bytes};
        else if (found < *n)
            memcpy((struct nvml_process *)infos + found, &process, sizeof process);
        found++;
    }
    bool fits = found <= *n;
    *n = found;
    return fits ? NVML_SUCCESS : NVML_INSUFFICIENT_SIZE;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses(nvml_handle handle, unsigned *n, void *infos);
int nvmlDeviceGetComputeRunningProcesses(nvml_handle handle, unsigned *n, void *infos) {
    PLANTED(handle);
    return list(handle, n, infos, true);
}

EXPORT int nvmlDeviceGetProcessUtilization(nvml_handle handle, struct nvml_process_sample *samples,
                                           unsigned *n, unsigned long long since_us);
int nvmlDeviceGetProcessUtilization(nvml_handle handle, struct nvml_process_sample *samples,
                                    unsigned *n, unsigned long long since_us) {
    unsigned found = 0;
    (void)since_us;
    PLANTED(handle);
    for (int i = 0; i < play.n_processes; i++) {
        const struct listed *of = &play.processes[i];
        unsigned pid = of->card == handle->card && of->sm ? pid_of(of) : 0;
        if (pid && found < *n)
            samples[found++] = (struct nvml_process_sample){
                .pid = pid, .timestamp_us = (unsigned long long)(now_ns() / 1000), .sm = of->sm};
    }
    *n = found;
    return found ? NVML_SUCCESS : NVML_NOT_FOUND;
}

/* ---- errors ---- */

EXPORT int nvmlEventSetCreate(nvml_event_set *ret);
int nvmlEventSetCreate(nvml_event_set *ret) {
    PLANTED(NULL);
    *ret = &play.events;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceRegisterEvents(nvml_handle handle, unsigned long long types,
                                    nvml_event_set set);
int nvmlDeviceRegisterEvents(nvml_handle handle, unsigned long long types, nvml_event_set set) {
    PLANTED(handle);
    set->any |= (types & NVML_EVENT_XID) != 0;
    return NVML_SUCCESS;
}

EXPORT int nvmlEventSetWait_v2(nvml_event_set set, struct nvml_event *ret, unsigned timeout_ms);
int nvmlEventSetWait_v2(nvml_event_set set, struct nvml_event *ret, unsigned timeout_ms) {
    PLANTED(NULL);
    for (int i = 0; i < play.cards && set->any && !timeout_ms; i++)
        if (play.xid[i]) {
            *ret = (struct nvml_event){&play.whole[i], NVML_EVENT_XID,
                                       (unsigned long long)play.xid[i], ~0u, ~0u};
            play.xid[i] = 0;
            return NVML_SUCCESS;
        }
    return NVML_TIMEOUT;
}

EXPORT int nvmlEventSetFree(nvml_event_set set);
int nvmlEventSetFree(nvml_event_set set) {
    set->any = 0;
    return NVML_SUCCESS;
}

#ifndef NVML_PLAYER_OLD
EXPORT int nvmlDeviceGetMemoryInfo_v2(nvml_handle handle, struct nvml_memory_v2 *memory);
int nvmlDeviceGetMemoryInfo_v2(nvml_handle handle, struct nvml_memory_v2 *memory) {
    struct nvml_memory first;
    PLANTED(handle);
    if (memory->version != NVML_MEMORY_VERSION)
        return 25;
    int answer = nvmlDeviceGetMemoryInfo(handle, &first);
    *memory = (struct nvml_memory_v2){memory->version, first.total, 0, first.free, first.used};
    return answer;
}

EXPORT int nvmlDeviceGetCurrentClocksEventReasons(nvml_handle handle, unsigned long long *ret);
int nvmlDeviceGetCurrentClocksEventReasons(nvml_handle handle, unsigned long long *ret) {
    PLANTED(handle);
    return tell_long(handle, REASONS, ret);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(nvml_handle handle, unsigned *n, void *infos);
int nvmlDeviceGetComputeRunningProcesses_v3(nvml_handle handle, unsigned *n, void *infos) {
    PLANTED(handle);
    return list(handle, n, infos, false);
}

/* ---- GPM ---- */

EXPORT int nvmlGpmQueryDeviceSupport(nvml_handle handle, struct nvml_gpm_support *ret);
int nvmlGpmQueryDeviceSupport(nvml_handle handle, struct nvml_gpm_support *ret) {
    PLANTED(handle);
    if (ret->version != 1)
        return 25;
    double supported = play.set[handle->card][GPM];
    ret->is_supported = supported > 0;
    return NVML_SUCCESS;
}

EXPORT int nvmlGpmSampleAlloc(nvml_gpm_sample *ret);
int nvmlGpmSampleAlloc(nvml_gpm_sample *ret) {
    PLANTED(NULL);
    *ret = calloc(1, sizeof **ret);
    return NVML_SUCCESS;
}

EXPORT int nvmlGpmSampleFree(nvml_gpm_sample sample);
int nvmlGpmSampleFree(nvml_gpm_sample sample) {
    free(sample);
    return NVML_SUCCESS;
}

EXPORT int nvmlGpmSampleGet(nvml_handle handle, nvml_gpm_sample sample);
int nvmlGpmSampleGet(nvml_handle handle, nvml_gpm_sample sample) {
    PLANTED(handle);
    if (handle->instance < 0 && play.divided[handle->card])
        return NVML_NOT_SUPPORTED;
    sample->frame = handle->card << 16 | frame_now();
    return NVML_SUCCESS;
}

EXPORT int nvmlGpmMigSampleGet(nvml_handle handle, unsigned instance, nvml_gpm_sample sample);
int nvmlGpmMigSampleGet(nvml_handle handle, unsigned instance, nvml_gpm_sample sample) {
    PLANTED(handle);
    if ((int)instance >= play.divided[handle->card])
        return 2;
    sample->frame = handle->card << 16 | frame_now();
    return NVML_SUCCESS;
}

static double gpm_value(int card, unsigned id, int frame) {
    static const struct {
        unsigned id;
        enum figure which;
    } all[] = {{NVML_GPM_GRAPHICS, GRAPHICS},
               {NVML_GPM_SM, SM},
               {NVML_GPM_OCCUPANCY, OCCUPANCY},
               {NVML_GPM_TENSOR, TENSOR},
               {NVML_GPM_DRAM, DRAM},
               {NVML_GPM_FP64, FP64},
               {NVML_GPM_FP32, FP32},
               {NVML_GPM_FP16, FP16},
               {NVML_GPM_PCIE_SEND, PCIE_SEND},
               {NVML_GPM_PCIE_RECEIVE, PCIE_RECEIVE},
               {NVML_GPM_NVLINK_RECEIVE, NVLINK_RECEIVE},
               {NVML_GPM_NVLINK_SEND, NVLINK_SEND}};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (all[i].id == id)
            return figure_in(card, all[i].which, frame);
    return NAN;
}

EXPORT int nvmlGpmMetricsGet(struct nvml_gpm_metrics *metrics);
int nvmlGpmMetricsGet(struct nvml_gpm_metrics *metrics) {
    PLANTED(NULL);
    if (metrics->version != 1 || !metrics->before || !metrics->now)
        return 25;
    for (unsigned i = 0; i < metrics->n; i++) {
        struct nvml_gpm_metric *metric = &metrics->metrics[i];
        int card = metrics->now->frame >> 16, frame = metrics->now->frame & 0xffff;
        metric->value = gpm_value(card, metric->id, frame);
        metric->answer = NVML_SUCCESS;
    }
    return NVML_SUCCESS;
}
#endif
