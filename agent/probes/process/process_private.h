/* SPDX-License-Identifier: MIT */
/* Shared by the files of the process probe: process.c, process_busy.c, process_choose.c,
 * process_class.c, process_exit.c, process_gpu.c, process_group.c, process_keep.c,
 * process_listen.c, process_member.c, process_rows.c, process_time.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_PROCESS_H
#define CHOKEPOINT_AGENT_PROBES_PROCESS_H

#include <sys/types.h>

#include "agent/base/dirents.h"
#include "agent/base/idmap.h"
#include "agent/base/probe.h"
#include "agent/base/process_files.h"
#include "agent/base/source.h"
#include "agent/probes/process/exit_record.h"
#include "agent/probes/process/process_label.h"
#include "agent/probes/process/thread_ask.h"
#include "common/job_choice.h"

enum process_class {
    PROCESS_NEW,
    PROCESS_KERNEL,  /* a thread of the kernel: never reported */
    PROCESS_OUTSIDE, /* not of this scope: another emulated host's, or the machine's */
    PROCESS_FOREIGN, /* of this host, not of the job */
    PROCESS_OWN,     /* of this run's profiler: never reported */
    PROCESS_MEMBER,
};

/* Sum of the exit records of a process's threads. */
struct process_end {
    bool is_whole; /* the last of them has */
    uint64_t user_us, system_us, minor_faults, major_faults, block_io_ns, peak_rss_bytes;
};

/* Whether it has a library of GPUs mapped. */
enum process_gpu { GPU_UNKNOWN, GPU_NOT_SEEN, GPU_SEEN };

/* One process, known by its id and its start. */
struct process {
    uint64_t inode;      /* of its directory: the same inode is the same process */
    uint64_t seen;       /* number of the last sample with this name */
    uint64_t read;       /* number of the sample that read its stat last */
    uint64_t sent;       /* number of the sample that reported it last, 0: none */
    uint64_t classified; /* number of the sample that asked last what it is */
    enum process_class class;
    bool settled; /* old enough for its class to stand */
    bool born;    /* started after this probe's first sample */
    bool left;    /* outside the job: last reported only because it had been listed before */
    char label[LABEL_MAX + 1];     /* its name in rows */
    char old_label[LABEL_MAX + 1]; /* renamed since its last row (exec, prctl): its name there */
    uint8_t label_size;            /* 0: not made yet */
    uint8_t old_label_size;        /* 0: not renamed */
    bool label_stands;             /* made when its class was settled: asked no more */
    int32_t rank;                  /* -1: none */
    enum rank_quality rank_quality, step_quality; /* of its rank, and of the batch step's */
    int32_t step_rank;       /* which the run was started in: no rank of the job */
    int32_t helps;           /* the rank that it works for; -1: none */
    char role[ROLE_MAX + 1]; /* by its environment; empty: none */
    bool above;       /* of the job only because ranks run below it: its other children are not */
    bool chosen;      /* of the job by the user's choice, not by a mark of the run */
    bool serves;      /* the profiler; its parent started it, and is no job for that */
    bool own_session; /* its session began in the job */
    uint64_t group;   /* hash of its control groups; 0: not looked at */
    int64_t looked_ns, stopped_ns; /* when stat was read last; sampled time in state T or t */
    /* How busy it is: growth since the last scan, and half of what it was before. */
    uint64_t cpu_score, disk_score;
    uint64_t disk_bytes; /* read and written, when last looked at */
    bool has_disk;
    struct process_io io; /* as it stood when run_ns was io_run_ns; where exits are not told */
    int64_t io_run_ns;    /* 0: not read yet */
    bool is_kept;         /* stat_fd is open */
    int stat_fd;
    struct process_stat stat;
    /* Counters as reported: they never step back. */
    int64_t total_ns, user_ns, system_ns;
    int64_t run_ns, wait_ns, voluntary, involuntary; /* summed over threads */
    int64_t read_bytes, write_bytes;                 /* the same, where exits are told */
    int64_t below_ns;  /* CPU time that is told by rows of what ended below it */
    int64_t unseen_ns; /* what its children had beyond that */
    bool has_total, has_times, has_switches, has_io;
    struct process_end end;
    enum process_gpu gpu;
    uint64_t gpu_at, gpu_pause; /* number of the sample that looks for it next; samples between */
};

/* A thread of a process of the job: what it stood at when last read. */
struct thread {
    int32_t pid;
    uint64_t seen;
    struct thread_times times;
    uint64_t asked; /* number of the sample that asked for `now` */
    struct thread_times now;
};

