/* SPDX-License-Identifier: MIT */
/* Shared by the files of the process probe: process.c, process_busy.c, process_choose.c,
 * process_class.c, process_collector.c, process_cores.c, process_exit.c, process_gpu.c,
 * process_group.c, process_keep.c, process_listen.c, process_member.c, process_rows.c,
 * process_time.c, process_watch.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_PROCESS_H
#define CHOKEPOINT_AGENT_PROBES_PROCESS_H

#include <sys/types.h>

#include "agent/base/dirents.h"
#include "agent/base/idmap.h"
#include "agent/base/probe.h"
#include "agent/base/process_files.h"
#include "agent/base/source.h"
#include "agent/probes/process/exit_record.h"
#include "agent/probes/process/process_groups.h"
#include "agent/probes/process/process_label.h"
#include "agent/probes/process/thread_ask.h"
#include "common/job_choice.h"

enum process_class {
    PROCESS_NEW,
    PROCESS_KERNEL,  /* a kernel thread: never reported */
    PROCESS_OUTSIDE, /* outside the scope: another emulated host's, or the machine's */
    PROCESS_FOREIGN, /* on this host, but not of the job */
    PROCESS_OWN,     /* of this run's profiler: never reported */
    PROCESS_MEMBER,
};

/* Sum of the exit records of a process's threads. */
struct process_end {
    bool is_whole; /* the record of its last thread is included */
    uint64_t user_us, system_us, minor_faults, major_faults, block_io_ns, peak_rss_bytes;
};

/* Counters of a process as reported; they never step back. */
struct process_totals {
    int64_t cpu_ns, user_ns, system_ns;
    int64_t run_ns, wait_ns, voluntary, involuntary; /* summed over threads */
    int64_t read_bytes, write_bytes;                 /* summed over threads, where exits are told */
    int64_t below_ns;     /* CPU time of its ended descendants that rows tell */
    int64_t unseen_ns;    /* CPU time of its ended children that no row tells */
    int64_t collector_ns; /* CPU time of threads that collect garbage */
    bool has_cpu, has_times, has_switches, has_io, has_collector;
};

/* Whether the process has mapped a GPU library. */
struct process_gpu {
    enum { GPU_UNKNOWN, GPU_NOT_SEEN, GPU_SEEN } state;
    uint64_t at, pause; /* next sample that looks for it; samples to the one after */
};

/* The cores on which its threads may run. */
struct process_cores {
    int64_t n, first;   /* n is 0 until they are known */
    uint64_t at, pause; /* next sample that looks at them; samples to the one after */
};

/* One process, known by its id and its start. */
struct process {
    uint64_t inode;      /* of its directory; identifies the process */
    uint64_t seen;       /* number of the last sample that listed it */
    uint64_t read;       /* number of the last sample that read its stat */
    uint64_t sent;       /* number of the last sample that reported it, 0: none */
    uint64_t classified; /* number of the last sample that classified it */
    enum process_class class;
    bool settled;                  /* old enough for its class to be final */
    bool born;                     /* started after this probe's first sample */
    bool left;                     /* outside the job and off the list: its last row follows */
    char label[LABEL_MAX + 1];     /* its name in rows */
    char old_label[LABEL_MAX + 1]; /* the name before a renaming, until its last row */
    uint8_t label_size;            /* 0: not made yet */
    uint8_t old_label_size;        /* 0: not renamed */
    bool label_stands;             /* its class was settled then: the label is final */
    int32_t rank;                  /* -1: none */
    enum rank_quality rank_quality, step_quality; /* of its rank, and of the step's number */
    int32_t step_rank;             /* of the step that started the run: no rank of the job */
    int32_t helps;                 /* the rank for which it works; -1: none */
    char role[ROLE_MAX + 1];       /* from its environment; empty: none */
    bool above;                    /* of the job only by ranks below it: other children are not */
    bool chosen;                   /* of the job by the user's choice, not by a mark of the run */
    bool watched;                  /* of no job, but read as if it were (process_watch.c) */
    uint64_t busy_at, rejoined;    /* number of the last sample: it was busy; it came back */
    size_t lineage_at;             /* place of its entry in the lineage, when last reported */
    bool serves;                   /* of the profiler: its parent does not become the job by it */
    bool own_session;              /* its session began inside the job */
    uint64_t group;                /* hash of its control groups; 0: not looked at */
    int64_t looked_ns, stopped_ns; /* last reading of stat; sampled time in state T or t */
    /* Growth since the last scan, plus half of the score before. */
    uint64_t cpu_score, disk_score;
    uint64_t disk_bytes; /* read and written, at the last look */
    bool has_disk;
    struct process_io io; /* as of io_run_ns; where exits are not told */
    int64_t io_run_ns;    /* run_ns when io was read; 0: never */
    bool is_kept;         /* stat_fd is open */
    int stat_fd;
    struct process_stat stat;
    struct process_totals totals;
    struct process_end end;
    struct process_gpu gpu;
    struct process_cores cores;
};

