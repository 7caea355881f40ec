/* SPDX-License-Identifier: MIT */
/*
 * Finds out for `doctor` which figures of GPUs can be seen. It asks for everything as a recording
 * does, five times, by a thread with the rights that the recording's thread keeps.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/privileges.h"
#include "agent/probes/gpu/gpu_private.h"
#include "common/clock.h"

#define CALLS_A_LINE 4
#define TURNS 5
#define PAUSE_NS (NS_PER_S / 5)

/* Names the columns that are fewer: those that are seen, or those that are not. */
static void put_part(FILE *out, const struct gpu_part *part) {
    const struct table *table = &all_tables[TABLE_GPU];
    size_t n_seen = 0;
    for (size_t i = 0; i < GPU_COLUMNS; i++)
        n_seen += part->values[i] != VALUE_ABSENT;
    bool few = n_seen < GPU_COLUMNS / 2;
    fprintf(out, "%s: %s", part->fact, few ? "seen:" : "not seen:");
    for (size_t i = 0; i < GPU_COLUMNS; i++)
        if ((part->values[i] != VALUE_ABSENT) == few && i != GPU_LAST_XID)
            fprintf(out, " %s", table->columns[i].name);
    fputc('\n', out);
}

/* "nvmlInit_v2 0 1x 30us 12us": its last answer, how often it was called, its longest call, and the
 * mean CPU time of a call. */
static void put_calls(FILE *out, const struct nvml *nvml) {
    for (size_t i = 0; i < NVML_CALLS; i++) {
        const struct nvml_told *told = &nvml->told[i];
        bool last = i % CALLS_A_LINE == CALLS_A_LINE - 1 || i == NVML_CALLS - 1;
        fprintf(out, "%s ", nvml_call_name(i));
        if (told->answer != NVML_SUCCESS)
            fprintf(out, "%d (%s)", told->answer, nvml_answer_words(told->answer));
        else
            fprintf(out, "0");
        int64_t cpu_ns = told->n ? told->cpu_ns / (int64_t)told->n : 0;
        fprintf(out, " %" PRIu64 "x %" PRId64 "us %" PRId64 "us%s", told->n,
                told->longest_ns / NS_PER_US, cpu_ns / NS_PER_US, last ? "\n" : "; ");
    }
}

static void read_some(struct gpus *gpus) {
    const struct timespec pause = {0, PAUSE_NS};
    for (int i = 0; i < TURNS; i++) {
        if (i)
            nanosleep(&pause, NULL);
        gpus_read_fast(gpus, clock_monotonic_ns());
        memset(gpus->turns, 0, sizeof gpus->turns); /* slow calls in each turn */
        gpus_read_slow(gpus, clock_monotonic_ns());
    }
    for (size_t i = 0; i < gpus->n_parts; i++)
        nvml_try_calls(gpus, &gpus->parts[i]);
}

static void *examine(void *ctx) {
    struct gpus *gpus = ctx;
    gpus->nvml.measures_cpu = true;
    size_t n = gpus_find(gpus);
    privileges_drop(&(struct privileges_kept){0});
    if (n)
        read_some(gpus);
    return NULL;
}

static int write_report(const struct gpus *gpus, struct gpu_report *report) {
    size_t size;
    FILE *lines = open_memstream(&report->lines, &size);
    FILE *calls = open_memstream(&report->calls, &size);
    for (size_t i = 0; lines && i < gpus->n_parts; i++)
        put_part(lines, &gpus->parts[i]);
    if (calls && gpus->nvml.library)
        put_calls(calls, &gpus->nvml);
    int r = lines && calls ? 0 : -ENOMEM;
    if (lines && fclose(lines) != 0)
        r = -ENOMEM;
    if (calls && fclose(calls) != 0)
        r = -ENOMEM;
    report->n = gpus->n_parts;
    snprintf(report->why, sizeof report->why, "%s", gpus->why);
    return r;
}

int gpu_examine(const char *sys, struct gpu_report *ret_report) {
    struct gpus *gpus = calloc(1, sizeof *gpus);
    pthread_t thread;
    *ret_report = (struct gpu_report){0};
    if (!gpus)
        return -ENOMEM;
    snprintf(gpus->sys, sizeof gpus->sys, "%s", sys);
    int r = -pthread_create(&thread, NULL, examine, gpus);
    if (r == 0) {
        pthread_join(thread, NULL);
        r = write_report(gpus, ret_report);
        gpus_release(gpus);
    }
    free(gpus);
    return r;
}

void gpu_report_release(struct gpu_report *report) {
    free(report->lines);
    free(report->calls);
    report->lines = report->calls = NULL;
}
