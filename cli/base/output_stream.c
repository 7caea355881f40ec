/* SPDX-License-Identifier: MIT */
#include "cli/base/output_stream.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/output.h"
#include "common/error.h"
#include "common/link_guard.h"

/* O_TMPFILE needs the directory; on file systems without it the file has a name. */
static int open_nameless(struct output_stream *stream) {
    char directory[PATH_MAX];
    strcpy(directory, stream->target);
    char *slash = strrchr(directory, '/');
    strcpy(slash == directory ? slash + 1 : slash ? slash : directory, slash ? "" : ".");
    int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    int length = snprintf(stream->temporary, sizeof stream->temporary, "%s.XXXXXX", stream->target);
    if (length < 0 || (size_t)length >= sizeof stream->temporary) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return mkostemp(stream->temporary, O_CLOEXEC);
}

static int open_target(struct output_stream *stream, const char *path) {
    if (!path || strcmp(path, "-") == 0)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (link_guard(path, stream->target) == -EPERM) {
        errno = EPERM;
        return -1;
    }
    stream->is_new = stat(path, &stream->old) < 0;
    if (stream->is_new && errno != ENOENT)
        return -1;
    if (!stream->is_new && !S_ISREG(stream->old.st_mode))
        return open(path, O_WRONLY | O_CLOEXEC);
    /* a link's target is replaced, not the link */
    if (!stream->is_new && !realpath(path, stream->target))
        return -1;
    if (stream->is_new && strlen(path) >= sizeof stream->target) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (stream->is_new)
        strcpy(stream->target, path);
    stream->replaces = true;
    return open_nameless(stream);
}

int output_stream_open(struct output_stream *stream, const char *path) {
    *stream = (struct output_stream){0};
    int fd = open_target(stream, path);
    if (fd < 0)
        return negative_errno();
    stream->file = fdopen(fd, "w");
    if (stream->file)
        return 0;
    close(fd);
    return -ENOMEM;
}

/* Gives an unnamed file a name beside the target, then the target's. */
static int put_in_place(struct output_stream *stream) {
    int fd = fileno(stream->file);
    output_set_mode(fd, stream->is_new ? NULL : &stream->old);
    if (fsync(fd) < 0)
        return negative_errno();
    if (!*stream->temporary) {
        char nameless[40];
        snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
        int length = snprintf(stream->temporary, sizeof stream->temporary, "%s.%ld", stream->target,
                              (long)getpid());
        if (length < 0 || (size_t)length >= sizeof stream->temporary)
            return -ENAMETOOLONG;
        if (linkat(AT_FDCWD, nameless, AT_FDCWD, stream->temporary, AT_SYMLINK_FOLLOW) < 0)
            return negative_errno();
    }
    return rename(stream->temporary, stream->target) < 0 ? negative_errno() : 0;
}

int output_stream_close(struct output_stream *stream, int result) {
    errno = 0;
    if (fflush(stream->file) != 0 && (result == 0 || result == -EIO))
        result = negative_errno();
    if (stream->replaces && result == 0)
        result = put_in_place(stream);
    if (stream->replaces && result < 0 && *stream->temporary)
        unlink(stream->temporary);
    if (fclose(stream->file) != 0 && result == 0)
        result = negative_errno();
    return result;
}
