/* SPDX-License-Identifier: MIT */
/* Determines the hosts of a run before anything is started or written. */
#include "cli/launch/run_session.h"
#include "cli/launch/slurm_job.h"
#include "common/error.h"
#include "common/own_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_enter_job(const struct run_options *options, char *const *argv) {
    struct command_words words;
    char why[300], program[PATH_MAX];
    if (own_program_path(program) < 0 || command_words_read(options->command, &words) < 0)
        return 0; /* determined and reported again at the beginning of each run */
    int r = slurm_enter_job(&words, program, argv, why, sizeof why);
    if (r < 0)
        fprintf(stderr, "chokepoint run: %s\n", why);
    return r < 0 ? -EINVAL : 0;
}

/* Several hosts are never silently reduced to one. */
static void note_hidden_hosts(struct run_session *s, enum hosts_source source) {
    if (source != HOSTS_LOCAL || !s->words.hides_hosts)
        return;
    const char *slash = strrchr(s->words.hides_hosts, '/');
    const char *name = slash ? slash + 1 : s->words.hides_hosts;
    if (strcmp(name, "sbatch") == 0 || strcmp(name, "salloc") == 0)
        session_note(
            s,
            "this host alone is recorded: the job of %s runs on others; say chokepoint run "
            "before the srun in it",
            name);
    else if (s->words.launcher)
        session_note(s,
                     "this host alone is recorded: %s of %s may name others, which is not read "
                     "here; name all with --hosts a,b,c",
                     s->words.hides_hosts, s->words.launcher);
    else
        session_note(s,
                     "this host alone is recorded: %s is not known here and may start programs on "
                     "others; name all with --hosts a,b,c",
                     s->words.hides_hosts);
}

/* The command's hosts are unknown before it has an allocation, which slurm_enter_job would have
 * got. */
static int refuse_without_job(const struct run_session *s, enum hosts_source source, char *why,
                              size_t why_size) {
    if (s->words.kind != COMMAND_SRUN || s->words.starts_nothing || source != HOSTS_LOCAL)
        return 0;
    snprintf(why, why_size,
             "srun is in no allocation of Slurm, and its hosts are not known; say salloc OPTIONS "
             "before chokepoint");
    return -EINVAL;
}

/* A program of MPI tells its waits by its calls. */
static bool wants_clocks(const struct run_session *s) {
    const struct run_options *o = s->options;
    return !o->no_wait_clocks && (o->wait_clocks || s->words.kind == COMMAND_PLAIN);
}

int session_choose_hosts(struct run_session *s) {
    enum hosts_source source;
    char why[600];
    int r = command_words_read(s->options->command, &s->words);
    s->plan.wait_clocks = wants_clocks(s);
    if (r < 0)
        snprintf(why, sizeof why, "more than %d hostfiles or host lists", COMMAND_LISTS_MAX);
    if (r == 0)
        r = hosts_choose(s->options->hosts, &s->words, &s->hosts, &source, why, sizeof why);
    if (r == 0)
        r = refuse_without_job(s, source, why, sizeof why);
    if (r == 0)
        note_hidden_hosts(s, source);
    if (r == 0)
        r = session_choose_launches(s, source, why, sizeof why);
    if (r == 0)
        r = session_check_jobs(s, why, sizeof why);
    if (r < 0)
        session_complain(s, "%s", why);
    return r;
}
