/* SPDX-License-Identifier: MIT */
/*
 * chokepoint.h: tell a profiler what your program is doing. Copy this one file into any C or C++
 * program for Linux; there is nothing to link with.
 *
 *     chokepoint_phase("training");            a phase begins, the one before it ends; NULL or ""
 * ends it chokepoint_iteration_begin();            the clock of this thread's loop starts now
 *     chokepoint_iteration(i);                 iteration i of this thread's loop ends now
 *     chokepoint_operator("matmul", bytes, start_ns, duration_ns);
 *     chokepoint_value("accuracy", 0.71);      a figure of the moment: accuracy, loss, updates, ...
 *
 * Without a listener every call is one relaxed load and a branch. A profiler listens if the
 * environment has a directory stem in CHOKEPOINT_MARKS (or OMPI_CHOKEPOINT_MARKS or
 * SLURM_CHOKEPOINT_MARKS: mpirun and srun pass variables with these prefixes to every rank, and to
 * no command line) and the directory "<stem>.<host name>" exists (the profiler makes it, mode 0700;
 * the host name is part of it because emulated hosts share one /dev/shm). A stem may end in "-" and
 * a key of 32 hexadecimal digits. Then the directory is the stem with a code of the host's name in
 * place of the key, so that a user who sees it on one host cannot make it first on another. The
 * first call then creates "<pid>.ring" there and maps it. A call costs about 0.2 us, never blocks,
 * never fails visibly, and may come from any thread.
 *
 * The ring is overwritten from its start when the profiler does not keep up: a program never waits
 * for its observer, and the sequence numbers show the reader how much it has lost. Every record has
 * a ticket of its own (fetch_add), so writers need no lock. A child after fork() gets a ring of its
 * own; for that each recorded call asks for getpid().
 *
 * Names are cut after 39 bytes and should be printable ASCII. Needs POSIX.1-2008 declarations
 * (gnu11, gnu17, C++, or -D_POSIX_C_SOURCE=200809L) and the __atomic builtins of gcc and clang.
 */
#ifndef CHOKEPOINT_MARK_H
#define CHOKEPOINT_MARK_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the file: one page of header, then the records; host byte order, read on the same host ----
 */

#define CHOKEPOINT_MARK_MAGIC UINT64_C(0x314b52414d4b4843) /* "CHKMARK1" in memory */
#define CHOKEPOINT_MARK_VERSION 1
#define CHOKEPOINT_MARK_CAPACITY 4096   /* records; a power of two */
#define CHOKEPOINT_MARK_NAME 40         /* with the NUL */
#define CHOKEPOINT_MARK_HEADER 4096     /* bytes before the first record */
#define CHOKEPOINT_MARK_BUSY UINT64_MAX /* sequence of a record that is being written */
#define CHOKEPOINT_MARK_NAN INT64_MIN   /* value_nano of "not a number" */

enum chokepoint_mark_kind {
    CHOKEPOINT_MARK_PHASE_BEGIN = 1, /* name; start_ns */
    CHOKEPOINT_MARK_PHASE_END = 2,   /* name; start_ns, duration_ns of the whole phase */
    CHOKEPOINT_MARK_ITERATION = 3,   /* number; start_ns, duration_ns (0: no earlier mark) */
    CHOKEPOINT_MARK_OPERATOR = 4, /* name, bytes, start_ns, duration_ns; number: last iteration */
    CHOKEPOINT_MARK_VALUE = 5,    /* name, value_nano, start_ns; number: last iteration or -1 */
};

struct chokepoint_mark_header {
    uint64_t magic; /* stored last: the file is valid once it is there */
    uint32_t version;
    uint32_t record_bytes;
    uint32_t capacity;
    int32_t pid;
    int32_t rank; /* rank in the parallel program, or -1 */
    uint32_t reserved;
    int64_t opened_ns;    /* CLOCK_MONOTONIC */
    uint64_t padding[11]; /* gives the next word its own cache line */
    uint64_t head;        /* tickets given out so far; record t lives in slot t % capacity */
};

struct chokepoint_mark_record {
    uint64_t sequence; /* ticket + 1 when complete, CHOKEPOINT_MARK_BUSY while it is written */
    uint32_t kind;
    uint32_t reserved;
    int64_t start_ns; /* CLOCK_MONOTONIC */
    int64_t duration_ns;
    int64_t number;
    int64_t value_nano; /* value x 1e9, saturated */
    int64_t bytes;
    char name[CHOKEPOINT_MARK_NAME];
};

