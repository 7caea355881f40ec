/* SPDX-License-Identifier: MIT */
/*
 * The kernels that a program's GPUs run, and whether copies hide behind them. On request (run
 * --gpu-kernels) CUDA's driver loads libchokepoint-mpi.so by CUDA_INJECTION64_PATH and calls
 * InitializeInjection of it. It uses the
 * CUPTI of the program's own CUDA: one that is loaded, or the one that lies beside the program's
 * libcudart; another version may end the program. Where there is none, or another tool uses it, it
 * writes why and does nothing.
 *
 * Recording each kernel costs a program of small kernels a fifth to two fifths of its speed. So it
 * is done in bursts of half a second: the first a second after CUDA began, then one in each twenty
 * seconds. A burst in which no GPU did anything costs nothing, and the next one is a second later.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/kernels/cupti.h"
#include "agent/kernels/kernel_file.h"
#include "agent/kernels/kernel_name.h"
#include "agent/mark/chokepoint.h"

#define FIRST_MS 1000
#define BURST_MS 500
#define EVERY_MS 20000
#define BUFFER_SIZE ((size_t)1 << 20)
#define SPANS_MAX ((size_t)1 << 18) /* of a burst: half a million kernels a second */
#define SUMS_SIZE 4096 /* kernels by name, of which the longest are told; a power of two */

/* A kernel or copy of the burst. */
struct span {
    int64_t start_ns, end_ns;
    uint32_t device, stream;
    bool copies;
};

struct sum {
    const char *name; /* CUPTI's, which stays */
    uint32_t device;
    int64_t launches, busy_ns;
};

/* All that is below is written under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cupti cupti;
static struct kernel_file *file;
static struct span *spans;
static size_t n_spans;
static struct sum sums[SUMS_SIZE];
static int64_t dropped, copied_bytes[KERNEL_DEVICES_MAX];

static const int kinds[] = {CUPTI_KERNEL, CUPTI_COPY, CUPTI_FILL};

#define N_KINDS (sizeof kinds / sizeof *kinds)

__attribute__((visibility("default"))) int InitializeInjection(void);

/* ---- the file ---- */

static struct kernel_file *make_file(void) {
    char name[40];
    int saved = errno, dir = chokepoint_directory_();
    void *map = MAP_FAILED;
    snprintf(name, sizeof name, "%ld" KERNEL_FILE_SUFFIX, (long)getpid());
    int fd =
        dir < 0 ? -1 : openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && posix_fallocate(fd, 0, sizeof *file) == 0)
        map = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && map == MAP_FAILED)
        unlinkat(dir, name, 0);
    if (dir >= 0)
        close(dir);
    errno = saved;
    return map == MAP_FAILED ? NULL : map;
}

static void begin_writing(void) {
    __atomic_fetch_add(&file->sequence, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void end_writing(void) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_fetch_add(&file->sequence, 1, __ATOMIC_SEQ_CST);
}

static void refuse(const char *why, const char *detail) {
    begin_writing();
    snprintf(file->why, sizeof file->why, "%s%s%s", why, *detail ? ": " : "", detail);
    end_writing();
}

/* ---- the program's CUPTI ---- */

/* Paths of the program's own libraries; "": it has not loaded them. */
struct loaded {
    char cupti[PATH_MAX], runtime[PATH_MAX];
};

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx) {
    struct loaded *loaded = ctx;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (slash && strncmp(slash + 1, "libcupti.so", 11) == 0)
        snprintf(loaded->cupti, sizeof loaded->cupti, "%s", info->dlpi_name);
    if (slash && strncmp(slash + 1, "libcudart.so", 12) == 0)
        snprintf(loaded->runtime, sizeof loaded->runtime, "%s", info->dlpi_name);
    return 0;
}

/* Whether nobody may have written it but root, this user and the owner of the runtime, whom the
 * program trusts already. */
static bool is_trusted(const char *path, const char *runtime) {
    struct stat st, of;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & 002) &&
           (st.st_uid == 0 || st.st_uid == geteuid() ||
            (stat(runtime, &of) == 0 && st.st_uid == of.st_uid));
}

/* "/x/lib/libcudart.so.12": CUPTI of the same major version, where CUDA's archives and Python's
 * packages put it. */
static bool find_beside(const char *runtime, char path[PATH_MAX]) {
    static const char *const places[] = {"", "../extras/CUPTI/lib64/", "../../cuda_cupti/lib/",
                                         "../../../extras/CUPTI/lib64/"};
    const char *slash = strrchr(runtime, '/'), *version = strstr(slash, ".so.");
    int major = version ? atoi(version + 4) : 0;
    for (size_t i = 0; major > 0 && i < sizeof places / sizeof *places; i++) {
        int n = snprintf(path, PATH_MAX, "%.*s/%slibcupti.so.%d", (int)(slash - runtime), runtime,
                         places[i], major);
        if (n < PATH_MAX && is_trusted(path, runtime))
            return true;
    }
    return false;
}

