/* SPDX-License-Identifier: MIT */
/* `chokepoint pack` and `chokepoint unpack`: a finished database in a sixth of its bytes. */
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "collector/store_pack.h"
#include "common/error.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char pack_usage[] =
    "usage: chokepoint pack [FILE]\n"
    "\n"
    "Compresses a database that is recorded into no more: FILE.zst takes the place of FILE, in "
    "about\n"
    "a sixth of its bytes, with samples as columns. All verbs that read go on to read it, by "
    "either\n"
    "name, and `chokepoint sql` shows the columns as rows; sqlite3 needs `chokepoint unpack` "
    "first.\n"
    "\n";

static const char pack_end[] =
    "\n"
    "exit status: 0 packed, 1 damaged or not written, 2 no such database, or one in use\n";

static const char unpack_usage[] =
    "usage: chokepoint unpack [FILE.zst]\n"
    "\n"
    "Makes the database of before `chokepoint pack` again, to record into it or to query it with\n"
    "sqlite3.\n"
    "\n";

static const char unpack_end[] =
    "\n"
    "exit status: 0 unpacked, 1 damaged or not written, 2 no such file\n";

typedef int (*convert_fn)(const char *path, struct pack_result *ret, char *why, size_t why_size);

/* A full disk and a damaged page are not usage errors. */
static int status_of(int r) {
    return r == -EBADMSG || r == -ENOSPC || r == -EDQUOT || r == -EIO || r == -ENOMEM ? 1
                                                                                      : EXIT_USAGE;
}

static int convert(const char *verb, const char *path, convert_fn function) {
    struct pack_result result;
    char why[4600] = "", name[4096];
    int r = function(path, &result, why, sizeof why);
    if (r) {
        verb_complain(verb, "%s", why);
        return status_of(r);
    }
    text_sanitize(name, sizeof name, result.path, strlen(result.path));
    printf("%s: %" PRIu64 " bytes plain, %" PRIu64 " packed\n", name, result.plain_bytes,
           result.packed_bytes);
    if (function == store_pack && isatty(STDOUT_FILENO))
        puts(
            "sqlite3 cannot read it: ask it with `chokepoint sql --db`, or `chokepoint unpack` it");
    return fflush(stdout) != 0;
}

static int one_file(const char *verb, const char *path, convert_fn function,
                    struct option_table *table, const char *about, int argc, char **argv) {
    const struct option_row rows[] = {
        {"--db FILE", about, .take = verb_take_database, .to = &path}};
    char **rest;
    table->rows = rows;
    table->n = ARRAY_SIZE(rows);
    int r = verb_words_read(verb, table, argc, argv, &rest);
    if (r == 0 && rest[0] && rest[1])
        r = verb_refuse(verb, "one database at a time", NULL, "see its --help");
    if (r)
        return verb_words_status(r);
    return convert(verb, rest[0] ? rest[0] : path, function);
}

static int pack_main(int argc, char **argv) {
    struct option_table table = {.usage = pack_usage, .end = pack_end, .indent = 2, .column = 14};
    return one_file("pack", REPORT_DATABASE, store_pack, &table,
                    "the same as FILE; default: ./chokepoint.db", argc, argv);
}

static int unpack_main(int argc, char **argv) {
    struct option_table table = {
        .usage = unpack_usage, .end = unpack_end, .indent = 2, .column = 14};
    return one_file("unpack", REPORT_DATABASE PACK_ENDING, store_unpack, &table,
                    "the same as FILE.zst; default: ./chokepoint.db.zst", argc, argv);
}

const struct verb verb_pack = {
    .name = "pack", .help = "compress a database that is complete", .main = pack_main};
const struct verb verb_unpack = {
    .name = "unpack", .help = "make a packed database plain again", .main = unpack_main};
