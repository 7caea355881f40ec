/* SPDX-License-Identifier: MIT */
/*
 * CPU time of one sample of the process probe on a host with many processes, beside its yardstick
 * in the same run: one listing of /proc and one open, read and close of every stat.
 *
 *     bench_process_cost [PROCESSES [JOB]]     default 2000 that sleep, of which 8 are of the job
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probe_harness.h"

#include <dirent.h>
#include <fcntl.h>

#define SAMPLES 30

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void print(const char *name, int64_t ns[SAMPLES]) {
    qsort(ns, SAMPLES, sizeof *ns, compare);
    printf("%-44s %9.1f us\n", name, (double)ns[SAMPLES / 2] / 1e3);
}

static size_t read_all_stats(void) {
    DIR *dir = opendir("/proc");
    char path[300], text[2048];
    size_t n = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "%s/stat", entry->d_name);
        int fd = openat(dirfd(dir), path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        n += read(fd, text, sizeof text) > 0;
        close(fd);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* Its environment says whether it belongs to the job. */
static pid_t start(bool of_job) {
    char run[] = "CHOKEPOINT_RUN=bench", *environment[] = {of_job ? run : NULL, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execle("/bin/sleep", "sleep", "600", (char *)NULL, environment);
        _exit(127);
    }
    return pid;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 2000, of_job = argc > 2 ? atoi(argv[2]) : 8;
    if (n < 1 || n > 100000)
        return 2;
    pid_t *pids = calloc((size_t)n, sizeof *pids);
    int64_t bare[SAMPLES], probe[SAMPLES];
    static struct harness h;
    for (int i = 0; i < n; i++)
        pids[i] = start(i < of_job);
    sleep(4); /* beyond the age at which a process's membership is final */
    if (harness_init(&h, "", SCOPE_HOST) < 0)
        return 1;
    h.env.run_token_id = "bench";
    if (harness_open(&h, &probe_process) != 0)
        return 1;
    int64_t first = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    harness_sample(&h);
    first = clock_ns(CLOCK_THREAD_CPUTIME_ID) - first;
    size_t seen = 0;
    for (int i = 0; i < SAMPLES; i++) {
        usleep(100000);
        int64_t t0 = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        seen = read_all_stats();
        int64_t t1 = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        harness_sample(&h);
        probe[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t1;
        bare[i] = t1 - t0;
    }
    printf("%zu processes, threads of the kernel included; rows in the last sample: %zu\n", seen,
           h.rows.n);
    print("listing and one stat a process", bare);
    print("process probe", probe);
    printf("%-44s %9.1f us\n", "process probe, its first sample", (double)first / 1e3);
    harness_close(&h);
    for (int i = 0; i < n; i++)
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    free(pids);
    return 0;
}
