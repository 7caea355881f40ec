/* SPDX-License-Identifier: MIT */
#include "workloads/data/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/data/sha256.h"

#define PATH_SIZE 4096

static int checksum(const char *path, char ret[SHA256_TEXT]) {
    uint8_t bytes[1 << 16];
    struct sha256 sha;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    sha256_init(&sha);
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        sha256_add(&sha, bytes, (size_t)n);
    int r = n < 0 ? -errno : 0;
    close(fd);
    sha256_text(&sha, ret);
    return r;
}

/* 0 if the file at path has the checksum, or none is known. */
static int verify(const struct fetch_source *s, const char *path, struct data_error *error) {
    char found[SHA256_TEXT];
    int r = s->sha256 ? checksum(path, found) : 0;
    if (r < 0)
        return data_error_set(error, r, path, "cannot read");
    if (!s->sha256 || strcasecmp(found, s->sha256) == 0)
        return 0;
    snprintf(error->text, sizeof error->text,
             "%.200s: wrong checksum: expected SHA-256 %.64s, found %s; nothing is kept", s->url,
             s->sha256, found);
    return -EBADMSG;
}

static bool is_there(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Fetches the rest of a part. If the server has nothing after it, the part may be the whole file,
 * which the checksum tells. */
static int complete(const struct fetch_source *s, const char *part, fetch_show *show, void *ctx,
                    struct data_error *error) {
    struct stat st;
    int fd = open(part, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &st) < 0) {
        int r = data_error_set(error, -errno, part, "cannot write");
        if (fd >= 0)
            close(fd);
        return r;
    }
    int r = http_get(s->url, s->name, fd, (uint64_t)st.st_size, show, ctx, error);
    if (r == -ERANGE && (!s->sha256 || verify(s, part, error) < 0))
        r = http_get(s->url, s->name, fd, 0, show, ctx, error);
    else if (r == -ERANGE)
        r = 0;
    if (fstat(fd, &st) == 0 && st.st_size == 0 && r < 0)
        unlink(part); /* there is no part to continue */
    if (close(fd) < 0 && r == 0)
        r = data_error_set(error, -errno, part, "cannot write");
    return r;
}

int fetch_file(const struct fetch_source *s, const char *directory, fetch_show *show, void *ctx,
               struct data_error *error) {
    char path[PATH_SIZE], part[PATH_SIZE + 8];
    if (snprintf(path, sizeof path, "%s/%s", directory, s->name) >= PATH_SIZE)
        return data_error_set(error, -ENAMETOOLONG, directory, "cannot write there");
    snprintf(part, sizeof part, "%s.part", path);
    if (is_there(path) && verify(s, path, error) == 0)
        return 0;
    int r = complete(s, part, show, ctx, error);
    if (r == 0 && (r = verify(s, part, error)) < 0)
        unlink(part);
    if (r == 0 && rename(part, path) < 0)
        r = data_error_set(error, -errno, path, "cannot write");
    return r;
}
