/* SPDX-License-Identifier: MIT */
/* Chooses the files, or the part of a file, that a rank reads. All ranks see the same list and need
 * no messages. */
#include "workloads/common/libsvm.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "workloads/common/gzip.h"

static int is_training_file(const struct dirent *entry) {
    return fnmatch("train-*", entry->d_name, 0) == 0;
}

static int is_any_file(const struct dirent *entry) {
    bool is_regular =
        entry->d_type == DT_REG || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
    return is_regular && entry->d_name[0] != '.' && strncmp(entry->d_name, "test", 4) != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The files of a directory, or the one file itself. */
struct file_list {
    int n;
    struct dirent **entries; /* NULL: `path` is a file */
};

static int list_files(const char *path, struct file_list *ret, struct libsvm_error *error) {
    struct stat st;
    struct file_list list = {.n = 1};
    if (stat(path, &st) < 0)
        return libsvm_error_set(error, -errno, path, "cannot open the data");
    if (S_ISDIR(st.st_mode))
        list.n = scandir(path, &list.entries, is_training_file, by_name);
    if (list.n == 0) {
        free(list.entries);
        list.n = scandir(path, &list.entries, is_any_file, by_name);
    }
    if (list.n < 0)
        return libsvm_error_set(error, -errno, path, "cannot list the data");
    if (list.n == 0) {
        free(list.entries);
        return libsvm_error_set(error, 0, path, "expected files of training data, found none");
    }
    *ret = list;
    return 0;
}

static void list_release(struct file_list *list) {
    for (int i = 0; list->entries && i < list->n; i++)
        free(list->entries[i]);
    free(list->entries);
}

/* NULL without memory. */
static char *list_path(const struct file_list *list, const char *path, int i) {
    char *full;
    if (!list->entries)
        return strdup(path);
    return asprintf(&full, "%s/%s", path, list->entries[i]->d_name) < 0 ? NULL : full;
}

static int reader_init(struct libsvm_reader *reader, size_t n_parts, uint32_t n_features) {
    *reader = (struct libsvm_reader){.fd = -1, .n_features = n_features};
    reader->parts = calloc(n_parts, sizeof *reader->parts);
    reader->buffer = malloc(LIBSVM_MAX_LINE);
    return reader->parts && reader->buffer ? 0 : -ENOMEM;
}

/* Takes ownership of the path. */
static int part_whole(struct libsvm_reader *reader, char *path) {
    if (!path)
        return -ENOMEM;
    int packed = gzip_is(path);
    reader->parts[reader->n_parts++] = (struct libsvm_part){
        .path = path, .begin = 0, .end = -1, .is_packed = packed > 0, .shares = 1};
    return packed < 0 ? packed : 0;
}

/* Share number `share` of `shares` equal ones. By bytes: a line belongs to the share in which it
 * begins. By lines in a packed file, which can only be read from its beginning. */
static int part_cut(struct libsvm_reader *reader, char *path, int share, int shares) {
    struct stat st;
    int r = part_whole(reader, path);
    if (r == 0 && stat(path, &st) < 0)
        r = -errno;
    if (r < 0)
        return r;
    struct libsvm_part *part = &reader->parts[reader->n_parts - 1];
    if (part->is_packed) {
        part->share = (uint64_t)share;
        part->shares = (uint64_t)shares;
        return 0;
    }
    part->begin = st.st_size / shares * share;
    part->end = share == shares - 1 ? -1 : st.st_size / shares * (share + 1);
    return 0;
}

/* With fewer files than ranks, the ranks with the same rank % files share a file. */
static int take_share(struct libsvm_reader *reader, const struct file_list *list, const char *path,
                      int rank, int n_ranks) {
    int r = 0;
    if (list->n < n_ranks)
        return part_cut(reader, list_path(list, path, rank % list->n), rank / list->n,
                        (n_ranks - 1 - rank % list->n) / list->n + 1);
    for (int i = rank; r == 0 && i < list->n; i += n_ranks)
        r = part_whole(reader, list_path(list, path, i));
    return r;
}

int libsvm_open_share(struct libsvm_reader *ret_reader, const char *path, int rank, int n_ranks,
                      uint32_t n_features, struct libsvm_error *error) {
    struct file_list list = {0};
    int r = list_files(path, &list, error);
    if (r < 0)
        return r;
    r = reader_init(ret_reader, (size_t)(list.n / n_ranks + 1), n_features);
    if (r == 0)
        r = take_share(ret_reader, &list, path, rank, n_ranks);
    list_release(&list);
    if (r < 0) {
        libsvm_release(ret_reader);
        return libsvm_error_set(error, r, path, "cannot start reading");
    }
    return 0;
}

int libsvm_open_file(struct libsvm_reader *ret_reader, const char *path, uint32_t n_features,
                     struct libsvm_error *error) {
    struct stat st;
    if (stat(path, &st) < 0)
        return libsvm_error_set(error, -errno, path, "cannot open");
    int r = reader_init(ret_reader, 1, n_features);
    if (r == 0)
        r = part_whole(ret_reader, strdup(path));
    if (r < 0) {
        libsvm_release(ret_reader);
        return libsvm_error_set(error, r, path, "cannot start reading");
    }
    return 0;
}
