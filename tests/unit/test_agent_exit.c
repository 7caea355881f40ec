/* SPDX-License-Identifier: MIT */
/* Processes that end: the kernel's records of them, without a nanosecond or byte lost or counted
 * twice.
 */
#include "tests/unit/probe_test.h"

#include <fcntl.h>
#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "agent/probes/process/exit_record.h"
#include "agent/probes/process/thread_ask.h"

/* ---- messages ---- */

struct message {
    struct genlmsghdr head;
    struct nlattr both;
    struct nlattr pid_head;
    uint32_t pid;
    struct nlattr stats_head;
    struct taskstats stats;
} __attribute__((packed, aligned(4))); /* the layout in a message */

static struct message a_message(void) {
    return (struct message){
        .both = {sizeof(struct message) - offsetof(struct message, both),
                 TASKSTATS_TYPE_AGGR_PID | NLA_F_NESTED},
        .pid_head = {NLA_HDRLEN + 4, TASKSTATS_TYPE_PID},
        .pid = 12,
        .stats_head = {NLA_HDRLEN + sizeof(struct taskstats), TASKSTATS_TYPE_STATS},
        .stats = {.ac_pid = 12,
                  .ac_tgid = 11,
                  .ac_ppid = 10,
                  .ac_flag = AGROUP,
                  .ac_comm = "train",
                  .cpu_run_virtual_total = 123456789,
                  .cpu_delay_total = 77,
                  .ac_utime = 100000,
                  .ac_stime = 23456,
                  .read_bytes = 4096,
                  .write_bytes = 8192,
                  .nvcsw = 5,
                  .nivcsw = 6,
                  .ac_minflt = 7,
                  .ac_majflt = 8,
                  .blkio_delay_total = 9,
                  .hiwater_rss = 3}};
}

static struct bytes bytes_of(const struct message *message) {
    return (struct bytes){message, sizeof *message};
}

static void a_record_has_all_the_kernel_says(void **state) {
    struct message message = a_message();
    struct exit_record record;
    (void)state;
    assert_true(exit_record_read(bytes_of(&message), &record));
    assert_int_equal(record.tid, 12);
    assert_int_equal(record.pid, 11);
    assert_int_equal(record.parent, 10);
    assert_true(record.is_last);
    assert_int_equal(record.comm_size, 5);
    assert_memory_equal(record.comm, "train", 5);
    assert_int_equal(record.times.run_ns, 123456789);
    assert_int_equal(record.times.wait_ns, 77);
    assert_int_equal(record.user_us, 100000);
    assert_int_equal(record.system_us, 23456);
    assert_int_equal(record.times.read_bytes, 4096);
    assert_int_equal(record.times.write_bytes, 8192);
    assert_int_equal(record.times.voluntary, 5);
    assert_int_equal(record.times.involuntary, 6);
    assert_int_equal(record.minor_faults, 7);
    assert_int_equal(record.major_faults, 8);
    assert_int_equal(record.block_io_ns, 9);
    assert_int_equal(record.peak_rss_bytes, 3 * 1024);
    message.stats.ac_flag = 0;
    assert_true(exit_record_read(bytes_of(&message), &record));
    assert_false(record.is_last);
}

/* Linux before 5.16 does not tell a thread's process. */
static void what_is_cut_or_of_an_older_kernel_is_refused(void **state) {
    struct message message = a_message();
    struct exit_record record;
    (void)state;
    for (size_t size = 0; size < sizeof message; size++)
        assert_false(exit_record_read((struct bytes){&message, size}, &record));
    message.stats_head.nla_len = NLA_HDRLEN + offsetof(struct taskstats, ac_tgid);
    message.both.nla_len = sizeof message.pid_head + 4 + message.stats_head.nla_len + NLA_HDRLEN;
    assert_false(exit_record_read(bytes_of(&message), &record));
    message = a_message();
    message.stats.ac_tgid = UINT32_MAX;
    assert_false(exit_record_read(bytes_of(&message), &record));
    message = a_message();
    memset(message.stats.ac_comm, 'x', sizeof message.stats.ac_comm);
    assert_true(exit_record_read(bytes_of(&message), &record));
    assert_in_range(record.comm_size, 1, COMM_MAX);
}

/* ---- this machine ---- */

/* A record is made before a process frees its memory, which takes CPU time, too. */
#define UNTOLD_NS (5 * NS_PER_MS)
#define ROUNDING_NS (10 * NS_PER_US) /* of the kernel's own sums: 1 us for each process */

/* A shell of the job, which reads commands from `to` and answers at `from`. */
struct shell {
    pid_t pid;
    int to, from;
};

