/* SPDX-License-Identifier: MIT */
/*
 * The key of a row: the core, connection, process or other thing that a row describes. It has one
 * text form, which agents write, databases keep and reports show; no other file makes or reads that
 * text. A text may come from the network or from a database of another user: a text that keys.c
 * would not write itself gets the form KEY_UNKNOWN, and no part of it is used.
 */
#ifndef CHOKEPOINT_TABLES_KEYS_H
#define CHOKEPOINT_TABLES_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"
#include "common/text.h"
#include "tables/tables.h"

struct row;
struct rows;

enum key_form {
    KEY_UNKNOWN,     /* also for rows without a key: "other", "ended unseen" */
    KEY_WORD,        /* "eth0", "vda", "/", "io": the text is the key */
    KEY_CORE,        /* "cpu3", "cpus" */
    KEY_PROCESS,     /* "python3 train.py[4711]", "sh[ended]"; a shortened name has no id */
    KEY_RANK,        /* "rank 3", "rank 3 [4711]", "rank 3 MPI_Send" */
    KEY_CONNECTION,  /* "10.0.0.1:5000>10.0.0.2:80", "[fe80::1]:5000>[fe80::2]:80" */
    KEY_FLOW,        /* "eth0 10.0.0.1 10.0.0.2", "eth0 arp", "eth0 protocol 0x88cc" */
    KEY_QUEUE,       /* "eth0 tbf 1:", "eth0 pfifo_fast root" */
    KEY_PAIR,        /* "cat[12] < sh[11] pipe": the waiter, the waker, the reason */
    KEY_OPERATION,   /* "server:/export READ" */
    KEY_GPU_PROCESS, /* "gpu0 python3 train.py[4711]" */
};

#define KEY_ALL_CORES (-1) /* of a group, when they are counted together */
#define KEY_ALL_CORES_NAME "cpus"
#define KEY_NO_ID (-1)
#define KEY_ENDED 0 /* all unseen processes of one name */
#define KEY_LOOPBACK "lo"
#define KEY_NAME_SERVER "name server" /* a waker outside the host */

/* Has no gaps, so that bytes can be compared. */
struct key_address {
    uint16_t family;   /* AF_INET, AF_INET6; 0: none */
    uint8_t bytes[16]; /* AF_INET uses four, the others are 0 */
};
struct key_end {
    struct key_address address;
    uint16_t port;
};

struct key_process {
    struct span program;
    int64_t pid; /* or KEY_ENDED, KEY_NO_ID */
};

/* Spans are borrowed from the text that was read. */
struct table_key {
    enum key_form form;
    union {
        int64_t core; /* or KEY_ALL_CORES */
        struct {
            struct key_process process, waker; /* KEY_PROCESS, KEY_PAIR, KEY_GPU_PROCESS */
            struct span reason;                /* KEY_PAIR */
            struct span gpu;                   /* KEY_GPU_PROCESS */
        };
        struct {               /* KEY_RANK */
            int64_t rank, pid; /* pid: or KEY_NO_ID */
            struct span function;
        };
        struct {                     /* KEY_CONNECTION, KEY_FLOW, KEY_QUEUE */
            struct key_end ends[2];  /* the own end and the other one; flows have no ports */
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
enum key_form key_form_of(enum table_id table);

/* Reads the key from a text of that form. */
struct table_key key_read(enum key_form form, const char *text);

/* Writes the text of a key of any form except KEY_UNKNOWN and KEY_WORD, and shortens it if it is
 * too long. Returns its length. */
size_t key_write(const struct table_key *key, char text[INSTANCE_MAX + 1]);

/* Appends a row of that key. Returns NULL as rows_append. */
struct row *rows_append_key(struct rows *rows, const struct table_key *key);

/* Makes an address from the kernel's form. */
struct key_address key_address_of(int family, const void *bytes);
/* Makes the end of a socket, whose IPv4 address may lie within an IPv6 address. */
struct key_end key_end_of(int family, const void *address, uint16_t port);

/* "10.0.0.1", "fe80::1". Returns text. */
#define KEY_ADDRESS_SIZE 46
const char *key_address_write(const struct key_address *address, char text[KEY_ADDRESS_SIZE]);

bool key_address_is_loopback(const struct key_address *address);
/* Whether the address stands for all hosts of a network (broadcast) or a group of hosts
 * (multicast). */
bool key_address_is_shared(const struct key_address *address);

/* Orders connections by their ends. */
int key_compare_ends(const struct table_key *a, const struct table_key *b);
/* The same connection, named from its other end. */
struct table_key key_mirror(const struct table_key *connection);

/* Whether two processes run the same program. */
bool key_same_program(const struct table_key *a, const struct table_key *b);

/* Whether the waker is a name server: its answers may come from anywhere. */
bool key_is_name_server(const struct table_key *pair);

#endif