static bool load_cupti(void) {
    struct loaded loaded = {0};
    char path[PATH_MAX];
    dl_iterate_phdr(look_at, &loaded);
    void *library = loaded.cupti[0] ? dlopen(loaded.cupti, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!library && !loaded.runtime[0]) {
        refuse("the program has loaded no libcudart, so its own CUPTI is not known", "");
        return false;
    }
    if (!library && find_beside(loaded.runtime, path))
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        refuse("no CUPTI lies beside the program's CUDA", loaded.runtime);
        return false;
    }
#define CALL(type, name, arguments)                                                                \
    if (!(*(void **)&cupti.name = dlsym(library, #name))) {                                        \
        refuse("the program's CUPTI lacks a function", #name);                                     \
        return false;                                                                              \
    }
    CUPTI_CALLS(CALL)
#undef CALL
    return true;
}

/* ---- records ---- */

static void want_buffer(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_max_records) {
    *ret_buffer = aligned_alloc(8, BUFFER_SIZE);
    *ret_size = *ret_buffer ? BUFFER_SIZE : 0;
    *ret_max_records = 0;
}

static void add_sum(const struct cupti_kernel *kernel) {
    size_t at = ((uintptr_t)kernel->name >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 52;
    for (size_t tries = 0; tries < SUMS_SIZE; tries++, at = (at + 1) % SUMS_SIZE) {
        struct sum *sum = &sums[at % SUMS_SIZE];
        if (sum->launches && (sum->name != kernel->name || sum->device != kernel->device))
            continue;
        sum->name = kernel->name;
        sum->device = kernel->device;
        sum->launches++;
        sum->busy_ns += (int64_t)(kernel->end_ns - kernel->start_ns);
        return;
    }
    dropped++;
}

static void add_span(uint64_t start_ns, uint64_t end_ns, uint32_t device, uint32_t stream,
                     bool copies) {
    if (n_spans == SPANS_MAX || device >= KERNEL_DEVICES_MAX) {
        dropped++;
        return;
    }
    spans[n_spans++] = (struct span){(int64_t)start_ns, (int64_t)end_ns, device, stream, copies};
}

/* A record that has no end was cut off by the end of the burst. */
static void take_record(const void *record) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (kind == CUPTI_KERNEL) {
        const struct cupti_kernel *kernel = record;
        if (!kernel->start_ns || kernel->end_ns < kernel->start_ns)
            return;
        if (kernel->name)
            add_sum(kernel);
        add_span(kernel->start_ns, kernel->end_ns, kernel->device, kernel->stream, false);
    } else if (kind == CUPTI_COPY || kind == CUPTI_FILL) {
        const struct cupti_copy *copy = record;
        if (!copy->start_ns || copy->end_ns < copy->start_ns)
            return;
        if (copy->device < KERNEL_DEVICES_MAX && kind == CUPTI_COPY)
            copied_bytes[copy->device] += (int64_t)copy->bytes;
        add_span(copy->start_ns, copy->end_ns, copy->device, copy->stream, true);
    }
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used) {
    void *record = NULL;
    size_t lost = 0;
    (void)size;
    pthread_mutex_lock(&lock);
    while (buffer && cupti.cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_OK)
        take_record(record);
    if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_OK)
        dropped += (int64_t)lost;
    pthread_mutex_unlock(&lock);
    free(buffer);
}

/* ---- a burst ---- */

static int compare_spans(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int compare_sums(const void *a, const void *b) {
    const struct sum *x = a, *y = b;
    return (x->busy_ns < y->busy_ns) - (x->busy_ns > y->busy_ns);
}

/* Adds the part of a span that lies behind what was covered before. */
static int64_t uncovered(int64_t *covered_ns, int64_t start_ns, int64_t end_ns) {
    int64_t from = start_ns > *covered_ns ? start_ns : *covered_ns;
    if (end_ns <= from)
        return 0;
    *covered_ns = end_ns;
    return end_ns - from;
}

static int64_t count_streams(const struct span *of, size_t n) {
    uint32_t seen[64];
    int64_t streams = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t s = 0;
        while (s < streams && seen[s] != of[i].stream)
            s++;
        if (s == streams && streams < 64)
            seen[streams++] = of[i].stream;
    }
    return streams;
}

/* Spans of one device, by their start. The union of all is what kernels and copies cover less what
 * both do. */
static void add_up(const struct span *of, size_t n, int64_t watched_ns, struct kernel_device *to) {
    int64_t kernels_to = INT64_MIN, copies_to = INT64_MIN, all_to = INT64_MIN, all_ns = 0;
    *to = (struct kernel_device){.watched_ns = watched_ns, .index = of->device};
    for (size_t i = 0; i < n; i++) {
        if (of[i].copies)
            to->copy_ns += uncovered(&copies_to, of[i].start_ns, of[i].end_ns);
        else
            to->kernel_ns += uncovered(&kernels_to, of[i].start_ns, of[i].end_ns);
        all_ns += uncovered(&all_to, of[i].start_ns, of[i].end_ns);
        to->copies += of[i].copies;
        to->kernels += !of[i].copies;
    }
    to->both_ns = to->kernel_ns + to->copy_ns - all_ns;
    to->copied_bytes = copied_bytes[of->device];
    to->streams = count_streams(of, n);
}

static void write_devices(int64_t watched_ns) {
    size_t n = 0;
    qsort(spans, n_spans, sizeof *spans, compare_spans);
    for (size_t i = 0, end; i < n_spans; i = end) {
        for (end = i; end < n_spans && spans[end].device == spans[i].device;)
            end++;
        add_up(&spans[i], end - i, watched_ns, &file->devices[n++]);
    }
    for (; n < KERNEL_DEVICES_MAX; n++)
        file->devices[n] = (struct kernel_device){.index = -1};
}

static void write_kernels(void) {
    qsort(sums, SUMS_SIZE, sizeof *sums, compare_sums);
    size_t n = 0;
    for (; n < KERNEL_NAMES_MAX && sums[n].launches; n++) {
        struct kernel_sum *to = &file->kernels[n];
        to->launches = sums[n].launches;
        to->busy_ns = sums[n].busy_ns;
        to->device = sums[n].device;
        kernel_name_write(sums[n].name, to->name, sizeof to->name);
    }
    file->n_kernels = (int64_t)n;
}

/* Whether the GPUs did anything. */
static bool write_burst(int64_t watched_ns) {
    pthread_mutex_lock(&lock);
    bool any = n_spans > 0;
    begin_writing();
    write_devices(watched_ns);
    write_kernels();
    file->dropped = dropped;
    file->ended_ns = chokepoint_now_ns();
    file->why[0] = '\0';
    end_writing();
    memset(sums, 0, sizeof sums);
    memset(copied_bytes, 0, sizeof copied_bytes);
    n_spans = 0;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return any;
}

static void pass_ms(int64_t ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

/* Returns the time to the next burst in ms; 0: CUPTI refused, and why was written. */
static int64_t burst(void) {
    for (size_t i = 0; i < N_KINDS; i++) {
        int r = cupti.cuptiActivityEnable(kinds[i]);
        const char *text = "";
        if (r == CUPTI_OK)
            continue;
        cupti.cuptiGetResultString(r, &text);
        while (i-- > 0)
            cupti.cuptiActivityDisable(kinds[i]);
        refuse("CUPTI does not record the activity of this program", text ? text : "");
        return 0;
    }
    int64_t begin_ns = chokepoint_now_ns();
    pass_ms(BURST_MS);
    for (size_t i = 0; i < N_KINDS; i++)
        cupti.cuptiActivityDisable(kinds[i]);
    int64_t watched_ns = chokepoint_now_ns() - begin_ns;
    cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
    return write_burst(watched_ns) ? EVERY_MS - BURST_MS : FIRST_MS;
}

static void *bursts(void *unused) {
    (void)unused;
    for (int64_t ms = FIRST_MS; ms > 0; ms = burst())
        pass_ms(ms);
    return NULL;
}

/* The program's signals are for its own threads. */
static bool start_thread(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&thread, &attributes, bursts, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return r == 0;
}

static void ignore(void *ctx, int domain, uint32_t id, const void *data) {
    (void)ctx;
    (void)domain;
    (void)id;
    (void)data;
}

static bool subscribe(void) {
    void *subscriber;
    const char *text = "";
    int r = cupti.cuptiSubscribe(&subscriber, ignore, NULL);
    if (r == CUPTI_OK)
        r = cupti.cuptiActivityRegisterCallbacks(want_buffer, take_buffer);
    if (r == CUPTI_OK)
        return true;
    cupti.cuptiGetResultString(r, &text);
    refuse(r == CUPTI_HAS_A_SUBSCRIBER ? "another tool uses CUPTI in this program"
                                       : "CUPTI cannot be used",
           text ? text : "");
    return false;
}

/* Called once by the driver. 1: it goes well, whatever happened here. */
int InitializeInjection(void) {
    static atomic_bool begun;
    if (atomic_exchange(&begun, true) || !(file = make_file()))
        return 1;
    file->pid = getpid();
    for (size_t i = 0; i < KERNEL_DEVICES_MAX; i++)
        file->devices[i].index = -1;
    __atomic_store_n(&file->magic, KERNEL_FILE_MAGIC, __ATOMIC_RELEASE);
    if (!load_cupti() || !subscribe())
        return 1;
    spans = malloc(SPANS_MAX * sizeof *spans);
    if (!spans || !start_thread())
        refuse("no memory or no thread for it", "");
    return 1;
}