static void shell_start(struct shell *shell) {
    static char run[] = "CHOKEPOINT_RUN=unit-test", path[] = "PATH=/usr/bin:/bin";
    char *environment[] = {run, path, NULL};
    int to[2], from[2];
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    shell->pid = fork();
    assert_true(shell->pid >= 0);
    if (shell->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(to[0], 0);
        dup2(from[1], 1);
        execle("/bin/sh", "sh", (char *)NULL, environment);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    shell->to = to[1];
    shell->from = from[0];
}

/* Runs the commands and returns when they are done. */
static void shell_do(const struct shell *shell, const char *commands) {
    char text[512], byte;
    int size = snprintf(text, sizeof text, "%s\necho\n", commands);
    assert_int_equal(write(shell->to, text, (size_t)size), size);
    assert_int_equal(read(shell->from, &byte, 1), 1);
}

static struct rusage shell_end(const struct shell *shell) {
    struct rusage usage;
    close(shell->to);
    assert_int_equal(wait4(shell->pid, NULL, 0, &usage), shell->pid);
    close(shell->from);
    return usage;
}

static void probe_start_here(struct harness *h) {
    assert_int_equal(harness_init(h, "", SCOPE_HOST), 0);
    h->env.run_token_id = "unit-test";
    assert_int_equal(harness_open(h, &probe_process), 0);
    assert_int_equal(harness_sample(h), 0);
    if (strstr(h->why, "count with their parents")) {
        print_message("skipped: %s\n", h->why);
        harness_close(h);
        skip();
    }
}

static int64_t cpu_of(const struct harness *h, const char *name) {
    int64_t user = harness_value(h, name, "user_ns"), system = harness_value(h, name, "system_ns");
    return user < 0 || system < 0 ? 0 : user + system;
}

static int64_t usage_ns(const struct rusage *usage) {
    return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * NS_PER_S +
           (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * NS_PER_US;
}

struct heard {
    size_t n;
    struct exit_record last;
};

static void hear(void *ctx, const struct exit_record *record) {
    struct heard *heard = ctx;
    heard->n++;
    heard->last = *record;
}

/* The answer is about the thread that was asked for, whatever else the message holds. */
static void a_thread_that_lives_says_what_it_stands_at(void **state) {
    int32_t tids[100] = {0};
    struct harness h;
    struct exit_records records;
    struct thread_ask ask;
    struct heard heard = {0};
    struct thread_times files;
    char why[128];
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    if (exit_records_open(&records, "/sys", why, sizeof why) < 0) {
        print_message("skipped: %s\n", why);
        skip();
    }
    assert_int_equal(thread_ask_open(&ask, records.family), 0);
    tids[70] = getpid();
    thread_ask(&ask, tids, 100, hear, &heard);
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(
        process_read_thread(proc, getpid(), getpid(), true, &(struct thread_times){0}, &files), 0);
    close(proc);
    assert_int_equal(heard.n, 1);
    assert_int_equal(heard.last.tid, getpid());
    assert_int_equal(heard.last.pid, getpid());
    assert_in_range(heard.last.times.run_ns, 1, files.run_ns);
    assert_in_range(heard.last.times.wait_ns, 0, files.wait_ns);
    assert_in_range(heard.last.times.voluntary, 0, files.voluntary);
    assert_int_equal(heard.last.times.write_bytes, files.write_bytes);
    thread_ask_close(&ask);
    thread_ask(&ask, tids, 100, hear, &heard); /* no answer */
    assert_int_equal(heard.n, 1);
    exit_records_close(&records);
}

static void what_a_process_did_after_its_last_sample_is_in_its_last_row(void **state) {
    struct harness h;
    struct shell shell;
    char name[32];
    (void)state;
    probe_start_here(&h);
    shell_start(&shell);
    shell_do(&shell, ":");
    snprintf(name, sizeof name, "sh[%d]", shell.pid);
    assert_int_equal(harness_sample(&h), 0);
    int64_t before_ns = cpu_of(&h, name);
    shell_do(&shell, "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done");
    struct rusage usage = shell_end(&shell);
    assert_int_equal(harness_sample(&h), 0);
    assert_true(cpu_of(&h, name) > before_ns);
    assert_in_range(cpu_of(&h, name), usage_ns(&usage) - UNTOLD_NS, usage_ns(&usage) + ROUNDING_NS);
    /* the kernel's peak includes what this test held when it forked */
    assert_in_range(harness_value(&h, name, "peak_rss_bytes"), 4096, usage.ru_maxrss * 1024);
    expect(&h, name, "minor_faults", usage.ru_minflt);
    harness_close(&h);
}

/* The kernel charges the shell for itself and its descendants, and for nothing else. */
static void processes_that_no_sample_saw_are_added_up_by_name(void **state) {
    struct harness h;
    struct shell shell;
    char name[32], file[] = "/var/tmp/chokepoint-exit-XXXXXX", commands[256];
    (void)state;
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    probe_start_here(&h);
    shell_start(&shell);
    shell_do(&shell, ":");
    snprintf(name, sizeof name, "sh[%d]", shell.pid);
    assert_int_equal(harness_sample(&h), 0);
    snprintf(commands, sizeof commands,
             "head -c 3000000 /dev/zero >%s; (sort -R %s | head -c 1 >/dev/null); sync %s", file,
             file, file);
    shell_do(&shell, commands);
    assert_int_equal(harness_sample(&h), 0);
    assert_in_range(harness_value(&h, "head[ended]", "write_bytes"), 3000000 - 4096, 3010000);
    assert_true(cpu_of(&h, "sort[ended]") > 0);
    int64_t below_ns = cpu_of(&h, "head[ended]") + cpu_of(&h, "sort[ended]") +
                       cpu_of(&h, "sync[ended]") + cpu_of(&h, "sh[ended]");
    struct rusage usage = shell_end(&shell);
    assert_int_equal(harness_sample(&h), 0);
    assert_in_range(cpu_of(&h, name) + below_ns, usage_ns(&usage) / 4,
                    usage_ns(&usage) + ROUNDING_NS);
    assert_int_equal(harness_sample(&h), 0); /* nothing new about them */
    assert_null(harness_row(&h, "head[ended]"));
    unlink(file);
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_has_all_the_kernel_says),
        cmocka_unit_test(what_is_cut_or_of_an_older_kernel_is_refused),
        cmocka_unit_test(a_thread_that_lives_says_what_it_stands_at),
        cmocka_unit_test(what_a_process_did_after_its_last_sample_is_in_its_last_row),
        cmocka_unit_test(processes_that_no_sample_saw_are_added_up_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
