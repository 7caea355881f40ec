/* SPDX-License-Identifier: MIT */
/*
 * Which MPI library is preloaded on which host. Each agent has reported its host's library over its
 * own connection (agent/introduction.h); on hosts without a report nothing is preloaded. All ranks
 * get one environment. So if all hosts have the library at one path, that path is used. Else a
 * shell starts the ranks, finds the entry with the kernel's name of its host, and preloads that
 * host's path.
 */
#include "cli/launch/program_file.h"
#include "cli/launch/run_session.h"
#include "common/buffer.h"
#include "common/error.h"
#include "common/mpi_library.h"
#include "common/private_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The file that is sent to hosts of this machine's kind. */
static int find_sent(const struct run_session *s, char path[PATH_MAX], uint64_t *ret_digest) {
    struct utsname system;
    if (!s->plan.relay[0] || uname(&system) < 0)
        return -ENOENT;
    int n = snprintf(path, PATH_MAX, "%s/%s/libchokepoint-mpi.so", s->plan.agents, system.machine);
    return n < PATH_MAX ? mpi_library_digest(path, ret_digest) : -ENAMETOOLONG;
}

void session_ask_library(struct run_session *s) {
    char path[PATH_MAX];
    s->plan.asks_library = s->has_preload;
    if (s->has_preload && find_sent(s, path, &s->sent_digest) == 0 &&
        mpi_library_at_home(s->sent_digest, s->plan.library) < 0)
        s->plan.library[0] = '\0';
}

/* ---- one path for all ---- */

/* Different files at one path, as on two kinds of machines, are different libraries. */
static bool is_same(const struct launch_library *a, const struct launch_library *b) {
    return a->path[0] && strcmp(a->path, b->path) == 0 && a->digest == b->digest;
}

/* A host with the same name as another one could choose what is preloaded there. */
static void drop_namesakes(struct run_session *s) {
    static const char why[] = "another host says that it is the same system";
    for (size_t i = 0; i < s->n_launches; i++)
        for (size_t k = 0; k < i; k++) {
            struct launch_library *a = &s->launches[i].library, *b = &s->launches[k].library;
            if (!a->path[0] || !b->path[0] || strcmp(a->system, b->system) != 0 ||
                strcmp(a->path, b->path) == 0)
                continue;
            snprintf(a->why, sizeof a->why, "%s", why);
            snprintf(b->why, sizeof b->why, "%s", why);
        }
    for (size_t i = 0; i < s->n_launches; i++)
        if (strcmp(s->launches[i].library.why, why) == 0)
            s->launches[i].library.path[0] = '\0';
}

static const struct launch *this_machine(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].method == LAUNCH_DIRECT)
            return &s->launches[i];
    return NULL;
}

