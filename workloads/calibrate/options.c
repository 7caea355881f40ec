/* SPDX-License-Identifier: MIT */
#include "workloads/calibrate/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "workloads/calibrate/plan.h"

const char options_help[] =
    "usage: [mpirun ...] chokepoint-calibrate [--name HOST] [--disk DIR] [--quick]\n"
    "           [--only net,disk,memory,cpu,mpi]\n"
    "\n"
    "Measures what these hosts can do, one rank a host, and prints a line of JSON for each "
    "figure.\n"
    "`chokepoint calibrate` starts it, shows tables and keeps the figures.\n"
    "\n"
    "  --name HOST   of this rank's host (default: its own name)\n"
    "  --disk DIR    where the disk is measured (default: .)\n"
    "  --quick       shorter, less exact\n"
    "  --only LIST   these alone\n";

/* "net,disk" */
static int read_parts(const char *text, unsigned *ret_parts) {
    static const char *const names[] = {"cpu", "memory", "disk", "net", "mpi"};
    unsigned parts = 0;
    while (*text) {
        size_t size = strcspn(text, ","), i = 0;
        while (i < 5 && (strlen(names[i]) != size || strncmp(names[i], text, size) != 0))
            i++;
        if (i == 5)
            return -1;
        parts |= 1u << i;
        text += size + (text[size] == ',');
    }
    *ret_parts = parts;
    return parts ? 0 : -1;
}

int options_read(int argc, char **argv, struct options *ret_options, char *why,
                 unsigned long size) {
    static const struct option list[] = {
        {"name", required_argument, NULL, 'n'}, {"disk", required_argument, NULL, 'd'},
        {"quick", no_argument, NULL, 'q'},      {"only", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},       {0}};
    struct options o = {.disk = ".", .parts = PART_ALL};
    int option, r = 0;
    opterr = 0;
    while (r == 0 && (option = getopt_long(argc, argv, ":h", list, NULL)) != -1) {
        if (option == 'n')
            o.name = optarg;
        else if (option == 'd')
            o.disk = optarg;
        else if (option == 'q')
            o.quick = true;
        else if (option == 'h')
            o.help = true;
        else
            r = option == 'o' ? read_parts(optarg, &o.parts) : -1;
    }
    if (r == 0 && optind < argc)
        r = -1;
    if (r < 0)
        snprintf(why, size, "'%.100s' is not understood; --help lists the options",
                 argv[optind < argc && optind > 0 ? (optind > 1 ? optind - 1 : 1) : argc - 1]);
    *ret_options = o;
    return r;
}
