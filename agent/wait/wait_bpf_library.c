/* SPDX-License-Identifier: MIT */
#include "agent/wait/wait_bpf_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "common/error.h"

#define SYMBOL(slot, name)                                                                         \
    { name, offsetof(struct bpf_library, slot) }

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
    SYMBOL(program_set_expected_attach_type, "bpf_program__set_expected_attach_type"),
    SYMBOL(program_fd, "bpf_program__fd"),
    SYMBOL(program_attach_uprobe_opts, "bpf_program__attach_uprobe_opts"),
    SYMBOL(program_attach, "bpf_program__attach"),
    SYMBOL(program_attach_iter, "bpf_program__attach_iter"),
    SYMBOL(link_fd, "bpf_link__fd"),
    SYMBOL(link_destroy, "bpf_link__destroy"),
    SYMBOL(iter_create, "bpf_iter_create"),
    SYMBOL(map_update_elem, "bpf_map_update_elem"),
    SYMBOL(map_delete_elem, "bpf_map_delete_elem"),
    SYMBOL(map_lookup_batch, "bpf_map_lookup_batch"),
};

bool bpf_library_load(struct bpf_library *library) {
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

void bpf_library_close(struct bpf_library *library) {
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}