/* Installs the library that other hosts were sent on this one, too. */
static int place_here(const struct run_session *s) {
    char sent[PATH_MAX];
    uint64_t digest;
    int r = find_sent(s, sent, &digest);
    int fd = r < 0 ? -1 : open(sent, O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    r = size > 0 ? mpi_library_place(fd, (uint64_t)size, s->plan.library) : -ENOENT;
    if (fd >= 0)
        close(fd);
    return r;
}

/* Whether this machine has the common library, or needs none: a launcher that runs here may have it
 * in its own environment. */
static bool has_it_here(const struct run_session *s, const struct launch_library *library) {
    const struct launch *here = this_machine(s);
    uint64_t digest;
    if (here ? is_same(library, &here->library) : !s->preload.here[0])
        return true;
    if (strcmp(library->path, s->plan.library) == 0 && place_here(s) < 0)
        return false;
    return mpi_library_check(library->path, &digest) == 0 && digest == library->digest;
}

/* The library that all hosts have; NULL: there is none, or the command may reach other hosts. */
static const struct launch_library *find_common(const struct run_session *s) {
    const struct launch *here = this_machine(s);
    const struct launch_library *first = NULL;
    bool all = s->words.kind == COMMAND_PLAIN || s->knows_hosts;
    for (size_t i = 0; i < s->n_launches; i++) {
        const struct launch *launch = &s->launches[i];
        if (launch == here)
            continue;
        first = first ? first : &launch->library;
        all = all && is_same(first, &launch->library);
    }
    if (!first && here) /* a single host */
        first = &here->library;
    return all && first && first->path[0] && has_it_here(s, first) ? first : NULL;
}

/* ---- a path for each host, by a shell in front of the program ---- */

static size_t find_program(const struct run_session *s) {
    size_t i = 0;
    while (s->options->command[i] && s->options->command[i] != s->words.program)
        i++;
    return i;
}

/* Impossible with several programs, or with a file that lists them. */
static bool starts_one_program(const struct run_session *s) {
    size_t i = find_program(s);
    if (s->words.kind == COMMAND_PLAIN || !s->options->command[i])
        return false;
    for (size_t k = 0; s->options->command[k]; k++)
        if ((k > i && strcmp(s->options->command[k], ":") == 0) ||
            strcmp(s->options->command[k], "--multi-prog") == 0)
            return false;
    return true;
}

/* launch.c ensures that paths and names have no character that is special in a shell. */
static char *write_script(const struct run_session *s) {
    static const char head[] = "read -r h </proc/sys/kernel/hostname; "
                               "read -r b </proc/sys/kernel/random/boot_id; l=; case $h@$b in ",
                      tail[] = "esac; if [ \"$l\" ]; then "
                               "LD_PRELOAD=$l${LD_PRELOAD:+:$LD_PRELOAD}; export LD_PRELOAD; "
                               "case $NCCL_PROFILER_PLUGIN in [Nn][Oo][Nn][Ee]) ;; *) "
                               "CHOKEPOINT_NCCL_NEXT=$NCCL_PROFILER_PLUGIN; "
                               "NCCL_PROFILER_PLUGIN=$l; "
                               "export CHOKEPOINT_NCCL_NEXT NCCL_PROFILER_PLUGIN; esac; ",
                      kernels[] = KERNELS_VARIABLE "=$l; export " KERNELS_VARIABLE "; ",
                      end[] = "fi; "
                              "exec \"$0\" \"$@\"";
    struct buffer script;
    buffer_init(&script);
    buffer_put(&script, head, sizeof head - 1);
    for (size_t i = 0; i < s->n_launches; i++) {
        const struct launch_library *library = &s->launches[i].library;
        char line[sizeof library->system + PATH_MAX + 10];
        if (library->path[0])
            buffer_put(
                &script, line,
                (size_t)snprintf(line, sizeof line, "%s) l=%s;; ", library->system, library->path));
    }
    buffer_put(&script, tail, sizeof tail - 1);
    if (s->options->gpu_kernels)
        buffer_put(&script, kernels, sizeof kernels - 1);
    buffer_put(&script, end, sizeof end);
    if (!script.error)
        return (char *)script.data;
    buffer_release(&script);
    return NULL;
}

/* OpenMPI also looks for a program in the working directory; the shell does not. */
static char *name_program(const struct run_session *s) {
    const char *program = s->words.program;
    char *path;
    bool here = !strchr(program, '/') && command_find(program) < 0 && access(program, X_OK) == 0;
    return asprintf(&path, "%s%s", here ? "./" : "", program) < 0 ? NULL : path;
}

static int wrap_command(struct run_session *s) {
    char *const *command = s->options->command;
    size_t at = find_program(s), n = at;
    while (command[n])
        n++;
    char **words = calloc(n + 4, sizeof *words), *script = write_script(s),
         *program = name_program(s);
    if (!words || !script || !program) {
        free(words);
        free(script);
        free(program);
        return -ENOMEM;
    }
    memcpy(words, command, at * sizeof *words);
    words[at] = (char *)"/bin/sh";
    words[at + 1] = (char *)"-c";
    words[at + 2] = s->wrapped.script = script;
    words[at + 3] = s->wrapped.program = program;
    memcpy(words + at + 4, command + at + 1, (n - at - 1) * sizeof *words);
    s->wrapped.words = words;
    return 0;
}

/* ---- before the command starts ---- */

static size_t note_hosts_without(struct run_session *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_launches; i++) {
        const struct launch_library *library = &s->launches[i].library;
        if (library->path[0])
            continue;
        n++;
        session_note(s, "MPI calls of ranks on %s are not recorded: %s", s->launches[i].host,
                     library->why[0] ? library->why : "it has not said which library it has");
    }
    return n;
}

static void preload_nothing(struct run_session *s) {
    s->has_preload = false;
    s->preload.ranks[0] = s->preload.here[0] = s->preload.plugin[0] = '\0';
}

/* For a command that may be no launcher: the agents report ranks without the library. */
static void preload_here(struct run_session *s) {
    const struct launch *here = this_machine(s);
    s->preload.ranks[0] = '\0';
    if (!here || strcmp(here->library.path, s->preload.library) != 0)
        s->preload.here[0] = s->preload.plugin[0] = '\0';
    else if (private_path_check_unshared(s->preload.plugin) < 0)
        s->preload.plugin[0] = '\0';
}

/* Whether processes that the command starts on this machine may load it. */
static bool has_plugin_here(const struct run_session *s, const struct launch_library *library) {
    const struct launch *here = this_machine(s);
    return here && is_same(library, &here->library);
}

void session_choose_library(struct run_session *s) {
    if (!s->has_preload)
        return;
    drop_namesakes(s);
    const struct launch_library *common = find_common(s);
    if (common && preload_move(&s->preload, common->path) == 0) {
        /* a script may start mpirun on unknown hosts */
        if (s->words.kind == COMMAND_PLAIN && private_path_check_unshared(common->path) < 0)
            s->preload.ranks[0] = s->preload.plugin[0] = '\0';
        if (!has_plugin_here(s, common))
            s->preload.plugin[0] = '\0';
        return;
    }
    if (s->words.kind == COMMAND_PLAIN) {
        preload_here(s);
        return;
    }
    size_t without = note_hosts_without(s);
    preload_nothing(s);
    if (without == s->n_launches)
        return;
    if (!starts_one_program(s))
        session_note(s, "MPI calls are not recorded: hosts have the library of Chokepoint at "
                        "different places, and the command starts more than one program");
    else if (wrap_command(s) < 0)
        session_note(s, "MPI calls are not recorded: out of memory");
}

void session_release_library(struct run_session *s) {
    free(s->wrapped.words);
    free(s->wrapped.script);
    free(s->wrapped.program);
    s->wrapped.words = NULL;
    s->wrapped.script = s->wrapped.program = NULL;
}
