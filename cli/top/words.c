/* SPDX-License-Identifier: MIT */
/* The words of `chokepoint top`. */
#include <errno.h>
#include <string.h>

#include "cli/base/options.h"
#include "cli/top/top.h"
#include "common/error.h"
#include "common/text.h"

static const char help[] =
    "usage: chokepoint top [RUN] [--db FILE]\n"
    "       chokepoint top --hosts FILE|A,B | --hostfile FILE [-w FILE]\n"
    "\n"
    "Shows hosts, processes and traffic as they are now, and what limits a run so far. RUN is a\n"
    "number, a name, last or last~1; default: the newest. Without any of these it follows the run\n"
    "that is being recorded into ./chokepoint.db, or else watches this machine.\n"
    "\n"
    "      --db FILE        the database of the run; with hosts as -w\n"
    "      --hosts FILE|A,B watch these hosts; nothing that is recorded stays\n"
    "      --hostfile FILE  the same\n"
    "  -w, --write FILE     record into that database\n"
    "      --flows          with hosts: capture packets, for who exchanges how much with whom\n"
    "  -d, --delay SECONDS  between pictures; default: 1\n"
    "  -n, --count N        end after N pictures\n"
    "  -b, --batch          print pictures as text, as when standard output is no terminal\n"
    "      --format FORMAT  of -b: text, json\n"
    "\n"
    "Keys: h lists them.\n";

static int judge(struct top_words *o) {
    o->delay_s = 1;
    if (o->delay && (text_parse_double(o->delay, &o->delay_s) != 0 ||
                     !(o->delay_s >= TOP_DELAY_MIN_S && o->delay_s <= TOP_DELAY_MAX_S)))
        return verb_refuse("top", "-d", o->delay, "give seconds from 0.1 to 3600");
    if (o->count && (text_parse_u64(o->count, &o->n) != 0 || o->n < 1))
        return verb_refuse("top", "-n", o->count, "give a whole number from 1 on");
    if (o->format && strcmp(o->format, "text") != 0 && strcmp(o->format, "json") != 0)
        return verb_refuse("top", "unknown format", o->format, "there are text and json");
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
    if (o->write && o->database)
        return verb_refuse("top", "--write and --db", NULL, "one database at a time");
    o->json = o->format && strcmp(o->format, "json") == 0;
    if (o->hosts && !o->write)
        o->write = o->database;
    return 0;
}

int top_words_read(int argc, char **argv, struct top_words *o) {
    const struct verb_option takes[] = {
        {"db", 0, &o->database, NULL},       {"hosts", 0, &o->hosts, NULL},
        {"hostfile", 0, &o->hostfile, NULL}, {"write", 'w', &o->write, NULL},
        {"delay", 'd', &o->delay, NULL},     {"count", 'n', &o->count, NULL},
        {"batch", 'b', NULL, &o->batch},     {"format", 0, &o->format, NULL},
        {"flows", 0, NULL, &o->flows}};
    const struct verb_words words = {"top", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    *o = (struct top_words){0};
    int result = verb_words_read(&words, argc, argv, &rest);
    if (result)
        return result;
    if (rest[0] && rest[1])
        return verb_refuse("top", "one run at a time", NULL, "give one, or none");
    o->run = rest[0];
    return judge(o);
}
