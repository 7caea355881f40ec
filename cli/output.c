/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include "common/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* mkstemp makes it private: give it the mode that a plain open would have. */
static int open_temporary(struct output *output) {
    int length = snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", output->path);
    if (length < 0 || (size_t)length >= sizeof output->temporary)
        return -ENAMETOOLONG;
    int fd = mkstemp(output->temporary);
    if (fd < 0)
        return negative_errno();
    mode_t mask = umask(0);
    umask(mask);
    struct stat old;
    fchmod(fd, stat(output->path, &old) == 0 ? old.st_mode & 0777 : 0666 & ~mask);
    output->file = fdopen(fd, "w");
    return output->file ? 0 : negative_errno();
}

int output_open(struct output *output, const char *path) {
    struct stat status;
    *output = (struct output){.file = stdout};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    /* a link is followed once, so that the file behind it is replaced and not the link */
    if (!realpath(path, output->path)) {
        if (errno != ENOENT || strlen(path) >= sizeof output->path)
            return negative_errno();
        strcpy(output->path, path);
    }
    if (stat(output->path, &status) < 0 || S_ISREG(status.st_mode))
        return open_temporary(output);
    output->file = fopen(output->path, "w"); /* fails for a directory, as it should */
    return output->file ? 0 : negative_errno();
}

int output_close(struct output *output, int result) {
    if (fflush(output->file) != 0 && result == 0)
        result = negative_errno();
    if (ferror(output->file) && result == 0)
        result = -EIO;
    if (!output->path[0])
        return result;
    if (output->temporary[0] && result == 0 && fsync(fileno(output->file)) < 0)
        result = negative_errno();
    if (fclose(output->file) != 0 && result == 0)
        result = negative_errno();
    if (!output->temporary[0])
        return result;
    if (result == 0 && rename(output->temporary, output->path) < 0)
        result = negative_errno();
    if (result < 0)
        unlink(output->temporary);
    return result;
}
