/* SPDX-License-Identifier: MIT */
/* libbpf linked into the program, so that a host needs no package for wait clocks. */
#include "agent/wait/wait_bpf_library.h"

#include <stddef.h>

bool bpf_library_load(struct bpf_library *library) {
    *library = (struct bpf_library){
        .handle = NULL,
        .set_print = libbpf_set_print,
        .find_vmlinux_btf_id = libbpf_find_vmlinux_btf_id,
        .object_open_mem = bpf_object__open_mem,
        .object_load = bpf_object__load,
        .object_close = bpf_object__close,
        .object_next_program = bpf_object__next_program,
        .object_find_map_by_name = bpf_object__find_map_by_name,
        .object_find_program_by_name = bpf_object__find_program_by_name,
        .map_fd = bpf_map__fd,
        .map_set_initial_value = bpf_map__set_initial_value,
        .program_section_name = bpf_program__section_name,
        .program_name = bpf_program__name,
        .program_set_autoload = bpf_program__set_autoload,
        .program_autoload = bpf_program__autoload,
        .program_set_expected_attach_type = bpf_program__set_expected_attach_type,
        .program_fd = bpf_program__fd,
        .program_attach_uprobe_opts = bpf_program__attach_uprobe_opts,
        .program_attach = bpf_program__attach,
        .program_attach_iter = bpf_program__attach_iter,
        .link_fd = bpf_link__fd,
        .link_destroy = bpf_link__destroy,
        .iter_create = bpf_iter_create,
        .map_update_elem = bpf_map_update_elem,
        .map_delete_elem = bpf_map_delete_elem,
        .map_lookup_batch = bpf_map_lookup_batch,
    };
    return true;
}

void bpf_library_close(struct bpf_library *library) {
    (void)library;
}
