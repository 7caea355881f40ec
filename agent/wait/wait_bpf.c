/* SPDX-License-Identifier: MIT */
/*
 * Loads and attaches the programs of agent/wait/.
 *
 * Programs for sockets are left out where the kernel has no tracepoint for them: clocks of threads
 * need 5.15, those of sockets 6.3.
 */
#include "agent/wait/wait_source.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/wait/driver_links.h"
#include "agent/wait/wait_bpf_library.h"
#include "agent/wait/wait_calls.h"
#include "agent/wait/wait_object.h"
#include "common/error.h"

#define PROGRAMS_MAX 12

struct attached {
    struct bpf_program *program;
    struct bpf_link *link; /* NULL: detached */
    bool can_rest;         /* events of the job call it, however often they occur */
};

struct wait_source {
    struct bpf_library library;
    struct bpf_object *object;
    struct attached attached[PROGRAMS_MAX];
    size_t n_attached;
    struct bpf_link *adopting; /* link of the program that looks at all tasks */
    int members_fd, wakeups_fd, addresses_fd;
    struct wait_memory memory;
    struct driver_links drivers;
};

/* ---- loading ---- */

static int refuse(int error, const char *what, char *why, size_t why_size) {
    if (error == -EPERM)
        snprintf(why, why_size, "not permitted: needs CAP_BPF and CAP_PERFMON, and no lockdown");
    else
        snprintf(why, why_size, "%s: %s", what, strerror(-error));
    return WAIT_ABSENT;
}

static struct bpf_map *find_map(const struct wait_source *source, const char *name) {
    return source->library.object_find_map_by_name(source->object, name);
}

static int set_config(struct wait_source *source, const struct wait_config *config) {
    struct wait_config filled = *config;
    wait_calls_fill(&filled);
    struct bpf_map *map = find_map(source, ".rodata.config");
    return map ? source->library.map_set_initial_value(map, &filled, sizeof filled) : -ENOENT;
}

/* Leaves out programs of socket tracepoints that this kernel lacks. */
static void leave_out(struct wait_source *source) {
    const struct bpf_library *l = &source->library;
    static const char *const optional[] = {"sk_data_ready", "sock_recv_length", "sock_send_length"};
    source->memory.has_sockets = true;
    for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
        if (l->find_vmlinux_btf_id(optional[i], BPF_TRACE_RAW_TP) < 0)
            source->memory.has_sockets = false;
    struct bpf_program *program = NULL;
    while (!source->memory.has_sockets &&
           (program = l->object_next_program(source->object, program))) {
        const char *section = l->program_section_name(program);
        if (strncmp(section, "tp_btf/s", 8) != 0 || strncmp(section, "tp_btf/sched", 12) == 0)
            continue;
        l->program_set_autoload(program, false);
    }
}

