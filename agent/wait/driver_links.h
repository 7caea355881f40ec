/* SPDX-License-Identifier: MIT */
/*
 * Attaches the two programs for calls of GPU drivers (on_call, on_return) to library files: from
 * then on to each process that maps the file, whenever it does. One link a program and file where
 * the kernel has such links (6.6), else one a call, which stay attached in pauses of the clocks.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_DRIVER_LINKS_H
#define CHOKEPOINT_AGENT_WAIT_DRIVER_LINKS_H

#include "agent/wait/driver_symbols.h"
#include "agent/wait/wait_bpf_library.h"

#define DRIVER_FILES_MAX 8

struct driver_file {
    int fd; /* of the library; owned */
    size_t n;
    struct driver_symbol symbols[DRIVER_SYMBOLS_MAX];
    int links[2]; /* of returns and calls; -1: detached */
    struct bpf_link *single[2 * DRIVER_SYMBOLS_MAX];
};

struct driver_links {                /* all zero: nothing is attached */
    struct bpf_program *programs[2]; /* on_return, on_call; NULL: not loaded */
    bool at_once;                    /* one link for all calls of a file */
    bool rest;
    size_t n;
    struct driver_file files[DRIVER_FILES_MAX];
};

/* Before the object is loaded: finds the programs, and chooses the kind of their links. */
void driver_links_prepare(struct driver_links *links, const struct bpf_library *library,
                          struct bpf_object *object);

/* Follows the calls of one more file. Takes fd, and closes it on failure. Returns how many calls, 0
 * if the file has none, or negative errno (-ENOSPC: too many files; -EOPNOTSUPP: not loaded). */
int driver_links_add(struct driver_links *links, const struct bpf_library *library, int fd,
                     enum driver_library of);

/* Detaches and attaches again, where that takes one link a file. Negative errno: some file is not
 * attached. */
void driver_links_rest(struct driver_links *links);
int driver_links_go_on(struct driver_links *links, const struct bpf_library *library);

void driver_links_close(struct driver_links *links, const struct bpf_library *library);

#endif
