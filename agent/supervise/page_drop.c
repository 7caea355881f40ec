/* SPDX-License-Identifier: MIT */
/*
 * A mapping is dropped only if smaps counts no anonymous page in it. Read-only is not enough:
 * relocated tables are read-only, too, and would be lost.
 */
#include "agent/supervise/page_drop.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct mapping {
    uintptr_t start, end;
    bool candidate; /* of a file, not writable */
};

/* "start-end perms offset dev inode path"; false for any other line. */
static bool read_mapping(const char *line, struct mapping *ret_mapping) {
    uintptr_t start, end;
    unsigned long long inode;
    char permissions[5];
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*s %llu", &start, &end, permissions,
               &inode) != 4)
        return false;
    *ret_mapping =
        (struct mapping){start, end, inode && permissions[0] == 'r' && permissions[1] == '-'};
    return true;
}

void page_drop_files(const char *proc) {
    char path[PATH_MAX], line[PATH_MAX + 128];
    struct mapping mapping = {0};
    unsigned long long anonymous_kb;
    snprintf(path, sizeof path, "%s/self/smaps", proc);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        if (read_mapping(line, &mapping))
            continue;
        if (mapping.candidate && sscanf(line, "Anonymous: %llu kB", &anonymous_kb) == 1 &&
            anonymous_kb == 0)
            madvise((void *)mapping.start, mapping.end - mapping.start, MADV_DONTNEED);
    }
    fclose(file);
}
