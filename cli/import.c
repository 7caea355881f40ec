/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint import`: what agents could not deliver, from the files they left behind, into the
 * run it belongs to. A segment of a spool is a whole stream in itself, so each goes the way of a
 * push: checked as a whole, then written in one transaction, its frames known by their numbers.
 * Doing it twice adds nothing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "collector/ingest.h"
#include "collector/store_read.h"
#include "common/error.h"

static const char help[] =
    "usage: chokepoint import DIRECTORY... [--db FILE] [--run RUN]\n"
    "\n"
    "Brings what agents could not deliver into the database. DIRECTORY is the one that an\n"
    "agent named when it ended (\"they are kept in ...\"): files *.spool, copied here from\n"
    "the other hosts if need be. They are only read; what is there already is left out.\n"
    "\n"
    "  --db FILE   default: ./chokepoint.db\n"
    "  --run RUN   of which run; default: the one that has samples of the same agent\n";

struct import {
    const char *database, *which; /* which: NULL, not given */
    struct store *store;
    struct ingest *ingest; /* of `run`; NULL before the first file */
    int64_t run;
    uint64_t frames, duplicates, files;
};

static int fail(const char *path, const char *why) {
    verb_complain("import", "%s: %s", path, why);
    return -EIO;
}

/* A link or a device is no spool. */
static int read_segment(const char *path, uint8_t **ret_data, size_t *ret_size) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > INGEST_BODY_MAX) {
        int error = fd < 0 ? errno : EINVAL;
        if (fd >= 0)
            close(fd);
        return fail(path, error == EINVAL ? "this is no segment of a spool" : strerror(error));
    }
    uint8_t *data = malloc((size_t)st.st_size + 1);
    size_t size = 0;
    ssize_t n = data ? 1 : -1;
    while (n > 0 && size < (size_t)st.st_size) {
        n = read(fd, data + size, (size_t)st.st_size - size);
        size += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    if (n < 0) {
        free(data);
        return fail(path, data ? strerror(errno) : "out of memory");
    }
    *ret_data = data;
    *ret_size = size;
    return 0;
}

/* Whose it is, and its length without a record that was cut short when its writer was killed. */
static int look_at(const char *path, const uint8_t *data, size_t *size,
                   struct wire_stream *ret_stream) {
    struct wire_reader reader;
    struct wire_record record;
    size_t whole = 0;
    int r;
    wire_reader_init(&reader, data, *size);
    while ((r = wire_next(&reader, &record)) == 0)
        whole = record.offset + record.size;
    if (r < 0)
        fail(path, reader.why[0] ? reader.why : "this is no segment of a spool");
    else if (!reader.have_stream)
        r = fail(path, "this is no segment of a spool");
    *ret_stream = reader.stream;
    wire_reader_release(&reader);
    *size = whole;
    return r < 0 ? r : 0;
}

/* The run of the first file is that of all: the samples of a host come before its events. */
static int find_run(struct import *import, const char *path, const struct wire_stream *stream) {
    struct store_run run;
    int r = import->which ? store_find_run(import->store, import->which, &run)
                          : store_find_run_of_stream(import->store, stream, &import->run);
    if (r == 0 && import->which) {
        import->run = run.id;
        store_run_release(&run);
    }
    if (r == -ENOENT && import->which)
        verb_complain("import", "no run '%s' in %s; `chokepoint list` shows what there is",
                      import->which, import->database);
    else if (r == -ENOENT)
        verb_complain("import", "%s: no run in %s has samples of this agent; name one with --run",
                      path, import->database);
    else if (r < 0)
        fail(import->database, store_error(import->store));
    return r < 0 ? r : ingest_new(import->store, import->run, &import->ingest);
}

static int write_segment(struct import *import, const char *path, struct ingest_push *push) {
    int r = ingest_check(import->ingest, push);
    if (r < 0)
        return fail(path, push->why);
    r = store_begin(import->store);
    if (r == 0)
        r = ingest_write(import->ingest, push);
    if (r == 0)
        r = store_commit(import->store);
    if (r < 0) {
        fail(path, push->why[0] ? push->why : store_error(import->store));
        store_rollback(import->store);
        return r;
    }
    ingest_committed(import->ingest, push);
    import->frames += push->frames;
    import->duplicates += push->duplicates;
    import->files++;
    return 0;
}

/* Single events lie on the clock of their host's samples, which therefore come first. */
static int import_file(struct import *import, const char *path, bool events) {
    struct ingest_push push = {0};
    struct wire_stream stream;
    uint8_t *data;
    int r = read_segment(path, &data, &push.size);
    if (r < 0)
        return r;
    push.body = data;
    r = look_at(path, data, &push.size, &stream);
    bool skip = r == 0 && (stream.period_ns == 0) != events;
    if (r == 0 && !skip && !import->ingest)
        r = find_run(import, path, &stream);
    if (r == 0 && !skip)
        r = write_segment(import, path, &push);
    free(data);
    return r;
}

static int is_segment(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 6 && strcmp(entry->d_name + n - 6, ".spool") == 0;
}

/* In the order they were written: names end in their number. */
static int import_directory(struct import *import, const char *directory) {
    struct dirent **entries;
    char path[PATH_MAX];
    int r = 0, n = scandir(directory, &entries, is_segment, alphasort);
    if (n < 0)
        return fail(directory, errno == ENOTDIR ? "is a file; name the directory it lies in"
                                                : strerror(errno));
    for (int i = 0; i < 2 * n && r == 0; i++) {
        int size = snprintf(path, sizeof path, "%s/%s", directory, entries[i % n]->d_name);
        r = size > 0 && (size_t)size < sizeof path ? import_file(import, path, i >= n)
                                                   : fail(directory, "its name is too long");
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return r < 0 ? r : n ? 0 : fail(directory, "there are no files *.spool");
}

static int import_all(struct import *import, char **directories) {
    char why[300] = "";
    int r = 0;
    if (access(import->database, F_OK) != 0)
        snprintf(why, sizeof why, "there is no database '%s'; name one with --db",
                 import->database);
    if (why[0] || store_open_write(import->database, &import->store, why, sizeof why)) {
        verb_complain("import", "%s", why);
        return EXIT_USAGE;
    }
    for (; *directories && r == 0; directories++)
        r = import_directory(import, *directories);
    ingest_free(import->ingest);
    store_close(import->store);
    if (import->files)
        printf("run %" PRId64 ": %" PRIu64 " samples from %" PRIu64 " files; %" PRIu64
               " more were there already\n",
               import->run, import->frames, import->files, import->duplicates);
    return r < 0 ? EXIT_USAGE : 0;
}

static int import_main(int argc, char **argv) {
    struct import import = {.database = REPORT_DATABASE};
    const struct verb_option takes[] = {{"db", 0, &import.database, NULL},
                                        {"run", 0, &import.which, NULL}};
    const struct verb_words words = {"import", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    int r = verb_words_read(&words, argc, argv, &rest);
    if (r == 0 && !rest[0])
        r = verb_refuse("import", "name a directory of an agent's spool", NULL,
                        "`chokepoint import --help` tells more");
    return r ? verb_words_status(r) : import_all(&import, rest);
}

const struct verb verb_import = {"import", "bring in what agents could not deliver", import_main};
