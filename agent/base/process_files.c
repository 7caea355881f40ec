/* SPDX-License-Identifier: MIT */
/* /proc/PID/{stat,io,status}, the links of /proc/PID/fd and
 * /proc/PID/task/TID/{schedstat,status}. */
#include "agent/base/process_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/source.h"
#include "common/error.h"
#include "common/text.h"

#define PF_KTHREAD 0x00200000

/* taskstats counts in whole KiB. Threads are sometimes read here and sometimes there, and their
 * counters must not step back. */
#define TASKSTATS_BYTES (~UINT64_C(1023))

/* Places of the numbers behind ") S ": field 4 of proc(5) is place 0. */
enum {
    AT_PARENT = 0,
    AT_SESSION = 2,
    AT_FLAGS = 5,
    AT_MINOR_FAULTS = 6,
    AT_MAJOR_FAULTS = 8,
    AT_USER = 10,
    AT_SYSTEM = 11,
    AT_CHILDREN_USER = 12,
    AT_CHILDREN_SYSTEM = 13,
    AT_THREADS = 16,
    AT_START = 18,
    AT_RSS = 20,
    AT_LAST_CPU = 35,
    AT_BLOCK_IO = 38,
    N_FIELDS
};

/* Numbers from place 0 on, as unsigned: a negative one keeps its two's complement. Some exceed
 * INT64_MAX (limits). */
static size_t parse_fields(const char *p, const char *end, uint64_t fields[N_FIELDS]) {
    size_t n = 0;
    while (n < N_FIELDS) {
        int64_t negative;
        if (text_u64(&p, end, &fields[n]))
            n++;
        else if (text_i64(&p, end, &negative))
            fields[n++] = (uint64_t)negative;
        else
            break;
    }
    return n;
}

static int32_t id_of(uint64_t field) {
    return field <= INT32_MAX ? (int32_t)field : 0;
}

/* "12 (comm) S 1 2 3 ...": comm may hold blanks, brackets and newlines, so it ends at the last
 * bracket. */
bool process_parse_stat(const char *text, size_t size, struct process_stat *ret_stat) {
    uint64_t fields[N_FIELDS] = {0};
    const char *open = memchr(text, '(', size), *end = text + size;
    const char *close = open ? memrchr(open, ')', (size_t)(end - open)) : NULL;
    if (!close || end - close < 4)
        return false;
    size_t n = parse_fields(close + 3, end, fields);
    if (n <= AT_RSS)
        return false;
    size_t comm_size = (size_t)(close - open - 1);
    *ret_stat = (struct process_stat){
        .comm_size = (uint8_t)(comm_size < COMM_MAX ? comm_size : COMM_MAX),
        .is_kernel = fields[AT_FLAGS] & PF_KTHREAD,
        .state = close[2],
        .parent = id_of(fields[AT_PARENT]),
        .session = id_of(fields[AT_SESSION]),
        .last_cpu =
            n > AT_LAST_CPU && fields[AT_LAST_CPU] <= INT32_MAX ? (int32_t)fields[AT_LAST_CPU] : -1,
        .threads = (int64_t)fields[AT_THREADS],
        .rss_pages = (int64_t)fields[AT_RSS],
        .user_ticks = fields[AT_USER],
        .system_ticks = fields[AT_SYSTEM],
        .children_user_ticks = fields[AT_CHILDREN_USER],
        .children_system_ticks = fields[AT_CHILDREN_SYSTEM],
        .start_ticks = fields[AT_START],
        .minor_faults = fields[AT_MINOR_FAULTS],
        .major_faults = fields[AT_MAJOR_FAULTS],
        .block_io_ticks = n > AT_BLOCK_IO ? fields[AT_BLOCK_IO] : UINT64_MAX,
    };
    memcpy(ret_stat->comm, open + 1, ret_stat->comm_size);
    return true;
}

int process_read_stat(int proc_fd, int32_t pid, struct process_stat *ret_stat) {
    char path[32], text[2048];
    snprintf(path, sizeof path, "%d/stat", pid);
    int n = file_read_small(proc_fd, path, text, sizeof text);
    if (n < 0)
        return n;
    return process_parse_stat(text, (size_t)n, ret_stat) ? 0 : -EBADMSG;
}

