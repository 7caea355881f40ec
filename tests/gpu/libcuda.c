/* SPDX-License-Identifier: MIT */
/*
 * A libcuda of our own without a GPU: its calls that wait or copy last as long as was planted, by
 * polling on a core like the real one, or asleep. Launches return at once. The synchronous copy
 * from the GPU waits by another exported call, as some drivers do.
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default"), noinline))

static _Thread_local bool sleeps;
static _Thread_local int64_t span_ns, least;
static _Thread_local const int64_t *awaited; /* NULL: nothing */

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Asleep it wakes each millisecond, like a driver that waits for an interrupt with a timeout. */
static void pass_time(void) {
    static const struct timespec step = {.tv_nsec = 1000000};
    int64_t until_ns = now_ns() + span_ns;
    while ((span_ns && now_ns() < until_ns) ||
           (awaited && __atomic_load_n(awaited, __ATOMIC_ACQUIRE) < least))
        if (sleeps)
            nanosleep(&step, NULL);
}

/* Not of the real one: how the next calls of this thread pass their time. */
EXPORTED void cuPlant(int asleep, int64_t ns);
void cuPlant(int asleep, int64_t ns) {
    sleeps = asleep;
    span_ns = ns;
}

/* The next calls also last until the number is at least that: what others do on their GPUs. */
EXPORTED void cuPlantUntil(const int64_t *number, int64_t at_least);
void cuPlantUntil(const int64_t *number, int64_t at_least) {
    awaited = number;
    least = at_least;
}

#define WAITS(name)                                                                                \
    EXPORTED int name(void);                                                                       \
    int name(void) {                                                                               \
        pass_time();                                                                               \
        return 0;                                                                                  \
    }
WAITS(cuCtxSynchronize)
WAITS(cuCtxSynchronize_v2)
WAITS(cuStreamSynchronize)
WAITS(cuStreamSynchronize_ptsz)
WAITS(cuEventSynchronize)
WAITS(cuMemcpyHtoD_v2)
WAITS(cuMemcpyHtoDAsync_v2)
WAITS(cuMemcpyDtoHAsync_v2)

EXPORTED int cuMemcpyDtoH_v2(void);
int cuMemcpyDtoH_v2(void) {
    int result = cuStreamSynchronize();
    pass_time();
    return result;
}

EXPORTED int cuLaunchKernel(void);
int cuLaunchKernel(void) {
    return 0;
}