/* A thread of a process of the job: its figures at the last reading. */
struct thread {
    int32_t pid;
    uint64_t seen;
    bool collects;      /* garbage, by its name */
    uint8_t name_looks; /* how often its name was read */
    struct thread_times times;
    uint64_t asked; /* number of the sample that asked for `now` */
    struct thread_times now;
};

#define SHORT_MAX 64

/* A process that no sample saw before it ended, or one that lost a thread and is yet to be seen. */
struct unknown {
    int32_t parent;
    uint64_t told; /* number of the sample that got its record */
    char comm[COMM_MAX + 1];
    uint8_t comm_size;
    struct thread_times times;
    struct process_end end;
};

/* All processes of one name that began and ended between two samples. Counters as reported. */
struct short_lived {
    char comm[COMM_MAX + 1];
    uint8_t comm_size;
    bool has_grown; /* grew since its last row */
    bool was_sent;
    uint64_t n; /* processes */
    struct thread_times times;
    struct process_end end;
};

struct process_exits {
    bool on; /* the kernel sends records of exits */
    bool told_loss;
    struct exit_records records;
    struct idmap by_pid; /* processes that no sample saw */
    struct unknown unknown[IDMAP_CAPACITY];
    struct short_lived names[SHORT_MAX]; /* the last entry: all other names */
    size_t n_names;
};

#define LISTENERS_MAX 64

#define NAMESPACES_MAX 64

/* A network namespace other than the agent's, for example a container's. */
struct process_namespace {
    uint32_t inode;
    int32_t pid; /* a process inside, whose files list its sockets */
};

/* The user's choices that must be looked up. */
struct process_choices {
    uint32_t users[JOB_CHOICES_MAX];       /* UINT32_MAX: no such user here */
    uint64_t start_ticks[JOB_CHOICES_MAX]; /* pid=: start of the process with the id; 0: none */
    uint32_t listeners[LISTENERS_MAX];     /* inodes of listening sockets on a chosen port */
    uint8_t looks[LISTENERS_MAX];          /* how many looks for the owner of each are left */
    size_t n_listeners;
    struct process_namespace namespaces[NAMESPACES_MAX];
    size_t n_namespaces;
    bool told_missing, told_denied;
};

#define GROUPS_MAX ((size_t)8 << 10)
#define ENVIRON_MAX ((size_t)256 << 10)
#define LISTING_MAX ((size_t)32 << 10)

/* About 11 MB of zeroes. Only the part in use is touched, so it is mapped without huge pages, which
 * would make all of it resident. */