/* The number of the line "name: 123"; false if there is none. */
static bool find_number(const char *text, const char *end, const char *name, uint64_t *ret_value) {
    struct span line;
    size_t n = strlen(name);
    while (text_line(&text, end, &line)) {
        const char *p = line.data + n + 1;
        if (line.size > n && span_starts(line, name) && line.data[n] == ':')
            return text_u64(&p, line.data + line.size, ret_value);
    }
    return false;
}

static bool parse_io(const char *text, int size, uint64_t *read_bytes, uint64_t *write_bytes) {
    return size > 0 && find_number(text, text + size, "read_bytes", read_bytes) &&
           find_number(text, text + size, "write_bytes", write_bytes);
}

int process_read_io(int proc_fd, int32_t pid, struct process_io *ret_io) {
    char path[32], text[1024];
    struct process_io io;
    snprintf(path, sizeof path, "%d/io", pid);
    int n = file_read_small(proc_fd, path, text, sizeof text);
    if (n < 0)
        return n;
    if (!parse_io(text, n, &io.read_bytes, &io.write_bytes))
        return -EBADMSG;
    *ret_io = io;
    return 0;
}

static int read_of_thread(int proc_fd, int32_t pid, int32_t tid, const char *name, char *text,
                          size_t capacity) {
    char path[64];
    snprintf(path, sizeof path, "%d/task/%d/%s", pid, tid, name);
    return file_read_small(proc_fd, path, text, capacity);
}

/* "Uid: REAL EFFECTIVE ...": the second one determines its rights. */
int process_read_user(int proc_fd, int32_t pid, uint32_t *ret_user) {
    char path[32], text[4096];
    uint64_t real, effective;
    snprintf(path, sizeof path, "%d/status", pid);
    int n = file_read_head(proc_fd, path, text, sizeof text);
    const char *p = text;
    struct span line;
    while (n > 0 && text_line(&p, text + n, &line)) {
        const char *q = line.data + strlen("Uid:"), *end = line.data + line.size;
        if (!span_starts(line, "Uid:"))
            continue;
        for (; q < end && *q == '\t'; q++)
            ;
        bool good = text_u64(&q, end, &real) && text_u64(&q, end, &effective);
        if (!good || effective > UINT32_MAX)
            break;
        *ret_user = (uint32_t)effective;
        return 0;
    }
    return n < 0 ? n : -EBADMSG;
}

/* A kernel without scheduler statistics shows zeros. */
static bool has_not_run(const struct thread_times *before, const struct thread_times *now) {
    return before->has_switches && now->run_ns && now->turns && now->run_ns == before->run_ns &&
           now->wait_ns == before->wait_ns && now->turns == before->turns;
}

int process_read_thread(int proc_fd, int32_t pid, int32_t tid, bool with_io,
                        const struct thread_times *before, struct thread_times *ret_times) {
    char text[4096];
    struct thread_times times = {0};
    int n = read_of_thread(proc_fd, pid, tid, "schedstat", text, sizeof text);
    const char *p = text;
    if (n > 0)
        times.has_times =
            text_u64(&p, text + n, &times.run_ns) && text_u64(&p, text + n, &times.wait_ns);
    if (times.has_times && text_u64(&p, text + n, &times.turns) && has_not_run(before, &times)) {
        *ret_times = *before;
        return 0;
    }
    int m = read_of_thread(proc_fd, pid, tid, "status", text, sizeof text);
    if (m > 0)
        times.has_switches =
            find_number(text, text + m, "voluntary_ctxt_switches", &times.voluntary) &&
            find_number(text, text + m, "nonvoluntary_ctxt_switches", &times.involuntary);
    if (n < 0 && m < 0)
        return n;
    if (with_io)
        times.has_io = parse_io(text, read_of_thread(proc_fd, pid, tid, "io", text, sizeof text),
                                &times.read_bytes, &times.write_bytes);
    times.read_bytes &= TASKSTATS_BYTES;
    times.write_bytes &= TASKSTATS_BYTES;
    *ret_times = times;
    return 0;
}

int process_read_socket(int fd_directory, const char *name, uint32_t *ret_inode) {
    char link[64];
    uint64_t inode;
    ssize_t n = readlinkat(fd_directory, name, link, sizeof link);
    if (n < 0)
        return negative_errno();
    struct span span = {link, (size_t)n};
    const char *p = link + strlen("socket:[");
    if (span_starts(span, "socket:[") && text_u64(&p, link + n, &inode) && inode <= UINT32_MAX)
        *ret_inode = (uint32_t)inode;
    return 0;
}
