/* SPDX-License-Identifier: MIT */
/*
 * The link for many calls is made by bpf() itself: libbpf knows it since 1.3. Its attributes are
 * declared here, since headers of older kernels lack them (include/uapi/linux/bpf.h, Linux 6.6).
 *
 * Returns are attached before calls and detached after them: a call that is seen has its return.
 */
#include "agent/wait/driver_links.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/error.h"

#define ATTACH_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI */
#define MULTI_RETURN 1         /* BPF_F_UPROBE_MULTI_RETURN */

enum which { RETURNS, CALLS };
static const char *const names[] = {[RETURNS] = "on_return", [CALLS] = "on_call"};

struct multi_link {
    uint32_t program_fd, target_fd, attach_type, flags;
    uint64_t path, offsets, counters, cookies;
    uint32_t n, kind, pid, unused;
};

/* ---- loading ---- */

void driver_links_prepare(struct driver_links *links, const struct bpf_library *library,
                          struct bpf_object *object) {
    int multi = library->find_vmlinux_btf_id("bpf_uprobe_multi_link_attach", BPF_TRACE_FENTRY);
    links->at_once = multi > 0;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        links->programs[i] = library->object_find_program_by_name(object, names[i]);
        if (links->programs[i] && links->at_once)
            library->program_set_expected_attach_type(links->programs[i],
                                                      (enum bpf_attach_type)ATTACH_UPROBE_MULTI);
    }
}

/* ---- one file ---- */

static void path_of(const struct driver_file *file, char ret_path[32]) {
    snprintf(ret_path, 32, "/proc/self/fd/%d", file->fd);
}

/* Returns the link, or negative errno. */
static int link_calls(const struct driver_links *links, const struct bpf_library *library,
                      const struct driver_file *file, enum which which, size_t from, size_t n) {
    uint64_t offsets[DRIVER_SYMBOLS_MAX], cookies[DRIVER_SYMBOLS_MAX];
    char path[32];
    path_of(file, path);
    for (size_t i = 0; i < n; i++) {
        offsets[i] = file->symbols[from + i].offset;
        cookies[i] = file->symbols[from + i].cookie;
    }
    struct multi_link link = {.program_fd = (uint32_t)library->program_fd(links->programs[which]),
                              .attach_type = ATTACH_UPROBE_MULTI,
                              .path = (uintptr_t)path,
                              .offsets = (uintptr_t)offsets,
                              .cookies = (uintptr_t)cookies,
                              .n = (uint32_t)n,
                              .kind = which == RETURNS ? MULTI_RETURN : 0};
    int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link);
    return fd < 0 ? negative_errno() : fd;
}

static void detach(struct driver_file *file) {
    for (size_t i = ARRAY_SIZE(file->links); i-- > 0;) {
        if (file->links[i] >= 0)
            close(file->links[i]);
        file->links[i] = -1;
    }
}

static int attach_at_once(const struct driver_links *links, const struct bpf_library *library,
                          struct driver_file *file) {
    for (size_t i = 0; i < ARRAY_SIZE(file->links); i++) {
        file->links[i] = link_calls(links, library, file, (enum which)i, 0, file->n);
        if (file->links[i] >= 0)
            continue;
        int r = file->links[i];
        detach(file);
        return r;
    }
    return 0;
}

/* One call that the kernel cannot follow fails them all: leaves out those that fail alone. */
static void drop_refused(const struct driver_links *links, const struct bpf_library *library,
                         struct driver_file *file) {
    size_t kept = 0;
    for (size_t i = 0; i < file->n; i++) {
        int link = link_calls(links, library, file, CALLS, i, 1);
        if (link < 0)
            continue;
        close(link);
        file->symbols[kept++] = file->symbols[i];
    }
    file->n = kept;
}

static int attach_singly(const struct driver_links *links, const struct bpf_library *library,
                         struct driver_file *file) {
    char path[32];
    size_t n = 0, calls = 0;
    int r = -ENOENT;
    path_of(file, path);
    for (size_t i = 0; i < 2 * file->n; i++) {
        enum which which = i < file->n ? RETURNS : CALLS;
        const struct driver_symbol *symbol = &file->symbols[i % file->n];
        LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = which == RETURNS,
                    .bpf_cookie = symbol->cookie);
        struct bpf_link *link = library->program_attach_uprobe_opts(links->programs[which], -1,
                                                                    path, symbol->offset, &options);
        r = link ? 0 : negative_errno();
        calls += link && which == CALLS;
        if (link)
            file->single[n++] = link;
    }
    return calls ? (int)calls : r;
}

static int attach_file(const struct driver_links *links, const struct bpf_library *library,
                       struct driver_file *file) {
    if (!links->at_once)
        return attach_singly(links, library, file);
    int r = attach_at_once(links, library, file);
    if (r < 0)
        drop_refused(links, library, file);
    if (r < 0 && file->n)
        r = attach_at_once(links, library, file);
    return r < 0 ? r : (int)file->n;
}

/* ---- all files ---- */

/* Returns how many calls, 0 or negative errno; fd stays the caller's unless it is positive. */
static int add(struct driver_links *links, const struct bpf_library *library, int fd,
               enum driver_library of) {
    if (!links->programs[RETURNS] || !links->programs[CALLS])
        return -EOPNOTSUPP;
    if (links->n == DRIVER_FILES_MAX)
        return -ENOSPC;
    struct driver_file *file = &links->files[links->n];
    *file = (struct driver_file){.fd = fd, .links = {-1, -1}};
    int r = driver_symbols_find(fd, of, file->symbols);
    if (r <= 0)
        return r;
    file->n = (size_t)r;
    return attach_file(links, library, file);
}

int driver_links_add(struct driver_links *links, const struct bpf_library *library, int fd,
                     enum driver_library of) {
    int r = add(links, library, fd, of);
    if (r > 0)
        links->n++;
    else
        close(fd);
    return r;
}

void driver_links_rest(struct driver_links *links) {
    links->rest = links->at_once;
    for (size_t i = 0; links->rest && i < links->n; i++)
        detach(&links->files[i]);
}

int driver_links_go_on(struct driver_links *links, const struct bpf_library *library) {
    int first = 0;
    for (size_t i = 0; links->rest && i < links->n; i++) {
        int r = links->files[i].links[0] < 0 ? attach_at_once(links, library, &links->files[i]) : 0;
        first = first < 0 ? first : r;
    }
    links->rest = false;
    return first;
}

void driver_links_close(struct driver_links *links, const struct bpf_library *library) {
    for (size_t i = 0; i < links->n; i++) {
        struct driver_file *file = &links->files[i];
        detach(file);
        for (size_t k = 2 * DRIVER_SYMBOLS_MAX; k-- > 0;)
            if (file->single[k])
                library->link_destroy(file->single[k]);
        close(file->fd);
    }
    links->n = 0;
}
