/* SPDX-License-Identifier: MIT */
#include "analysis/facts/recording/recording.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/error.h"

static const char *const cpu_columns[] = {"user_ns",   "nice_ns", "system_ns",  "idle_ns",
                                          "iowait_ns", "irq_ns",  "softirq_ns", "steal_ns"};
static const char *const memory_columns[] = {"total_bytes", "available_bytes", "swap_total_bytes",
                                             "swap_free_bytes"};
static const char *const vmstat_columns[] = {"swap_in_bytes", "swap_out_bytes", "refault_bytes",
                                             "reclaim_direct_bytes", "oom_kills"};
static const char *const disk_columns[] = {"read_bytes", "write_bytes", "busy_ns"};
static const char *const net_columns[] = {"receive_bytes", "send_bytes", "speed_bytes_per_s",
                                          "network"};
static const char *const psi_columns[] = {"some_ns", "full_ns"};
static const char *const process_columns[] = {
    "pid",          "rank",        "job",        "rss_bytes",   "user_ns",     "system_ns",
    "run_queue_ns", "block_io_ns", "read_bytes", "write_bytes", "start_ns",    "major_faults",
    "threads",      "parent",      "stopped_ns", "unseen_ns",   "children_ns", "peak_rss_bytes",
    "gpu"};
static const char *const self_columns[] = {"cpu_ns",       "samples",   "failures",
                                           "dropped_rows", "rss_bytes", "late_ns"};

static const char *const mpi_columns[] = {
    "pid",    "rank",        "inside_ns",  "measured_ns",    "cpu_ns",
    "events", "lost_events", "sent_bytes", "received_bytes", "unsized"};
static const char *const rank_columns[] = {"pid",         "run_ns",       "run_queue_ns",
                                           "block_io_ns", "major_faults", "longest_run_ns",
                                           "rss_bytes",   "stopped_ns"};
static const char *const cgroup_columns[] = {"throttled_ns",
                                             "quota_ns",
                                             "period_ns",
                                             "memory_bytes",
                                             "memory_limit_bytes",
                                             "memory_limit_hits",
                                             "read_bytes",
                                             "write_bytes",
                                             "read_limit_bytes_per_s",
                                             "cpu_ns",
                                             "periods",
                                             "throttled_periods"};
static const char *const connection_columns[] = {"pid",
                                                 "busy_ns",
                                                 "rwnd_limited_ns",
                                                 "sndbuf_limited_ns",
                                                 "send_bytes",
                                                 "rtt_ns",
                                                 "min_rtt_ns",
                                                 "delivery_rate_bytes_per_s",
                                                 "send_buffer_bytes",
                                                 "receive_buffer_bytes",
                                                 "send_segments",
                                                 "receive_bytes"};
static const char *const qdisc_columns[] = {"send_bytes", "send_packets",  "drops",
                                            "overlimits", "backlog_bytes", "rate_bytes_per_s"};
static const char *const nfs_columns[] = {"operations",    "retransmissions", "send_bytes",
                                          "receive_bytes", "queue_ns",        "rtt_ns",
                                          "execute_ns"};
static const char *const filesystem_columns[] = {"size_bytes", "free_bytes", "available_bytes"};
static const char *const load_columns[] = {
    "load_1_nano", "load_5_nano", "load_15_nano", "uptime_ns", "running",
    "sleeping",    "waiting",     "stopped",      "zombie",    "other"};
static const char *const wait_columns[] = {"pid",
                                           "process_run_ns",
                                           "process_runnable_ns",
                                           "process_socket_receive_ns",
                                           "process_socket_send_ns",
                                           "process_connect_ns",
                                           "process_accept_ns",
                                           "process_poll_ns",
                                           "process_futex_ns",
                                           "process_pipe_ns",
                                           "process_unix_ns",
                                           "process_disk_ns",
                                           "process_fault_ns",
                                           "process_kernel_ns",
                                           "process_timer_ns",
                                           "process_child_ns",
                                           "process_stopped_ns",
                                           "process_other_ns",
                                           "process_unclocked_ns"};
static const char *const socket_wait_columns[] = {"pid",
                                                  "starved_ns",
                                                  "unread_ns",
                                                  "send_blocked_ns",
                                                  "reads",
                                                  "process_starved_ns",
                                                  "process_send_blocked_ns"};
static const char *const wakeup_columns[] = {"pid", "waker_pid", "reason", "wait_ns",
                                             "process_wait_ns"};

#define COLUMNS(list) list, ARRAY_SIZE(list)
#define BIT(column) (UINT64_C(1) << (column))

