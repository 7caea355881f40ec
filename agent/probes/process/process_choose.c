/* SPDX-License-Identifier: MIT */
/*
 * Processes that are the job because the user chose them: a unit, a container, a control group, a
 * user, a session, a process. Their descendants are of the job, too, and stay in it.
 *
 * A user is looked up when the probe opens, and so is the process with a chosen id: a later process
 * of the same id is a different one. init is never chosen, since all processes descend from it.
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "agent/probes/process/process_private.h"
#include "common/text.h"

#define INIT 1

static uint32_t find_user(const char *name) {
    uint64_t number;
    if (text_parse_u64(name, &number) == 0)
        return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    const struct passwd *user = getpwnam(name);
    return user ? user->pw_uid : UINT32_MAX;
}

void process_choices_open(struct processes *all, const struct probe_env *env) {
    struct process_choices *choices = &all->choices;
    for (size_t i = 0; i < env->n_choices && i < JOB_CHOICES_MAX; i++) {
        const struct job_choice *choice = &env->choices[i];
        struct process_stat stat;
        if (choice->kind == JOB_USER)
            choices->users[i] = find_user(choice->value);
        if (choice->kind == JOB_PID &&
            process_read_stat(all->proc_fd, (int32_t)choice->number, &stat) == 0)
            choices->start_ticks[i] = stat.start_ticks;
    }
}

/* Says once which chosen users and processes do not exist here. */
static void tell_missing(struct processes *all, const struct probe_env *env) {
    char text[JOB_CHOICE_VALUE_MAX + 64];
    if (all->choices.told_missing || !env->note)
        return;
    all->choices.told_missing = true;
    for (size_t i = 0; i < env->n_choices && i < JOB_CHOICES_MAX; i++) {
        const struct job_choice *choice = &env->choices[i];
        bool missing = (choice->kind == JOB_USER && all->choices.users[i] == UINT32_MAX) ||
                       (choice->kind == JOB_PID && !all->choices.start_ticks[i]);
        if (!missing)
            continue;
        snprintf(text, sizeof text, "--job names a %s that is not on this host: %s",
                 choice->kind == JOB_USER ? "user" : "process", choice->value);
        env->note(env->note_ctx, NOTE_WARNING, "process", text);
    }
}

/* Files of the process that several choices need: each is read at most once. */
struct asked {
    const struct processes *all;
    int32_t pid;
    char groups[GROUPS_MAX];
    int groups_size; /* 0: not read */
    int64_t user;    /* -1: not read */
};

static bool has_groups(struct asked *asked, const struct job_choice *choice) {
    char path[32];
    if (!asked->groups_size) {
        snprintf(path, sizeof path, "%d/cgroup", asked->pid);
        asked->groups_size =
            file_read_small(asked->all->proc_fd, path, asked->groups, sizeof asked->groups);
    }
    return asked->groups_size > 0 &&
           process_groups_match(choice, asked->groups, (size_t)asked->groups_size);
}

static bool has_user(struct asked *asked, uint32_t user) {
    uint32_t read = UINT32_MAX;
    if (asked->user < 0 && process_read_user(asked->all->proc_fd, asked->pid, &read) == 0)
        asked->user = read;
    return user != UINT32_MAX && asked->user == user;
}

static bool is_meant(struct asked *asked, const struct process *process,
                     const struct job_choice *choice, size_t i) {
    const struct process_choices *choices = &asked->all->choices;
    switch (choice->kind) {
    case JOB_UNIT:
    case JOB_CGROUP:
    case JOB_CONTAINER:
    case JOB_SLURM:
        return has_groups(asked, choice);
    case JOB_USER:
        return has_user(asked, choices->users[i]);
    case JOB_SESSION:
        return (uint64_t)process->stat.session == choice->number;
    case JOB_PID:
        return (uint64_t)asked->pid == choice->number && choices->start_ticks[i] &&
               process->stat.start_ticks == choices->start_ticks[i];
    default:
        return false;
    }
}

bool process_is_chosen(struct processes *all, struct process *process, int32_t pid,
                       const struct probe_env *env) {
    struct asked asked = {.all = all, .pid = pid, .user = -1};
    if (env->n_choices)
        tell_missing(all, env);
    for (size_t i = 0; pid != INIT && i < env->n_choices && i < JOB_CHOICES_MAX; i++)
        if (is_meant(&asked, process, &env->choices[i], i))
            return true;
    return false;
}
