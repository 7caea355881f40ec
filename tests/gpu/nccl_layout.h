/* SPDX-License-Identifier: MIT */
/* Descriptors of NCCL's profiler interface as its public headers lay them out, declared apart from
 * the agent's own: a player fills these, and the plug-in must find the same. */
#ifndef CHOKEPOINT_TESTS_GPU_NCCL_LAYOUT_H
#define CHOKEPOINT_TESTS_GPU_NCCL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proxy_op {
    pid_t pid;
    uint8_t channel;
    int peer, steps, chunk, is_send;
};

struct v1 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            const char *name;
            uint64_t comm, seq;
            uint8_t func;
            void const *send;
            void *recv;
            size_t count;
            int root;
            uint8_t datatype;
            uint32_t op;
            size_t traffic;
            uint8_t channels, warps, algo, proto;
            int collnet, nvls;
        } coll;
        struct {
            const char *name;
            uint64_t comm;
            uint8_t func;
            void *buff;
            uint8_t datatype;
            size_t count;
            int peer;
        } p2p;
        struct proxy_op proxy;
    };
};

struct v2 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            const char *name;
            uint64_t comm, seq;
            const char *func;
            void const *send;
            void *recv;
            size_t count;
            int root;
            const char *datatype;
            size_t traffic; /* 3: channels and warps here */
            uint8_t channels, warps;
            const char *algo, *proto;
        } coll;
        struct {
            const char *name;
            uint64_t comm;
            const char *func;
            void *buff;
            const char *datatype;
            size_t count;
            int peer;
        } p2p;
        struct proxy_op proxy;
    };
};

struct v4 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            uint64_t seq;
            const char *func;
            void const *send;
            void *recv;
            size_t count;
            int root;
            const char *datatype;
            uint8_t channels, warps;
            const char *algo, *proto;
        } coll;
        struct {
            const char *func;
            void *buff;
            const char *datatype;
            size_t count;
            int peer;
            uint8_t channels;
        } p2p;
        struct proxy_op proxy;
    };
};

struct v5 { /* 6, too */
    uint64_t type;
    void *parent;
    int rank;
    union {
        struct {
            bool captured;
            int depth;
        } group_api;
        struct {
            const char *func;
            size_t count;
            const char *datatype;
            int root;
            void *stream;
            bool captured;
        } coll_api;
        struct {
            uint64_t seq;
            const char *func;
            void const *send;
            void *recv;
            size_t count;
            int root;
            const char *datatype;
            uint8_t channels, warps;
            const char *algo, *proto;
            void *group;
        } coll;
        struct {
            const char *func;
            void *buff;
            const char *datatype;
            size_t count;
            int peer;
            uint8_t channels;
            void *group;
        } p2p;
        struct proxy_op proxy;
    };
};

typedef void log_fn(int, unsigned long, const char *, int, const char *, ...);
typedef int init_v1(void **, int *);
typedef int init_v4(void **, int *, const char *, uint64_t, int, int, int, log_fn *);
typedef int init_v5(void **, uint64_t, int *, const char *, int, int, int, log_fn *);

struct table {
    const char *name;
    void *init;
    int (*start)(void *, void **, void *);
    int (*stop)(void *);
    int (*record)(void *, int, void *);
    int (*finalize)(void *);
};

enum { GROUP = 1, COLL = 2, P2P = 4, PROXY_OP = 8, GROUP_API = 256, COLL_API = 512 };

#endif
