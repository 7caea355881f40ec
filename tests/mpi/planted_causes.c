/* SPDX-License-Identifier: MIT */
/*
 * planted_causes ITERATIONS OPTIONS...: two ranks that meet in a barrier every iteration; what
 * rank 1 does before is planted:
 *
 *     --compute MS      both ranks use so much CPU time (by the clock of the thread)
 *     --skew FACTOR     rank 1 so many times as much
 *     --sleep MS        rank 1 sleeps
 *     --read FILE BYTES rank 1 reads so much, past the page cache
 *     --touch FILE      rank 1 maps the file and touches every page of it, once around
 *     --send BYTES      rank 1 sends so much to rank 0
 *     --nap MS          rank 0 receives it with naps between polls
 *     --threads N MS    in rank 1 N threads use so much CPU time each, and the first waits for them
 *     --write FILE BYTES rank 1 writes so much through MPI, and has it on the disk
 *     --stop MS         rank 1 is stopped by a signal for so long
 *
 * Only what happens in the phase "work" counts: start and end of the ranks are not in it. Each rank
 * ends with a line "known RANK NAME NS" for each of its own measurements in EXPECT.RANK: its own
 * clocks around what was planted, so nothing that a profiler reads, too.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/mark/chokepoint.h"
#include "tests/mpi/expect.h"

#define READ_BYTES (1 << 20)

static int rank;
static struct {
    int iterations, compute_ms, sleep_ms, nap_ms, threads, thread_ms, stop_ms;
    double skew;
    const char *read_file, *touch_file, *write_file;
    long read_bytes, send_bytes, write_bytes;
} plan = {.skew = 1};

static struct {
    long long wall, compute_cpu, compute_away, slept, io_cpu, io_away, sending, napped;
    long long joined, writing, stopped;
} known; /* ns */

