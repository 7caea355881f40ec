/* SPDX-License-Identifier: MIT */
/*
 * The key of a row: which core, connection, process or the like an instance of a table is. It has
 * one text form, by which agents name rows, databases keep them and reports show them; no other
 * file makes or reads that text. A text may come from the network or from a database of another
 * user: one that keys.c would not write itself is of form KEY_UNKNOWN, and nothing of it is used.
 */
#ifndef CHOKEPOINT_TABLES_KEYS_H
#define CHOKEPOINT_TABLES_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"
#include "common/text.h"

struct row;
struct rows;

enum key_form {
    KEY_UNKNOWN,    /* and rows for what has none of its own: "other", "ended unseen" */
    KEY_WORD,       /* "eth0", "vda", "/", "io": the text is all */
    KEY_CORE,       /* "cpu3", "cpus" */
    KEY_PROCESS,    /* "python3 train.py[4711]", "sh[ended]"; a name that was cut has no id */
    KEY_RANK,       /* "rank 3", "rank 3 [4711]", "rank 3 MPI_Send" */
    KEY_CONNECTION, /* "10.0.0.1:5000>10.0.0.2:80", "[fe80::1]:5000>[fe80::2]:80" */
    KEY_FLOW,       /* "eth0 10.0.0.1 10.0.0.2", "eth0 arp", "eth0 protocol 0x88cc" */
    KEY_QUEUE,      /* "eth0 tbf 1:", "eth0 pfifo_fast root" */
    KEY_PAIR,       /* "cat[12] < sh[11] pipe": who waited, who woke it, for what it waited */
    KEY_OPERATION,  /* "server:/export READ" */
};

#define KEY_ALL_CORES (-1) /* those of a group, which are counted together */
#define KEY_ALL_CORES_NAME "cpus"
#define KEY_NO_ID (-1)
#define KEY_ENDED 0 /* all processes of a name that no sample saw */
#define KEY_LOOPBACK "lo"
#define KEY_NAME_SERVER "name server" /* a waker that is no process of the host */

/* Without gaps, so that bytes can be compared. */
struct key_address {
    uint16_t family;   /* AF_INET, AF_INET6; 0: none */
    uint8_t bytes[16]; /* four of AF_INET, the others 0 */
};
struct key_end {
    struct key_address address;
    uint16_t port;
};

struct key_process {
    struct span program;
    int64_t pid; /* or KEY_ENDED, KEY_NO_ID */
};

/* Spans are borrowed: of the text that was read. */
struct table_key {
    enum key_form form;
    union {
        int64_t core; /* or KEY_ALL_CORES */
        struct {
            struct key_process process, waker; /* KEY_PROCESS, KEY_PAIR */
            struct span reason;                /* KEY_PAIR */
        };
        struct {               /* KEY_RANK */
            int64_t rank, pid; /* pid: or KEY_NO_ID */
            struct span function;
        };
        struct {                     /* KEY_CONNECTION, KEY_FLOW, KEY_QUEUE */
            struct key_end ends[2];  /* the own and the other; of a flow without ports */
            uint16_t protocol;       /* of Ethernet; KEY_FLOW without addresses */
            struct span interface;   /* KEY_FLOW, KEY_QUEUE */
            struct span kind, place; /* KEY_QUEUE */
        };
        struct { /* KEY_OPERATION */
            struct span export, operation;
        };
    };
};

#define KEY_OF_PROCESS(data, size, pid)                                                            \
    (const struct table_key) {                                                                     \
        .form = KEY_PROCESS, .process = { {(data), (size)}, (pid) }                                \
    }

/* The form of the instances of a table. */
enum key_form key_form_of(const char *table);

/* The key that a text of that form names. */
struct table_key key_read(enum key_form form, const char *text);

/* The text of a key of any form but KEY_UNKNOWN and KEY_WORD, cut where it is too long. Returns its
 * length. */
size_t key_write(const struct table_key *key, char text[INSTANCE_MAX + 1]);

/* A row of that name. NULL as rows_append. */
struct row *rows_append_key(struct rows *rows, const struct table_key *key);

/* An address as the kernel has it. */
struct key_address key_address_of(int family, const void *bytes);
/* The end of a socket: there an address of IPv4 may be one within IPv6. */
struct key_end key_end_of(int family, const void *address, uint16_t port);

/* "10.0.0.1", "fe80::1". Returns text. */
#define KEY_ADDRESS_SIZE 46
const char *key_address_write(const struct key_address *address, char text[KEY_ADDRESS_SIZE]);

bool key_address_is_loopback(const struct key_address *address);
/* Whether it means all hosts of a network (broadcast), or a group of hosts (multicast). */
bool key_address_is_shared(const struct key_address *address);

/* Orders connections by their ends. */
int key_compare_ends(const struct table_key *a, const struct table_key *b);
/* A connection as its other end names it. */
struct table_key key_mirror(const struct table_key *connection);

/* Whether two processes run the same program. */
bool key_same_program(const struct table_key *a, const struct table_key *b);

/* Whether the one that woke is a server of names: its answers come from anywhere. */
bool key_is_name_server(const struct table_key *pair);

#endif
