/* SPDX-License-Identifier: MIT */
#include "cli/base/output.h"
#include "cli/base/options.h"
#include "common/error.h"
#include "common/link_guard.h"
#include "common/transfer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_open(struct output *output) {
    *output = (struct output){0};
    output->file = open_memstream(&output->text, &output->size);
    return output->file ? 0 : negative_errno();
}

/* mkstemp makes a private file: gives it the mode of the old file, or that of any new one. */
void output_set_mode(int fd, const struct stat *old) {
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask);
}

static int replace(const char *path, const struct stat *old, const struct output *output) {
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return -ENAMETOOLONG;
    int fd = mkstemp(temporary);
    if (fd < 0)
        return negative_errno();
    output_set_mode(fd, old);
    int result = transfer_write(fd, output->text, output->size);
    if (result == 0 && fsync(fd) < 0)
        result = negative_errno();
    if (close(fd) < 0 && result == 0)
        result = negative_errno();
    if (result == 0 && rename(temporary, path) < 0)
        result = negative_errno();
    if (result < 0)
        unlink(temporary);
    return result;
}

/* Pipes and devices are written directly and not replaced; open refuses directories. */
static int write_in_place(const char *path, const struct output *output) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int result = transfer_write(fd, output->text, output->size);
    if (close(fd) < 0 && result == 0)
        result = negative_errno();
    return result;
}

static int bring(const char *path, const struct output *output) {
    char real[PATH_MAX];
    struct stat old;
    if (!path || strcmp(path, "-") == 0)
        return transfer_write(STDOUT_FILENO, output->text, output->size);
    if (link_guard(path, real) == -EPERM)
        return -EPERM;
    if (stat(path, &old) < 0)
        return errno == ENOENT ? replace(path, NULL, output) : negative_errno();
    if (!S_ISREG(old.st_mode))
        return write_in_place(path, output);
    /* a link's target is replaced, not the link */
    return realpath(path, real) ? replace(real, &old, output) : negative_errno();
}

int output_close(struct output *output, const char *path, int result) {
    if (fclose(output->file) != 0 && result == 0)
        result = negative_errno();
    if (result == 0)
        result = bring(path, output);
    if (result == 0 && path && strcmp(path, "-") != 0)
        verb_tell("wrote %s, %.0f kB", path, (double)output->size / 1e3);
    free(output->text);
    return result;
}
