/* SPDX-License-Identifier: MIT */
/*
 * Runs something inside a host. This process becomes the command, so streams, signals and exit
 * status are the command's own and nothing stands between it and its parent.
 */
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* as in shells and env(1) */
#define EXIT_CANNOT_EXECUTE 126
#define EXIT_NOT_FOUND 127

static int enter_named(struct testbed *t, const char *name) {
    int r = testbed_load(t);
    if (r)
        return r;
    if (t->phase != TESTBED_UP)
        return testbed_trouble(t, TESTBED_USAGE,
                               "the testbed '%s' is half made; `chokepoint testbed down` first",
                               t->name);
    unsigned host = name ? testbed_find_host(t, name) : 1;
    if (!host)
        return testbed_trouble(t, TESTBED_USAGE, "there is no host '%.60s'; they are vm1 to vm%u",
                               name, t->n_hosts);
    return testbed_enter(t, host);
}

static int become(struct testbed *t, const char *const *command) {
    execvp(command[0], (char *const *)command);
    return testbed_trouble(t, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE,
                           "cannot run '%.200s': %s", command[0], strerror(errno));
}

int testbed_exec(struct testbed *t, const char *host, char **command) {
    int r = enter_named(t, host);
    if (r)
        return r;
    testbed_environment(t);
    return become(t, (const char *const *)command);
}

/* Joins words by blanks, as ssh passes them to the shell on the other side. */
static char *join_words(int argc, char **argv) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (int i = 0; i < argc; i++)
        fprintf(out, "%s%s", i ? " " : "", argv[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Skips the options that callers pass to ssh; returns the index of the host. */
static int skip_ssh_options(int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++)
        if (strchr("bcDeFiIJlLmoOpQRSwW", argv[i][1]) && !argv[i][2])
            i++;
    return i;
}

int testbed_ssh(struct testbed *t, int argc, char **argv) {
    int i = skip_ssh_options(argc, argv);
    if (argc - i < 2)
        return testbed_trouble(t, TESTBED_USAGE, "ssh: HOST COMMAND... is missing");
    char *line = join_words(argc - i - 1, argv + i + 1);
    if (!line)
        return testbed_trouble(t, TESTBED_FAILED, "out of memory");
    int r = enter_named(t, argv[i]);
    if (r == 0) {
        testbed_environment_login();
        testbed_environment(t);
        if (chdir(getenv("HOME")) < 0)
            (void)!chdir("/");
        r = become(t, (const char *[]){"/bin/sh", "-c", line, NULL});
    }
    free(line);
    return r;
}
