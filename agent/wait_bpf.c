/* SPDX-License-Identifier: MIT */
/*
 * The one file that knows libbpf. It is loaded when there is a job to watch, so that an agent runs
 * on hosts that lack it.
 *
 * Programs for sockets are left out where the kernel has no tracepoint for them: clocks of threads
 * need 5.15, those of sockets 6.3.
 */
#include "agent/wait_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/wait/wait_object.h"
#include "agent/wait_calls.h"
#include "common/error.h"

#define LINKS_MAX 8

/* What is used of libbpf, as declared in its headers. */
struct library {
    void *handle;
    __typeof__(libbpf_set_print) *set_print;
    __typeof__(libbpf_find_vmlinux_btf_id) *find_vmlinux_btf_id;
    __typeof__(bpf_object__open_mem) *object_open_mem;
    __typeof__(bpf_object__load) *object_load;
    __typeof__(bpf_object__close) *object_close;
    __typeof__(bpf_object__next_program) *object_next_program;
    __typeof__(bpf_object__find_map_by_name) *object_find_map_by_name;
    __typeof__(bpf_object__find_program_by_name) *object_find_program_by_name;
    __typeof__(bpf_map__fd) *map_fd;
    __typeof__(bpf_map__set_initial_value) *map_set_initial_value;
    __typeof__(bpf_program__section_name) *program_section_name;
    __typeof__(bpf_program__name) *program_name;
    __typeof__(bpf_program__set_autoload) *program_set_autoload;
    __typeof__(bpf_program__autoload) *program_autoload;
    __typeof__(bpf_program__attach) *program_attach;
    __typeof__(bpf_program__attach_iter) *program_attach_iter;
    __typeof__(bpf_link__fd) *link_fd;
    __typeof__(bpf_link__destroy) *link_destroy;
    __typeof__(bpf_iter_create) *iter_create;
    __typeof__(bpf_map_update_elem) *map_update_elem;
    __typeof__(bpf_map_delete_elem) *map_delete_elem;
    __typeof__(bpf_map_lookup_batch) *map_lookup_batch;
};

struct wait_source {
    struct library library;
    struct bpf_object *object;
    struct bpf_link *links[LINKS_MAX];
    size_t n_links;
    struct bpf_link *adopting; /* also in links */
    int members_fd, wakeups_fd, addresses_fd;
    struct wait_memory memory;
};

/* ---- the library ---- */

#define SYMBOL(slot, name) {name, offsetof(struct library, slot)}

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    SYMBOL(set_print, "libbpf_set_print"),
    SYMBOL(find_vmlinux_btf_id, "libbpf_find_vmlinux_btf_id"),
    SYMBOL(object_open_mem, "bpf_object__open_mem"),
    SYMBOL(object_load, "bpf_object__load"),
    SYMBOL(object_close, "bpf_object__close"),
    SYMBOL(object_next_program, "bpf_object__next_program"),
    SYMBOL(object_find_map_by_name, "bpf_object__find_map_by_name"),
    SYMBOL(object_find_program_by_name, "bpf_object__find_program_by_name"),
    SYMBOL(map_fd, "bpf_map__fd"),
    SYMBOL(map_set_initial_value, "bpf_map__set_initial_value"),
    SYMBOL(program_section_name, "bpf_program__section_name"),
    SYMBOL(program_name, "bpf_program__name"),
    SYMBOL(program_set_autoload, "bpf_program__set_autoload"),
    SYMBOL(program_autoload, "bpf_program__autoload"),
    SYMBOL(program_attach, "bpf_program__attach"),
    SYMBOL(program_attach_iter, "bpf_program__attach_iter"),
    SYMBOL(link_fd, "bpf_link__fd"),
    SYMBOL(link_destroy, "bpf_link__destroy"),
    SYMBOL(iter_create, "bpf_iter_create"),
    SYMBOL(map_update_elem, "bpf_map_update_elem"),
    SYMBOL(map_delete_elem, "bpf_map_delete_elem"),
    SYMBOL(map_lookup_batch, "bpf_map_lookup_batch"),
};