static long long cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void refuse(const char *what) {
    fprintf(stderr, "planted_causes: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* ---- what is planted ---- */

static volatile double sink;

/* Runs until the thread has used that much CPU time; returns how much it used. */
static long long spin(long long amount_ns) {
    long long cpu = cpu_ns();
    while (cpu_ns() - cpu < amount_ns)
        for (int i = 0; i < 10000; i++)
            sink = sink * 0.999 + i;
    return cpu_ns() - cpu;
}

static void compute(long long amount_ns) {
    long long start_ns = clock_ns(), cpu = spin(amount_ns);
    known.compute_cpu += cpu;
    known.compute_away += clock_ns() - start_ns - cpu;
}

static void nap(int ms, long long *sum) {
    long long start_ns = clock_ns();
    sleep_ms(ms);
    *sum += clock_ns() - start_ns;
}

static void read_past_cache(void) {
    static void *buffer;
    int fd = open(plan.read_file, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0 || (!buffer && posix_memalign(&buffer, 4096, READ_BYTES) != 0))
        refuse("cannot read the file past the page cache");
    for (long done = 0; done < plan.read_bytes; done += READ_BYTES)
        if (pread(fd, buffer, READ_BYTES, done) != READ_BYTES)
            refuse("the file is too short");
    close(fd);
}

static void touch_pages(void) {
    static const volatile char *pages;
    static long size;
    if (!pages) {
        int fd = open(plan.touch_file, O_RDONLY | O_CLOEXEC);
        size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END); /* also the size of a disk */
        if (size <= 0)
            refuse("cannot open the file to touch");
        pages = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
        if (pages == MAP_FAILED)
            refuse("cannot map the file to touch");
        close(fd);
    }
    for (long i = 0; i < size; i += 4096)
        sink += pages[i];
}

static void io(void (*act)(void)) {
    long long cpu = cpu_ns(), start_ns = clock_ns();
    act();
    cpu = cpu_ns() - cpu;
    known.io_cpu += cpu;
    known.io_away += clock_ns() - start_ns - cpu;
}

static void *spin_in_thread(void *unused) {
    spin(plan.thread_ms * 1000000LL);
    return unused;
}

static void join_threads(void) {
    pthread_t threads[64];
    long long start_ns = clock_ns();
    for (int i = 0; i < plan.threads; i++)
        if (pthread_create(&threads[i], NULL, spin_in_thread, NULL) != 0)
            refuse("cannot start a thread");
    for (int i = 0; i < plan.threads; i++)
        pthread_join(threads[i], NULL);
    known.joined += clock_ns() - start_ns;
}

static void write_file(void) {
    static MPI_File file;
    static char *bytes;
    if (!bytes) {
        bytes = calloc(1, (size_t)plan.write_bytes);
        if (!bytes ||
            MPI_File_open(MPI_COMM_SELF, plan.write_file, MPI_MODE_CREATE | MPI_MODE_WRONLY,
                          MPI_INFO_NULL, &file) != MPI_SUCCESS)
            refuse("cannot open the file to write");
    }
    long long start_ns = clock_ns();
    MPI_File_write_at(file, 0, bytes, (int)plan.write_bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    known.writing += clock_ns() - start_ns;
}

/* A child, forked before MPI starts: for each byte it stops its parent, and continues it. */
static int stopper = -1;

static void begin_stopper(void) {
    int ends[2];
    char byte;
    pid_t parent = getpid();
    if (pipe(ends) != 0)
        exit(2);
    if (fork() == 0) {
        close(ends[1]);
        while (read(ends[0], &byte, 1) == 1) {
            kill(parent, SIGSTOP);
            sleep_ms(plan.stop_ms);
            kill(parent, SIGCONT);
        }
        _exit(0);
    }
    close(ends[0]);
    stopper = ends[1];
}

/* A stop shows as a jump of the clock. */
static void be_stopped(void) {
    long long before_ns = clock_ns(), now_ns;
    if (write(stopper, "", 1) != 1)
        refuse("nobody to stop us");
    while ((now_ns = clock_ns()) - before_ns < plan.stop_ms * 900000LL)
        before_ns = now_ns;
    known.stopped += now_ns - before_ns;
}

static void send_message(const char *message) {
    long long start_ns = clock_ns();
    MPI_Send(message, (int)plan.send_bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    known.sending += clock_ns() - start_ns;
}

static void receive_message(char *message) {
    MPI_Request request;
    int done = 0;
    MPI_Irecv(message, (int)plan.send_bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    while (plan.nap_ms && !done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nap(plan.nap_ms, &known.napped);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- iterations ---- */

static void iterate(char *message) {
    if (plan.compute_ms)
        compute((long long)(plan.compute_ms * 1e6 * (rank == 1 ? plan.skew : 1)));
    if (plan.sleep_ms && rank == 1)
        nap(plan.sleep_ms, &known.slept);
    if (plan.read_file && rank == 1)
        io(read_past_cache);
    if (plan.touch_file && rank == 1)
        io(touch_pages);
    if (plan.threads && rank == 1)
        join_threads();
    if (plan.write_file && rank == 1)
        write_file();
    if (plan.stop_ms && rank == 1)
        be_stopped();
    if (plan.send_bytes && rank == 1)
        send_message(message);
    if (plan.send_bytes && rank == 0)
        receive_message(message);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void work(void) {
    char *message = plan.send_bytes ? calloc(1, (size_t)plan.send_bytes) : NULL;
    if (plan.send_bytes && !message)
        refuse("no memory for the message");
    if (plan.touch_file && rank == 1)
        touch_pages(); /* the first round reads the file, whatever the limit */
    MPI_Barrier(MPI_COMM_WORLD);
    long long start_ns = clock_ns();
    chokepoint_phase("work");
    for (int i = 0; i < plan.iterations; i++)
        iterate(message);
    chokepoint_phase("end");
    known.wall = clock_ns() - start_ns;
    free(message);
}

static int write_known(void) {
    FILE *f = expect_file(rank);
    if (!f)
        return -1;
    fprintf(f, "known %d wall %lld\n", rank, known.wall);
    fprintf(f, "known %d compute_cpu %lld\n", rank, known.compute_cpu);
    fprintf(f, "known %d compute_away %lld\n", rank, known.compute_away);
    fprintf(f, "known %d slept %lld\n", rank, known.slept);
    fprintf(f, "known %d io_cpu %lld\n", rank, known.io_cpu);
    fprintf(f, "known %d io_away %lld\n", rank, known.io_away);
    fprintf(f, "known %d sending %lld\n", rank, known.sending);
    fprintf(f, "known %d napped %lld\n", rank, known.napped);
    fprintf(f, "known %d joined %lld\n", rank, known.joined);
    fprintf(f, "known %d writing %lld\n", rank, known.writing);
    fprintf(f, "known %d stopped %lld\n", rank, known.stopped);
    return fclose(f);
}

/* ---- command line ---- */

/* The number of words that the option took; 0 if it is no option. */
static int parse_option(char **words, int n) {
    const char *option = words[0];
    if (n < 2)
        return 0;
    if (strcmp(option, "--compute") == 0)
        plan.compute_ms = atoi(words[1]);
    else if (strcmp(option, "--skew") == 0)
        plan.skew = atof(words[1]);
    else if (strcmp(option, "--sleep") == 0)
        plan.sleep_ms = atoi(words[1]);
    else if (strcmp(option, "--touch") == 0)
        plan.touch_file = words[1];
    else if (strcmp(option, "--send") == 0)
        plan.send_bytes = atol(words[1]);
    else if (strcmp(option, "--nap") == 0)
        plan.nap_ms = atoi(words[1]);
    else if (strcmp(option, "--stop") == 0)
        plan.stop_ms = atoi(words[1]);
    else if (strcmp(option, "--threads") == 0 && n >= 3 && atoi(words[1]) <= 64) {
        plan.threads = atoi(words[1]);
        plan.thread_ms = atoi(words[2]);
        return 3;
    } else if (strcmp(option, "--write") == 0 && n >= 3) {
        plan.write_file = words[1];
        plan.write_bytes = atol(words[2]);
        return 3;
    } else if (strcmp(option, "--read") == 0 && n >= 3) {
        plan.read_file = words[1];
        plan.read_bytes = atol(words[2]);
        return 3;
    } else
        return 0;
    return 2;
}

int main(int argc, char **argv) {
    int size;
    bool understood = argc >= 2 && getenv("EXPECT");
    for (int i = 2, took; i < argc && understood; i += took)
        understood = (took = parse_option(argv + i, argc - i)) > 0;
    if (plan.stop_ms)
        begin_stopper();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || !understood)
        refuse("needs 2 ranks, how many iterations, $EXPECT, and options that it knows");
    plan.iterations = atoi(argv[1]);
    work();
    if (write_known() != 0)
        refuse("cannot write what is known");
    MPI_Finalize();
    return 0;
}
