/* SPDX-License-Identifier: MIT */
/*
 * Threads of a runtime that do nothing but collect garbage, told by the names that the runtime
 * gives them. Names that stand for other work as well are left out: the "VM Thread" of a JVM, which
 * collects with the serial collector, and the workers of V8. Go names no threads.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/probes/process/process_private.h"
#include "common/error.h"
#include "common/text.h"

#define LOOKS 4 /* readings of a name: a thread may get its name after its start */

bool process_collector_name(struct span name) {
    static const char *const begins[] = {
        "GC Thread#",      /* HotSpot: parallel phases of G1 and of the parallel collector */
        "G1 ",             /* HotSpot: "G1 Conc#0", "G1 Refine#0", "G1 Service" */
        "GC task thread#", /* HotSpot before version 10 */
        "ZWorker",         /* HotSpot: ZGC, "ZWorkerYoung#0" too */
        "ZDriver",
        "Shenandoah", /* HotSpot: "Shenandoah GC T", "Shenandoah Cont" */
        "GC Worker",  /* OpenJ9 */
        "GC Slave",   /* OpenJ9 before version 0.22 */
        ".NET Server GC",
        ".NET BGC",
    };
    for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
        if (span_starts(name, begins[i]))
            return true;
    return false;
}

void process_look_for_collector(const struct processes *all, struct thread *thread, int32_t tid) {
    char path[64], name[32];
    if (tid == thread->pid || thread->name_looks >= LOOKS || thread->collects)
        return;
    thread->name_looks++;
    snprintf(path, sizeof path, "%d/task/%d/comm", thread->pid, tid);
    int n = file_read_small(all->proc_fd, path, name, sizeof name);
    thread->collects = n > 0 && process_collector_name((struct span){name, (size_t)n});
}
