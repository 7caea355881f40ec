/* SPDX-License-Identifier: MIT */
/*
 * The one header that names libbpf. The library is inside the agent (wait_bpf_static.c), or is
 * loaded when there is a job to watch (wait_bpf_library.c): an agent runs on hosts that lack it.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_BPF_LIBRARY_H
#define CHOKEPOINT_AGENT_WAIT_BPF_LIBRARY_H

#include <stdbool.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* The functions of libbpf in use, declared as in its headers. */
struct bpf_library {
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
    __typeof__(bpf_program__set_expected_attach_type) *program_set_expected_attach_type;
    __typeof__(bpf_program__fd) *program_fd;
    __typeof__(bpf_program__attach_uprobe_opts) *program_attach_uprobe_opts;
    __typeof__(bpf_program__attach) *program_attach;
    __typeof__(bpf_program__attach_iter) *program_attach_iter;
    __typeof__(bpf_link__fd) *link_fd;
    __typeof__(bpf_link__destroy) *link_destroy;
    __typeof__(bpf_iter_create) *iter_create;
    __typeof__(bpf_map_update_elem) *map_update_elem;
    __typeof__(bpf_map_delete_elem) *map_delete_elem;
    __typeof__(bpf_map_lookup_batch) *map_lookup_batch;
};

/* False: libbpf is missing or lacks a function. */
bool bpf_library_load(struct bpf_library *library);
void bpf_library_close(struct bpf_library *library); /* also after a load that failed */

#endif
