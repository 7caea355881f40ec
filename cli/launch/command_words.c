/* SPDX-License-Identifier: MIT */
#include "cli/launch/command_words.h"
#include "cli/launch/mpi/launcher.h"
#include "cli/launch/program_file.h"
#include "common/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A program that runs its remaining words: its short options with an argument, and the words before
 * the command. */
struct wrapper {
    const char *name, *letters;
    int n_words;
    bool assignments; /* NAME=VALUE words come first */
};

static const struct wrapper wrappers[] = {
    {"env", "uC", 0, true},      {"time", "fo", 0, false},    {"nice", "n", 0, false},
    {"ionice", "cn", 0, false},  {"nohup", "", 0, false},     {"setsid", "", 0, false},
    {"stdbuf", "ioe", 0, false}, {"timeout", "ks", 1, false}, {"taskset", "", 1, false},
};

static const struct wrapper *find_wrapper(const char *word) {
    for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
        if (strcmp(basename(word), wrappers[i].name) == 0)
            return &wrappers[i];
    return NULL;
}

/* `words` follow the wrapper's name. Returns the words of the wrapped command. */
static char *const *skip_wrapper(const struct wrapper *wrapper, char *const *words) {
    for (; *words && (*words)[0] == '-'; words++) {
        const char *option = *words;
        if (strcmp(option, "--") == 0) {
            words++;
            break;
        }
        if (option[1] && option[1] != '-' && !option[2] && strchr(wrapper->letters, option[1]) &&
            words[1])
            words++;
    }
    while (wrapper->assignments && *words && strchr(*words, '='))
        words++;
    for (int i = 0; i < wrapper->n_words && *words; i++)
        words++;
    return words;
}

static char *const *unwrap(char *const *words) {
    const struct wrapper *wrapper;
    while (*words && (wrapper = find_wrapper(*words)))
        words = skip_wrapper(wrapper, words + 1);
    return words;
}

static const struct launcher *const launchers[] = {&launcher_openmpi, &launcher_hydra,
                                                   &launcher_slurm};

static const struct launcher *launcher_named(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(launchers); i++)
        for (const char *const *n = launchers[i]->names; *n; n++)
            if (strcmp(*n, name) == 0)
                return launchers[i];
    return NULL;
}

/* mpirun and mpiexec may be links; the file behind them has the real name. */
static const struct launcher *find_launcher(const char *word) {
    const struct launcher *found = launcher_named(basename(word));
    char path[PATH_MAX], file[PATH_MAX];
    if (found == &launcher_openmpi && program_find(word, path) == 0 && realpath(path, file) &&
        launcher_named(basename(file)))
        return launcher_named(basename(file));
    return found;
}

/* A program whose name says that it starts others on other hosts. */
static bool looks_like_launcher(const char *word) {
    static const char *const others[] = {"aprun", "flux",   "ibrun",  "jsrun",
                                         "prun",  "salloc", "sbatch", "yod"};
    const char *name = basename(word);
    if (strncmp(name, "mpirun", 6) == 0 || strncmp(name, "mpiexec", 7) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return false;
}

/* "--name", "-name", "--name=value" (then *ret_value), "-nVALUE" for a one-letter name with an
 * argument. NULL for options that are not in the table. */
static const struct launcher_option *find_option(const struct launcher *launcher, const char *word,
                                                 const char **ret_value) {
    const struct launcher_option *table = launcher->options;
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t size = strcspn(name, "=");
    for (const struct launcher_option *o = table; o->name; o++)
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0) {
            *ret_value = name[size] == '=' && o->n_arguments != 2 ? name + size + 1 : NULL;
            return o;
        }
    for (const struct launcher_option *o = table;
         o->name && word[1] != '-' && launcher->joins_letters; o++)
        if (!o->name[1] && o->name[0] == name[0] && o->n_arguments) {
            *ret_value = name + 1;
            return o;
        }
    return NULL;
}

static int add_listed(const char **list, size_t *n, const char *word) {
    if (*n == COMMAND_LISTS_MAX)
        return -E2BIG;
    list[(*n)++] = word;
    return 0;
}

/* Options of mpirun for reaching hosts are passed on; those for placing ranks and passing variables
 * are not (`-x`, which agents need, excludes this list). */
static bool is_about_ranks(const char *parameter) {
    return strcmp(parameter, "mca_base_env_list") == 0 || strncmp(parameter, "rmaps_", 6) == 0 ||
           strncmp(parameter, "hwloc_base_binding", 18) == 0;
}

