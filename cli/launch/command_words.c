/* SPDX-License-Identifier: MIT */
#include "cli/launch/command_words.h"
#include "common/error.h"

#include <stdbool.h>
#include <string.h>

enum role { ROLE_NONE, ROLE_HOSTFILE, ROLE_LIST, ROLE_REACH };

/* An option by its name without dashes; those without arguments need no line, unless they matter.
 */
struct option_words {
    const char *name;
    int n_arguments;
    enum role role;
};

/* mpirun(1) of OpenMPI 4.1 and 5.0. */
static const struct option_words mpirun_options[] = {
    {"hostfile", 1, ROLE_HOSTFILE},
    {"machinefile", 1, ROLE_HOSTFILE},
    {"default-hostfile", 1, ROLE_HOSTFILE},
    {"host", 1, ROLE_LIST},
    {"H", 1, ROLE_LIST},
    {"mca", 2, ROLE_REACH},
    {"gmca", 2, ROLE_REACH},
    {"omca", 2, ROLE_REACH},
    {"prtemca", 2, ROLE_REACH},
    {"pmixmca", 2, ROLE_REACH},
    {"prefix", 1, ROLE_REACH},
    {"noprefix", 0, ROLE_REACH},
    {"tune", 1, ROLE_REACH},
    {"am", 1, ROLE_REACH},
    {"launch-agent", 1, ROLE_REACH},
    {"allow-run-as-root", 0, ROLE_REACH},
    {"leave-session-attached", 0, ROLE_REACH},
    {"app", 1, ROLE_NONE},
    {"bind-to", 1, ROLE_NONE},
    {"c", 1, ROLE_NONE},
    {"cartofile", 1, ROLE_NONE},
    {"cf", 1, ROLE_NONE},
    {"cpu-list", 1, ROLE_NONE},
    {"cpu-set", 1, ROLE_NONE},
    {"cpus-per-proc", 1, ROLE_NONE},
    {"cpus-per-rank", 1, ROLE_NONE},
    {"debugger", 1, ROLE_NONE},
    {"display", 1, ROLE_NONE},
    {"dvm-uri", 1, ROLE_NONE},
    {"hnp", 1, ROLE_NONE},
    {"map-by", 1, ROLE_NONE},
    {"max-restarts", 1, ROLE_NONE},
    {"max-vm-size", 1, ROLE_NONE},
    {"N", 1, ROLE_NONE},
    {"n", 1, ROLE_NONE},
    {"np", 1, ROLE_NONE},
    {"npernode", 1, ROLE_NONE},
    {"npersocket", 1, ROLE_NONE},
    {"ompi-server", 1, ROLE_NONE},
    {"output", 1, ROLE_NONE},
    {"output-filename", 1, ROLE_NONE},
    {"path", 1, ROLE_NONE},
    {"personality", 1, ROLE_NONE},
    {"ppr", 1, ROLE_NONE},
    {"preload-files", 1, ROLE_NONE},
    {"rank-by", 1, ROLE_NONE},
    {"rankfile", 1, ROLE_NONE},
    {"report-events", 1, ROLE_NONE},
    {"report-pid", 1, ROLE_NONE},
    {"report-uri", 1, ROLE_NONE},
    {"rf", 1, ROLE_NONE},
    {"runtime-options", 1, ROLE_NONE},
    {"stdin", 1, ROLE_NONE},
    {"timeout", 1, ROLE_NONE},
    {"wd", 1, ROLE_NONE},
    {"wdir", 1, ROLE_NONE},
    {"x", 1, ROLE_NONE},
    {"xml-file", 1, ROLE_NONE},
    {"xterm", 1, ROLE_NONE},
    {0},
};

/* srun(1): those with a separate argument. */
static const struct option_words srun_options[] = {
    {"nodelist", 1, ROLE_LIST},
    {"w", 1, ROLE_LIST},
    {"A", 1, ROLE_NONE},
    {"account", 1, ROLE_NONE},
    {"c", 1, ROLE_NONE},
    {"C", 1, ROLE_NONE},
    {"chdir", 1, ROLE_NONE},
    {"constraint", 1, ROLE_NONE},
    {"cpus-per-task", 1, ROLE_NONE},
    {"d", 1, ROLE_NONE},
    {"D", 1, ROLE_NONE},
    {"distribution", 1, ROLE_NONE},
    {"e", 1, ROLE_NONE},
    {"error", 1, ROLE_NONE},
    {"G", 1, ROLE_NONE},
    {"gpus", 1, ROLE_NONE},
    {"i", 1, ROLE_NONE},
    {"input", 1, ROLE_NONE},
    {"J", 1, ROLE_NONE},
    {"job-name", 1, ROLE_NONE},
    {"jobid", 1, ROLE_NONE},
    {"m", 1, ROLE_NONE},
    {"mem", 1, ROLE_NONE},
    {"mpi", 1, ROLE_NONE},
    {"N", 1, ROLE_NONE},
    {"n", 1, ROLE_NONE},
    {"nodes", 1, ROLE_NONE},
    {"ntasks", 1, ROLE_NONE},
    {"ntasks-per-node", 1, ROLE_NONE},
    {"o", 1, ROLE_NONE},
    {"output", 1, ROLE_NONE},
    {"p", 1, ROLE_NONE},
    {"partition", 1, ROLE_NONE},
    {"q", 1, ROLE_NONE},
    {"qos", 1, ROLE_NONE},
    {"r", 1, ROLE_NONE},
    {"relative", 1, ROLE_NONE},
    {"t", 1, ROLE_NONE},
    {"T", 1, ROLE_NONE},
    {"time", 1, ROLE_NONE},
    {"W", 1, ROLE_NONE},
    {"wait", 1, ROLE_NONE},
    {"x", 1, ROLE_NONE},
    {"exclude", 1, ROLE_NONE},
    {0},
};

