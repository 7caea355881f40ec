/* SPDX-License-Identifier: MIT */
/*
 * The command `chokepoint`: finds the verb and calls it.
 */
#include "analysis/causes/causes.h"
#include "cli/base/options.h"
#include "cli/testbed/testbed.h"
#include "cli/verbs.h"
#include "collector/confine.h"
#include "common/nearest.h"
#include "reports/model/input.h"
#include "reports/says/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(void) {
    puts("usage: chokepoint VERB [OPTIONS]\n");
    for (size_t i = 0; i < n_verbs; i++)
        printf("  %-10s %s\n", verbs[i]->name, verbs[i]->help);
    puts("\n`chokepoint VERB --help` tells more. `chokepoint --version` prints the version.");
}

/* For ablations: see `chokepoint rules --help`. */
static int configure_judge(struct judge *ret_judge) {
    const char *bad = "", *text = getenv("CHOKEPOINT_JUDGE");
    *ret_judge = (struct judge){0};
    int result = text ? judge_read(text, ret_judge, &bad) : 0;
    if (result == -EINVAL)
        verb_complain(NULL,
                      "CHOKEPOINT_JUDGE: no rule, threshold or source in '%s'; `chokepoint rules` "
                      "lists them",
                      bad);
    if (result == 0 && text)
        report_judge_by(ret_judge);
    return result < 0 ? EXIT_USAGE : 0;
}

static void do_nothing(int signal) {
    (void)signal;
}

/* A file that may not grow any more (ulimit -f) is an error of the write, like a full disk. The
 * signal is caught and not ignored, so that started programs inherit the default. */
static void catch_file_size_signal(void) {
    struct sigaction action;
    if (sigaction(SIGXFSZ, NULL, &action) < 0 || action.sa_handler != SIG_DFL)
        return;
    action = (struct sigaction){.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    sigaction(SIGXFSZ, &action, NULL);
}

static const struct verb *find_verb(const char *name) {
    for (size_t i = 0; i < n_verbs; i++)
        if (strcmp(name, verbs[i]->name) == 0)
            return verbs[i];
    return NULL;
}

static int refuse_verb(const char *word) {
    struct nearest nearest = {.word = word};
    for (size_t i = 0; i < n_verbs; i++)
        nearest_try(&nearest, verbs[i]->name);
    if (nearest.best)
        verb_complain(NULL, "unknown verb '%s'; did you mean '%s'? `chokepoint --help` lists all",
                      word, nearest.best);
    else
        verb_complain(NULL, "unknown verb '%s'; `chokepoint --help` lists them", word);
    return EXIT_USAGE;
}

/* `help VERB` means `VERB --help`. */
static int help_verb(const char *word) {
    const struct verb *verb = find_verb(word);
    char name[32], option[] = "--help", *argv[] = {name, option, NULL};
    if (!verb)
        return refuse_verb(word);
    snprintf(name, sizeof name, "%s", verb->name);
    return verb->main(2, argv);
}

static bool is_testbed_ssh(const char *program) {
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, TESTBED_SSH) == 0;
}

/* `testbed-ssh WORDS` means `chokepoint testbed ssh WORDS`. */
static int testbed_ssh_main(int argc, char **argv) {
    static char verb[] = "testbed", ssh[] = "ssh";
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words)
        return EXIT_FAILURE;
    words[0] = verb;
    words[1] = ssh;
    for (int i = 1; i < argc; i++)
        words[i + 1] = argv[i];
    int status = find_verb(verb)->main(argc + 1, words);
    free(words);
    return status;
}

/* A program started by serve may read anybody's database. */
static int confine_if_told(const char *verb) {
    const char *database = getenv(CONFINE_VARIABLE);
    bool draws = verb && strcmp(verb, "report") == 0;
    enum confine_role role = draws ? CONFINE_DRAWS : CONFINE_READS;
    int r = database ? confine_files(role, database) : 0;
    if (r == 0 && database)
        r = confine_calls(role);
    return r < 0 ? verb_complain(NULL, "cannot confine itself: %s", strerror(-r)), r : 0;
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : NULL;
    struct judge judge;
    catch_file_size_signal();
    if (argc > 0 && is_testbed_ssh(argv[0]))
        return testbed_ssh_main(argc, argv);
    if (argc > 0)
        verb_called_as(argv[0]);
    if (configure_judge(&judge) || confine_if_told(word))
        return EXIT_USAGE;
    if (!word) {
        fputs("chokepoint: a verb is missing; `chokepoint --help` lists them\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(word, "help") == 0 && argc > 3)
        return verb_complain(NULL, "one verb at a time: 'help %s'", argv[2]), EXIT_USAGE;
    if (strcmp(word, "help") == 0 && argc > 2)
        return help_verb(argv[2]);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return print_help(), 0;
    if (strcmp(word, "--version") == 0)
        return puts("chokepoint " CHOKEPOINT_VERSION), 0;
    const struct verb *verb = find_verb(word);
    int status = verb ? verb->main(argc - 1, argv + 1) : refuse_verb(word);
    judge_release(&judge);
    return status;
}