#define SHORT_MAX 64

/* A process that ended and that no sample saw, or one that is yet to be seen and lost a thread. */
struct unknown {
    int32_t parent;
    uint64_t told; /* number of the sample that heard of it */
    char comm[COMM_MAX + 1];
    uint8_t comm_size;
    struct thread_times times;
    struct process_end end;
};

/* All processes of one name that began and ended between two samples; counters, as reported. */
struct short_lived {
    char comm[COMM_MAX + 1];
    uint8_t comm_size;
    bool has_grown; /* since its last row */
    bool was_sent;
    uint64_t n; /* processes */
    struct thread_times times;
    struct process_end end;
};

struct process_exits {
    bool on; /* the kernel tells of what ends */
    bool told_loss;
    struct exit_records records;
    struct idmap by_pid; /* of what no sample saw */
    struct unknown unknown[IDMAP_CAPACITY];
    struct short_lived names[SHORT_MAX]; /* the last: all others */
    size_t n_names;
};

#define LISTENERS_MAX 64

#define NAMESPACES_MAX 64

/* Another network namespace than the agent's, as of a container. */
struct process_namespace {
    uint32_t inode;
    int32_t pid; /* a process in it, whose files tell of its sockets */
};

/* The choices of the user, as far as they must be looked up. */
struct process_choices {
    uint32_t users[JOB_CHOICES_MAX];       /* UINT32_MAX: no such user here */
    uint64_t start_ticks[JOB_CHOICES_MAX]; /* of pid=: which process has the id; 0: none had it */
    uint32_t listeners[LISTENERS_MAX];     /* inodes of sockets that listen on a port of theirs */
    uint8_t looks[LISTENERS_MAX];          /* for the owner of each that are left */
    size_t n_listeners;
    struct process_namespace namespaces[NAMESPACES_MAX];
    size_t n_namespaces;
    bool told_missing, told_denied;
};

#define GROUPS_MAX ((size_t)8 << 10)
#define ENVIRON_MAX ((size_t)256 << 10)
#define LISTING_MAX ((size_t)32 << 10)

/* About 11 MB of zeroes, touched only as far as there are processes: so it is mapped without huge
 * pages, which would make all of it resident. */
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
    size_t n_kept, keep_most; /* stat_fd that are open, and may be */
    struct process_choices choices;
    size_t n_gpu_looks; /* in this sample */
    bool has_chosen;    /* somebody who was not asked in this sample */
    char environ[ENVIRON_MAX];
    _Alignas(struct dirents_entry) char listing[LISTING_MAX];
};

#define FOREIGN_MAX 64 /* of the busiest by each measure */

/* Judges how busy a process is by what its stat says now; before `process->stat` takes it over. */
void process_judge_cpu(struct process *process, const struct process_stat *now, bool is_new);

/* The same of its disk traffic, for a process outside the job: asked only of those that seem to do
 * something, and of all others in turns. */
void process_judge_disk(struct processes *all, struct process *process, int32_t pid);

/* Whether there is nothing to be seen of it. */
static inline bool process_is_idle(const struct process *process) {
    return process->class == PROCESS_FOREIGN && !process->cpu_score && !process->disk_score;
}

/* Places of the busiest processes outside the job, `most` by CPU and `most` by disk, each once, the
 * busiest first; returns how many. */
size_t process_find_busiest(const struct processes *all, size_t most,
                            size_t places[2 * FOREIGN_MAX]);

/* Hash of the text of a /proc/PID/cgroup, never 0. */
uint64_t process_group_hash(const char *text, size_t size);

/* That of the process; 0: not known. */
uint64_t process_group_of(const struct processes *all, const struct process *process, int32_t pid);

/* The process's entry in its parent's place; NULL: not known. */
struct process *process_parent(const struct processes *all, const struct process *process);

/* Whether what descends from it is of the job. NULL: nothing does. */
static inline bool process_has_kin(const struct process *parent) {
    return parent && parent->class == PROCESS_MEMBER && !parent->above;
}

/* Whether one that carries no mark of the run belongs to the job by whom it descends from. */
bool process_is_relative(struct processes *all, struct process *process, int32_t pid,
                         const struct probe_env *env);

/* Passes facts about a process of the job to its relatives: its session, its ancestors, its
 * rank. */
void process_join(struct processes *all, struct process *process, int32_t pid,
                  const struct probe_env *env, const struct process_environ *environ);

