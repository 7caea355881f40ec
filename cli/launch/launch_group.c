/* SPDX-License-Identifier: MIT */
#include "cli/launch/launch_group.h"
#include "cli/launch/launch_private.h"
#include "cli/launch/slurm_nodes.h"
#include "common/buffer.h"
#include "common/error.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the start ---- */

bool launch_can_join(const struct launch *launch) {
    return launch->method == LAUNCH_MPIRUN ||
           (launch->method == LAUNCH_SRUN && slurm_component_of(launch->host) < 0);
}

static enum launch_method method_of(const struct launch_group *group) {
    return group->members[0]->method;
}

/* "NUMBER KEY [KEY OF MARKS]" of each member: a shell on each host takes its own line. */
static int make_keys(const struct launch_group *group, const struct launch_plan *plan,
                     int *ret_fd) {
    struct buffer lines;
    char line[LAUNCH_KEYS_SIZE], number[24];
    int r = 0;
    buffer_init(&lines);
    buffer_reserve(&lines, group->n * (sizeof number + sizeof line) + 1);
    for (size_t i = 0; i < group->n && r == 0; i++) {
        r = launch_keys_make(group->members[i], plan, line);
        int size = snprintf(number, sizeof number, "%zu ", i);
        buffer_put(&lines, number, (size_t)size);
        buffer_put(&lines, line, r == 0 ? strlen(line) : 0);
    }
    buffer_put(&lines, "", 1);
    r = r < 0 ? r : lines.error;
    if (r == 0)
        r = launch_keys_pipe((char *)lines.data, ret_fd);
    explicit_bzero(line, sizeof line);
    if (lines.data)
        explicit_bzero(lines.data, lines.size);
    buffer_release(&lines);
    return r;
}

/* The head, then the parts of the members, of which an srun has none. */
struct parts {
    struct launch_words items[1 + LAUNCH_GROUP_MAX];
    const char *words[(1 + LAUNCH_GROUP_MAX) * LAUNCH_WORDS_MAX];
};

static int make_parts(struct parts *parts, const struct launch_group *group,
                      const struct launch_plan *plan, const char *const *urls) {
    size_t n = 0;
    int r = 0;
    if (method_of(group) == LAUNCH_SRUN)
        return launch_words_make_step(&parts->items[0], group, plan, urls);
    launch_words_make_head(&parts->items[0], plan);
    for (size_t i = 0; i < group->n && r == 0; i++)
        r = launch_words_make_member(&parts->items[1 + i], group->members[i], plan, urls[i], i);
    for (size_t i = 0; i <= group->n && r == 0; i++)
        for (size_t k = 0; parts->items[i].words[k]; k++)
            parts->words[n++] = parts->items[i].words[k];
    return r;
}

static void parts_free(struct parts *parts, size_t n) {
    for (size_t i = 0; i <= n && parts; i++)
        launch_words_release(&parts->items[i]);
    free(parts);
}

static int start_together(struct launch_group *group, const struct launch_plan *plan,
                          const char *const *words) {
    int output[2];
    if (pipe2(output, O_CLOEXEC) < 0)
        return negative_errno();
    struct launch_fds fds = {.output = output[1]};
    int r = make_keys(group, plan, &fds.keys);
    if (r == 0) {
        r = launch_child_start(method_of(group), plan, words, &fds, &group->pid);
        close(fds.keys);
    }
    close(output[1]);
    line_reader_init(&group->output, r < 0 ? -1 : output[0]);
    if (r < 0)
        close(output[0]);
    return r;
}

int launch_group_start(struct launch_group *group, const struct launch_plan *plan,
                       const char *const *urls) {
    struct parts *parts = calloc(1, sizeof *parts);
    int r = parts ? make_parts(parts, group, plan, urls) : -ENOMEM;
    if (r == 0)
        r = start_together(group, plan, parts->words[0] ? parts->words : parts->items[0].words);
    parts_free(parts, group->n);
    for (size_t i = 0; i < group->n && r == 0; i++) {
        group->members[i]->group = group;
        group->members[i]->attempted = true;
        line_reader_init(&group->members[i]->output, -1);
    }
    return r;
}

/* ---- what it says ---- */

struct hearing {
    struct launch_group *group;
    const struct launch_group_listener *listener;
};