static bool load_library(struct library *library) {
    library->handle = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
        void *symbol = dlsym(library->handle, symbols[i].name);
        if (!symbol)
            return false;
        memcpy((char *)library + symbols[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

/* ---- loading ---- */

static int refuse(int error, const char *what, char *why, size_t why_size) {
    if (error == -EPERM)
        snprintf(why, why_size,
                 "%s: not permitted: needs CAP_BPF and CAP_PERFMON, and no lockdown", what);
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

/* Those of the tracepoints of sockets that this kernel lacks. */
static void leave_out(struct wait_source *source) {
    const struct library *l = &source->library;
    static const char *const optional[] = {"sk_data_ready", "sock_recv_length"};
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
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                        source->library.map_fd(map), 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int take_maps(struct wait_source *source) {
    const struct library *l = &source->library;
    struct bpf_map *members = find_map(source, "members"), *wakeups = find_map(source, "wakeups"),
                   *addresses = find_map(source, "addresses");
    struct wait_memory *memory = &source->memory;
    memory->threads = map_memory(source, "threads", WAIT_THREADS * sizeof *memory->threads);
    memory->sockets = map_memory(source, "sockets", WAIT_SOCKETS * sizeof *memory->sockets);
    memory->totals = map_memory(source, "totals", sizeof *memory->totals);
    if (!memory->threads || !memory->sockets || !memory->totals || !members || !wakeups ||
        !addresses)
        return -ENOMEM;
    source->members_fd = l->map_fd(members);
    source->wakeups_fd = l->map_fd(wakeups);
    source->addresses_fd = l->map_fd(addresses);
    return 0;
}

static int attach(struct wait_source *source) {
    const struct library *l = &source->library;
    struct bpf_program *program = NULL;
    while ((program = l->object_next_program(source->object, program))) {
        bool adopts = strcmp(l->program_name(program), "adopt_members") == 0;
        if (!l->program_autoload(program))
            continue;
        if (source->n_links == LINKS_MAX)
            return -E2BIG;
        struct bpf_link *link =
            adopts ? l->program_attach_iter(program, NULL) : l->program_attach(program);
        if (!link)
            return negative_errno();
        source->links[source->n_links++] = link;
        if (adopts)
            source->adopting = link;
    }
    return source->adopting ? 0 : -ENOENT;
}

static int load(struct wait_source *source, const struct wait_config *config, const char *sys,
                char *why, size_t why_size) {
    char path[PATH_MAX];
    const struct library *l = &source->library;
    snprintf(path, sizeof path, "%s/kernel/btf/vmlinux", sys);
    if (access(path, R_OK) < 0) {
        snprintf(why, why_size, "this kernel has no description of itself (BTF)");
        return WAIT_ABSENT;
    }
    l->set_print(NULL); /* it is said here, in one line */
    source->object = l->object_open_mem(wait_object, wait_object_size, NULL);
    if (!source->object)
        return refuse(negative_errno(), "libbpf does not read the programs", why, why_size);
    int r = set_config(source, config);
    if (r == 0) {
        leave_out(source);
        r = l->object_load(source->object);
    }
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
    if (load_library(&source->library))
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
    for (size_t i = source->n_links; i-- > 0;)
        source->library.link_destroy(source->links[i]);
    unmap(source->memory.threads, WAIT_THREADS * sizeof *source->memory.threads);
    unmap(source->memory.sockets, WAIT_SOCKETS * sizeof *source->memory.sockets);
    unmap(source->memory.totals, sizeof *source->memory.totals);
    if (source->object)
        source->library.object_close(source->object);
    if (source->library.handle)
        dlclose(source->library.handle);
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

int wait_source_wakeups(struct wait_source *source, struct wait_wakeup_key *ret_keys,
                        struct wait_wakeup *ret_values, size_t n) {
    uint32_t count = (uint32_t)n, cursor[8] = {0};
    int r = source->library.map_lookup_batch(source->wakeups_fd, NULL, cursor, ret_keys, ret_values,
                                             &count, NULL);
    return r < 0 && r != -ENOENT ? r : (int)count; /* ENOENT: that was all */
}

void wait_source_forget_wakeup(struct wait_source *source, const struct wait_wakeup_key *key) {
    source->library.map_delete_elem(source->wakeups_fd, key);
}

void wait_source_forget_socket(struct wait_source *source, uint64_t address) {
    source->library.map_delete_elem(source->addresses_fd, &address);
}
