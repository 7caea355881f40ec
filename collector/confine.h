/* SPDX-License-Identifier: MIT */
/*
 * Programs that read what others send or leave (collector, import, the children of serve) keep only
 * what that takes. A fault in them then writes no file but the database's and opens no connection,
 * and but for CONFINE_DRAWS and CONFINE_SERVES it starts no program.
 */
#ifndef CHOKEPOINT_COLLECTOR_CONFINE_H
#define CHOKEPOINT_COLLECTOR_CONFINE_H

enum confine_role {
    CONFINE_STORES, /* takes frames, in threads, over sockets that are open */
    CONFINE_READS,  /* makes a live picture */
    CONFINE_DRAWS,  /* makes a report, for which gnuplot draws under the same filter */
    CONFINE_SERVES, /* answers browsers, and starts programs that read */
};

/* Set by serve for the programs that it starts: the database, which they are confined to. */
#define CONFINE_VARIABLE "CHOKEPOINT_CONFINED"

/* Afterwards this thread, and those that it starts, write below the directory of the database, and
 * but for CONFINE_STORES in that for temporary files. 0, also where the kernel cannot; -errno. */
int confine_files(enum confine_role role, const char *database);

/* Afterwards all threads make only calls that the role takes. 0, also where this build or the
 * kernel cannot; -errno. */
int confine_calls(enum confine_role role);

#endif
