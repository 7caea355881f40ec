/* SPDX-License-Identifier: MIT */
/*
 * libproc2 would read the same three files, but only below /proc, and needs nine libraries, whose
 * loading takes as long as the rest of an agent's start.
 */
#include "agent/base/load_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/dirents.h"
#include "agent/base/source.h"
#include "common/error.h"

#define STAT_HEAD 160 /* pid, name (64 bytes for kernel workers), state */

struct load_reader {
    struct source averages, uptime;
    int proc_fd;
    _Alignas(struct dirents_entry) char entries[16384];
};

static int open_reader(struct load_reader *reader, const char *proc) {
    reader->proc_fd = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (reader->proc_fd < 0)
        return negative_errno();
    int r = source_open(&reader->averages, proc, "loadavg");
    return r < 0 ? r : source_open(&reader->uptime, proc, "uptime");
}

int load_reader_open(const char *proc, struct load_reader **ret_reader) {
    struct load_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return -ENOMEM;
    reader->proc_fd = -1;
    int r = open_reader(reader, proc);
    if (r < 0)
        load_reader_close(reader);
    else
        *ret_reader = reader;
    return r;
}

void load_reader_close(struct load_reader *reader) {
    if (!reader)
        return;
    source_close(&reader->averages);
    source_close(&reader->uptime);
    if (reader->proc_fd >= 0)
        close(reader->proc_fd);
    free(reader);
}

/* "0.52" as billionths. */
static int64_t take_decimal(const char **p, const char *end) {
    uint64_t whole, digit;
    int64_t fraction = 0;
    if (!text_u64(p, end, &whole))
        return VALUE_ABSENT;
    if (*p < end && **p == '.')
        for (int64_t scale = NS_PER_S / 10; ++*p < end && **p >= '0' && **p <= '9'; scale /= 10) {
            digit = (uint64_t)(**p - '0');
            fraction += (int64_t)digit * scale;
        }
    return counter_add(counter_value(whole, NS_PER_S), fraction);
}

int load_reader_averages(struct load_reader *reader, int64_t ret_averages[3],
                         int64_t *ret_uptime_ns) {
    int r = source_read(&reader->averages);
    if (r >= 0)
        r = source_read(&reader->uptime);
    if (r < 0)
        return r;
    const char *p = reader->averages.data;
    for (size_t i = 0; i < 3; i++)
        ret_averages[i] = take_decimal(&p, source_end(&reader->averages));
    p = reader->uptime.data;
    *ret_uptime_ns = take_decimal(&p, source_end(&reader->uptime));
    return 0;
}

static enum task_state state_of(char letter) {
    static const struct {
        char letter;
        enum task_state state;
    } states[] = {{'R', TASK_RUNNING}, {'S', TASK_SLEEPING}, {'D', TASK_WAITING},
                  {'T', TASK_STOPPED}, {'t', TASK_STOPPED},  {'Z', TASK_ZOMBIE}};
    for (size_t i = 0; i < ARRAY_SIZE(states); i++)
        if (states[i].letter == letter)
            return states[i].state;
    return TASK_OTHER;
}

/* The position behind the name, which may have any bytes but is followed by the last bracket.
 * False: the process is gone. */
static bool read_state(const struct load_reader *reader, int32_t pid, enum task_state *ret_state) {
    char path[32], head[STAT_HEAD];
    snprintf(path, sizeof path, "%d/stat", pid);
    int n = file_read_head(reader->proc_fd, path, head, sizeof head);
    const char *bracket = n > 0 ? memrchr(head, ')', (size_t)n) : NULL;
    if (!bracket || bracket + 2 >= head + n)
        return false;
    *ret_state = state_of(bracket[2]);
    return true;
}

int load_reader_tasks(struct load_reader *reader, int64_t ret_tasks[TASK_STATES]) {
    struct dirents entries = {
        .fd = reader->proc_fd, .buffer = reader->entries, .capacity = sizeof reader->entries};
    enum task_state state;
    int32_t pid;
    uint64_t inode;
    memset(ret_tasks, 0, TASK_STATES * sizeof *ret_tasks);
    if (lseek(reader->proc_fd, 0, SEEK_SET) < 0)
        return negative_errno();
    while (dirents_next_id(&entries, &pid, &inode))
        if (read_state(reader, pid, &state))
            ret_tasks[state]++;
    return entries.error;
}
