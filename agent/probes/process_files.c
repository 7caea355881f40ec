/* SPDX-License-Identifier: MIT */
/* /proc/PID/{stat,io,environ,status}, the links of /proc/PID/fd and
 * /proc/PID/task/TID/{schedstat,status}. */
#include "agent/probes/process_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/counter.h"
#include "agent/source.h"
#include "common/error.h"
#include "common/text.h"

#define PF_KTHREAD 0x00200000

/* Places of the numbers after ") S ": field 4 of proc(5) is place 0. */
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

/* "Uid: REAL EFFECTIVE ...": the second is what it may do. */
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

int process_read_thread(int proc_fd, int32_t pid, int32_t tid, bool with_io,
                        struct thread_times *ret_times) {
    char text[4096];
    struct thread_times times = {0};
    int n = read_of_thread(proc_fd, pid, tid, "schedstat", text, sizeof text);
    const char *p = text;
    if (n > 0)
        times.has_times =
            text_u64(&p, text + n, &times.run_ns) && text_u64(&p, text + n, &times.wait_ns);
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

/* ---- environment ---- */

/* The value of "NAME=value", or NULL. */
static const char *value_of(const char *entry, const char *name) {
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

/* How good a source of the rank the entry is, from 1; 0: none. PyTorch's RANK is a word that any
 * program may use: it counts beside a WORLD_SIZE that is larger. */
static int rank_quality(const char *entry, int32_t *ret_rank) {
    static const char *const names[] = {"SLURM_PROCID", "RANK", "PMI_RANK", "PMIX_RANK",
                                        "OMPI_COMM_WORLD_RANK"};
    for (int i = 0; i < (int)ARRAY_SIZE(names); i++) {
        const char *value = value_of(entry, names[i]);
        uint64_t rank;
        if (!value || text_parse_u64(value, &rank) < 0 || rank > INT32_MAX)
            continue;
        *ret_rank = (int32_t)rank;
        return i + 1;
    }
    return 0;
}

/* As we hand the run's name to the command, as mpirun to every rank, and as ssh takes it along. */
static bool names_run(const char *entry, const char *run_id) {
    static const char *const names[] = {"CHOKEPOINT_RUN", "OMPI_CHOKEPOINT_RUN",
                                        "LC_CHOKEPOINT_RUN"};
    for (size_t i = 0; run_id && i < ARRAY_SIZE(names); i++) {
        const char *run = value_of(entry, names[i]);
        if (run)
            return strcmp(run, run_id) == 0;
    }
    return false;
}

#define RANK_OF_TORCH 2

static void judge_entry(const char *entry, const char *run_id, struct process_environ *environ) {
    const char *agent = value_of(entry, "CHOKEPOINT_AGENT");
    int32_t rank = -1;
    int quality = rank_quality(entry, &rank);
    const char *world = value_of(entry, "WORLD_SIZE");
    uint64_t size;
    if (world && text_parse_u64(world, &size) == 0 && size <= INT32_MAX)
        environ->world_size = (int32_t)size;
    environ->of_job |= names_run(entry, run_id);
    environ->of_agent |= agent && run_id && strcmp(agent, run_id) == 0;
    if (quality == RANK_OF_TORCH)
        environ->torch_rank = rank;
    else if (quality > environ->rank_quality) {
        environ->rank_quality = quality;
        environ->rank = rank;
    }
}

void process_parse_environ(const char *text, size_t size, const char *run_id,
                           struct process_environ *ret_environ) {
    *ret_environ = (struct process_environ){.rank = -1, .torch_rank = -1};
    for (const char *p = text, *end = text + size; p < end;) {
        const char *nul = memchr(p, '\0', (size_t)(end - p));
        if (!nul)
            break; /* cut: not to be trusted */
        judge_entry(p, run_id, ret_environ);
        p = nul + 1;
    }
    if (ret_environ->torch_rank < 0 || ret_environ->torch_rank >= ret_environ->world_size ||
        ret_environ->rank_quality > RANK_OF_TORCH)
        return;
    ret_environ->rank = ret_environ->torch_rank;
    ret_environ->rank_quality = RANK_OF_TORCH;
}

int process_read_environ(int proc_fd, int32_t pid, const char *run_id, char *buffer, size_t size,
                         struct process_environ *ret_environ) {
    char path[32];
    snprintf(path, sizeof path, "%d/environ", pid);
    int n = file_read_head(proc_fd, path, buffer, size);
    if (n < 0)
        return n;
    process_parse_environ(buffer, (size_t)n, run_id, ret_environ);
    return 0;
}
