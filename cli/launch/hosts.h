/* SPDX-License-Identifier: MIT */
/*
 * A set of host names in the order of their first mention, and the texts that name them: lists on
 * command lines, hostfiles, Slurm's compressed node lists.
 *
 * The texts come from outside. A name has letters, digits, '.', '_', '-', ':' (IPv6) and does not
 * begin with '-', so that ssh and mpirun never take it for an option.
 */
#ifndef CHOKEPOINT_CLI_HOSTS_H
#define CHOKEPOINT_CLI_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#define HOSTS_MAX 4096
#define HOST_NAME_LENGTH_MAX 253
#define HOSTFILE_SIZE_MAX (64u << 20)

struct hosts {
    char **names; /* owned */
    size_t n;
    void *index; /* for tsearch: a hostfile may name each host a thousand times */
};

void hosts_release(struct hosts *hosts); /* a zeroed struct is an empty set */
bool hosts_contain(const struct hosts *hosts, const char *name);

/*
 * All of these add to the set; hosts in the set are skipped. On failure `why` has one line and the
 * set may have grown. -EINVAL: not a host name; -E2BIG: more than HOSTS_MAX; -ENOMEM; for files
 * also the errno of reading, and -ENODATA if they name no host.
 */

/* One name, without "user@" (ssh and mpirun read that from the original text). */
int hosts_add(struct hosts *hosts, const char *name, size_t size, char *why, size_t why_size);

/* mpirun's --host: "a,b:2,c:*". */
int hosts_add_list(struct hosts *hosts, const char *text, char *why, size_t why_size);

/* A hostfile of OpenMPI, MPICH or PBS: the first word of each line; "slots=" and further words are
 * ignored. '#' begins a comment, "^name" removes a host. Lines may end with CR LF. */
int hosts_add_hostfile_text(struct hosts *hosts, const char *text, size_t size, char *why,
                            size_t why_size);
int hosts_add_hostfile(struct hosts *hosts, const char *path, char *why, size_t why_size);

/* SLURM_JOB_NODELIST: "n[01-03,7],login". */
int hosts_add_nodelist(struct hosts *hosts, const char *text, char *why, size_t why_size);

#endif