struct processes {
    int proc_fd;
    uint64_t sample; /* number of the current sample, from 1 */
    size_t n_idle, n_idle_before;
    dev_t agent_device; /* of the agent's own executable */
    ino_t agent_inode;
    uint64_t agent_group;           /* as process.group */
    int64_t boot_offset_ns;         /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
    struct source delay_accounting; /* kernel.task_delayacct */
    bool has_delays;
    struct idmap by_pid;
    struct process items[IDMAP_CAPACITY];
    struct idmap by_tid;
    struct thread threads[IDMAP_CAPACITY];
    struct process_exits exits;
    struct thread_ask ask;
    size_t n_kept, keep_most; /* open stat_fd, and how many may be open */
    struct process_choices choices;
    size_t n_gpu_looks, n_core_looks; /* looks in this sample */
    bool has_chosen; /* a process that was not classified in this sample was chosen */
    char environ[ENVIRON_MAX];
    _Alignas(struct dirents_entry) char listing[LISTING_MAX];
};

#define FOREIGN_MAX 64 /* the busiest by each measure */

/* Updates how busy a process is by its new stat, before `process->stat` takes that over. */
void process_judge_cpu(struct process *process, const struct process_stat *now, bool is_new);

/* Updates its score of disk traffic, for a process outside the job: in each sample if it seems
 * active, else in turns. */
void process_judge_disk(struct processes *all, struct process *process, int32_t pid);

/* Whether the process is idle. */
static inline bool process_is_idle(const struct process *process) {
    return process->class == PROCESS_FOREIGN && !process->cpu_score && !process->disk_score;
}

/* Whether its disk traffic counts as busy. */
bool process_is_busy_with_disk(const struct process *process);

/* Finds the busiest processes outside the job, `most` by CPU and `most` by disk, each once, the
 * busiest first. Returns how many there are. */
size_t process_find_busiest(const struct processes *all, size_t most,
                            size_t places[2 * FOREIGN_MAX]);

/* Hash of the text of a /proc/PID/cgroup, never 0. */
uint64_t process_group_hash(const char *text, size_t size);

/* Hash of the process's control groups; 0: not known. */
uint64_t process_group_of(const struct processes *all, const struct process *process, int32_t pid);

/* The entry of the process's parent; NULL: not known. */
struct process *process_parent(const struct processes *all, const struct process *process);

/* Whether its children are of the job. NULL: they are not. */
static inline bool process_has_kin(const struct process *parent) {
    return parent && parent->class == PROCESS_MEMBER && !parent->above;
}

/* Whether a process without a mark of the run belongs to the job by its relatives. */
bool process_is_relative(struct processes *all, struct process *process, int32_t pid,
                         const struct probe_env *env);

/* Passes facts about a process of the job to its relatives: its session, its ancestors, its
 * rank. */
void process_join(struct processes *all, struct process *process, int32_t pid,
                  const struct probe_env *env, const struct process_environ *environ);

/* Called after a pass over /proc, which may meet ranks before their parents. A launcher with the
 * number of its node is no rank, and neither is a process that a rank of PyTorch forked. */
void process_settle_ranks(struct processes *all);

/* Marks a process and its parent as parts of the profiler. */
void process_disown(struct processes *all, struct process *process);

/* Called after a pass over /proc, which may meet children before their parents: adds children to
 * the job and to the profiler. */
void process_adopt(struct processes *all, const struct probe_env *env);

/* Decides the class of a process: when it is first seen, while it is young, and after it changed
 * its name. */
void process_classify(struct processes *all, struct process *process, int32_t pid,
                      const struct probe_env *env);

/* Updates the counters of a process from its stat; for a process of the job, up to the sum over its
 * threads. */
void process_account(struct processes *all, struct process *process, int32_t pid,
                     const struct probe_env *env);

/* Asks the kernel for the figures of all known threads at once, for process_account. */
void process_ask_threads(struct processes *all);

/* Forgets threads that have ended. */
void process_forget_threads(struct processes *all);

/* ---- process_rows.c: what a sample tells of them ---- */

/* probe.max_rows of this probe. */
size_t process_rows_most(const void *state, const struct probe_env *env);