/* "NUMBER: TEXT" of srun, whose numbers have leading spaces or zeros. NULL: its own line. */
static const char *read_label(const char *line, size_t *ret_number) {
    const char *digits = line + strspn(line, " ");
    char *after;
    if (!strchr("0123456789", *digits) || !*digits)
        return NULL;
    *ret_number = strtoul(digits, &after, 10);
    return after[0] == ':' && after[1] == ' ' ? after + 2 : NULL;
}

/* "[JOB,NUMBER]<stderr>:TEXT" of OpenMPI 4, "[NAMESPACE,NUMBER]<stderr>: TEXT" of 5. NULL: mpirun's
 * own line. */
static const char *read_tag(const char *line, size_t *ret_number) {
    const char *end = line[0] == '[' ? strstr(line, "]<std") : NULL;
    const char *comma = end ? memrchr(line, ',', (size_t)(end - line)) : NULL;
    const char *text = end ? strstr(end, ">:") : NULL;
    char *after;
    if (!comma || !text)
        return NULL;
    *ret_number = strtoul(comma + 1, &after, 10);
    text += 2;
    return after == end ? text + (*text == ' ') : NULL;
}

/* Member of the number, if its agent is still this launcher's. */
static struct launch *find_member(const struct launch_group *group, size_t number) {
    struct launch *launch = number < group->n ? group->members[number] : NULL;
    return launch && launch->group == group ? launch : NULL;
}

static void end_member(const struct hearing *h, struct launch *launch, int status) {
    launch->group = NULL;
    child_describe_end(status > 128 ? status - 128 : status << 8, launch->trouble,
                       sizeof launch->trouble);
    h->listener->ended(h->listener->ctx, launch);
}

static void hear_line(void *ctx, const char *line) {
    static const char ended[] = "chokepoint-agent ended ", needed[] = "chokepoint-agent needed";
    const struct hearing *h = ctx;
    size_t number = 0;
    const char *text =
        method_of(h->group) == LAUNCH_SRUN ? read_label(line, &number) : read_tag(line, &number);
    struct launch *launch = text ? find_member(h->group, number) : NULL;
    if (!launch)
        return;
    h->group->give_up_ns = 0;
    if (strcmp(text, needed) == 0) {
        launch->group = NULL;
        h->listener->needs_own(h->listener->ctx, launch, true);
    } else if (strncmp(text, ended, sizeof ended - 1) == 0)
        end_member(h, launch, atoi(text + sizeof ended - 1) & 255);
    else
        launch_take_line(launch, text, h->listener->agent_says, h->listener->ctx);
}

/* All that are left: those that have answered lose an agent, the others have had none. */
static void dissolve(const struct hearing *h, int status) {
    for (size_t i = 0; i < h->group->n; i++) {
        struct launch *launch = find_member(h->group, i);
        if (!launch)
            continue;
        launch->group = NULL;
        child_describe_end(status, launch->trouble, sizeof launch->trouble);
        if (launch->reported)
            h->listener->ended(h->listener->ctx, launch);
        else
            h->listener->needs_own(h->listener->ctx, launch, false);
    }
}

void launch_group_check(struct launch_group *group, int64_t now_ns,
                        const struct launch_group_listener *listener) {
    struct hearing hearing = {group, listener};
    int status = 0;
    line_reader_read(&group->output, hear_line, &hearing);
    if (group->pid && child_ended(group->pid, &status) != -EAGAIN) {
        line_reader_read(&group->output, hear_line, &hearing);
        group->pid = 0;
        group->give_up_ns = 0;
        dissolve(&hearing, status);
    } else if (group->give_up_ns && now_ns >= group->give_up_ns) {
        group->give_up_ns = 0;
        launch_group_signal(group, SIGTERM);
        dissolve(&hearing, SIGTERM);
    }
}

int64_t launch_group_deadline(const struct launch_group *group, int64_t deadline_ns) {
    return group->give_up_ns && group->give_up_ns < deadline_ns ? group->give_up_ns : deadline_ns;
}

void launch_group_signal(const struct launch_group *group, int signal) {
    if (group->pid)
        kill(group->pid, signal);
}

void launch_group_release(struct launch_group *group) {
    line_reader_close(&group->output);
}
