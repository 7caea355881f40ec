/* SPDX-License-Identifier: MIT */
/* The verb `testbed`: its words and its help. Each subverb has a file. */
#include "cli/testbed/testbed.h"
#include "cli/base/complete.h"
#include "cli/base/verb.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: chokepoint testbed [--name NAME] up N [OPTIONS]\n"
    "       chokepoint testbed [--name NAME] status | down\n"
    "       chokepoint testbed [--name NAME] exec [HOST] -- COMMAND...\n"
    "       chokepoint testbed [--name NAME] ssh HOST COMMAND...\n"
    "\n"
    "Emulated hosts vm1 to vmN on this machine, each with a network address, a node name and a\n"
    "cgroup of its own, on a switch that is connected to nothing else. Needs root.\n"
    "\n"
    "  up N              makes N hosts\n"
    "    --rate R        speed of each link, both ways (default 1.8gbit; none: not shaped)\n"
    "    --cpus LIST     `0,1`: CPU 0, CPU 1, CPU 0 ... in turn; `0-1;2-3`: sets of CPUs in\n"
    "                    turn; none: all share all (default)\n"
    "    --memory BYTES  limit of each host (256m, 2g)\n"
    "    --mtu BYTES     largest packet (default 9000)\n"
    "    --subnet NET/P  default: the first free of 10.77.0.0/24, 10.77.1.0/24, ...\n"
    "    --replace       takes down the testbed of this name first\n"
    "  status            says what each host is and whether it works\n"
    "  down              ends what runs inside and removes everything\n"
    "  exec [HOST] --    runs COMMAND inside HOST (default vm1), with $CHOKEPOINT_HOSTFILE for\n"
    "                    mpirun --hostfile and OpenMPI set up to reach the other hosts\n"
    "  ssh HOST          runs COMMAND by sh inside HOST, as ssh would; $CHOKEPOINT_RSH inside\n"
    "\n"
    "Testbeds of different names (default: $CHOKEPOINT_TESTBED, else chokepoint) live side by\n"
    "side. Exit status: 0; 1 failed; 2 wrong words, up already, or not up (exec, ssh); 3 this\n"
    "machine or user cannot have a testbed; exec and ssh: the command's own.\n";

static int run_up(struct testbed *t, int argc, char **argv) {
    struct testbed_options options = {.testbed = *t};
    int r = testbed_parse_up(argc, argv, &options);
    if (r == 0)
        r = testbed_up(&options);
    *t = options.testbed;
    if (r)
        return r;
    char first[16], last[16];
    testbed_address(t, 1, first);
    testbed_address(t, t->n_hosts, last);
    printf("testbed '%s' is up: vm1 to vm%u, %s to %s\n", t->name, t->n_hosts, first, last);
    return 0;
}

static int run_exec(struct testbed *t, int argc, char **argv) {
    int dashes = 1;
    while (dashes < argc && strcmp(argv[dashes], "--") != 0)
        dashes++;
    if (dashes > 2 || dashes + 1 >= argc)
        return testbed_trouble(t, TESTBED_USAGE,
                               "exec: say `chokepoint testbed exec [HOST] -- COMMAND...`");
    return testbed_exec(t, dashes == 2 ? argv[1] : NULL, argv + dashes + 1);
}

static int run_plain(struct testbed *t, int argc, char **argv, int (*action)(struct testbed *)) {
    if (argc > 1)
        return testbed_trouble(t, TESTBED_USAGE, "%s: '%.40s' is one word too many", argv[0],
                               argv[1]);
    return action(t);
}

static int run_subverb(struct testbed *t, int argc, char **argv) {
    if (argc < 1)
        return testbed_trouble(t, TESTBED_USAGE, "say up, status, down or exec; --help tells more");
    if (strcmp(argv[0], "up") == 0)
        return run_up(t, argc, argv);
    if (strcmp(argv[0], "status") == 0)
        return run_plain(t, argc, argv, testbed_status);
    if (strcmp(argv[0], "down") == 0)
        return run_plain(t, argc, argv, testbed_down);
    if (strcmp(argv[0], "exec") == 0)
        return run_exec(t, argc, argv);
    if (strcmp(argv[0], "ssh") == 0)
        return testbed_ssh(t, argc, argv);
    return testbed_trouble(t, TESTBED_USAGE, "unknown word '%.40s'; --help lists them", argv[0]);
}

/* Takes "--name NAME" out of argv wherever it stands before "--" (or the words after `ssh`, which
 * are another program's). NULL: not given; "": its name is missing. */
static const char *take_name(int *argc, char **argv) {
    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0 && strcmp(argv[i], "ssh") != 0; i++) {
        bool joined = strncmp(argv[i], "--name=", 7) == 0;
        if (!joined && strcmp(argv[i], "--name") != 0)
            continue;
        int n = joined || i + 1 == *argc ? 1 : 2;
        const char *name = joined ? argv[i] + 7 : n == 2 ? argv[i + 1] : "";
        memmove(argv + i, argv + i + n, (size_t)(*argc - i - n + 1) * sizeof *argv);
        *argc -= n;
        return name;
    }
    return NULL;
}

/* Shells complete these; testbed_parse_up reads them, and take_name. */
static bool answers_shell(int argc, char **argv) {
    const char *text;
    bool flag;
    const struct verb_option takes[] = {{"name", 0, &text, NULL},   {"rate", 0, &text, NULL},
                                        {"cpus", 0, &text, NULL},   {"memory", 0, &text, NULL},
                                        {"mtu", 0, &text, NULL},    {"subnet", 0, &text, NULL},
                                        {"replace", 0, NULL, &flag}};
    const struct verb_words words = {"testbed", help, takes, ARRAY_SIZE(takes), false};
    return complete_answers(&words, argc, argv);
}

static int testbed_main(int argc, char **argv) {
    struct testbed t;
    if (answers_shell(argc, argv))
        return 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && strcmp(argv[i], "ssh") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return fputs(help, stdout), 0;
    int r = testbed_init(&t, take_name(&argc, argv));
    if (r == 0)
        r = run_subverb(&t, argc - 1, argv + 1);
    if (r && r <= 128)
        fprintf(stderr, "chokepoint testbed: %s\n", t.trouble);
    return r;
}

const struct verb verb_testbed = {
    .name = "testbed",
    .help = "emulated hosts on this machine: up, status, down, exec",
    .main = testbed_main,
    .words = "up status down exec ssh",
};