/* Keeps the old name of a renamed process for its last row under that name. If it had several names
 * since that row, the oldest is kept. */
void process_note_old_name(const struct processes *all, struct process *process);

/* Passes the current job to the probes that follow. */
void process_tell_job(const struct processes *all, const struct probe_env *env);

/* Adds the last rows of processes that ended, before they are forgotten. */
void process_report_ended(struct processes *all, const struct probe_env *env, struct rows *rows);

/* Adds the rows of the job, of names whose processes lived between samples, and of the busiest
 * others. */
void process_report(struct processes *all, const struct probe_env *env, struct rows *rows);

/* ---- process_watch.c: an agent without a job ---- */

/* Has busy processes read as those of a job, and others no more. */
void process_watch_busiest(struct processes *all, const struct probe_env *env);

/* Keeps whose a reported process is, if there is a place for it. */
void process_tell_lineage(const struct processes *all, struct process *process, int32_t pid,
                          const struct probe_env *env);

/* ---- process_gpu.c ---- */

/* Looks through the process's mappings if it is of the job and its turn has come. */
void process_look_for_gpu(struct processes *all, struct process *process, int32_t pid);

/* ---- process_cores.c ---- */

/* Finds the cores on which the process may run if it is of the job and its turn has come. */
void process_look_for_cores(struct processes *all, struct process *process, int32_t pid);

/* ---- process_collector.c ---- */

/* Whether a thread of that name does nothing but collect garbage. */
bool process_collector_name(struct span name);

/* Reads the thread's name while it is young. */
void process_look_for_collector(const struct processes *all, struct thread *thread, int32_t tid);

/* ---- process_keep.c: descriptors that stay open ---- */

void process_keep_open(struct processes *all);

/* Reads the process's stat. inode: of its directory in this sample's listing. */
int process_stat_now(struct processes *all, struct process *process, int32_t pid, uint64_t inode,
                     struct process_stat *ret_stat);

/* Closes the process's open files. */
void process_keep_drop(struct processes *all, struct process *process);

/* ---- process_choose.c, process_listen.c: who is of the job by the user's choice ---- */

/* Looks up chosen users and processes, once. */
void process_choices_open(struct processes *all, const struct probe_env *env);

/* Whether a choice matches this process by its own properties. */
bool process_is_chosen(struct processes *all, struct process *process, int32_t pid,
                       const struct probe_env *env);

/* Chooses processes by the ports on which they listen: after a pass over /proc, before
 * process_adopt. */
void process_choose_listeners(struct processes *all, const struct probe_env *env);

/* Finds the network namespaces of processes in the scope, for process_choose_listeners. */
void process_find_namespaces(struct processes *all);

/* ---- process_exit.c: what ends between samples ---- */

/* Whether a process that has just ended was of the job. */
bool process_ended_in_job(const struct processes *all, int32_t pid, const struct probe_env *env);

/* Begins to listen to the kernel if permitted; otherwise leaves one line in why[why_size]. */
void process_exits_open(struct processes *all, const struct probe_env *env, char *why,
                        size_t why_size);
void process_exits_close(struct processes *all);

/* Takes the records since the last call, before this sample reads other files. */
void process_exits_take(struct processes *all, const struct probe_env *env);

/* Decides to which processes unseen ones belong, once the sample has found its processes: those of
 * the job are added to their names. */
void process_exits_settle(struct processes *all, const struct probe_env *env);

void process_end_add(struct process_end *end, const struct exit_record *record);

/* Finds the CPU time of ended children that no row tells: records leave out the time of releasing
 * their memory. */
void process_find_unseen(struct process *process, int64_t ticks_per_s);

/* Takes the last reading of an ended thread and updates the counters of its process. */
void process_end_thread(struct processes *all, struct process *process,
                        const struct exit_record *record);

/* Start of the process, CLOCK_MONOTONIC. */
int64_t process_start_ns(const struct processes *all, const struct process *process,
                         const struct probe_env *env);

#endif
