/* SPDX-License-Identifier: MIT */
#include "cli/calibrate/options.h"
#include "common/error.h"

#include <getopt.h>
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

enum {
    OPTION_HOSTS = 256,
    OPTION_HOSTFILE,
    OPTION_DB,
    OPTION_QUICK,
    OPTION_DISK,
    OPTION_ONLY,
    OPTION_FORMAT
};

static const struct option long_options[] = {{"hosts", required_argument, NULL, OPTION_HOSTS},
                                             {"hostfile", required_argument, NULL, OPTION_HOSTFILE},
                                             {"db", required_argument, NULL, OPTION_DB},
                                             {"quick", no_argument, NULL, OPTION_QUICK},
                                             {"disk", required_argument, NULL, OPTION_DISK},
                                             {"only", required_argument, NULL, OPTION_ONLY},
                                             {"format", required_argument, NULL, OPTION_FORMAT},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

static int complain(const char *what, const char *word, const char *advice) {
    fprintf(stderr, "chokepoint calibrate: %s '%s'; %s\n", what, word, advice);
    return -EINVAL;
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
            return complain("--only", text, "give words of net,disk,memory,cpu,mpi");
        p += size;
    } while (*p && *++p);
    return 0;
}

static int take_format(const char *text, bool *ret_json) {
    if (strcmp(text, "json") != 0 && strcmp(text, "text") != 0)
        return complain("--format", text, "give text or json");
    *ret_json = strcmp(text, "json") == 0;
    return 0;
}

static int take(int option, struct calibrate_options *o) {
    switch (option) {
    case OPTION_HOSTS:
        o->hosts = optarg;
        return 0;
    case OPTION_HOSTFILE:
        o->hostfile = optarg;
        return 0;
    case OPTION_DB:
        o->database = optarg;
        return 0;
    case OPTION_QUICK:
        o->quick = true;
        return 0;
    case OPTION_DISK:
        o->disk = optarg;
        return 0;
    case OPTION_ONLY:
        o->only = optarg;
        return check_only(optarg);
    case OPTION_FORMAT:
        return take_format(optarg, &o->json);
    default: /* 'q' */
        o->quiet = true;
        return 0;
    }
}

static int refuse(int condition, char **argv) {
    char letter[3] = {'-', (char)optopt, 0};
    const char *word = optopt > 0 && optopt < 256 ? letter : argv[optind - 1];
    return complain(condition == ':' ? "a value is missing after" : "unknown option", word,
                    "`chokepoint calibrate --help` lists all");
}

/* Of this machine; the others may have it or not, and say so. */
static int check_disk(const char *directory) {
    struct stat status;
    if (!directory || (stat(directory, &status) == 0 && S_ISDIR(status.st_mode)))
        return 0;
    return complain("--disk", directory, "give a directory that is there");
}

int calibrate_options_read(int argc, char **argv, struct calibrate_options *ret_options) {
    struct calibrate_options o = {.database = "./chokepoint.db"};
    int option, r = 0;
    optind = 0;
    opterr = 0;
    while (r == 0 && (option = getopt_long(argc, argv, ":qh", long_options, NULL)) != -1) {
        if (option == 'h')
            return fputs(help, stdout), CALIBRATE_OPTIONS_HELP;
        r = option == '?' || option == ':' ? refuse(option, argv) : take(option, &o);
    }
    if (r == 0 && argv[optind])
        r = complain("one word too many:", argv[optind], "chokepoint calibrate [OPTIONS]");
    if (r == 0 && o.hosts && o.hostfile)
        r = complain("--hosts and --hostfile", o.hostfile, "give one of them");
    if (r == 0)
        r = check_disk(o.disk);
    *ret_options = o;
    return r;
}
