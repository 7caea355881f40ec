/* SPDX-License-Identifier: MIT */
/*
 * Opens the file once a process, at its first MPI call, or when another library that is recorded
 * begins. Without a listener, room, or a known MPI the shim only forwards calls; if there is a
 * listener, the target of a link "<pid>.why" is the
 * reason, as a link needs no room for data. A child after fork() only forwards, too; MPI forbids it
 * to call MPI.
 */
#include "agent/mark/chokepoint.h"
#include "agent/shim/shim.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

__thread struct thread shim_thread;
struct call_file_header *shim_file;
int shim_mode;
bool shim_is_shared;

static int file_mode; /* enum shim_mode; the file serves MPI and other libraries */
static uint32_t n_threads;
static pthread_key_t store_key;
static bool has_store_key;

/* common/mpi_library.c searches the file for this text. */
__attribute__((used)) static const char version[] = "chokepoint-mpi " CHOKEPOINT_VERSION;

/* A program built with AddressSanitizer refuses to start behind a preloaded library unless this
 * function allows it; a program may define its own.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
const char *__asan_default_options(void) {
    return "verify_asan_link_order=0";
}

/* ---- the file ---- */

/* The absolute path of the file; "" if it cannot be found: then the reader is not woken. */
static char file_path[PATH_MAX];

static void note_path(int dir, const char *name) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    ssize_t n = readlink(link, file_path, sizeof file_path);
    if (n <= 0 || (size_t)n + strlen(name) + 2 > sizeof file_path)
        n = 0;
    else
        n += snprintf(file_path + n, sizeof file_path - (size_t)n, "/%s", name);
    file_path[n] = '\0';
}

/* The reader watches the directory (inotify): a change of the file's times wakes it. The file is
 * named by path: the program may close a descriptor, and its number may become another file. */
bool shim_call_reader(void) {
    int saved_errno = errno;
    bool called = file_path[0] && utimensat(AT_FDCWD, file_path, NULL, AT_SYMLINK_NOFOLLOW) == 0;
    errno = saved_errno;
    return called;
}

