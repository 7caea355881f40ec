/* SPDX-License-Identifier: MIT */
/*
 * Emulated hosts on one Linux machine: declarations that these files share.
 *
 * A host is a network namespace, a cgroup, and a node name; a switch is a bridge in a namespace of
 * its own, so that a testbed is never connected to the machine's uplink. The user's request is in
 * DIRECTORY/state; everything else follows from the name of the testbed:
 *
 *   /run/chokepoint-testbed/NAME/   state, hosts (as /etc/hosts), hostfile (as mpirun's),
 * chokepoint NAME-switch, NAME-vm1 ...       network namespaces (ip netns)
 *   .../NAME-testbed/vm1 ...        cgroups, in each hierarchy that matters
 */
#ifndef CHOKEPOINT_CLI_TESTBED_H
#define CHOKEPOINT_CLI_TESTBED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/options.h"

#define TESTBED_SSH "testbed-ssh" /* a link to this program, which is then `testbed ssh` */
#define TESTBED_HOSTS_MAX 100
#define TESTBED_ROOT "/run/chokepoint-testbed"
#define TESTBED_BRIDGE "chokepoint0"
#define TESTBED_INTERFACE "eth0"

/* Conditions, which are also the exit status of `chokepoint testbed`. Each leaves a line in
 * `trouble`. */
enum testbed_condition {
    TESTBED_FAILED = 1,
    TESTBED_USAGE = 2,  /* wrong words, or a testbed that is up already or not up at all */
    TESTBED_UNABLE = 3, /* this machine or this user cannot have a testbed */
};

/* Part of the state file: an incomplete testbed is recognized by it. */
enum testbed_phase { TESTBED_MAKING, TESTBED_UP };

struct testbed {
    char name[32];
    char directory[80];
    enum testbed_phase phase;
    unsigned n_hosts;
    uint32_t network; /* host byte order; host K (from 1) has network + K */
    unsigned prefix;
    unsigned mtu;
    uint64_t rate_bits_per_s;         /* 0: links are not shaped */
    uint64_t memory_bytes;            /* for each host; 0: not limited */
    char cpus[TESTBED_HOSTS_MAX][64]; /* CPU list of host K at K-1; "": all CPUs */
    char trouble[400];                /* one line about the last failure */
};

struct testbed_options {
    struct testbed testbed; /* as asked for */
    bool subnet_given;
    bool replace;
};

/* Writes the line into t->trouble and returns `condition`. */
int testbed_trouble(struct testbed *t, int condition, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- state --- */

/* Sets name and directory. NULL: $CHOKEPOINT_TESTBED, else "chokepoint". */
int testbed_init(struct testbed *t, const char *name);
bool testbed_exists(const struct testbed *t);
/* Reads the state that `up` wrote. TESTBED_USAGE when no testbed of this name is up. */
int testbed_load(struct testbed *t);
/* makes the directory for the next two */
int testbed_make_directory(struct testbed *t);
int testbed_save(struct testbed *t);
/* The files that programs inside the hosts read. */
int testbed_write_files(struct testbed *t);
int testbed_remove_state(struct testbed *t);
/* Only one testbed is made or removed at a time; waits for its turn. Returns a descriptor to close,
 * or a negative errno. */
int testbed_lock(void);
/* The first 10.77.K.0/24 that no other testbed has. */
int testbed_choose_subnet(struct testbed *t);
/* "vm3", "user@vm3" or its address gives 3; 0: there is no such host. */
unsigned testbed_find_host(const struct testbed *t, const char *word);
void testbed_address(const struct testbed *t, unsigned host, char ret_text[16]);

/* --- options --- */

/* The options of `up`, and the help of the verb: rows and table for values that go to `to`. */
#define TESTBED_OPTIONS 7
void testbed_fill_options(struct testbed_options *to, struct option_row rows[TESTBED_OPTIONS],
                          struct option_table *ret_table);
int testbed_parse_up(int argc, char **argv, struct testbed_options *ret_options);
int testbed_parse_cpus(const char *text, struct testbed *t);
int testbed_parse_subnet(const char *text, struct testbed *t);

/* --- network --- */

int testbed_network_probe(struct testbed *t); /* TESTBED_UNABLE: why this machine cannot */
int testbed_network_make_switch(struct testbed *t);
int testbed_network_make_host(struct testbed *t, unsigned host);
int testbed_network_remove(struct testbed *t);
bool testbed_namespace_exists(const struct testbed *t, const char *what);
int testbed_namespace_open(const struct testbed *t, unsigned host); /* fd or negative errno */

/* --- cgroups --- */

int testbed_cgroup_make(struct testbed *t);
int testbed_cgroup_enter(struct testbed *t, unsigned host);
bool testbed_cgroup_complete(const struct testbed *t, unsigned host);
int testbed_cgroup_remove(struct testbed *t);
/* Lets frozen processes run again, so that they can end. */
void testbed_cgroup_thaw(const struct testbed *t);
/* Ids of the processes inside `host` (0: of the whole testbed), each once. The caller frees
 * *ret_pids. */
int testbed_cgroup_pids(const struct testbed *t, unsigned host, pid_t **ret_pids, size_t *ret_n);

/* --- life --- */

int testbed_up(struct testbed_options *options);
int testbed_down(struct testbed *t);
/* Removes everything of a testbed; the caller holds the lock. */
int testbed_remove(struct testbed *t);
int testbed_status(struct testbed *t);

/* --- inside --- */

/* Moves this process into the host: cgroup, network, node name, /etc/hosts, /sys. */
int testbed_enter(struct testbed *t, unsigned host);
/* Makes a private mount namespace with `hosts` over /etc/hosts, and a /sys that shows the
 * interfaces of the current network namespace. */
int testbed_mount_private(struct testbed *t);
/* Makes OpenMPI reach the other hosts, and agents report the cgroup. */
void testbed_environment(const struct testbed *t);
/* Sets the environment of a login on another host instead of the caller's. */
void testbed_environment_login(void);
/* Both replace this process and return the exit status only on failure. */
int testbed_exec(struct testbed *t, const char *host, char **command);
int testbed_ssh(struct testbed *t, int argc, char **argv);

#endif
