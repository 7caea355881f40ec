/* SPDX-License-Identifier: MIT */
/*
 * gpu-plant LIBRARY spin|sleep THREADS MILLISECONDS [DELAY [STEP]]: threads that compute, copy,
 * launch and wait through the calls of a libcuda, for that long, in parts of one to seven STEPs
 * (microseconds; 1000). Loads the library after DELAY milliseconds of computing, then computes as
 * long again, as programs that prepare a GPU do. At the end it prints
 * what it measured, in the columns of table wait: "PID gpu_ns=N ... run_ns=N".
 *
 * gpu-plant LIBRARY rate THREADS MILLISECONDS [CALLS]: one thread alternates between computing and
 * a call that returns at once, CALLS a second. It prints how many calls a second it got through.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define MS INT64_C(1000000)

enum kind { GPU, TO, FROM, KINDS };
static const char *const columns[KINDS] = {"gpu_ns", "copy_to_gpu_ns", "copy_from_gpu_ns"};

struct driver {
    void (*plant)(int asleep, int64_t ns);
    int (*context)(void), (*stream)(void), (*event)(void), (*launch)(void);
    int (*to)(void), (*to_async)(void), (*from)(void), (*from_async)(void);
};

struct work {
    pthread_t thread;
    const struct driver *driver;
    bool asleep;
    int64_t until_ns, step_ns;
    int64_t spent_ns[KINDS];
    int64_t polled_ns; /* CPU time in these calls */
};

static int64_t clock_now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void compute(int64_t ns) {
    for (int64_t until = clock_now(CLOCK_MONOTONIC) + ns; clock_now(CLOCK_MONOTONIC) < until;)
        ;
}

static void call(struct work *work, enum kind kind, int (*function)(void), int64_t ns) {
    work->driver->plant(work->asleep, ns);
    int64_t polled = clock_now(CLOCK_THREAD_CPUTIME_ID), before = clock_now(CLOCK_MONOTONIC);
    function();
    work->spent_ns[kind] += clock_now(CLOCK_MONOTONIC) - before;
    work->polled_ns += clock_now(CLOCK_THREAD_CPUTIME_ID) - polled;
}

/* Parts of different lengths, so that states cannot be mistaken for each other. */
static void *run(void *argument) {
    struct work *work = argument;
    const struct driver *driver = work->driver;
    int64_t step = work->step_ns;
    while (clock_now(CLOCK_MONOTONIC) < work->until_ns) {
        compute(2 * step);
        call(work, TO, driver->to_async, 3 * step);
        call(work, TO, driver->to, 2 * step);
        driver->launch();
        call(work, GPU, driver->context, 7 * step);
        call(work, GPU, driver->stream, 2 * step);
        call(work, GPU, driver->event, step);
        call(work, FROM, driver->from_async, step);
        call(work, FROM, driver->from, step); /* waits twice as long */
    }
    return NULL;
}

static void *load(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "gpu-plant: %s is missing\n", name);
        exit(2);
    }
    return symbol;
}

static struct driver open_driver(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    struct driver driver;
    if (!library) {
        fprintf(stderr, "gpu-plant: %s\n", dlerror());
        exit(2);
    }
    *(void **)&driver.plant = load(library, "cuPlant");
    *(void **)&driver.context = load(library, "cuCtxSynchronize_v2");
    *(void **)&driver.stream = load(library, "cuStreamSynchronize");
    *(void **)&driver.event = load(library, "cuEventSynchronize");
    *(void **)&driver.launch = load(library, "cuLaunchKernel");
    *(void **)&driver.to = load(library, "cuMemcpyHtoD_v2");
    *(void **)&driver.to_async = load(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&driver.from = load(library, "cuMemcpyDtoH_v2");
    *(void **)&driver.from_async = load(library, "cuMemcpyDtoHAsync_v2");
    return driver;
}

static void tell(const struct work *works, size_t n) {
    int64_t run_ns = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    printf("%d", (int)getpid());
    for (size_t kind = 0; kind < KINDS; kind++) {
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += works[i].spent_ns[kind];
        printf(" %s=%" PRId64, columns[kind], sum);
    }
    for (size_t i = 0; i < n; i++)
        run_ns -= works[i].polled_ns;
    printf(" run_ns=%" PRId64 "\n", run_ns);
}

static int plant(const struct driver *driver, bool asleep, size_t n, int64_t ns, int64_t step_ns) {
    static struct work works[THREADS_MAX];
    for (size_t i = 0; i < n; i++) {
        works[i] = (struct work){.driver = driver,
                                 .asleep = asleep,
                                 .step_ns = step_ns,
                                 .until_ns = clock_now(CLOCK_MONOTONIC) + ns};
        if (pthread_create(&works[i].thread, NULL, run, &works[i]) != 0)
            return 2;
    }
    for (size_t i = 0; i < n; i++)
        pthread_join(works[i].thread, NULL);
    tell(works, n);
    return 0;
}

/* Computes a fixed number of steps between calls, so that the cost of calls shows in the rate. */
static int rate(const struct driver *driver, int64_t ns, int64_t calls) {
    static const struct timespec until_seen = {.tv_sec = 1, .tv_nsec = 500000000};
    volatile uint64_t sum = 0;
    int64_t begin = clock_now(CLOCK_MONOTONIC), done = 0, gap = 1000000000 / calls, steps = 0;
    driver->plant(0, 0);
    nanosleep(&until_seen, NULL);
    begin = clock_now(CLOCK_MONOTONIC);
    for (int64_t until = begin + 50 * MS; clock_now(CLOCK_MONOTONIC) < until; steps += 1000)
        for (int i = 0; i < 1000; i++)
            sum += (uint64_t)i;
    steps = steps * gap / (50 * MS); /* that take the time between two calls */
    begin = clock_now(CLOCK_MONOTONIC);
    for (; clock_now(CLOCK_MONOTONIC) < begin + ns; done++) {
        for (int64_t i = 0; i < steps; i++)
            sum += (uint64_t)i;
        driver->stream();
    }
    printf("%.1f\n", (double)done * 1e9 / (double)(clock_now(CLOCK_MONOTONIC) - begin));
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: gpu-plant LIBRARY spin|sleep|rate THREADS MILLISECONDS [N]\n");
        return 2;
    }
    size_t threads = strtoul(argv[3], NULL, 10);
    int64_t ns = strtoll(argv[4], NULL, 10) * MS, more = argc > 5 ? strtoll(argv[5], NULL, 10) : 0;
    bool rates = strcmp(argv[2], "rate") == 0;
    if (!rates)
        compute(more * MS);
    struct driver driver = open_driver(argv[1]);
    if (rates)
        return rate(&driver, ns, more > 0 ? more : 40000);
    compute(more * MS);
    return plant(&driver, strcmp(argv[2], "sleep") == 0,
                 threads < THREADS_MAX ? threads : THREADS_MAX, ns,
                 argc > 6 ? strtoll(argv[6], NULL, 10) * 1000 : MS);
}