/* A program that runs the rest of its words: short options with an argument, words before it. */
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

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const struct wrapper *find_wrapper(const char *word) {
    for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
        if (strcmp(base_name(word), wrappers[i].name) == 0)
            return &wrappers[i];
    return NULL;
}

/* `words` follow the wrapper's name. Returns those of the wrapped command. */
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

static enum command_kind kind_of(const char *word) {
    static const char *const mpirun[] = {"mpirun", "mpiexec", "orterun", "mpirun.openmpi",
                                         "mpiexec.openmpi"};
    for (size_t i = 0; i < ARRAY_SIZE(mpirun); i++)
        if (strcmp(base_name(word), mpirun[i]) == 0)
            return COMMAND_MPIRUN;
    return strcmp(base_name(word), "srun") == 0 ? COMMAND_SRUN : COMMAND_PLAIN;
}

/* "--name", "-name", "--name=value" (then *ret_value), "-nVALUE" of a one-letter name that takes
 * an argument. NULL for options that are not in the table. */
static const struct option_words *find_option(const struct option_words *table, const char *word,
                                              const char **ret_value) {
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t size = strcspn(name, "=");
    for (const struct option_words *o = table; o->name; o++)
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0) {
            *ret_value = name[size] == '=' && o->n_arguments == 1 ? name + size + 1 : NULL;
            return o;
        }
    for (const struct option_words *o = table; o->name && word[1] != '-'; o++)
        if (!o->name[1] && o->name[0] == name[0] && o->n_arguments == 1) {
            *ret_value = name + 1;
            return o;
        }
    return NULL;
}

static int push(const char **list, size_t *n, const char *word) {
    if (*n == COMMAND_LISTS_MAX)
        return -E2BIG;
    list[(*n)++] = word;
    return 0;
}

/* Where our own agents run is our affair: how ranks are placed and what they inherit is not passed
 * on (`-x`, which we use, and this list cannot be mixed). */
static bool is_about_ranks(const char *parameter) {
    return strcmp(parameter, "mca_base_env_list") == 0 || strncmp(parameter, "rmaps_", 6) == 0 ||
           strncmp(parameter, "hwloc_base_binding", 18) == 0;
}

static int take(struct command_words *to, const struct option_words *option, char *const *words,
                const char *value) {
    const char *argument = value ? value : words[1];
    int r = 0;
    if (option->role == ROLE_HOSTFILE)
        return push(to->hostfiles, &to->n_hostfiles, argument);
    if (option->role == ROLE_LIST)
        return push(to->lists, &to->n_lists, argument);
    if (option->role != ROLE_REACH || (option->n_arguments == 2 && is_about_ranks(words[1])))
        return 0;
    for (int i = 0; i <= (value ? 0 : option->n_arguments) && r == 0; i++)
        r = push(to->reach, &to->n_reach, words[i]);
    return r;
}

/* Reads options up to the program; returns its word (or the end) in *words. */
static int read_options(struct command_words *to, const struct option_words *table,
                        char *const **words) {
    while (**words && (**words)[0] == '-' && (**words)[1] && strcmp(**words, "--") != 0) {
        const char *value = NULL;
        const struct option_words *option = find_option(table, **words, &value);
        int n_arguments = option && !value ? option->n_arguments : 0;
        for (int i = 1; i <= n_arguments; i++)
            if (!(*words)[i])
                return 0; /* the launcher will say so */
        int r = option ? take(to, option, *words, value) : 0;
        if (r < 0)
            return r;
        *words += 1 + n_arguments;
    }
    return 0;
}

/* `mpirun OPTIONS PROGRAM ... : OPTIONS PROGRAM ...` */
static int read_launcher(struct command_words *to, char *const *words) {
    const struct option_words *table = to->kind == COMMAND_SRUN ? srun_options : mpirun_options;
    for (;;) {
        int r = read_options(to, table, &words);
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
        words++;
    }
}

int command_words_read(char *const *words, struct command_words *ret_words) {
    struct command_words found = {.kind = COMMAND_PLAIN};
    words = unwrap(words);
    found.program = *words;
    if (*words && (found.kind = kind_of(*words)) != COMMAND_PLAIN) {
        found.program = NULL;
        found.launcher = *words;
        int r = read_launcher(&found, words + 1);
        if (r < 0)
            return r;
    }
    *ret_words = found;
    return 0;
}
