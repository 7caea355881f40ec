/* SPDX-License-Identifier: MIT */
#include "cli/calibrate/options.h"
#include "cli/base/options.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: chokepoint calibrate [OPTIONS]\n"
    "\n"
    "Measures what hosts and the links between them can carry, and keeps it in the database, "
    "where\n"
    "reports of runs on these hosts find it. One minute for five hosts, a third with --quick. "
    "The\n"
    "hosts should be idle.\n"
    "\n"
    "      --hosts FILE|A,B   default: those of the batch system (Slurm, PBS), else this machine\n"
    "      --hostfile FILE    the same, as mpirun takes it\n"
    "      --db FILE          default: ./chokepoint.db\n"
    "      --quick            shorter, less exact\n"
    "      --disk DIR         where disks are measured, on every host; default: here\n"
    "      --only LIST        of net,disk,memory,cpu,mpi\n"
    "      --format FORMAT    text or json; default: text\n"
    "  -q, --quiet            no progress\n"
    "\n"
    "More hosts than this one are reached by mpirun, as by `chokepoint run`.\n";

static int refuse(const char *what, const char *word, const char *advice) {
    return verb_refuse("calibrate", what, word, advice);
}

/* The program on the hosts reads the list again; here it is refused before anything is started. */
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

static int read_format(const char *text, bool *ret_json) {
    if (strcmp(text, "json") != 0 && strcmp(text, "text") != 0)
        return refuse("--format", text, "give text or json");
    *ret_json = strcmp(text, "json") == 0;
    return 0;
}

/* Checks this machine only; the others report whether they have it. */
static int check_disk(const char *directory) {
    struct stat status;
    if (!directory || (stat(directory, &status) == 0 && S_ISDIR(status.st_mode)))
        return 0;
    return refuse("--disk", directory, "give a directory that is there");
}

int calibrate_options_read(int argc, char **argv, struct calibrate_options *ret_options) {
    struct calibrate_options o = {.database = "./chokepoint.db"};
    const char *format = "text";
    const struct verb_option takes[] = {
        {"hosts", 0, &o.hosts, NULL}, {"hostfile", 0, &o.hostfile, NULL},
        {"db", 0, &o.database, NULL}, {"quick", 0, NULL, &o.quick},
        {"disk", 0, &o.disk, NULL},   {"only", 0, &o.only, NULL},
        {"format", 0, &format, NULL}, {"quiet", 'q', NULL, &o.quiet}};
    const struct verb_words words = {"calibrate", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    int r = verb_words_read(&words, argc, argv, &rest);
    if (r == 0 && rest[0])
        r = refuse("one word too many:", rest[0], "chokepoint calibrate [OPTIONS]");
    if (r == 0)
        r = read_format(format, &o.json);
    if (r == 0 && o.only)
        r = check_only(o.only);
    if (r == 0 && o.hosts && o.hostfile)
        r = refuse("--hosts and --hostfile", o.hostfile, "give one of them");
    if (r == 0)
        r = check_disk(o.disk);
    *ret_options = o;
    return r;
}
