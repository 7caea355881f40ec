/* SPDX-License-Identifier: MIT */
/* Shared by the files of the connection probe: connection.c, connection_ask.c,
 * connection_message.c, connection_owner.c, connection_table.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_CONNECTION_H
#define CHOKEPOINT_AGENT_PROBES_CONNECTION_H

#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include "agent/base/dirents.h"
#include "agent/base/job.h"
#include "agent/base/netlink.h"
#include "tables/tables.h"

/* ---- messages: connection_message.c ---- */

/* From netinet/tcp.h, which cannot be included beside linux/tcp.h. */
enum {
    STATE_ESTABLISHED = 1,
    STATE_SYN_SENT = 2,
    STATE_FIN_WAIT1 = 4,
    STATE_FIN_WAIT2 = 5,
    STATE_CLOSE = 7, /* of a connection that has ended */
    STATE_CLOSE_WAIT = 8,
    STATE_LAST_ACK = 9,
    STATE_CLOSING = 11,
};

/* The kernel's figures of one TCP socket; points into the message. */
struct connection_message {
    struct inet_diag_msg head;
    uint64_t cookie;
    struct bytes info;    /* a struct tcp_info, shorter or longer than ours; may be empty */
    struct bytes buffers; /* numbers in the order of SK_MEMINFO_VARS; may be empty */
};

/* False if the message is not about a socket with two ends. */
bool connection_read(unsigned type, struct bytes payload, struct connection_message *ret_message);

/* Writes the name of the connection's row. Returns its length. */
size_t connection_name(const struct connection_message *message, char name[INSTANCE_MAX + 1]);

/* Fills all columns except those of the process. Figures that this kernel lacks are absent. */
void connection_values(const struct connection_message *message, int64_t *values);

/* ---- sockets of the job's processes: connection_owner.c ---- */

#define OWNER_SLOTS 16384 /* at most half of them are used */

struct owner {
    uint32_t inode; /* 0: free */
    int32_t pid, rank;
};

/* A process whose files have all been looked at since the last owners_forget. */
struct owner_quiet {
    int32_t pid; /* 0: none */
    off_t files; /* how many it had open: the kernel tells since Linux 6.2 */
};

#define BUSY_PIDS 4096 /* bits: a process id by its remainder */

struct owner_busy { /* processes with connections, and some others */
    uint64_t bits[BUSY_PIDS / 64];
};

struct owners { /* all zero: empty */
    size_t n;
    struct owner_quiet quiet[JOB_PROCESSES_MAX]; /* in the order of the job */
    size_t looked; /* how many processes of the job have been looked at */
    int files;     /* open files of all kinds in these processes */
    struct owner slots[OWNER_SLOTS];
    uint16_t used[OWNER_SLOTS / 2]; /* slots in use; n of them */
    _Alignas(struct dirents_entry) char listing[8192];
};

/* Forgets all sockets: no process has been looked at. */
void owners_forget(struct owners *owners);

/* Begins with the first process again; what is known stays. */
void owners_restart(struct owners *owners);

/* Reads which sockets the next processes of the job have open, `most` of them. A process that is
 * not busy and has as many files open as at the last look is left out. 0; -EMFILE: too many in all;
 * -EACCES: a process may not be inspected. After an error some are missing. */
int owners_look(struct owners *owners, int proc_fd, const struct job *job, size_t most,
                const struct owner_busy *busy);

/* NULL: no process of the job has the socket. */
const struct owner *owners_find(const struct owners *owners, uint32_t inode);

/* ---- connections seen: connection_table.c ---- */

#define CONNECTIONS_MAX 8192
#define CONNECTION_SLOTS (2 * CONNECTIONS_MAX)

struct connection {
    uint64_t cookie; /* of the socket: never used again */
    uint64_t seen;   /* number of the last sample that listed it */
    uint64_t looked; /* number of the sample that looked for its owner, 0: never */
    uint32_t inode;  /* 0: no process holds it */
    int32_t pid;     /* 0: not of the job */
    int32_t rank;
    struct inet_diag_sockid id; /* its ends */
    uint8_t family;
    uint8_t name_size; /* 0: not made yet */
    char name[INSTANCE_MAX + 1];
    bool born; /* began after the first sample */
    bool sent; /* has had a row */
};

struct connections {
    size_t n;
    struct connection items[CONNECTIONS_MAX];
    uint16_t slots[CONNECTION_SLOTS]; /* place + 1, 0: free */
};

/* NULL: unknown. */
struct connection *connections_find(struct connections *all, uint64_t cookie);

/* Adds a connection that is unknown so far. NULL: no room. */
struct connection *connections_add(struct connections *all, uint64_t cookie);

/* Forgets connections that were last seen before that sample. */
void connections_keep(struct connections *all, uint64_t sample);

/* ---- asking for those that are known: connection_ask.c ---- */

/* Reads from the text of a /proc/net/snmp how many connections this network namespace has opened so
 * far, in both directions. False if the text does not say. */
bool connection_read_opens(const char *text, size_t size, uint64_t *ret_opens);

/* Passes on the kernel's figures of the first `most` connections of the job; connections that have
 * ended are left out. Negative errno. */
int connections_ask(struct netlink *netlink, const struct connections *all, size_t most,
                    netlink_take *take, void *ctx);

#endif
