/* SPDX-License-Identifier: MIT */
#include "cli/launch/collect_child.h"
#include "collector/server_listen.h"
#include "common/error.h"
#include "common/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int collect_child_add_address(struct collect_child *child, const char *address) {
    for (size_t i = 0; i < child->n_endpoints; i++)
        if (strcmp(child->endpoints[i].address, address) == 0)
            return 0;
    if (child->n_endpoints == COLLECT_ADDRESSES_MAX)
        return -E2BIG;
    struct collect_endpoint *endpoint = &child->endpoints[child->n_endpoints++];
    endpoint->fd = -1;
    snprintf(endpoint->address, sizeof endpoint->address, "%s", address);
    return 0;
}

int collect_child_listen(struct collect_child *child, char *why, size_t why_size) {
    char spec[ADDRESS_SIZE + 4], name[ADDRESS_SIZE + 16];
    for (size_t i = 0; i < child->n_endpoints; i++) {
        struct collect_endpoint *endpoint = &child->endpoints[i];
        uint64_t port;
        snprintf(spec, sizeof spec, "%s:0", endpoint->address);
        endpoint->fd = listen_on(spec, name, sizeof name, why, why_size);
        if (endpoint->fd < 0)
            return endpoint->fd;
        if (text_parse_u64(strrchr(name, ':') + 1, &port) < 0)
            return -EINVAL;
        endpoint->port = (unsigned)port;
    }
    return 0;
}

void collect_child_leave(struct collect_child *child) {
    for (size_t i = 0; i < child->n_endpoints; i++)
        if (child->endpoints[i].fd >= 0)
            close(child->endpoints[i].fd);
    child->n_endpoints = 0;
}

static void listen_list(const struct collect_child *child, char *to, size_t size,
                        int ret_fds[COLLECT_ADDRESSES_MAX + 1]) {
    size_t used = 0;
    for (size_t i = 0; i < child->n_endpoints && used < size; i++) {
        ret_fds[i] = child->endpoints[i].fd;
        used += (size_t)snprintf(to + used, size - used, "%sfd:%d", i ? "," : "", ret_fds[i]);
    }
    ret_fds[child->n_endpoints] = -1;
}

/* fds: read end and write end of stdin, then of stdout, then of stderr. */
static int start_with_pipes(struct collect_child *child, int fds[3][2]) {
    char run[24], file[48], listen[COLLECT_ADDRESSES_MAX * 24];
    int kept[COLLECT_ADDRESSES_MAX + 1];
    snprintf(run, sizeof run, "%lld", (long long)child->run);
    snprintf(file, sizeof file, "%" PRIu64 ":%" PRIu64, child->file.device, child->file.inode);
    listen_list(child, listen, sizeof listen, kept);
    const char *const words[] = {child->program,
                                 "collector",
                                 "--db",
                                 child->database,
                                 "--file",
                                 file,
                                 "--run",
                                 run,
                                 "--listen",
                                 listen,
                                 child->pack_after ? "--pack-after" : NULL,
                                 child->pack_after,
                                 NULL};
    const struct child_variable variables[] = {{"CHOKEPOINT_TOKEN", child->token},
                                               {"CHOKEPOINT_KEY", child->key},
                                               {"CHOKEPOINT_AGENT", child->run_id},
                                               {"CHOKEPOINT_RUN", NULL},
                                               {0}};
    const struct child_plan plan = {.words = words,
                                    .variables = variables,
                                    .stdin_fd = fds[0][0],
                                    .stdout_fd = fds[1][1],
                                    .stderr_fd = fds[2][1],
                                    .kept = kept,
                                    .own_group = true,
                                    .dies_with_parent = true,
                                    .mask = child->mask};
    int r = child_start(&plan, &child->pid);
    if (r < 0)
        return r;
    child->stdin_fd = fds[0][1];
    line_reader_init(&child->events, fds[1][0]);
    line_reader_init(&child->errors, fds[2][0]);
    return 0;
}

