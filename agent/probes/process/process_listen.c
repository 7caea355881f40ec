/* SPDX-License-Identifier: MIT */
/*
 * Processes that listen on a port that the user chose: the inodes of listening sockets come from
 * /proc/net/tcp, here and in other network namespaces; their owners have them among their files.
 *
 * The kernel lists listening sockets before all others, so reading ends behind them, however many
 * connections there are. The files of processes are searched only a few times after an inode
 * appeared, since its owner may appear a moment later. Processes that hold sockets for others
 * (init, a user's systemd) do not count as owners.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/probes/process/process_private.h"
#include "common/error.h"
#include "common/text.h"

#define INIT 1
#define LOOKS 5          /* samples in which the owner of a socket is looked for */
#define FILES_MAX 65536  /* looked at in one sample */
#define STATE_LISTENS 10 /* TCP_LISTEN */
#define DENIED "--job port= needs root here: else other users' sockets are nobody's"

static bool hex(const char *p, const char *end, uint32_t *ret_value) {
    uint32_t value = 0;
    if (p == end || end - p > 8)
        return false;
    for (; p < end; p++) {
        static const char digits[] = "0123456789ABCDEF";
        const char *digit = *p ? strchr(digits, *p) : NULL;
        if (!digit)
            return false;
        value = value << 4 | (uint32_t)(digit - digits);
    }
    *ret_value = value;
    return true;
}

struct listener {
    uint32_t port, state;
    uint64_t inode;
};

/* "  0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000 999 0 12345 ..." */
static bool parse_socket(struct span line, struct listener *ret_listener) {
    const char *p = line.data, *end = p + line.size;
    struct span words[10];
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (!text_word(&p, end, &words[i]))
            return false;
    const char *colon = memrchr(words[1].data, ':', words[1].size);
    const char *inode = words[9].data;
    return colon && hex(colon + 1, words[1].data + words[1].size, &ret_listener->port) &&
           hex(words[3].data, words[3].data + words[3].size, &ret_listener->state) &&
           text_u64(&inode, words[9].data + words[9].size, &ret_listener->inode);
}

static bool is_wanted(const struct probe_env *env, const struct listener *listener) {
    for (size_t i = 0; i < env->n_choices; i++)
        if (env->choices[i].kind == JOB_PORT && env->choices[i].number == listener->port)
            return listener->inode > 0 && listener->inode <= UINT32_MAX;
    return false;
}

static bool add_inode(uint32_t *inodes, size_t *n, uint32_t inode) {
    for (size_t i = 0; i < *n; i++)
        if (inodes[i] == inode)
            return true;
    if (*n == LISTENERS_MAX)
        return false;
    inodes[(*n)++] = inode;
    return true;
}

static void read_listeners(struct processes *all, const struct probe_env *env, const char *name,
                           uint32_t *inodes, size_t *n) {
    ssize_t size = file_read_head(all->proc_fd, name, all->environ, sizeof all->environ);
    const char *p = all->environ, *end = size > 0 ? p + size : p;
    struct span line;
    for (bool head = true; text_line(&p, end, &line); head = false) {
        struct listener listener;
        if (head || !parse_socket(line, &listener))
            continue;
        if (listener.state != STATE_LISTENS)
            return;
        if (is_wanted(env, &listener) && !add_inode(inodes, n, (uint32_t)listener.inode))
            return;
    }
}

/* As read_listeners, in the network namespace of that process. */
static void read_listeners_of(struct processes *all, const struct probe_env *env, int32_t pid,
                              uint32_t *inodes, size_t *n) {
    char name[32];
    snprintf(name, sizeof name, "%d/net/tcp", pid);
    read_listeners(all, env, name, inodes, n);
    snprintf(name, sizeof name, "%d/net/tcp6", pid);
    read_listeners(all, env, name, inodes, n);
}

/* Whether an inode needs its owner looked for. */
static bool note_listeners(struct processes *all, const struct probe_env *env) {
    struct process_choices *choices = &all->choices;
    uint32_t inodes[LISTENERS_MAX];
    uint8_t looks[LISTENERS_MAX];
    size_t n = 0;
    bool any = false;
    read_listeners(all, env, "net/tcp", inodes, &n);
    read_listeners(all, env, "net/tcp6", inodes, &n);
    process_find_namespaces(all);
    for (size_t i = 0; i < choices->n_namespaces; i++)
        read_listeners_of(all, env, choices->namespaces[i].pid, inodes, &n);
    for (size_t i = 0; i < n; i++) {
        looks[i] = LOOKS;
        for (size_t k = 0; k < choices->n_listeners; k++)
            if (choices->listeners[k] == inodes[i])
                looks[i] = choices->looks[k];
        any |= looks[i] > 0;
        looks[i] -= looks[i] > 0;
    }
    memcpy(choices->listeners, inodes, n * sizeof *inodes);
    memcpy(choices->looks, looks, n * sizeof *looks);
    choices->n_listeners = n;
    return any;
}

static bool is_listener(const struct process_choices *choices, uint32_t inode) {
    for (size_t i = 0; inode && i < choices->n_listeners; i++)
        if (choices->listeners[i] == inode)
            return true;
    return false;
}

/* Whether the process has one of these inodes. left: how many more files may be looked at. */
static bool listens(struct processes *all, int32_t pid, int *left, bool *denied) {
    char path[32];
    const struct dirents_entry *file;
    bool found = false;
    snprintf(path, sizeof path, "%d/fd", pid);
    int fd = openat(all->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        *denied |= errno == EACCES;
        return false;
    }
    struct dirents files = {.fd = fd, .buffer = all->listing, .capacity = sizeof all->listing};
    while (!found && (*left)-- > 0 && (file = dirents_next(&files))) {
        uint32_t inode = 0;
        if (*file->name != '.' && process_read_socket(fd, file->name, &inode) == -EACCES)
            *denied = true;
        found = is_listener(&all->choices, inode);
    }
    close(fd);
    return found;
}

static bool holds_for_others(const struct process *process, int32_t pid) {
    const struct process_stat *stat = &process->stat;
    return pid == INIT || span_equal((struct span){stat->comm, stat->comm_size}, "systemd");
}

static bool has_port(const struct probe_env *env) {
    for (size_t i = 0; i < env->n_choices; i++)
        if (env->choices[i].kind == JOB_PORT)
            return true;
    return false;
}

void process_choose_listeners(struct processes *all, const struct probe_env *env) {
    int left = FILES_MAX;
    bool denied = false;
    if (!has_port(env) || !note_listeners(all, env))
        return;
    for (size_t i = 0; i < all->by_pid.n && left > 0; i++) {
        struct process *process = &all->items[i];
        int32_t pid = all->by_pid.ids[i];
        if (process->class != PROCESS_FOREIGN || process->seen != all->sample ||
            holds_for_others(process, pid) || !listens(all, pid, &left, &denied))
            continue;
        process->class = PROCESS_MEMBER;
        process->chosen = all->has_chosen = true;
        process_join(all, process, pid, env, NULL);
    }
    if (denied && !all->choices.told_denied && env->note) {
        all->choices.told_denied = true;
        env->note(env->note_ctx, NOTE_WARNING, "process", DENIED);
    }
}
