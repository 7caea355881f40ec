/* SPDX-License-Identifier: MIT */
/* Memory as the programs in the kernel write it, made by a test, and probes that read it. */
#ifndef CHOKEPOINT_TESTS_UNIT_WAIT_TEST_H
#define CHOKEPOINT_TESTS_UNIT_WAIT_TEST_H

#include "tests/unit/probe_test.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "agent/probes/wait/wait_watch.h"

#define TICK_NS UINT64_C(10000000)

/* Memory of a source that does not exist, and two probes on it. */
struct made {
    struct harness wait, socket;
    struct wait_watch *watch;
    int notes;
    char note[256];
};

static inline void take_note(void *ctx, enum note_level level, const char *subject,
                             const char *text) {
    struct made *m = ctx;
    (void)level;
    m->notes++;
    snprintf(m->note, sizeof m->note, "%s: %s", subject, text);
}

static inline void open_on(struct made *m, struct harness *h, const struct probe *probe) {
    assert_int_equal(harness_init(h, "", SCOPE_HOST), 0);
    h->env.run_token_id = "r";
    h->env.ticks_per_s = 100;
    h->env.waits = m->watch;
    h->env.note = take_note;
    h->env.note_ctx = m;
    assert_int_equal(harness_open(h, probe), 0);
}

static inline struct made *make(void) {
    struct made *m = calloc(1, sizeof *m);
    m->watch = calloc(1, sizeof *m->watch);
    m->watch->memory =
        (struct wait_memory){.threads = calloc(WAIT_THREADS, sizeof(struct wait_thread)),
                             .processes = calloc(WAIT_PROCESSES, sizeof(struct wait_process)),
                             .sockets = calloc(WAIT_SOCKETS, sizeof(struct wait_socket)),
                             .totals = calloc(1, sizeof(struct wait_totals)),
                             .paces = calloc(WAIT_CORES, sizeof(struct wait_pace)),
                             .has_sockets = true};
    m->watch->is_open = true;
    open_on(m, &m->wait, &probe_wait);
    open_on(m, &m->socket, &probe_socket_wait);
    return m;
}

static inline void unmake(struct made *m) {
    free(m->watch->memory.threads);
    free(m->watch->memory.processes);
    free(m->watch->memory.sockets);
    free(m->watch->memory.totals);
    free(m->watch->memory.paces);
    harness_close(&m->socket);
    harness_close(&m->wait);
    free(m->watch);
    free(m);
}

static inline struct wait_thread *thread(struct made *m, size_t slot, uint32_t tgid, uint32_t state,
                                         int64_t since_ns) {
    struct wait_thread *t = &m->watch->memory.threads[slot];
    if (m->watch->memory.totals->next_thread <= slot)
        m->watch->memory.totals->next_thread = (uint32_t)slot + 1;
    *t = (struct wait_thread){.slot = WAIT_LIVE,
                              .tgid = tgid,
                              .state = state,
                              .start_ns = 500 * TICK_NS,
                              .since_ns = (uint64_t)since_ns};
    return t;
}

static inline struct wait_process *process(struct made *m, size_t slot, uint32_t tgid,
                                           int64_t joined_ns) {
    struct wait_process *p = &m->watch->memory.processes[slot];
    if (m->watch->memory.totals->next_process <= slot)
        m->watch->memory.totals->next_process = (uint32_t)slot + 1;
    *p = (struct wait_process){.slot = WAIT_LIVE,
                               .tgid = tgid,
                               .counts = WAIT_ONE_THREAD,
                               .start_ns = 500 * TICK_NS,
                               .joined_ns = (uint64_t)joined_ns,
                               .gap_since_ns = (uint64_t)joined_ns,
                               .last_state = WAIT_PIPE};
    return p;
}

static inline struct wait_socket *socket_slot(struct made *m, size_t slot, uint32_t tgid,
                                              uint64_t cookie) {
    struct wait_socket *s = &m->watch->memory.sockets[slot];
    if (m->watch->memory.totals->next_socket <= slot)
        m->watch->memory.totals->next_socket = (uint32_t)slot + 1;
    *s = (struct wait_socket){.slot = WAIT_LIVE,
                              .tgid = tgid,
                              .cookie = cookie,
                              .family = AF_INET,
                              .local_port = 5000,
                              .remote_port = 80,
                              .local = {10, 0, 0, 1},
                              .remote = {10, 0, 0, 2}};
    return s;
}
#define CONNECTION "10.0.0.1:5000>10.0.0.2:80"

/* Lists these processes, as a scan of the process probe would. */
static inline void list(struct made *m, const struct job_process *processes, size_t n) {
    for (size_t i = 0; i < n; i++)
        job_set(&m->wait.job, i, &processes[i]);
    job_end(&m->wait.job, n);
}
#define WORKER                                                                                     \
    { .pid = 7, .rank = 3, .born = 500, .name = "worker[7]" }

static inline void sample(struct made *m, int64_t mono_ns) {
    assert_int_equal(harness_sample_at(&m->wait, mono_ns), 0);
    assert_int_equal(harness_sample_at(&m->socket, mono_ns), 0);
}

static inline struct made *with_worker(uint32_t state, int64_t since_ns) {
    struct made *m = make();
    list(m, (struct job_process[]){WORKER}, 1);
    thread(m, 0, 7, state, since_ns);
    return m;
}

#endif
