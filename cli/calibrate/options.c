/* SPDX-License-Identifier: MIT */
#include "cli/calibrate/options.h"
#include "cli/base/options.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: chokepoint calibrate [OPTIONS]\n"
    "\n"
    "Measures what hosts and the links between them can carry, and keeps it in the database, "
    "where\n"
    "reports of runs on these hosts find it. One minute for five hosts, a third with --quick. The\n"
    "hosts should be idle.\n"
    "\n";

static const char end[] =
    "\n"
    "More hosts than this one are reached by mpirun, as by `chokepoint run`.\n";

static int refuse(const char *what, const char *word, const char *advice) {
    return verb_refuse("calibrate", what, word, advice);
}

/* The program on the hosts parses the list again; a bad list is refused here before anything is
 * started. */
static int check_only(const char *text) {
    static const char *const parts[] = {"net", "disk", "memory", "cpu", "mpi"};
    const char *p = text;
    do {
        size_t size = strcspn(p, ","), i = 0;
        while (i < ARRAY_SIZE(parts) &&
               (strlen(parts[i]) != size || strncmp(parts[i], p, size) != 0))
            i++;
        if (i == ARRAY_SIZE(parts))
            return refuse("--only", text, "give words of net,disk,memory,cpu,mpi");
        p += size;
    } while (*p && *++p);
    return 0;
}

/* Checks this machine only; the other hosts report whether they have the program. */
static int check_disk(const char *directory) {
    struct stat status;
    if (!directory || (stat(directory, &status) == 0 && S_ISDIR(status.st_mode)))
        return 0;
    return refuse("--disk", directory, "give a directory that is there");
}

int calibrate_options_read(int argc, char **argv, struct calibrate_options *ret_options) {
    struct calibrate_options o = {.database = "./chokepoint.db"};
    static const char *const formats[] = {"text", "json", NULL};
    const struct option_row rows[] = {
        {"--hosts FILE|A,B", "default: those of the batch system (Slurm, PBS), else this machine",
         .text = &o.hosts},
        {"--hostfile FILE", "the same, as mpirun takes it", .text = &o.hostfile},
        VERB_DATABASE(&o.database),
        {"--quick", "shorter, less exact", .flag = &o.quick},
        {"--disk DIR", "where disks are measured, on every host; default: here", .text = &o.disk},
        {"--only LIST", "of net,disk,memory,cpu,mpi", .text = &o.only},
        {"--format FORMAT", "text or json; default: text", .choices = formats, .second = &o.json},
        {"-q, --quiet", "no progress", .flag = &o.quiet},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 6, 25, false};
    char **rest;
    int r = verb_words_read("calibrate", &table, argc, argv, &rest);
    if (r == 0 && rest[0])
        r = refuse("one word too many:", rest[0], "chokepoint calibrate [OPTIONS]");
    if (r == 0 && o.only)
        r = check_only(o.only);
    if (r == 0 && o.hosts && o.hostfile)
        r = refuse("--hosts and --hostfile", o.hostfile, "give one of them");
    if (r == 0)
        r = check_disk(o.disk);
    *ret_options = o;
    return r;
}
