/* SPDX-License-Identifier: MIT */
/* `chokepoint verify`: whether a database is undamaged. */
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "collector/store_verify.h"
#include "common/error.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint verify [FILE]\n"
    "\n"
    "Checks every page of a database against the checksum it was written with, and says which\n"
    "ones are damaged, and whose they are.\n"
    "\n";

static const char end[] = "\n"
                          "exit status: 0 intact, 1 damaged, 2 no such database\n";

#define SHOWN_MAX 20

static void print_damage(const char *path, const struct verification *v) {
    for (size_t i = 0; i < v->n_damages && i < SHOWN_MAX; i++) {
        const struct verify_damage *damage = &v->damages[i];
        uint64_t at = (uint64_t)(damage->page - 1) * v->page_size;
        printf("%s: page %" PRIu32 " is damaged (bytes %" PRIu64 " to %" PRIu64 ", %s)\n", path,
               damage->page, at, at + v->page_size - 1,
               damage->object[0] ? damage->object : "of what is not known");
    }
    if (v->n_damaged > SHOWN_MAX)
        printf("%s: %" PRIu64 " more pages are damaged\n", path, v->n_damaged - SHOWN_MAX);
    if (v->n_missing)
        printf("%s: its last %" PRIu64 " pages are missing\n", path, v->n_missing);
    if (v->structure[0])
        printf("%s: %s\n", path, v->structure);
}

static void print_state(const char *path, const struct verification *v) {
    static const char *const checked = "only that its pages fit together was checked";
    if (!verification_is_good(v))
        printf("%s: damaged: %" PRIu64 " of %" PRIu64 " pages\n", path, v->n_damaged + v->n_missing,
               v->n_pages + v->n_missing);
    else if (v->seal == SEAL_NONE)
        printf("%s: has no seal, recorded by an older version; %s\n", path, checked);
    else if (v->seal == SEAL_BROKEN)
        printf("%s: its seal was broken by another program that wrote to it; %s\n", path, checked);
    else
        printf("%s: intact, %" PRIu64 " pages\n", path, v->n_pages);
    if (v->log_bytes)
        printf("%s: %" PRIu64 " bytes of its log or journal are not sealed yet\n", path,
               v->log_bytes);
}

static int verify(const char *path) {
    struct verification v;
    char why[600] = "", name[4096];
    int r = store_verify(path, &v, why, sizeof why);
    text_sanitize(name, sizeof name, path, strlen(path));
    if (r == 0) {
        print_damage(name, &v);
        print_state(name, &v);
        r = verification_is_good(&v) ? 0 : 1;
    } else {
        verb_complain("verify", "%s", why);
        r = EXIT_USAGE;
    }
    verification_release(&v);
    return fflush(stdout) != 0 && r == 0 ? 1 : r;
}

static int verify_main(int argc, char **argv) {
    const char *path = REPORT_DATABASE;
    const struct option_row rows[] = {
        {"--db FILE", "the same as FILE; default: ./chokepoint.db", .take = verb_take_database,
         .to = &path},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 2, 14, false};
    char **rest;
    int r = verb_words_read("verify", &table, argc, argv, &rest);
    if (r == 0 && rest[0] && rest[1])
        r = verb_refuse("verify", "one database at a time", NULL, "see `chokepoint verify --help`");
    if (r)
        return verb_words_status(r);
    return verify(rest[0] ? rest[0] : path);
}

const struct verb verb_verify = {
    .name = "verify", .help = "check that a database is as it was written", .main = verify_main};
