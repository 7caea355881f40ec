/* SPDX-License-Identifier: MIT */
#include "agent/introduction.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mpi_library.h"
#include "common/own_program.h"
#include "common/text.h"

#define SAY "chokepoint-agent: "

/* ---- the kernel's name of this system: found without a program ---- */

static int read_word(const char *path, char *to, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return -EIO;
    to[n] = '\0';
    to[strcspn(to, "\n")] = '\0';
    return 0;
}

static int name_system(char *to, size_t size) {
    char host[HOST_NAME_MAX + 1], boot[64];
    int r = read_word("/proc/sys/kernel/hostname", host, sizeof host);
    if (r == 0)
        r = read_word("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (r == 0)
        snprintf(to, size, "%s@%s", host, boot);
    return r;
}

/* ---- the library ---- */

/* The running program is the delivered file, with the library at its end. */
static int take_from_program(const char *path, uint64_t size, uint64_t *ret_digest) {
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = mpi_library_place(fd, size, path);
    close(fd);
    return r < 0 ? r : mpi_library_check(path, ret_digest);
}

static int find_beside(char path[PATH_MAX], uint64_t *ret_digest) {
    char program[PATH_MAX];
    int r = own_program_path(program);
    if (r == 0)
        r = mpi_library_beside(program, path);
    return r < 0 ? r : mpi_library_check(path, ret_digest);
}

void introduce_library(const struct agent_options *options) {
    char path[PATH_MAX] = "", system[HOST_NAME_MAX + 70];
    uint64_t digest = 0;
    if (!options->library)
        return;
    bool came = options->delivered;
    if (came)
        snprintf(path, sizeof path, "%s", options->library);
    int r = !came                    ? find_beside(path, &digest)
            : !options->library_size ? -ENOENT
                                     : take_from_program(path, options->library_size, &digest);
    if (r == 0)
        r = name_system(system, sizeof system);
    if (r == 0)
        fprintf(stderr, SAY "library %016" PRIx64 " %s %s\n", digest, system, path);
    else if (path[0])
        fprintf(stderr, SAY "no library %s: %s\n", path, mpi_library_words(r));
    else
        fprintf(stderr, SAY "no library libchokepoint-mpi.so is not there\n");
}

void introduce_spool(const char *path) {
    char clean[PATH_MAX];
    text_sanitize(clean, sizeof clean, path, strlen(path));
    if (strcmp(clean, path) == 0)
        fprintf(stderr, SAY "spool %s\n", path);
}
