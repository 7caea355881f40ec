/* SPDX-License-Identifier: MIT */
#include "common/job_choice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define PORT_MAX 65535
#define KINDS "unit=, port=, cgroup=, user=, session=, pid=, container= or slurm="

static const char *const names[JOB_KINDS_] = {
    [JOB_UNIT] = "unit",           [JOB_PORT] = "port",       [JOB_CGROUP] = "cgroup",
    [JOB_USER] = "user",           [JOB_SESSION] = "session", [JOB_PID] = "pid",
    [JOB_CONTAINER] = "container", [JOB_SLURM] = "slurm"};

static bool find_kind(const char *text, size_t size, enum job_choice_kind *ret_kind) {
    for (int kind = 0; kind < JOB_KINDS_; kind++)
        if (span_equal((struct span){text, size}, names[kind])) {
            *ret_kind = (enum job_choice_kind)kind;
            return true;
        }
    return false;
}

static bool is_visible(const char *text) {
    for (; *text; text++)
        if (*text <= ' ' || *text >= 0x7f)
            return false;
    return true;
}

static bool is_container(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_.";
    return text[strspn(text, plain)] == '\0';
}

/* The fault of a choice; NULL: none. */
static const char *judge_number(struct job_choice *choice) {
    uint64_t most = choice->kind == JOB_PORT    ? PORT_MAX
                    : choice->kind == JOB_SLURM ? UINT32_MAX
                                                : INT32_MAX;
    bool good = text_parse_u64(choice->value, &choice->number) == 0 && choice->number > 0 &&
                choice->number <= most;
    return good                        ? NULL
           : choice->kind == JOB_PORT  ? "a port is a number from 1 to 65535"
           : choice->kind == JOB_SLURM ? "give the number of a job of Slurm"
                                       : "give the id of a process";
}

/* Takes paths as a shell shows them, below /sys/fs/cgroup, and as /proc does, without that. */
static const char *judge_path(struct job_choice *choice) {
    static const char mount[] = "/sys/fs/cgroup/";
    size_t n = strlen(choice->value);
    if (strncmp(choice->value, mount, sizeof mount - 1) == 0)
        memmove(choice->value, choice->value + sizeof mount - 2, n + 1 - (sizeof mount - 2));
    for (n = strlen(choice->value); n > 1 && choice->value[n - 1] == '/';)
        choice->value[--n] = '\0';
    bool good = n > 1 && choice->value[0] == '/' && !strstr(choice->value, "//");
    return good ? NULL : "give the path of a control group below the root, such as /system.slice";
}

static const char *judge(struct job_choice *choice) {
    switch (choice->kind) {
    case JOB_PORT:
    case JOB_SESSION:
    case JOB_PID:
    case JOB_SLURM:
        return judge_number(choice);
    case JOB_CGROUP:
        return judge_path(choice);
    case JOB_UNIT:
        return strchr(choice->value, '/') ? "the name of a unit has no '/'" : NULL;
    case JOB_CONTAINER:
        return is_container(choice->value) ? NULL : "that is neither id nor name of a container";
    default:
        return NULL;
    }
}

int job_choice_parse(const char *text, struct job_choice *ret_choice, char *why, size_t why_size) {
    struct job_choice choice = {.kind = JOB_UNIT};
    const char *equals = strchr(text, '='), *wrong = NULL;
    size_t n = equals ? strlen(equals + 1) : 0;
    if (!equals || !find_kind(text, (size_t)(equals - text), &choice.kind))
        wrong = "give " KINDS;
    else if (n < 1 || n > JOB_CHOICE_VALUE_MAX || !is_visible(equals + 1))
        wrong = "the value must be 1 to 255 visible characters";
    if (!wrong) {
        memcpy(choice.value, equals + 1, n + 1);
        wrong = judge(&choice);
    }
    if (wrong)
        return snprintf(why, why_size, "%s", wrong), -EINVAL;
    *ret_choice = choice;
    return 0;
}
