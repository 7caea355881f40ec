/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint import`: stores undelivered data from the files that agents left behind, in the run
 * of these data. A segment of a spool is a whole stream, so it is stored like a push: checked as a
 * whole, then written in one transaction. Its frames have numbers, so a second import adds nothing.
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

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/import/leftover.h"
#include "collector/confine.h"
#include "collector/ingest.h"
#include "collector/store_read.h"
#include "common/error.h"
#include "common/text.h"

static const char usage[] =
    "usage: chokepoint import [DIRECTORY...] [--db FILE] [--run RUN]\n"
    "       chokepoint import --list | --remove [--days N] [PLACE...]\n"
    "\n"
    "Brings what agents could not deliver into the database. DIRECTORY is the one that an\n"
    "agent named when it ended (\"they are kept in ...\"): files *.spool, copied here from\n"
    "the other hosts if need be. Without one, all that were left behind on this host.\n"
    "They are only read; what is there already is left out.\n"
    "\n";

#define DAYS_DEFAULT 7
#define DAYS_MAX 36500

struct import {
    const char *database, *which; /* which: NULL, not given */
    struct store *store;
    struct ingest *ingest; /* run of the first file; NULL before */
    int64_t run;
    bool found; /* a directory found on this host: it may belong to another database */
    uint64_t frames, duplicates, files;
    char **directories;                /* directories that the user named */
    bool makes;                        /* the run is missing: the database is gone, or --new */
    char made_id[WIRE_RUN_ID_MAX + 1]; /* of the run made last; "": its id is not known */
    int64_t made;                      /* 0: none */
};

static int fail(const char *path, const char *why) {
    verb_complain("import", "%s: %s", path, why);
    return -EIO;
}

/* Links and devices are not spools. */
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

/* Finds the file's stream, and its length without a record that a kill cut short. */
static int look_at_segment(const char *path, const uint8_t *data, size_t *size,
                           struct wire_stream *ret_stream, struct wire_run *ret_run) {
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
    *ret_run = reader.run;
    wire_reader_release(&reader);
    *size = whole;
    return r < 0 ? r : 0;
}

/* ---- a run that is rebuilt ---- */

/* Facts about a run from its segments. The clock is that of `run`'s host, the only one that knows
 * the run's name; else of the first host. */
struct remains {
    struct wire_run run;
    struct frame_head first; /* seq 0: none yet */
    int64_t period_ns, begin_ns;
};

static int is_spool_file(const struct dirent *entry);

/* The file's stream, its run, its first frame. */
static void take_remains(struct remains *remains, const uint8_t *data, size_t size) {
    struct wire_reader reader;
    struct wire_record record = {0};
    wire_reader_init(&reader, data, size);
    while (wire_next(&reader, &record) == 0 && record.type != WIRE_FRAME)
        ;
    const struct wire_run *run = &reader.run;
    bool same = record.type == WIRE_FRAME && reader.stream.period_ns &&
                strcmp(run->id, remains->run.id) == 0;
    if (same && (!remains->first.seq || record.head.wall_ns < remains->begin_ns))
        remains->begin_ns = record.head.wall_ns;
    if (same && (!remains->first.seq || (run->name[0] && !remains->run.name[0]))) {
        remains->run = *run;
        remains->first = record.head;
        remains->period_ns = reader.stream.period_ns;
    }
    wire_reader_release(&reader);
}

static void look_into(struct remains *remains, const char *directory) {
    struct dirent **entries;
    char path[PATH_MAX];
    int n = scandir(directory, &entries, is_spool_file, alphasort);
    for (int i = 0; i < n; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        uint8_t *data = NULL;
        size_t size;
        if (length > 0 && (size_t)length < sizeof path && read_segment(path, &data, &size) == 0)
            take_remains(remains, data, size);
        free(data);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

#define UNKNOWN "not known"

/* The words are the same for each run: a later import finds the run by them. */
static void words_of_made(char *to, size_t size, const char *id) {
    snprintf(to, size,
             "made by `chokepoint import` of what agents of run %s kept, without the database: its "
             "exit status, when its command began and ended, and the hosts of which nothing was "
             "kept are not known",
             id[0] ? id : "(" UNKNOWN ")");
}

static int begin_again(struct import *import, const struct remains *remains) {
    char note[400];
    int64_t mono_ns = remains->first.mono_ns - (remains->first.wall_ns - remains->begin_ns);
    const struct run_begin begin = {.name = remains->run.name[0] ? remains->run.name : "again",
                                    .command =
                                        remains->run.command[0] ? remains->run.command : UNKNOWN,
                                    .wall_ns = remains->begin_ns,
                                    .mono_ns = mono_ns,
                                    .period_ns = remains->period_ns};
    words_of_made(note, sizeof note, remains->run.id);
    int r = store_run_begin(import->store, &begin, &import->run);
    if (r == 0)
        r = store_run_note(import->store, import->run, note);
    if (r == 0 && !remains->run.command[0])
        r = store_run_note(import->store, import->run,
                           "what agents kept here has no command: the agent beside `run` has it");
    return r;
}

/* One transaction: without its note, the next import would not find the run. */
static int make_run(struct import *import, const struct wire_run *run) {
    struct remains remains = {.period_ns = 0};
    memcpy(remains.run.id, run->id, sizeof run->id);
    for (char **directory = import->directories; *directory; directory++)
        look_into(&remains, *directory);
    if (!remains.first.seq)
        return -ENOENT;
    int r = store_begin(import->store);
    if (r == 0)
        r = begin_again(import, &remains);
    if (r == 0)
        r = store_commit(import->store);
    if (r < 0)
        return store_rollback(import->store), r;
    import->made = import->run;
    memcpy(import->made_id, run->id, sizeof run->id);
    return 0;
}

/* The run made from other directories of the same id, in this import or before. */
static int find_made(struct import *import, const struct wire_run *run) {
    char note[400];
    if (import->made && strcmp(import->made_id, run->id) == 0)
        return import->run = import->made, 0;
    words_of_made(note, sizeof note, run->id);
    return run->id[0] ? store_find_run_of_note(import->store, note, &import->run) : -ENOENT;
}

static int find_or_make_run(struct import *import, const struct wire_run *run) {
    int r = find_made(import, run);
    return r == -ENOENT && import->makes ? make_run(import, run) : r;
}

/* ---- the run of a file ---- */

/* Single events are a stream of their own, perhaps the only one left, and the database may not have
 * it yet. Then the run is found by the stream of samples of the same agent, whose id precedes
 * it. */
static int find_run_of_agent(struct import *import, const struct wire_stream *stream) {
    struct wire_stream samples = *stream;
    int r = store_find_run_of_stream(import->store, stream, &import->run);
    if (r != -ENOENT || stream->period_ns)
        return r;
    samples.stream_id--;
    return store_find_run_of_stream(import->store, &samples, &import->run);
}

/* The run of the first file is that of all: the samples of a host come before its events. */
static int find_run(struct import *import, const char *path, const struct wire_stream *stream,
                    const struct wire_run *of) {
    struct store_run run;
    int r = import->which ? store_find_run(import->store, import->which, &run)
                          : find_run_of_agent(import, stream);
    if (r == -ENOENT && !import->which && !import->found)
        r = find_or_make_run(import, of);
    if (r == 0 && import->which) {
        import->run = run.id;
        store_run_release(&run);
    }
    if (r == -ENOENT && import->which)
        verb_complain("import", "no run '%s' in %s; `chokepoint list` shows what there is",
                      import->which, import->database);
    else if (r == -ENOENT && import->found) {
        char shown[PATH_MAX];
        text_sanitize(shown, sizeof shown, path, strlen(path));
        printf("%s is of no run in %s\n", shown, import->database);
    } else if (r == -ENOENT)
        verb_complain("import",
                      "%s: no run in %s has samples of this agent; name one with --run, or make it "
                      "again with --new",
                      path, import->database);
    else if (r < 0)
        fail(import->database, store_error(import->store));
    return r < 0 ? r : ingest_new(import->store, import->run, &import->ingest);
}

static int write_segment(struct import *import, const char *path, struct ingest_push *push) {
    int r = ingest_check(import->ingest, push);
    if (r < 0)
        return fail(path, push->why);
    push->final = true; /* what the agent would have pushed later is in no file */
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

/* Single events use the clock of their host's samples, so the samples come first. */
static int import_file(struct import *import, const char *path, bool events) {
    struct ingest_push push = {0};
    struct wire_stream stream;
    struct wire_run run;
    uint8_t *data;
    int r = read_segment(path, &data, &push.size);
    if (r < 0)
        return r;
    push.body = data;
    r = look_at_segment(path, data, &push.size, &stream, &run);
    bool skip = r == 0 && (stream.period_ns == 0) != events;
    if (r == 0 && !skip && !import->ingest)
        r = find_run(import, path, &stream, &run);
    if (r == 0 && !skip)
        r = write_segment(import, path, &push);
    free(data);
    return r;
}

static int is_spool_file(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 6 && strcmp(entry->d_name + n - 6, ".spool") == 0;
}

/* In the order in which they were written: names end in their number. */
static int import_directory(struct import *import, const char *directory) {
    struct dirent **entries;
    char path[PATH_MAX];
    int r = 0, n = scandir(directory, &entries, is_spool_file, alphasort);
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

static void tell_import(const struct import *import) {
    if (import->files)
        printf("run %" PRId64 ": %" PRIu64 " samples from %" PRIu64 " files; %" PRIu64
               " more were there already\n",
               import->run, import->frames, import->files, import->duplicates);
}

/* ---- leftovers on this host ---- */

/* Each has its own run. One that belongs to another database stays, which is no failure. */
static int import_leftover(struct import *import, const struct leftover *leftover) {
    struct import one = {.database = import->database, .store = import->store, .found = true};
    int r = leftover->held || leftover->foreign || !leftover->files
                ? 0
                : import_directory(&one, leftover->path);
    ingest_free(one.ingest);
    import->files += one.files;
    tell_import(&one);
    return r == -ENOENT ? 0 : r;
}

static int import_leftovers(struct import *import, const struct leftover *list, size_t n) {
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        int r = import_leftover(import, &list[i]);
        failed = r < 0 ? r : failed;
    }
    if (!import->files && !failed)
        printf("there is nothing to bring in\n");
    return failed;
}

/* ---- the verb ---- */

/* Each directory belongs to one run; the next directory may belong to another. */
static int import_named(struct import *import, const char *directory) {
    int r = leftover_check_owner(directory);
    if (r == 0)
        r = import_directory(import, directory);
    tell_import(import);
    ingest_free(import->ingest);
    import->ingest = NULL;
    import->frames = import->duplicates = import->files = 0;
    return r;
}

/* Segments may be anybody's files. */
static int confine_import(const struct import *import) {
    int r = confine_files(CONFINE_STORES, import->database);
    if (r == 0)
        r = confine_calls(CONFINE_STORES);
    return r < 0 ? fail(import->database, strerror(-r)) : 0;
}

static int import_all(struct import *import, char **directories, const struct leftover *list,
                      size_t n) {
    char why[300] = "";
    bool gone = access(import->database, F_OK) != 0;
    int r = 0;
    if (gone && (!*directories || import->which))
        snprintf(why, sizeof why, "there is no database '%s'; name one with --db%s",
                 import->database,
                 *directories ? "" : ", or the directories of a run that is to be made again");
    import->directories = directories;
    import->makes |= gone;
    if (why[0] || store_open_write(import->database, &import->store, why, sizeof why)) {
        verb_complain("import", "%s", why);
        return EXIT_USAGE;
    }
    r = confine_import(import);
    if (r == 0 && !*directories)
        r = import_leftovers(import, list, n);
    for (; r == 0 && *directories; directories++)
        r = import_named(import, *directories);
    store_close(import->store);
    if (gone && !import->made)
        unlink(import->database); /* an empty directory */
    return r < 0 ? EXIT_USAGE : 0;
}

struct wish {
    bool list, remove;
    const char *days_text;
    uint64_t days;
};

static int check_wish(struct wish *wish, const struct import *import, char *const *directories) {
    const char *advice = "`chokepoint import --help` tells more";
    bool other = wish->list || wish->remove;
    if (import->makes && (import->which || !*directories || other))
        return verb_refuse("import", "--new goes with directories alone", NULL, advice);
    if (other && (import->which || wish->list == wish->remove))
        return verb_refuse("import", "--list and --remove stand alone", NULL, advice);
    if (import->which && !*directories)
        return verb_refuse("import", "name the directory that is of this run", import->which,
                           advice);
    if (wish->days_text && !wish->remove)
        return verb_refuse("import", "--days belongs to --remove", NULL, advice);
    if (wish->days_text &&
        (text_parse_u64(wish->days_text, &wish->days) < 0 || wish->days > DAYS_MAX))
        return verb_refuse("import", "no number of days", wish->days_text, advice);
    return 0;
}

static int fulfil(struct import *import, const struct wish *wish, char **directories) {
    struct leftover *list = NULL;
    size_t n = 0;
    bool look = wish->list || wish->remove || !*directories;
    int r = look ? leftovers_find(directories, &list, &n) : 0;
    if (r < 0)
        return fail("/tmp", strerror(-r)), EXIT_USAGE;
    r = wish->list     ? leftovers_list(list, n)
        : wish->remove ? leftovers_remove(list, n, wish->days)
                       : import_all(import, directories, list, n);
    free(list);
    return r;
}

static int import_main(int argc, char **argv) {
    struct import import = {.database = REPORT_DATABASE};
    struct wish wish = {.days = DAYS_DEFAULT};
    const struct option_row rows[] = {
        VERB_DATABASE(&import.database),
        {"--run RUN", "of which run; default: the one that has samples of the same agent",
         .text = &import.which},
        {"--new",
         "make a run again that FILE does not have, of what is left of it: all\n"
         "DIRECTORYs of its hosts at once; without FILE this is what import does",
         .flag = &import.makes},
        {"--list", "show what was left behind in PLACE, default $TMPDIR and /tmp",
         .flag = &wish.list},
        {"--remove", "remove what was left behind there, by you, that no agent holds",
         .flag = &wish.remove},
        {"--days N", "with --remove: written to last more than N days ago; default 7",
         .text = &wish.days_text},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 14, false};
    char **rest;
    int r = verb_words_read("import", &table, argc, argv, &rest);
    if (r == 0)
        r = check_wish(&wish, &import, rest);
    return r ? verb_words_status(r) : fulfil(&import, &wish, rest);
}

const struct verb verb_import = {
    .name = "import", .help = "bring in what agents could not deliver", .main = import_main};
