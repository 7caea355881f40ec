/* SPDX-License-Identifier: MIT */
/*
 * The part of CUPTI's activity interface that is used, declared here from NVIDIA's documentation of
 * CUDA 11 to 13: no header of theirs is needed, and the program's own library is loaded at run
 * time. The first fields of a kernel's record are where they are since its fourth version, those of
 * a copy since its third, those of a fill since its first.
 */
#ifndef CHOKEPOINT_AGENT_KERNELS_CUPTI_H
#define CHOKEPOINT_AGENT_KERNELS_CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum {
    CUPTI_OK = 0,
    CUPTI_NO_MORE_RECORDS = 12,
    CUPTI_NOT_PERMITTED = 35,
    CUPTI_HAS_A_SUBSCRIBER = 39,
};

enum { CUPTI_COPY = 1, CUPTI_FILL = 2, CUPTI_KERNEL = 10 }; /* kernels that may run side by side */

enum { CUPTI_FLUSH_FORCED = 1 };

/* Records lie at multiples of 8 bytes. */
struct cupti_kernel {
    uint32_t kind;
    uint32_t settings[3];
    uint64_t start_ns, end_ns, completed_ns;
    uint32_t device, context, stream;
    uint32_t shape[11];
    int64_t grid;
    const char *name;
};
_Static_assert(offsetof(struct cupti_kernel, start_ns) == 16, "layout");
_Static_assert(offsetof(struct cupti_kernel, stream) == 48, "layout");
_Static_assert(offsetof(struct cupti_kernel, name) == 104, "layout");

struct cupti_copy {
    uint32_t kind;
    uint8_t settings[4];
    uint64_t bytes, start_ns, end_ns;
    uint32_t device, context, stream;
};

struct cupti_fill {
    uint32_t kind, value;
    uint64_t bytes, start_ns, end_ns;
    uint32_t device, context, stream;
};
_Static_assert(offsetof(struct cupti_copy, stream) == offsetof(struct cupti_fill, stream),
               "layout");

typedef void cupti_callback(void *ctx, int domain, uint32_t id, const void *data);
typedef void cupti_want_buffer(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_max_records);
typedef void cupti_take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                               size_t used);

/* Its functions, by the names that the library exports. */
#define CUPTI_CALLS(CALL)                                                                          \
    CALL(int, cuptiSubscribe, (void **ret_subscriber, cupti_callback *fn, void *ctx))              \
    CALL(int, cuptiActivityRegisterCallbacks,                                                      \
         (cupti_want_buffer * want, cupti_take_buffer * take))                                     \
    CALL(int, cuptiActivityEnable, (int kind))                                                     \
    CALL(int, cuptiActivityDisable, (int kind))                                                    \
    CALL(int, cuptiActivityFlushAll, (uint32_t flags))                                             \
    CALL(int, cuptiActivityGetNextRecord, (uint8_t * buffer, size_t used, void **record))          \
    CALL(int, cuptiActivityGetNumDroppedRecords,                                                   \
         (void *context, uint32_t stream, size_t *ret_dropped))                                    \
    CALL(int, cuptiGetResultString, (int result, const char **ret_text))

struct cupti {
#define CALL(type, name, arguments) type(*name) arguments;
    CUPTI_CALLS(CALL)
#undef CALL
};

#endif