static void *map_memory(const struct wait_source *source, const char *name, size_t size) {
    struct bpf_map *map = find_map(source, name);
    if (!map)
        return NULL;
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, source->library.map_fd(map), 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int take_maps(struct wait_source *source) {
    const struct bpf_library *l = &source->library;
    struct bpf_map *members = find_map(source, "members"), *wakeups = find_map(source, "wakeups"),
                   *addresses = find_map(source, "addresses");
    struct wait_memory *memory = &source->memory;
    memory->threads = map_memory(source, "threads", WAIT_THREADS * sizeof *memory->threads);
    memory->processes = map_memory(source, "processes", WAIT_PROCESSES * sizeof *memory->processes);
    memory->sockets = map_memory(source, "sockets", WAIT_SOCKETS * sizeof *memory->sockets);
    memory->totals = map_memory(source, "totals", sizeof *memory->totals);
    memory->paces = map_memory(source, "paces", WAIT_CORES * sizeof *memory->paces);
    if (!memory->threads || !memory->processes || !memory->sockets || !memory->totals ||
        !memory->paces || !members || !wakeups || !addresses)
        return -ENOMEM;
    source->members_fd = l->map_fd(members);
    source->wakeups_fd = l->map_fd(wakeups);
    source->addresses_fd = l->map_fd(addresses);
    memory->totals->budget = UINT32_MAX; /* until the reader sets a budget */
    return 0;
}

/* Programs with single events stay attached: they find the job's processes. */
static bool can_rest(const char *name) {
    static const char *const often[] = {"on_switch", "on_waking", "on_data_ready", "on_receive",
                                        "on_send"};
    for (size_t i = 0; i < ARRAY_SIZE(often); i++)
        if (strcmp(name, often[i]) == 0)
            return true;
    return false;
}

/* Those are attached when a process of the job maps a driver's library. */
static bool is_for_drivers(const struct wait_source *source, const struct bpf_program *program) {
    return program == source->drivers.programs[0] || program == source->drivers.programs[1];
}

static int attach(struct wait_source *source) {
    const struct bpf_library *l = &source->library;
    struct bpf_program *program = NULL;
    while ((program = l->object_next_program(source->object, program))) {
        const char *name = l->program_name(program);
        bool adopts = strcmp(name, "adopt_members") == 0;
        if (!l->program_autoload(program) || is_for_drivers(source, program))
            continue;
        if (source->n_attached == PROGRAMS_MAX)
            return -E2BIG;
        struct bpf_link *link =
            adopts ? l->program_attach_iter(program, NULL) : l->program_attach(program);
        if (!link)
            return negative_errno();
        source->attached[source->n_attached++] = (struct attached){program, link, can_rest(name)};
        if (adopts)
            source->adopting = link;
    }
    return source->adopting ? 0 : -ENOENT;
}

/* with_drivers: with the programs for calls of GPU drivers. */
static int load_object(struct wait_source *source, const struct wait_config *config,
                       bool with_drivers) {
    const struct bpf_library *l = &source->library;
    source->object = l->object_open_mem(wait_object, wait_object_size, NULL);
    if (!source->object)
        return negative_errno();
    int r = set_config(source, config);
    if (r < 0)
        return r;
    leave_out(source);
    driver_links_prepare(&source->drivers, l, source->object);
    for (size_t i = 0; !with_drivers && i < ARRAY_SIZE(source->drivers.programs); i++) {
        if (source->drivers.programs[i])
            l->program_set_autoload(source->drivers.programs[i], false);
        source->drivers.programs[i] = NULL;
    }
    return l->object_load(source->object);
}

static int load(struct wait_source *source, const struct wait_config *config, const char *sys,
                char *why, size_t why_size) {
    char path[PATH_MAX];
    const struct bpf_library *l = &source->library;
    snprintf(path, sizeof path, "%s/kernel/btf/vmlinux", sys);
    if (access(path, R_OK) < 0) {
        snprintf(why, why_size, "this kernel has no description of itself (BTF)");
        return WAIT_ABSENT;
    }
    l->set_print(NULL); /* errors are reported here, in one line */
    int r = load_object(source, config, true);
    if (r < 0 && source->object) { /* the clocks alone are worth having */
        l->object_close(source->object);
        r = load_object(source, config, false);
    }
    if (!source->object)
        return refuse(r, "libbpf does not read the programs", why, why_size);
    if (r < 0)
        return refuse(r, "the kernel does not take the programs", why, why_size);
    if ((r = take_maps(source)) < 0)
        return refuse(r, "no memory for wait clocks", why, why_size);
    if ((r = attach(source)) < 0)
        return refuse(r, "the programs cannot be attached", why, why_size);
    return 0;
}

int wait_source_open(const struct wait_config *config, const char *sys,
                     struct wait_source **ret_source, char *why, size_t why_size) {
    struct wait_source *source = calloc(1, sizeof *source);
    if (!source)
        return -ENOMEM;
    int r = WAIT_ABSENT;
    if (bpf_library_load(&source->library))
        r = load(source, config, sys, why, why_size);
    else
        snprintf(why, why_size, "libbpf cannot be loaded: install it (Debian: libbpf1)");
    if (r == 0)
        *ret_source = source;
    else
        wait_source_close(source);
    return r;
}

static void unmap(void *memory, size_t size) {
    if (memory)
        munmap(memory, size);
}

void wait_source_close(struct wait_source *source) {
    if (!source)
        return;
    driver_links_close(&source->drivers, &source->library);
    for (size_t i = source->n_attached; i-- > 0;)
        if (source->attached[i].link)
            source->library.link_destroy(source->attached[i].link);
    unmap(source->memory.paces, WAIT_CORES * sizeof *source->memory.paces);
    unmap(source->memory.threads, WAIT_THREADS * sizeof *source->memory.threads);
    unmap(source->memory.processes, WAIT_PROCESSES * sizeof *source->memory.processes);
    unmap(source->memory.sockets, WAIT_SOCKETS * sizeof *source->memory.sockets);
    unmap(source->memory.totals, sizeof *source->memory.totals);
    if (source->object)
        source->library.object_close(source->object);
    bpf_library_close(&source->library);
    free(source);
}

/* ---- use ---- */

const struct wait_memory *wait_source_memory(const struct wait_source *source) {
    return &source->memory;
}

int wait_source_add(struct wait_source *source, uint32_t pid) {
    uint32_t one = 1;
    return source->library.map_update_elem(source->members_fd, &pid, &one, BPF_ANY);
}

void wait_source_remove(struct wait_source *source, uint32_t pid) {
    source->library.map_delete_elem(source->members_fd, &pid);
}

int wait_source_adopt(struct wait_source *source) {
    char nothing[64];
    int fd = source->library.iter_create(source->library.link_fd(source->adopting));
    if (fd < 0)
        return fd;
    ssize_t n;
    while ((n = read(fd, nothing, sizeof nothing)) > 0)
        ;
    int r = n < 0 ? negative_errno() : 0;
    close(fd);
    return r;
}

int wait_source_follow(struct wait_source *source, int fd, enum driver_library library) {
    return driver_links_add(&source->drivers, &source->library, fd, library);
}

void wait_source_rest(struct wait_source *source, bool drivers_too) {
    if (drivers_too)
        driver_links_rest(&source->drivers);
    for (size_t i = 0; i < source->n_attached; i++) {
        struct attached *attached = &source->attached[i];
        if (attached->can_rest && attached->link)
            source->library.link_destroy(attached->link);
        attached->link = attached->can_rest ? NULL : attached->link;
    }
}

int wait_source_go_on(struct wait_source *source) {
    for (size_t i = 0; i < source->n_attached; i++) {
        struct attached *attached = &source->attached[i];
        if (!attached->link)
            attached->link = source->library.program_attach(attached->program);
        if (!attached->link)
            return negative_errno();
    }
    if (source->drivers.rest) /* before any call is seen again */
        __atomic_fetch_add(&source->memory.totals->driver_generation, 1, __ATOMIC_RELEASE);
    return driver_links_go_on(&source->drivers, &source->library);
}

int wait_source_wakeups(struct wait_source *source, struct wait_wakeup_key *ret_keys,
                        struct wait_wakeup *ret_values, size_t n) {
    uint32_t count = (uint32_t)n, cursor[8] = {0};
    int r = source->library.map_lookup_batch(source->wakeups_fd, NULL, cursor, ret_keys, ret_values,
                                             &count, NULL);
    return r < 0 && r != -ENOENT ? r : (int)count; /* ENOENT: the end of the map */
}

void wait_source_forget_wakeup(struct wait_source *source, const struct wait_wakeup_key *key) {
    source->library.map_delete_elem(source->wakeups_fd, key);
}

void wait_source_forget_socket(struct wait_source *source, uint64_t address) {
    source->library.map_delete_elem(source->addresses_fd, &address);
}