const struct recording_columns recording_columns[RECORDING_COUNT_] = {
    [RECORDING_CPU] = {"cpu", COLUMNS(cpu_columns)},
    [RECORDING_MEMORY] = {"memory", COLUMNS(memory_columns), 0xf},
    [RECORDING_VMSTAT] = {"vmstat", COLUMNS(vmstat_columns)},
    [RECORDING_DISK] = {"disk", COLUMNS(disk_columns)},
    [RECORDING_NET] = {"net", COLUMNS(net_columns), BIT(NET_SPEED) | BIT(NET_NETWORK)},
    [RECORDING_PSI] = {"psi", COLUMNS(psi_columns)},
    [RECORDING_PROCESS] = {"process", COLUMNS(process_columns),
                           BIT(PROCESS_PID) | BIT(PROCESS_RANK) | BIT(PROCESS_JOB) |
                               BIT(PROCESS_RSS) | BIT(PROCESS_PEAK_RSS) | BIT(PROCESS_START) |
                               BIT(PROCESS_THREADS) | BIT(PROCESS_PARENT) | BIT(PROCESS_GPU)},
    [RECORDING_SELF] = {"self", COLUMNS(self_columns), BIT(SELF_RSS) | BIT(SELF_LATE)},
    [RECORDING_MPI] = {"mpi", COLUMNS(mpi_columns), BIT(MPI_PID) | BIT(MPI_RANK)},
    [RECORDING_RANK] = {"rank", COLUMNS(rank_columns), BIT(RANK_PID) | BIT(RANK_RSS)},
    [RECORDING_CGROUP] = {"cgroup", COLUMNS(cgroup_columns),
                          BIT(CGROUP_QUOTA) | BIT(CGROUP_PERIOD) | BIT(CGROUP_MEMORY) |
                              BIT(CGROUP_MEMORY_LIMIT) | BIT(CGROUP_READ_LIMIT)},
    [RECORDING_CONNECTION] = {"connection", COLUMNS(connection_columns),
                              BIT(CONNECTION_PID) | BIT(CONNECTION_RTT) | BIT(CONNECTION_MIN_RTT) |
                                  BIT(CONNECTION_DELIVERY_RATE) | BIT(CONNECTION_SEND_ROOM) |
                                  BIT(CONNECTION_RECEIVE_ROOM)},
    [RECORDING_QDISC] = {"qdisc", COLUMNS(qdisc_columns), BIT(QDISC_BACKLOG) | BIT(QDISC_RATE)},
    [RECORDING_NFS] = {"nfs", COLUMNS(nfs_columns)},
    [RECORDING_FILESYSTEM] = {"filesystem", COLUMNS(filesystem_columns), 0x7},
    [RECORDING_LOAD] = {"load", COLUMNS(load_columns), 0x3ff},
    [RECORDING_WAIT] = {"wait", COLUMNS(wait_columns), BIT(WAIT_PID)},
    [RECORDING_SOCKET_WAIT] = {"socket_wait", COLUMNS(socket_wait_columns), BIT(SOCKET_WAIT_PID)},
    [RECORDING_WAKEUP] = {"wakeup", COLUMNS(wakeup_columns),
                          BIT(WAKEUP_PID) | BIT(WAKEUP_WAKER) | BIT(WAKEUP_REASON)},
};

_Static_assert(ARRAY_SIZE(wait_columns) <= RECORDING_COLUMNS_MAX, "room for a row");

void recording_init(struct recording *recording) {
    *recording = (struct recording){.exit_status = -1};
    for (size_t i = 0; i < RECORDING_COUNT_; i++)
        recording->tables[i] = (struct series_set){.n_columns = recording_columns[i].n,
                                                   .levels = recording_columns[i].levels};
}

int64_t recording_step_ns(uint64_t n, uint64_t max, int64_t period_ns) {
    static const int64_t digits[] = {2, 5, 10};
    if (n <= max || period_ns <= 0)
        return 0;
    for (int64_t ten = 1; ten < 1000000; ten *= 10)
        for (size_t i = 0; i < ARRAY_SIZE(digits); i++)
            if (n / (uint64_t)(digits[i] * ten) <= max)
                return digits[i] * ten * period_ns;
    return 10 * NS_PER_S;
}

void recording_release(struct recording *recording) {
    for (size_t i = 0; i < RECORDING_COUNT_; i++)
        series_set_release(&recording->tables[i]);
    for (size_t i = 0; i < recording->n_hosts; i++)
        free(recording->hosts[i]);
    free(recording->hosts);
    free(recording->marks);
    free(recording->clock_bound_ns);
    free(recording->machines);
    mpi_log_release(&recording->calls);
    free(recording->ceilings);
    recording_init(recording);
}

int recording_add_mark(struct recording *recording, const struct mark *mark) {
    if (recording->n_marks == recording->marks_capacity) {
        size_t capacity = recording->marks_capacity ? 2 * recording->marks_capacity : 64;
        struct mark *marks = realloc(recording->marks, capacity * sizeof *marks);
        if (!marks)
            return -ENOMEM;
        recording->marks = marks;
        recording->marks_capacity = capacity;
    }
    recording->marks[recording->n_marks++] = *mark;
    return 0;
}

int recording_add_ceiling(struct recording *recording, int host, enum metric metric, double value) {
    size_t n = recording->n_hosts * METRIC_COUNT_;
    if (!recording->ceilings) {
        recording->ceilings = calloc(n, sizeof *recording->ceilings);
        if (!recording->ceilings)
            return -ENOMEM;
        for (size_t i = 0; i < n; i++)
            recording->ceilings[i] = NAN;
    }
    double *ceiling = &recording->ceilings[(size_t)host * METRIC_COUNT_ + metric];
    *ceiling = fmax(*ceiling, value); /* fmax ignores NAN */
    return 0;
}

double recording_ceiling(const struct recording *recording, int host, enum metric metric) {
    return recording->ceilings ? recording->ceilings[(size_t)host * METRIC_COUNT_ + metric] : NAN;
}