#define CHOKEPOINT_MARK_FILE_BYTES                                                                 \
    (CHOKEPOINT_MARK_HEADER + CHOKEPOINT_MARK_CAPACITY * sizeof(struct chokepoint_mark_record))

/* ---- state: weak, so that all translation units of a program share it ---- */

enum { CHOKEPOINT_UNKNOWN_ = 0, CHOKEPOINT_OFF_ = 1, CHOKEPOINT_OPENING_ = 2, CHOKEPOINT_ON_ = 3 };

struct chokepoint_state_ {
    int mode;
    int phase_lock;
    pid_t pid; /* pid of the ring's owner */
    struct chokepoint_mark_header *ring;
    int64_t iteration; /* last iteration plus 1 (0: none) */
    int64_t phase_start_ns;
    char phase[CHOKEPOINT_MARK_NAME];
};

__attribute__((weak)) struct chokepoint_state_ chokepoint_state_;
__attribute__((weak)) __thread int64_t chokepoint_loop_ns_; /* last mark of this thread's loop */

static inline int64_t chokepoint_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int chokepoint_rank_(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && *text >= '0' && *text <= '9')
            return (int)strtol(text, NULL, 10);
    }
    return -1;
}

/* ---- the code of a host's name: SipHash-2-4 (Aumasson and Bernstein, 2012) ---- */