bool command_list_has(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
        if (strcspn(p, ",") == n && memcmp(p, word, n) == 0)
            return true;
    return false;
}

/* Whether an --export list leaves out the variables for ranks. */
static bool exports_a_part(const char *list) {
    return !command_list_has(list, "ALL") && !command_list_has(list, "LD_PRELOAD");
}

/* An option that asks a batch system for hosts, or names them. */
static int take_of_job(struct command_words *to, const struct launcher_option *option,
                       char *const *words, int n_words, const char *argument) {
    int r = 0;
    if (option->role == ROLE_JOB_ID)
        to->job_id = argument;
    if (option->role == ROLE_NODES)
        to->n_nodes = argument;
    if (option->role == ROLE_NO_JOB)
        to->starts_nothing = words[0];
    if (option->role == ROLE_EXPORT && exports_a_part(argument))
        to->hides_variables = words[0];
    bool asks = option->role == ROLE_JOB || option->role == ROLE_NODES ||
                option->role == ROLE_LIST || option->role == ROLE_HOSTFILE;
    for (int i = 0; i < n_words && asks && to->kind == COMMAND_SRUN && r == 0; i++)
        r = add_listed(to->allocation, &to->n_allocation, words[i]);
    return r;
}

static int take(struct command_words *to, const struct launcher_option *option, char *const *words,
                const char *value) {
    const char *argument = value ? value : words[1];
    int r = take_of_job(to, option, words, 1 + (value ? 0 : option->n_arguments > 0), argument);
    if (r < 0)
        return r;
    if (option->role == ROLE_HIDES_HOSTS)
        to->hides_hosts = words[0];
    if (option->role == ROLE_HIDES_VARIABLES)
        to->hides_variables = words[0];
    if (option->role == ROLE_HOSTFILE)
        return add_listed(to->hostfiles, &to->n_hostfiles, argument);
    if (option->role == ROLE_LIST)
        return add_listed(to->lists, &to->n_lists, argument);
    if (option->role != ROLE_REACH || (option->n_arguments == 2 && is_about_ranks(words[1])))
        return 0;
    for (int i = 0; i <= (value ? 0 : option->n_arguments) && r == 0; i++)
        r = add_listed(to->reach, &to->n_reach, words[i]);
    return r;
}

/* An option that is in no table. */
static bool may_name_hosts(const char *option) {
    return strstr(option, "host") || strstr(option, "node") || strstr(option, "machine");
}

/* Reads options up to the program; returns its word (or the end) in *words. */
static int read_options(struct command_words *to, const struct launcher *launcher,
                        char *const **words) {
    while (**words && (**words)[0] == '-' && (**words)[1] && strcmp(**words, "--") != 0) {
        const char *value = NULL;
        const struct launcher_option *option = find_option(launcher, **words, &value);
        if (!option && (launcher->lists_all_options || may_name_hosts(**words)))
            to->hides_hosts = **words;
        int n_arguments = option && !value && option->n_arguments > 0 ? option->n_arguments : 0;
        for (int i = 1; i <= n_arguments; i++)
            if (!(*words)[i])
                return 0; /* the launcher will report it */
        int r = option ? take(to, option, *words, value) : 0;
        if (r < 0)
            return r;
        *words += 1 + n_arguments;
    }
    return 0;
}

/* `mpirun OPTIONS PROGRAM ... : OPTIONS PROGRAM ...` */
static int read_launcher(struct command_words *to, const struct launcher *launcher,
                         char *const *words) {
    for (;;) {
        int r = read_options(to, launcher, &words);
        if (r < 0)
            return r;
        if (*words && strcmp(*words, "--") == 0)
            words++;
        if (!to->program)
            to->program = *unwrap(words);
        while (*words && strcmp(*words, ":") != 0)
            words++;
        if (!*words)
            return 0;
        if (launcher->kind == COMMAND_SRUN)
            to->hides_hosts = *words;
        words++;
    }
}

int command_words_read(char *const *words, struct command_words *ret_words) {
    struct command_words found = {.kind = COMMAND_PLAIN};
    words = unwrap(words);
    found.program = *words;
    const struct launcher *launcher = *words ? find_launcher(*words) : NULL;
    if (!launcher && *words && looks_like_launcher(*words))
        found.hides_hosts = *words;
    if (launcher) {
        found.kind = launcher->kind;
        found.program = NULL;
        found.launcher = *words;
        int r = read_launcher(&found, launcher, words + 1);
        if (r < 0)
            return r;
    }
    *ret_words = found;
    return 0;
}