static void close_all(int *fds, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int collect_child_start(struct collect_child *child) {
    int fds[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int r = 0;
    for (size_t i = 0; i < 3 && r == 0; i++)
        if (pipe2(fds[i], O_CLOEXEC) < 0)
            r = negative_errno();
    if (r == 0)
        r = start_with_pipes(child, fds);
    if (r < 0)
        return close_all(&fds[0][0], 6), r;
    close_all((int[]){fds[0][0], fds[1][1], fds[2][1]}, 3);
    if (child->told_to_stop)
        collect_child_stop(child);
    return 0;
}

bool collect_child_listens(const struct collect_child *child) {
    for (size_t i = 0; i < child->n_endpoints; i++)
        if (!child->endpoints[i].listens)
            return false;
    return child->pid != 0;
}

void collect_child_url(const struct collect_child *child, const char *address, char *to,
                       size_t size) {
    to[0] = '\0';
    for (size_t i = 0; i < child->n_endpoints; i++)
        if (strcmp(child->endpoints[i].address, address) == 0)
            snprintf(to, size, "https://%s:%u", address, child->endpoints[i].port);
}

/* --- its output --- */

struct reading {
    struct collect_child *child;
    const struct collect_listener *listener;
};

static void take_endpoint(struct collect_child *child, const char *text) {
    const char *colon = strrchr(text, ':');
    if (!colon)
        return;
    for (size_t i = 0; i < child->n_endpoints; i++)
        if (span_equal((struct span){text, (size_t)(colon - text)}, child->endpoints[i].address))
            child->endpoints[i].listens = true;
}

static const char *after(const char *line, const char *word) {
    size_t size = strlen(word);
    return strncmp(line, word, size) == 0 && line[size] == ' ' ? line + size + 1 : NULL;
}

/* "NAME NUMBER"; a name may have blanks. False: there is no number. */
static bool split_number(const char *text, char name[256], uint64_t *ret_number) {
    const char *blank = strrchr(text, ' ');
    snprintf(name, 256, "%.*s", blank ? (int)(blank - text) : (int)strlen(text), text);
    return blank && text_parse_u64(blank + 1, ret_number) == 0;
}

static void take_event(void *ctx, const char *line) {
    const struct reading *reading = ctx;
    const struct collect_listener *to = reading->listener;
    const char *text;
    char name[256];
    uint64_t number;
    if ((text = after(line, "listening")))
        take_endpoint(reading->child, text);
    else if ((text = after(line, "host")))
        to->host(to->ctx, text);
    else if ((text = after(line, "trouble")))
        to->trouble(to->ctx, text);
    else if ((text = after(line, "unwritable")))
        to->unwritable(to->ctx, text);
    else if ((text = after(line, "events")) && split_number(text, name, &number))
        to->events(to->ctx, name, number);
    else if ((text = after(line, "final"))) {
        split_number(text, name, &number);
        to->final(to->ctx, name);
    }
}

static void take_error(void *ctx, const char *line) {
    const struct reading *reading = ctx;
    if (line[0])
        reading->listener->trouble(reading->listener->ctx, line);
}

void collect_child_read(struct collect_child *child, const struct collect_listener *listener) {
    struct reading reading = {child, listener};
    if (child->pid == 0)
        return;
    line_reader_read(&child->events, take_event, &reading);
    line_reader_read(&child->errors, take_error, &reading);
}

int collect_child_check(struct collect_child *child, const struct collect_listener *listener,
                        int *ret_status) {
    if (child->pid == 0)
        return -EAGAIN;
    int r = child_ended(child->pid, ret_status);
    if (r == -EAGAIN)
        return r;
    collect_child_read(child, listener); /* its last words */
    collect_child_release(child);
    return 0;
}

void collect_child_stop(struct collect_child *child) {
    child->told_to_stop = true;
    if (child->pid)
        (void)!write(child->stdin_fd, "stop\n", 5); /* its restart reports a failure */
}

void collect_child_close(struct collect_child *child) {
    if (child->pid && child->stdin_fd >= 0)
        close(child->stdin_fd);
    child->stdin_fd = -1;
}

void collect_child_release(struct collect_child *child) {
    if (child->pid == 0)
        return;
    collect_child_close(child);
    line_reader_close(&child->events);
    line_reader_close(&child->errors);
    child->pid = 0;
}
