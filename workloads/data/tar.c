/* SPDX-License-Identifier: MIT */
/* POSIX ustar and older formats: headers of 512 bytes, numbers in octal digits. */
#include "workloads/data/tar.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 512
#define NAME_BYTES 100
#define SIZE_AT 124
#define SIZE_BYTES 12
#define SUM_AT 148
#define SUM_BYTES 8
#define TYPE_AT 156
#define PATH_SIZE 4096

/* Octal digits up to a space, a NUL or the end of the field; false for anything else. */
static bool octal(const uint8_t *p, size_t n, uint64_t *ret) {
    uint64_t v = 0;
    size_t i = 0;
    while (i < n && p[i] == ' ')
        i++;
    size_t digits = i;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        v = v * 8 + (uint64_t)(p[i] - '0');
    *ret = v;
    return i > digits && (i == n || p[i] == 0 || p[i] == ' ');
}

/* The sum of the header's bytes, with its own field as spaces. */
static uint64_t sum_of(const uint8_t *head) {
    uint64_t sum = 0;
    for (int i = 0; i < BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : head[i];
    return sum;
}

static void take_name(const uint8_t *head, char *ret) {
    char name[NAME_BYTES + 1] = "";
    memcpy(name, head, NAME_BYTES);
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    bool good = isalnum((unsigned char)*base) && (head[TYPE_AT] == '0' || head[TYPE_AT] == 0);
    for (const char *p = base; *p; p++)
        good &= isalnum((unsigned char)*p) || *p == '.' || *p == '_' || *p == '-';
    strcpy(ret, good ? base : "");
}

int tar_next(const char *name, const struct bytes *archive, size_t *offset, struct tar_entry *ret,
             struct data_error *error) {
    uint64_t size, sum;
    size_t left = archive->n - *offset;
    const uint8_t *head = archive->data + *offset;
    if (left < BLOCK)
        return data_error_at(error, name, *offset, "expected a head of %d bytes, found %zu", BLOCK,
                             left);
    if (head[0] == 0)
        return 0;
    if (!octal(head + SUM_AT, SUM_BYTES, &sum) || sum != sum_of(head))
        return data_error_at(error, name, *offset + SUM_AT, "expected the checksum of a tar head");
    if (!octal(head + SIZE_AT, SIZE_BYTES, &size) || size > left - BLOCK)
        return data_error_at(error, name, *offset + SIZE_AT,
                             "expected the size of an entry, at most %zu", left - BLOCK);
    take_name(head, ret->name);
    ret->data = head + BLOCK;
    ret->n = (size_t)size;
    size_t whole = BLOCK + (ret->n + BLOCK - 1) / BLOCK * BLOCK;
    *offset += whole < left ? whole : left;
    return 1;
}

static int write_entry(const struct tar_entry *e, const char *directory, struct data_error *error) {
    char path[PATH_SIZE], part[PATH_SIZE + 8];
    if (snprintf(path, sizeof path, "%s/%s", directory, e->name) >= PATH_SIZE)
        return data_error_set(error, -ENAMETOOLONG, directory, "cannot write there");
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "we");
    if (!file)
        return data_error_set(error, -errno, part, "cannot write");
    errno = EIO;
    int r = fwrite(e->data, 1, e->n, file) == e->n ? 0 : -errno;
    if (fclose(file) != 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(part, path) < 0)
        r = -errno;
    if (r == 0)
        return 0;
    unlink(part);
    return data_error_set(error, r, path, "cannot write");
}

static bool ends_in(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

int tar_extract(const char *name, const struct bytes *archive, const char *end,
                const char *directory, struct data_error *error) {
    struct tar_entry entry;
    size_t offset = 0;
    int n = 0, r;
    while ((r = tar_next(name, archive, &offset, &entry, error)) > 0) {
        if (!entry.name[0] || !ends_in(entry.name, end))
            continue;
        r = write_entry(&entry, directory, error);
        if (r < 0)
            break;
        n++;
    }
    return r < 0 ? r : n;
}
