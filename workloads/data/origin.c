/* SPDX-License-Identifier: MIT */
#include "workloads/data/origin.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

int origin_write(const char *directory, const char *text, struct data_error *error) {
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/" ORIGIN_FILE, directory) >= PATH_SIZE)
        return data_error_set(error, -ENAMETOOLONG, directory, "cannot write there");
    FILE *file = fopen(path, "we");
    if (!file)
        return data_error_set(error, -errno, path, "cannot write");
    int r = fprintf(file, "%s\n", text) < 0 ? -errno : 0;
    if (fclose(file) != 0 && r == 0)
        r = -errno;
    if (r < 0)
        unlink(path);
    return r < 0 ? data_error_set(error, r, path, "cannot write") : 0;
}

void origin_read(const char *directory, char ret[ORIGIN_SIZE]) {
    char path[PATH_SIZE];
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/" ORIGIN_FILE, directory) < PATH_SIZE)
        file = fopen(path, "re");
    bool there = file && fgets(ret, ORIGIN_SIZE, file) && ret[0] != '\n';
    if (file)
        fclose(file);
    if (!there)
        strcpy(ret, "images of unknown origin");
    ret[strcspn(ret, "\n")] = 0;
    for (char *c = ret; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}
