/* SPDX-License-Identifier: MIT */
/*
 * Network namespaces other than the agent's. The agent's own files do not list the sockets there,
 * but the files of any process in the namespace do, so the agent need not enter it.
 *
 * A process may change its namespace, as a container runtime does before it becomes the container.
 * So each process is asked whenever it is classified, and now and then. A namespace that is found
 * later takes the place of one that has ended.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/probes/process/process_private.h"
#include "common/text.h"

#define TURNS 16 /* samples until each process has been asked */

/* The number of the namespace; 0: not known. */
static uint32_t namespace_of(const struct processes *all, const char *process) {
    char path[48], link[64];
    uint64_t inode;
    snprintf(path, sizeof path, "%s/ns/net", process);
    ssize_t n = readlinkat(all->proc_fd, path, link, sizeof link);
    struct span span = {link, n > 0 ? (size_t)n : 0};
    const char *p = link + strlen("net:[");
    return span_starts(span, "net:[") && text_u64(&p, link + n, &inode) && inode <= UINT32_MAX
               ? (uint32_t)inode
               : 0;
}

static uint32_t namespace_of_pid(const struct processes *all, int32_t pid) {
    char process[16];
    snprintf(process, sizeof process, "%d", pid);
    return namespace_of(all, process);
}

static void forget_left(struct processes *all) {
    struct process_choices *choices = &all->choices;
    size_t kept = 0;
    for (size_t i = 0; i < choices->n_namespaces; i++)
        if (namespace_of_pid(all, choices->namespaces[i].pid) == choices->namespaces[i].inode)
            choices->namespaces[kept++] = choices->namespaces[i];
    choices->n_namespaces = kept;
}

static void add_namespace(struct process_choices *choices, uint32_t inode, int32_t pid) {
    for (size_t i = 0; i < choices->n_namespaces; i++)
        if (choices->namespaces[i].inode == inode)
            return;
    if (choices->n_namespaces < NAMESPACES_MAX)
        choices->namespaces[choices->n_namespaces++] = (struct process_namespace){inode, pid};
}

void process_find_namespaces(struct processes *all) {
    uint32_t own = namespace_of(all, "self");
    forget_left(all);
    for (size_t i = 0; own && i < all->by_pid.n; i++) {
        const struct process *process = &all->items[i];
        int32_t pid = all->by_pid.ids[i];
        if (process->class != PROCESS_FOREIGN || process->seen != all->sample ||
            (process->classified != all->sample && (i + all->sample) % TURNS))
            continue;
        uint32_t inode = namespace_of_pid(all, pid);
        if (inode && inode != own)
            add_namespace(&all->choices, inode, pid);
    }
}
