/* SPDX-License-Identifier: MIT */
/* The words of `chokepoint top`. */
#include <errno.h>
#include <string.h>

#include "cli/base/options.h"
#include "cli/top/top.h"
#include "common/error.h"
#include "common/text.h"

static const char usage[] =
    "usage: chokepoint top [RUN] [--db FILE]\n"
    "       chokepoint top --hosts FILE|A,B | --hostfile FILE [-w FILE]\n"
    "\n"
    "Shows hosts, processes and traffic as they are now, and what limits a run so far. RUN is a\n"
    "number, a name, last or last~1; default: the newest. Without any of these it follows the run\n"
    "that is being recorded into ./chokepoint.db, or else watches this machine.\n"
    "\n";

static const char end[] = "\n"
                          "Keys: h lists them.\n";

static int judge(struct top_words *o) {
    if (o->hosts && o->hostfile)
        return verb_refuse("top", "--hosts and --hostfile", NULL, "one of them is enough");
    if (verb_check_hostfile("top", o->hostfile) < 0)
        return -EINVAL;
    if (o->hostfile)
        o->hosts = o->hostfile;
    if (o->hosts && !o->hosts[strspn(o->hosts, ", ")])
        return verb_refuse("top", "--hosts", o->hosts, "it names no host");
    if (o->run && (o->hosts || o->write))
        return verb_refuse("top", "a run and hosts", NULL,
                           "either a run is followed, or hosts are watched");
    if (o->flows && (o->run || (o->database && !o->hosts)))
        return verb_refuse("top", "a run and --flows", NULL,
                           "hosts that are watched capture packets; a run does with run --flows");
    if (o->at_s >= 0 && o->hosts)
        return verb_refuse("top", "--at and hosts", NULL, "hosts are watched as they are now");
    if (o->write && o->database)
        return verb_refuse("top", "--write and --db", NULL, "one database at a time");
    if (o->hosts && !o->write)
        o->write = o->database;
    if (o->at_s >= 0) {
        o->run = o->run ? o->run : "last";
        o->batch = true;
        o->n = 1;
    }
    return 0;
}

int top_words_read(int argc, char **argv, struct top_words *o) {
    static const char *const formats[] = {"text", "json", NULL};
    const struct option_row rows[] = {
        {"--db FILE", "the database of the run; with hosts as -w", .take = verb_take_database,
         .to = &o->database},
        {"--hosts FILE|A,B", "watch these hosts; nothing that is recorded stays",
         .text = &o->hosts},
        {"--hostfile FILE", "the same", .text = &o->hostfile},
        {"-w, --write FILE", "record into that database", .text = &o->write},
        {"--flows", "with hosts: capture packets, for who exchanges how much with whom",
         .flag = &o->flows},
        {"-d, --delay SECONDS", "between pictures; default: 1", .number = &o->delay_s,
         .low = TOP_DELAY_MIN_S, .high = TOP_DELAY_MAX_S},
        {"-n, --count N", "end after N pictures", .count = &o->n, .low = 1},
        {"--at SECONDS", "one picture of that time of the run, as text", .number = &o->at_s,
         .low = 0, .high = TOP_AT_MAX_S},
        {"-b, --batch", "print pictures as text, as when standard output is no terminal",
         .flag = &o->batch},
        {"--format FORMAT", "of -b: text, json", .choices = formats, .second = &o->json},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 6, 23, false};
    char **rest;
    *o = (struct top_words){.delay_s = 1, .at_s = -1};
    int result = verb_words_read("top", &table, argc, argv, &rest);
    if (result)
        return result;
    if (rest[0] && rest[1])
        return verb_refuse("top", "one run at a time", NULL, "give one, or none");
    o->run = rest[0];
    return judge(o);
}
