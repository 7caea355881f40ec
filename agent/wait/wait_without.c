/* SPDX-License-Identifier: MIT */
/* A build without libbpf or clang: open says that there are no programs to load. */
#include "agent/wait/wait_source.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int wait_source_open(const struct wait_config *config, const char *sys,
                     struct wait_source **ret_source, char *why, size_t why_size) {
    (void)config, (void)sys, (void)ret_source;
    snprintf(why, why_size, "built without libbpf or clang: install both and build again");
    return WAIT_ABSENT;
}

void wait_source_close(struct wait_source *source) {
    (void)source;
}

const struct wait_memory *wait_source_memory(const struct wait_source *source) {
    (void)source;
    return NULL;
}

int wait_source_add(struct wait_source *source, uint32_t pid) {
    (void)source, (void)pid;
    return -ENOSYS;
}

void wait_source_remove(struct wait_source *source, uint32_t pid) {
    (void)source, (void)pid;
}

int wait_source_adopt(struct wait_source *source) {
    (void)source;
    return -ENOSYS;
}

int wait_source_follow(struct wait_source *source, int fd, enum driver_library library) {
    (void)source, (void)library;
    close(fd);
    return -EOPNOTSUPP;
}

void wait_source_rest(struct wait_source *source, bool drivers_too) {
    (void)source, (void)drivers_too;
}

int wait_source_go_on(struct wait_source *source) {
    (void)source;
    return -ENOSYS;
}

int wait_source_wakeups(struct wait_source *source, struct wait_wakeup_key *ret_keys,
                        struct wait_wakeup *ret_values, size_t n) {
    (void)source, (void)ret_keys, (void)ret_values, (void)n;
    return -ENOSYS;
}

void wait_source_forget_wakeup(struct wait_source *source, const struct wait_wakeup_key *key) {
    (void)source, (void)key;
}

void wait_source_forget_socket(struct wait_source *source, uint64_t address) {
    (void)source, (void)address;
}
