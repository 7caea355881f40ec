/* SPDX-License-Identifier: MIT */
/*
 * The command itself. It stays in the process group of `run`, so that the terminal treats it as if
 * it were alone. mpirun passes OMPI_* variables to every rank, on every host and beside the user's
 * own -x (the documented list, mca_base_env_list, makes mpirun refuse any -x). So all variables are
 * set twice, and the run's name once more as a category of the locale, which ssh passes on by
 * default.
 *
 * `run` becomes the parent of daemons that the command leaves behind, so they are recognized as the
 * job's, whatever they did to their environment.
 */
#include "cli/launch/run_session.h"
#include "cli/launch/secret_words.h"
#include "cli/launch/slurm_job.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool needs_quotes(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,+@%^";
    return !*word || word[strspn(word, plain)];
}

static char *join_words(char *const *words) {
    struct buffer line;
    buffer_init(&line);
    for (size_t i = 0; words[i]; i++) {
        size_t size = 4 * strlen(words[i]) + 4;
        char *quoted = needs_quotes(words[i]) ? calloc(1, size) : NULL;
        const char *word = quoted ? quoted : words[i];
        if (quoted)
            launch_shell_quote(quoted, size, words[i]);
        buffer_put(&line, " ", i ? 1 : 0);
        buffer_put(&line, word, strlen(word));
        free(quoted);
    }
    buffer_put(&line, "", 1);
    if (line.error) {
        buffer_release(&line);
        return NULL;
    }
    return (char *)line.data;
}

char *command_line(const struct run_options *options) {
    char *const *words = options->shown_command ? options->shown_command : options->command;
    char *const program[] = {words[0], NULL};
    words = options->no_command_lines ? program : words;
    if (options->no_mask)
        return join_words(words);
    char **masked = secret_words_mask(words);
    char *line = masked ? join_words(masked) : NULL;
    secret_words_free(masked);
    return line;
}

void session_find_preload(struct run_session *s) {
    char why[2 * PATH_MAX];
    if (!s->options->shim)
        return;
    s->has_preload =
        preload_make(&s->preload, s->program, s->options->command, &s->words, why, sizeof why) == 0;
    if (!s->has_preload && s->words.kind != COMMAND_PLAIN)
        session_note(s, "MPI calls are not recorded: %s", why);
    if (!s->has_preload && s->options->gpu_kernels)
        session_note(s, "kernels of GPUs are not recorded: %s", why);
    session_ask_library(s);
}

/* Adds the variables that bring the shim into the ranks; mpirun itself needs none. */
static void add_preload(const struct run_session *s, char list[PRELOAD_LIST_SIZE],
                        struct child_variable *variables) {
    const char *own = getenv(NCCL_PLUGIN_VARIABLE);
    size_t n = 0;
    if (!s->has_preload)
        return;
    preload_list(&s->preload, s->options->gpu_kernels, list);
    if (s->preload.ranks[0])
        variables[n++] = (struct child_variable){PRELOAD_RANKS_VARIABLE, list};
    if (s->preload.here[0])
        variables[n++] = (struct child_variable){"LD_PRELOAD", s->preload.here};
    if (s->preload.plugin[0] && s->options->gpu_kernels)
        variables[n++] = (struct child_variable){KERNELS_VARIABLE, s->preload.plugin};
    if (!s->preload.plugin[0] || !preload_may_name_plugin())
        return;
    variables[n++] = (struct child_variable){NCCL_PLUGIN_VARIABLE, s->preload.plugin};
    if (own)
        variables[n++] = (struct child_variable){NCCL_NEXT_VARIABLE, own};
}

/* srun passes on every variable whose name begins with SLURM_, whatever its options say. */
static struct child_variable *add_slurm(const struct run_session *s, struct child_variable *end,
                                        char *export_list, size_t size) {
    const char *list = slurm_export_list(export_list, size);
    if (!slurm_in_job())
        return end;
    *end++ = (struct child_variable){"SLURM_CHOKEPOINT_RUN", s->run_id};
    *end++ = (struct child_variable){"SLURM_CHOKEPOINT_MARKS", s->marks.path};
    if (list)
        *end++ = (struct child_variable){"SLURM_EXPORT_ENV", list};
    return end;
}

int session_start_command(struct run_session *s) {
    char export_list[1024], list[PRELOAD_LIST_SIZE];
    struct child_variable variables[20] = {
        {"CHOKEPOINT_TOKEN", NULL},         {"CHOKEPOINT_KEY", NULL},
        {"CHOKEPOINT_RUN", s->run_id},      {"CHOKEPOINT_MARKS", s->marks.path},
        {"CHOKEPOINT_AGENT", NULL},         {"LC_CHOKEPOINT_RUN", s->run_id},
        {"OMPI_CHOKEPOINT_RUN", s->run_id}, {"OMPI_CHOKEPOINT_MARKS", s->marks.path},
        {REMOTE_TOKEN_VARIABLE, NULL}};
    struct child_variable *end = variables;
    while (end->name)
        end++;
    end = add_slurm(s, end, export_list, sizeof export_list);
    session_choose_library(s);
    add_preload(s, list, end);
    char *const *command = s->wrapped.words ? s->wrapped.words : s->options->command;
    const struct child_plan plan = {.words = (const char *const *)command,
                                    .variables = variables,
                                    .stdin_fd = -1,
                                    .stdout_fd = -1,
                                    .stderr_fd = -1,
                                    .mask = &s->signals.old_mask,
                                    .limits = &s->old_limits};
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* otherwise init would adopt its daemons */
    s->command.started_wall_ns = clock_wall_ns();
    s->command.started_mono_ns = clock_monotonic_ns();
    return child_start(&plan, &s->command.pid);
}