static inline uint64_t chokepoint_rotate_(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

static inline void chokepoint_mix_(uint64_t *v, int rounds) {
    while (rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = chokepoint_rotate_(v[1], 13) ^ v[0];
        v[3] = chokepoint_rotate_(v[3], 16) ^ v[2];
        v[0] = chokepoint_rotate_(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = chokepoint_rotate_(v[1], 17) ^ v[2];
        v[3] = chokepoint_rotate_(v[3], 21) ^ v[0];
        v[2] = chokepoint_rotate_(v[2], 32);
    }
}

static inline uint64_t chokepoint_code_(uint64_t key0, uint64_t key1, const char *text) {
    uint64_t v[4] = {key0 ^ UINT64_C(0x736f6d6570736575), key1 ^ UINT64_C(0x646f72616e646f6d),
                     key0 ^ UINT64_C(0x6c7967656e657261), key1 ^ UINT64_C(0x7465646279746573)};
    size_t size = strlen(text), at = 0;
    for (int more = 1; more; at += 8) {
        uint64_t word = 0;
        more = at + 8 <= size;
        for (size_t i = 0; i < 8 && at + i < size; i++)
            word |= (uint64_t)(unsigned char)text[at + i] << 8 * i;
        if (!more)
            word |= (uint64_t)size << 56;
        v[3] ^= word;
        chokepoint_mix_(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    chokepoint_mix_(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The 16 hexadecimal digits at `text` as a number; -1: other characters. */
static inline int chokepoint_hex_(const char *text, uint64_t *ret_number) {
    uint64_t number = 0;
    for (int i = 0; i < 16; i++) {
        int digit = text[i] >= '0' && text[i] <= '9'   ? text[i] - '0'
                    : text[i] >= 'a' && text[i] <= 'f' ? text[i] - 'a' + 10
                                                       : -1;
        if (digit < 0)
            return -1;
        number = number << 4 | (unsigned)digit;
    }
    *ret_number = number;
    return 0;
}

/* The directory for a stem and a host name. 0, or -1 if the path is too long. */
static inline int chokepoint_directory_path_(const char *stem, const char *host, char *ret_path,
                                             size_t size) {
    uint64_t key0, key1;
    size_t length = strlen(stem);
    int n = length > 33 && stem[length - 33] == '-' &&
                    chokepoint_hex_(stem + length - 32, &key0) == 0 &&
                    chokepoint_hex_(stem + length - 16, &key1) == 0
                ? snprintf(ret_path, size, "%.*s%016llx", (int)(length - 32), stem,
                           (unsigned long long)chokepoint_code_(key0, key1, host))
                : snprintf(ret_path, size, "%s.%s", stem, host);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* The directory's descriptor, or -1 without a listener. */
static inline int chokepoint_directory_(void) {
    const char *stem = getenv("CHOKEPOINT_MARKS");
    if (!stem)
        stem = getenv("OMPI_CHOKEPOINT_MARKS");
    if (!stem)
        stem = getenv("SLURM_CHOKEPOINT_MARKS");
    char host[256], path[1024];
    if (!stem || !*stem || gethostname(host, sizeof host) < 0)
        return -1;
    host[sizeof host - 1] = 0;
    if (chokepoint_directory_path_(stem, host, path, sizeof path) < 0)
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* If the name is taken, an earlier program of this process (exec) or an earlier process with this
 * pid made it. */
static inline int chokepoint_create_(int dir, pid_t pid, char *name, size_t size) {
    int fd = -1;
    for (int i = 0; i < 10 && fd < 0; i++) {
        snprintf(name, size, i ? "%ld-%d.ring" : "%ld.ring", (long)pid, i);
        fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

/* posix_fallocate, not ftruncate: a full /dev/shm must be an error here, not a SIGBUS later. */
static inline struct chokepoint_mark_header *chokepoint_map_(int dir, pid_t pid) {
    char name[40];
    int fd = chokepoint_create_(dir, pid, name, sizeof name);
    if (fd < 0)
        return NULL;
    void *map = MAP_FAILED;
    if (posix_fallocate(fd, 0, (off_t)CHOKEPOINT_MARK_FILE_BYTES) == 0)
        map = mmap(NULL, CHOKEPOINT_MARK_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        unlinkat(dir, name, 0);
        return NULL;
    }
    struct chokepoint_mark_header *h = (struct chokepoint_mark_header *)map;
    h->version = CHOKEPOINT_MARK_VERSION;
    h->record_bytes = (uint32_t)sizeof(struct chokepoint_mark_record);
    h->capacity = CHOKEPOINT_MARK_CAPACITY;
    h->pid = (int32_t)pid;
    h->rank = chokepoint_rank_();
    h->opened_ns = chokepoint_now_ns();
    __atomic_store_n(&h->magic, CHOKEPOINT_MARK_MAGIC, __ATOMIC_RELEASE);
    return h;
}

/* One thread opens; the others wait a moment for it, so that their first mark is not lost. */
static inline int chokepoint_open_(int mode) {
    struct chokepoint_state_ *s = &chokepoint_state_;
    if (mode == CHOKEPOINT_OPENING_ ||
        !__atomic_compare_exchange_n(&s->mode, &mode, CHOKEPOINT_OPENING_, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_ACQUIRE)) {
        struct timespec pause = {0, 50000};
        for (int i = 0; i < 1000; i++) {
            mode = __atomic_load_n(&s->mode, __ATOMIC_ACQUIRE);
            if (mode != CHOKEPOINT_OPENING_)
                break;
            nanosleep(&pause, NULL);
        }
        return mode == CHOKEPOINT_ON_;
    }
    int saved_errno = errno, dir = chokepoint_directory_();
    pid_t pid = getpid();
    struct chokepoint_mark_header *ring = dir >= 0 ? chokepoint_map_(dir, pid) : NULL;
    if (dir >= 0)
        close(dir);
    if (s->ring) /* a ring of the parent, in a child after fork */
        munmap(s->ring, CHOKEPOINT_MARK_FILE_BYTES);
    s->ring = ring;
    s->pid = pid;
    s->iteration = 0;
    s->phase_start_ns = 0;
    s->phase[0] = 0;
    s->phase_lock = 0;
    errno = saved_errno;
    __atomic_store_n(&s->mode, ring ? CHOKEPOINT_ON_ : CHOKEPOINT_OFF_, __ATOMIC_RELEASE);
    return ring != NULL;
}

/* Whether a profiler listens. A program without one only pays for the first test. */
static inline int chokepoint_listening(void) {
    int mode = __atomic_load_n(&chokepoint_state_.mode, __ATOMIC_RELAXED);
    if (__builtin_expect(mode == CHOKEPOINT_OFF_, 1))
        return 0;
    mode = __atomic_load_n(&chokepoint_state_.mode, __ATOMIC_ACQUIRE);
    if (mode == CHOKEPOINT_ON_ && chokepoint_state_.pid == getpid())
        return 1;
    return chokepoint_open_(mode);
}

static inline void chokepoint_copy_name_(char *to, const char *from) {
    size_t n = 0;
    for (; from && from[n] && n < CHOKEPOINT_MARK_NAME - 1; n++)
        to[n] = from[n];
    memset(to + n, 0, CHOKEPOINT_MARK_NAME - n);
}

#ifdef __SANITIZE_THREAD__ /* gcc's ThreadSanitizer does not support fences, and warns */
#define CHOKEPOINT_FENCE_() ((void)0)
#else
#define CHOKEPOINT_FENCE_() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

/*
 * The ticket is taken before the slot is touched, and the fence keeps this order on every machine.
 * So a reader that copies a slot, and then finds the ticket counter less than a lap ahead, has a
 * complete copy. A writer that finds another writer still in its slot, stopped there a lap ago,
 * gives up.
 */
static inline void chokepoint_write_(uint32_t kind, const char *name, int64_t start_ns,
                                     int64_t duration_ns, int64_t number, int64_t value_nano,
                                     int64_t bytes) {
    struct chokepoint_mark_header *h = chokepoint_state_.ring;
    struct chokepoint_mark_record *ring =
        (struct chokepoint_mark_record *)(void *)((char *)h + CHOKEPOINT_MARK_HEADER);
    uint64_t ticket = __atomic_fetch_add(&h->head, 1, __ATOMIC_SEQ_CST);
    struct chokepoint_mark_record *r = &ring[ticket & (CHOKEPOINT_MARK_CAPACITY - 1)];
    uint64_t before = __atomic_load_n(&r->sequence, __ATOMIC_RELAXED);
    if (before == CHOKEPOINT_MARK_BUSY ||
        !__atomic_compare_exchange_n(&r->sequence, &before, CHOKEPOINT_MARK_BUSY, 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return;
    CHOKEPOINT_FENCE_();
    r->kind = kind;
    r->reserved = 0;
    r->start_ns = start_ns;
    r->duration_ns = duration_ns;
    r->number = number;
    r->value_nano = value_nano;
    r->bytes = bytes;
    chokepoint_copy_name_(r->name, name);
    __atomic_store_n(&r->sequence, ticket + 1, __ATOMIC_RELEASE);
}

static inline int64_t chokepoint_last_iteration_(void) {
    return __atomic_load_n(&chokepoint_state_.iteration, __ATOMIC_RELAXED) - 1;
}

/* ---- the calls ---- */

/*
 * Begins a phase of the whole process and ends the one before it. The last phase ends with the
 * process. If two threads change the phase at the same time, one change is dropped.
 */
static inline void chokepoint_phase(const char *name) {
    struct chokepoint_state_ *s = &chokepoint_state_;
    if (!chokepoint_listening() || __atomic_exchange_n(&s->phase_lock, 1, __ATOMIC_ACQUIRE))
        return;
    int64_t now = chokepoint_now_ns();
    if (s->phase[0])
        chokepoint_write_(CHOKEPOINT_MARK_PHASE_END, s->phase, s->phase_start_ns,
                          now - s->phase_start_ns, chokepoint_last_iteration_(), 0, 0);
    chokepoint_copy_name_(s->phase, name);
    s->phase_start_ns = now;
    if (s->phase[0])
        chokepoint_write_(CHOKEPOINT_MARK_PHASE_BEGIN, s->phase, now, 0,
                          chokepoint_last_iteration_(), 0, 0);
    __atomic_store_n(&s->phase_lock, 0, __ATOMIC_RELEASE);
}

/* Starts the clock of this thread's loop, e.g. after a test between two iterations. */
static inline void chokepoint_iteration_begin(void) {
    if (chokepoint_listening())
        chokepoint_loop_ns_ = chokepoint_now_ns();
}

/* Ends iteration `number` of this thread's loop, which began at the previous mark or at its
 * begin. */
static inline void chokepoint_iteration(int64_t number) {
    if (!chokepoint_listening())
        return;
    int64_t now = chokepoint_now_ns(), start = chokepoint_loop_ns_ ? chokepoint_loop_ns_ : now;
    chokepoint_loop_ns_ = now;
    __atomic_store_n(&chokepoint_state_.iteration, number + 1, __ATOMIC_RELAXED);
    chokepoint_write_(CHOKEPOINT_MARK_ITERATION, "", start, now - start, number, 0, 0);
}

/* Marks one operator: start_ns from chokepoint_now_ns(); the caller defines output_size_bytes. */
static inline void chokepoint_operator(const char *name, int64_t output_size_bytes,
                                       int64_t start_ns, int64_t duration_ns) {
    if (chokepoint_listening())
        chokepoint_write_(CHOKEPOINT_MARK_OPERATOR, name, start_ns, duration_ns,
                          chokepoint_last_iteration_(), 0, output_size_bytes);
}

/* Resolution 1e-9, range +-9.2e9; larger values saturate. The value belongs to the last marked
 * iteration. */
static inline void chokepoint_value(const char *name, double value) {
    if (!chokepoint_listening())
        return;
    double nano = value * 1e9;
    int64_t kept = nano >= 9.2e18    ? INT64_MAX
                   : nano <= -9.2e18 ? -INT64_MAX
                   : nano != nano    ? CHOKEPOINT_MARK_NAN
                                     : (int64_t)(nano < 0 ? nano - 0.5 : nano + 0.5);
    chokepoint_write_(CHOKEPOINT_MARK_VALUE, name, chokepoint_now_ns(), 0,
                      chokepoint_last_iteration_(), kept, 0);
}

#ifdef __cplusplus
}
#endif
#endif
