/* SPDX-License-Identifier: MIT */
/*
 * A libcupti of our own without a GPU. While activity is enabled, it plays in each 200 us: a kernel
 * of 100 us, a short one of 10 us behind it, and a copy of 50 us of which 20 us run beside the
 * first kernel. CUPTI_PLAY makes it refuse: "taken" (another tool subscribed) or "forbidden" (no
 * permission). "mad" makes it play records that no driver writes, "many" 25,000 kernels a second.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/kernels/cupti.h"

#define EXPORTED __attribute__((visibility("default")))
#define RECORD_SIZE 160 /* larger than what is read of it, as the real ones are */

static cupti_want_buffer *want;
static cupti_take_buffer *take;
static int64_t since_ns;
static int enabled;

static bool plays(const char *what) {
    const char *play = getenv("CUPTI_PLAY");
    return play && strcmp(play, what) == 0;
}

static int64_t turn_ns(void) {
    return plays("many") ? 80000 : 200000;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define CALL(type, name, arguments) EXPORTED type name arguments;
CUPTI_CALLS(CALL)
#undef CALL

int cuptiSubscribe(void **ret_subscriber, cupti_callback *fn, void *ctx) {
    (void)fn;
    (void)ctx;
    *ret_subscriber = &enabled;
    return plays("taken") ? CUPTI_HAS_A_SUBSCRIBER : CUPTI_OK;
}

int cuptiActivityRegisterCallbacks(cupti_want_buffer *want_buffer, cupti_take_buffer *take_buffer) {
    want = want_buffer;
    take = take_buffer;
    return CUPTI_OK;
}

int cuptiActivityEnable(int kind) {
    (void)kind;
    if (plays("forbidden"))
        return CUPTI_NOT_PERMITTED;
    if (enabled++ == 0)
        since_ns = now_ns();
    return CUPTI_OK;
}

int cuptiActivityDisable(int kind) {
    (void)kind;
    enabled--;
    return CUPTI_OK;
}

static uint8_t *at_record(uint8_t *buffer, size_t i) {
    memset(buffer + i * RECORD_SIZE, 0, RECORD_SIZE);
    return buffer + i * RECORD_SIZE;
}

static void play_kernel(uint8_t *record, int64_t start_ns, int64_t ns, const char *name) {
    struct cupti_kernel *kernel = (void *)record;
    kernel->kind = CUPTI_KERNEL;
    kernel->start_ns = (uint64_t)start_ns;
    kernel->end_ns = (uint64_t)(start_ns + ns);
    kernel->stream = 7;
    kernel->name = name;
}

static size_t play_turn(uint8_t *buffer, int64_t at_ns) {
    struct cupti_copy *copy = (void *)at_record(buffer, 2);
    play_kernel(at_record(buffer, 0), at_ns, 100000,
                "_ZN2at6native52_GLOBAL__N__e57809e0_19_DilatedMaxPool2d_cu_6c5bb2d44poolIfEEvPT_");
    play_kernel(at_record(buffer, 1), at_ns + 150000, 10000, "sgemm_128x64");
    copy->kind = CUPTI_COPY;
    copy->bytes = 4096;
    copy->start_ns = (uint64_t)at_ns + 80000;
    copy->end_ns = (uint64_t)at_ns + 130000;
    copy->stream = 9;
    return 3;
}

static size_t play_mad_turn(uint8_t *buffer, int64_t at_ns) {
    play_kernel(at_record(buffer, 0), at_ns, -5, "backwards");
    play_kernel(at_record(buffer, 1), 0, 5, "no start");
    play_kernel(at_record(buffer, 2), at_ns, 5, NULL);
    ((struct cupti_kernel *)(void *)buffer)->device = 4000000;
    uint32_t kind = 77;
    memcpy(at_record(buffer, 3), &kind, sizeof kind);
    return 4;
}

/* Fills buffers with all turns since it was enabled. */
int cuptiActivityFlushAll(uint32_t flags) {
    int64_t at_ns = since_ns, end_ns = now_ns();
    (void)flags;
    while (at_ns + turn_ns() <= end_ns) {
        uint8_t *buffer;
        size_t size, most, n = 0;
        want(&buffer, &size, &most);
        for (; at_ns + turn_ns() <= end_ns && (n + 4) * RECORD_SIZE <= size; at_ns += turn_ns())
            n += plays("mad") ? play_mad_turn(buffer + n * RECORD_SIZE, at_ns)
                              : play_turn(buffer + n * RECORD_SIZE, at_ns);
        take(NULL, 0, buffer, size, n * RECORD_SIZE);
        if (n == 0)
            break;
    }
    return CUPTI_OK;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, void **record) {
    uint8_t *next = *record ? (uint8_t *)*record + RECORD_SIZE : buffer;
    *record = next;
    return next + RECORD_SIZE <= buffer + used ? CUPTI_OK : CUPTI_NO_MORE_RECORDS;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret_dropped) {
    (void)context;
    (void)stream;
    *ret_dropped = 0;
    return CUPTI_OK;
}

int cuptiGetResultString(int result, const char **ret_text) {
    *ret_text = result == CUPTI_NOT_PERMITTED ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                              : "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    return CUPTI_OK;
}
