/* SPDX-License-Identifier: MIT */
/* Memory of wait clocks with any content, in several samples: slots of threads, processes and
 * sockets, totals. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <sanitizer/asan_interface.h>

#include "agent/probes/wait/wait_watch.h"
#include "tests/probe_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BEHIND 4096 /* bytes that must not be touched */

static size_t take(const uint8_t **data, size_t *size, void *to, size_t n) {
    n = n < *size ? n : *size;
    memcpy(to, *data, n);
    *data += n;
    *size -= n;
    return n;
}

/* All zeros. An input touches a few pages of its megabytes: the others need not be written. */
static struct wait_watch *fresh_watch(void) {
    static struct wait_watch *watch;
    if (watch && madvise(watch, sizeof *watch, MADV_DONTNEED) < 0)
        abort();
    if (watch)
        return watch;
    watch = mmap(NULL, sizeof *watch + BEHIND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    if (watch == MAP_FAILED)
        abort();
    ASAN_POISON_MEMORY_REGION(watch + 1, BEHIND);
    return watch;
}

/* Samples, each with a byte for the number of slots that change, then a byte for which slot, and
 * its contents.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct harness wait, socket;
    struct wait_watch *watch = fresh_watch();
    static struct wait_thread threads[WAIT_THREADS];
    static struct wait_process processes[WAIT_PROCESSES];
    static struct wait_socket sockets[WAIT_SOCKETS];
    static struct wait_totals totals;
    static struct wait_pace paces[WAIT_CORES];
    memset(threads, 0, 256 * sizeof *threads);
    memset(processes, 0, 256 * sizeof *processes);
    memset(sockets, 0, 256 * sizeof *sockets);
    memset(&totals, 0, sizeof totals);
    watch->memory = (struct wait_memory){.threads = threads,
                                         .processes = processes,
                                         .sockets = sockets,
                                         .totals = &totals,
                                         .paces = paces,
                                         .has_sockets = true};
    watch->is_open = true;
    harness_init(&wait, "", SCOPE_HOST);
    harness_init(&socket, "", SCOPE_HOST);
    wait.env.run_token_id = "r";
    wait.env.waits = socket.env.waits = watch;
    harness_open(&wait, &probe_wait);
    harness_open(&socket, &probe_socket_wait);
    for (int64_t now = 1; size > 2; now += 100000000) {
        uint8_t n = 0, slot = 0;
        struct job_process process = {.pid = 1 + data[0] % 4, .rank = -1, .born = data[1]};
        snprintf(process.name, sizeof process.name, "p[%d]", process.pid);
        job_set(&wait.job, 0, &process);
        job_end(&wait.job, 1);
        take(&data, &size, &n, 1);
        for (int i = 0; i < n % 4; i++) {
            take(&data, &size, &slot, 1);
            take(&data, &size, &threads[slot], sizeof *threads);
            take(&data, &size, &slot, 1);
            take(&data, &size, &processes[slot], sizeof *processes);
            take(&data, &size, &slot, 1);
            take(&data, &size, &sockets[slot], sizeof *sockets);
        }
        if (n & 4)
            take(&data, &size, &totals, sizeof totals);
        harness_sample_at(&wait, now);
        harness_sample_at(&socket, now);
    }
    harness_close(&socket);
    harness_close(&wait);
    return 0;
}