int shim_reopen(void) {
    return file_path[0] ? open(file_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
}

/* If the name is taken, an earlier program of this process (exec) or an earlier process with this
 * pid made it. */
static int create(int dir, pid_t pid, char *name, size_t size) {
    int fd = -1;
    for (int i = 0; i < 10 && fd < 0; i++) {
        snprintf(name, size, i ? "%ld-%d.calls" : "%ld.calls", (long)pid, i);
        fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

#define TICK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define RESERVE_TRIES 100

/* posix_fallocate, not ftruncate: a full /dev/shm must be an error here, not a SIGBUS later. A
 * signal interrupts it in tmpfs (before Linux 6.11), and programs with timers get many. */
int shim_reserve(int fd, uint64_t size) {
    int r = EINTR;
    for (int i = 0; i < RESERVE_TRIES && r == EINTR; i++)
        r = posix_fallocate(fd, 0, (off_t)size);
    return r;
}

/* Maps the ring at its largest; only what is reserved may be touched. NULL with errno. */
static struct call_file_header *map(int dir, pid_t pid) {
    char name[40];
    int fd = create(dir, pid, name, sizeof name);
    if (fd < 0)
        return NULL;
    void *file = MAP_FAILED;
    int error = shim_reserve(fd, CALL_FILE_BYTES);
    if (!error) {
        file = mmap(NULL, CALL_FILE_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = errno;
    }
    close(fd);
    if (file == MAP_FAILED)
        unlinkat(dir, name, 0);
    else
        note_path(dir, name);
    errno = error;
    return file == MAP_FAILED ? NULL : file;
}

static void leave_reason(int dir, pid_t pid, const char *what, const char *reason) {
    char name[40], text[CALL_FILE_WHY_MAX + 1];
    snprintf(name, sizeof name, "%ld.why", (long)pid);
    snprintf(text, sizeof text, "%s%s", what, reason);
    (void)!symlinkat(text, dir, name);
}

void shim_leave_reason(const char *what, const char *reason) {
    int dir = chokepoint_directory_();
    if (dir < 0)
        return;
    leave_reason(dir, getpid(), what, reason);
    close(dir);
}

static void fill_header(struct call_file_header *h, pid_t pid) {
    h->version = CALL_FILE_VERSION;
    h->record_bytes = (uint32_t)sizeof(struct call_record);
    shim_ring_begin(h);
    h->n_functions = CALL_COUNT;
    h->table_hash = CALL_TABLE_HASH;
    h->pid = (int32_t)pid;
    h->rank = chokepoint_rank_();
    h->world_size = -1;
    h->thread_level = -1;
    h->opened_ns = tick_clock_ask(&shim_thread.clock);
    h->calls_reader = shim_call_reader(); /* whether the reader can be woken */
    __atomic_store_n(&h->magic, CALL_FILE_MAGIC, __ATOMIC_RELEASE);
    shim_call_reader(); /* wakes the reader for the first time */
}

static void stop_in_child(void) {
    shim_mode = file_mode = SHIM_OFF;
    shim_file = NULL;
}

/* Looked up by name: pthread_atfork() of glibc links to a symbol that other C libraries lack, and
 * they would refuse to load the shim. */
static void watch_forks(void) {
    int (*register_)(void (*)(void), void (*)(void), void (*)(void), void *) =
        (int (*)(void (*)(void), void (*)(void), void (*)(void), void *))dlsym(RTLD_DEFAULT,
                                                                               "__register_atfork");
    if (!register_)
        register_ = (int (*)(void (*)(void), void (*)(void), void (*)(void), void *))dlsym(
            RTLD_DEFAULT, "pthread_atfork"); /* takes one argument less; the extra one is ignored */
    if (register_)
        register_(NULL, NULL, stop_in_child, NULL);
}

/* A thread ends: later calls by its other destructors are not recorded. */
static void end_thread(void *store) {
    shim_thread.inside = true;
    munmap(store, sizeof(struct thread_store));
}

static bool create_file(void) {
    int dir = chokepoint_directory_();
    pid_t pid = getpid();
    if (dir < 0)
        return false;
    struct call_file_header *file = map(dir, pid);
    if (!file)
        leave_reason(dir, pid, "no file for it: ", strerror(errno));
    close(dir);
    if (!file)
        return false;
    tick_open(TICK_SOURCE);
    has_store_key = pthread_key_create(&store_key, end_thread) == 0;
    fill_header(file, pid);
    watch_forks();
    shim_file = file;
    return true;
}

/* One thread opens; another one that calls meanwhile does not wait, and is not recorded. */
static bool begin_opening(int *mode, int *ret_mode) {
    *ret_mode = SHIM_UNKNOWN;
    return __atomic_compare_exchange_n(mode, ret_mode, SHIM_OPENING, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static int open_file(void) {
    int mode;
    if (begin_opening(&file_mode, &mode)) {
        mode = create_file() ? SHIM_ON : SHIM_OFF;
        __atomic_store_n(&file_mode, mode, __ATOMIC_RELEASE);
    }
    return mode;
}

/* Opens the file if this MPI can be recorded. Returns the mode of its calls. */
static int open_for_mpi(void) {
    const char *lacks = shim_interface_of_process()->find_mpi();
    if (!lacks)
        return open_file();
    shim_leave_reason("its MPI has no ", lacks);
    return SHIM_OFF;
}

bool shim_open(void) {
    int mode, saved_errno = errno;
    if (!begin_opening(&shim_mode, &mode))
        return mode == SHIM_ON;
    mode = open_for_mpi();
    errno = saved_errno;
    /* another library's thread may be opening it: the next call asks again */
    __atomic_store_n(&shim_mode, mode == SHIM_OPENING ? SHIM_UNKNOWN : mode, __ATOMIC_RELEASE);
    return mode == SHIM_ON;
}

int shim_open_shared(void) {
    int saved_errno = errno, mode = open_file();
    errno = saved_errno;
    if (mode != SHIM_ON)
        return mode == SHIM_OPENING ? 0 : -1;
    shim_is_shared = true;
    shim_file->thread_level = CALL_FILE_THREAD_MULTIPLE;
    return 1;
}

uint32_t shim_thread_number(void) {
    return __atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED);
}

static void begin_thread(struct thread *thread, struct thread_store *store) {
    uint32_t number = shim_thread_number();
    thread->known = true;
    thread->store = store;
    thread->handles = store->few;
    thread->room = SHIM_HANDLES;
    thread->number = shim_thread_shown(number);
    if (number >= CALL_FILE_THREADS)
        return;
    thread->now = &shim_file->now[number];
    thread->now->thread_id = (uint32_t)syscall(SYS_gettid);
}

bool shim_thread_begin(struct thread *thread) {
    int saved_errno = errno;
    void *store = mmap(NULL, sizeof(struct thread_store), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool is_there = store != MAP_FAILED;
    if (is_there && has_store_key)
        pthread_setspecific(store_key, store);
    if (is_there)
        begin_thread(thread, store);
    errno = saved_errno;
    return is_there;
}

/* Mapped and not allocated: the caller may be an allocator inside MPI. Kept until the process
 * ends. */
void shim_more_handles(struct thread *thread, int n) {
    int room = thread->room;
    while (room < n && room < INT32_MAX / 2)
        room *= 2;
    void *map = mmap(NULL, (size_t)room * sizeof *thread->handles, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return;
    if (thread->handles != thread->store->few)
        munmap(thread->handles, (size_t)thread->room * sizeof *thread->handles);
    thread->handles = map;
    thread->room = room;
}
