/* SPDX-License-Identifier: MIT */
/* The verb `testbed`: its words and its help. Each subverb has a file. */
#include "cli/testbed/testbed.h"
#include "cli/base/complete.h"
#include "cli/base/verb.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Takes "--name NAME" out of argv if it is before "--" (or before the words after `ssh`, which
 * belong to another program). NULL: not given; "": its name is missing. */
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

static int testbed_main(int argc, char **argv) {
    struct testbed t;
    struct option_row rows[TESTBED_OPTIONS];
    struct option_table table;
    testbed_fill_options(NULL, rows, &table);
    if (complete_answers("testbed", &table, argc, argv))
        return 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && strcmp(argv[i], "ssh") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return options_print_help(&table, stdout) ? EXIT_FAILURE : 0;
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
