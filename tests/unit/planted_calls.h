/* SPDX-License-Identifier: MIT */
/* Files as ranks write them under libchokepoint-mpi.so, with contents chosen by a test. */
#ifndef CHOKEPOINT_TESTS_PLANTED_CALLS_H
#define CHOKEPOINT_TESTS_PLANTED_CALLS_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/shim/calls.h"

struct planted_rank {
    struct call_file_header *header; /* mapped, as in a rank */
    struct call_total *totals;       /* CALL_COUNT of them */
    struct call_record *ring;
    char path[600];
};

static inline bool planted_open(struct planted_rank *rank, const char *directory, int32_t pid,
                                int32_t number, int32_t world_size, int64_t opened_ns) {
    snprintf(rank->path, sizeof rank->path, "%s/%d.calls", directory, pid);
    int fd = open(rank->path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)CALL_FILE_BYTES) < 0)
        return false;
    char *file = mmap(NULL, CALL_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return false;
    rank->header = (struct call_file_header *)(void *)file;
    rank->totals = (struct call_total *)(void *)(file + CALL_FILE_TOTALS);
    rank->ring = (struct call_record *)(void *)(file + CALL_FILE_RECORDS);
    *rank->header = (struct call_file_header){.magic = CALL_FILE_MAGIC,
                                              .version = CALL_FILE_VERSION,
                                              .record_bytes = sizeof(struct call_record),
                                              .first_capacity = CALL_FILE_CAPACITY,
                                              .capacity = CALL_FILE_CAPACITY,
                                              .n_functions = CALL_COUNT,
                                              .table_hash = CALL_TABLE_HASH,
                                              .pid = pid,
                                              .rank = number,
                                              .world_size = world_size,
                                              .thread_level = -1,
                                              .opened_ns = opened_ns};
    return true;
}

/* Appends one event as a rank does, with the next sequence number. */
static inline void planted_event(struct planted_rank *rank, struct call_record record) {
    uint64_t ticket = rank->header->head++;
    record.sequence = ticket + 1;
    rank->ring[ticket % CALL_FILE_CAPACITY] = record;
}

static inline void planted_close(struct planted_rank *rank) {
    munmap(rank->header, CALL_FILE_BYTES);
}

#endif