/* After a pass over /proc, which may have met ranks before what started them: a launcher with the
 * number of its node is no rank, nor is what a rank of PyTorch has forked. */
void process_settle_ranks(struct processes *all);

/* Takes a process and its parent for parts of the profiler. */
void process_disown(struct processes *all, struct process *process);

/* After a pass over /proc, which may have met children before their parents: of the job, and of
 * the profiler. */
void process_adopt(struct processes *all, const struct probe_env *env);

/* Says what a process is, once it is known and again while it is young or after it changed its
 * name. */
void process_classify(struct processes *all, struct process *process, int32_t pid,
                      const struct probe_env *env);

/* Brings the counters of a process up to what its stat says, and of one of the job up to the sum
 * over its threads. */
void process_account(struct processes *all, struct process *process, int32_t pid,
                     const struct probe_env *env);

/* Asks what the known threads stand at, all at once: process_account then has it. */
void process_ask_threads(struct processes *all);

/* Forgets the threads that have ended. */
void process_forget_threads(struct processes *all);

/* ---- process_rows.c: what a sample tells of them ---- */

/* The probe's max_rows. */
size_t process_rows_most(const void *state, const struct probe_env *env);

/* Keeps the name of a process that has a new one, for its last row under the old; the first of
 * several new names since that row leaves the old one as it was. */
void process_note_old_name(const struct processes *all, struct process *process);

/* The job as it is now, for the probes that come after this one. */
void process_tell_job(const struct processes *all, const struct probe_env *env);

/* Last rows of processes whose end the kernel told; before they are forgotten. */
void process_report_ended(struct processes *all, const struct probe_env *env, struct rows *rows);

/* Rows of the job, of names whose processes lived between samples, and of the busiest others. */
void process_report(struct processes *all, const struct probe_env *env, struct rows *rows);

/* ---- process_gpu.c ---- */

/* Looks through its mappings, if it is of the job and its turn has come. */
void process_look_for_gpu(struct processes *all, struct process *process, int32_t pid);

/* ---- process_keep.c: descriptors that stay open ---- */

void process_keep_open(struct processes *all);

/* Reads its stat. inode: of its directory in this sample's listing. */
int process_stat_now(struct processes *all, struct process *process, int32_t pid, uint64_t inode,
                     struct process_stat *ret_stat);

/* Closes what is open of it. */
void process_keep_drop(struct processes *all, struct process *process);

/* ---- process_choose.c, process_listen.c: who is of the job by the user's choice ---- */

/* Looks up users and processes, once. */
void process_choices_open(struct processes *all, const struct probe_env *env);

/* Whether one of the choices means this process by what it is itself. */
bool process_is_chosen(struct processes *all, struct process *process, int32_t pid,
                       const struct probe_env *env);

/* The same by the ports on which it listens: after a pass over /proc, before process_adopt. */
void process_choose_listeners(struct processes *all, const struct probe_env *env);

/* Finds the network namespaces of what is in the scope, for that. */
void process_find_namespaces(struct processes *all);

/* Whether the text of a /proc/PID/cgroup is in what the choice means: for tests, too. */
bool process_groups_match(const struct job_choice *choice, const char *text, size_t size);

/* ---- process_exit.c: what ends between samples ---- */

/* Whether a process that has just ended was of the job. */
bool process_ended_in_job(const struct processes *all, int32_t pid, const struct probe_env *env);

/* Begins to listen to the kernel, if it may; else leaves one line in why[why_size]. */
void process_exits_open(struct processes *all, const struct probe_env *env, char *why,
                        size_t why_size);
void process_exits_close(struct processes *all);

/* Takes what came since the last call, before this sample looks at anything. */
void process_exits_take(struct processes *all, const struct probe_env *env);

/* Says whose the processes are that no sample saw, once those are known that one did: what was of
 * the job is added to its name. */
void process_exits_settle(struct processes *all, const struct probe_env *env);

void process_end_add(struct process_end *end, const struct exit_record *record);

/* CPU time of children that have ended and that no row tells of: that of giving back their memory,
 * which is not in their records. */
void process_find_unseen(struct process *process, int64_t ticks_per_s);

/* The last reading of a thread that has ended; brings the counters of its process up to it. */
void process_end_thread(struct processes *all, struct process *process,
                        const struct exit_record *record);

/* When it started, on CLOCK_MONOTONIC. */
int64_t process_start_ns(const struct processes *all, const struct process *process,
                         const struct probe_env *env);

#endif
