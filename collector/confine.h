/* SPDX-License-Identifier: MIT */
/*
 * Limits the rights of processes that read outside data (collector, import, the children of serve).
 * A fault in one of them then writes no file but the database's and opens no connection. It starts
 * no program either, except in the roles CONFINE_DRAWS and CONFINE_SERVES.
 */
#ifndef CHOKEPOINT_COLLECTOR_CONFINE_H
#define CHOKEPOINT_COLLECTOR_CONFINE_H

enum confine_role {
    CONFINE_STORES, /* takes frames in threads, over open sockets */
    CONFINE_READS,  /* makes a live picture */
    CONFINE_DRAWS,  /* makes a report; gnuplot, which draws for it, inherits the filter */
    CONFINE_SERVES, /* answers browsers, and starts programs that read */
};

/* The database that a process is confined to; serve sets it for the programs that it starts. */
#define CONFINE_VARIABLE "CHOKEPOINT_CONFINED"

/* Afterwards this thread, and all threads that it starts, write only below the directory of the
 * database and, unless the role is CONFINE_STORES, the one for temporary files. 0, also on a kernel
 * without Landlock; -errno. */
int confine_files(enum confine_role role, const char *database);

/* Afterwards all threads make only the calls that the role needs. 0, also without libseccomp or a
 * kernel that supports it; -errno. */
int confine_calls(enum confine_role role);

#endif
