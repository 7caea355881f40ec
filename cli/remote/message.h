/* SPDX-License-Identifier: MIT */
/* The body of a request of Prometheus remote write 1.0. */
#ifndef CHOKEPOINT_CLI_REMOTE_MESSAGE_H
#define CHOKEPOINT_CLI_REMOTE_MESSAGE_H

#include "common/buffer.h"

/* The value that says that a series has ended: a NaN of its own. */
#define MESSAGE_STALE_BITS UINT64_C(0x7ff0000000000002)
double message_stale(void);

#define MESSAGE_LABELS_MAX 8

struct message_label {
    const char *name, *value;
    size_t name_size, value_size;
};

struct message_sample {
    int64_t ms; /* since 1970 */
    double value;
};

/* Labels are sorted by name, and one of them is __name__; samples rise in time. Borrowed. */
struct message_series {
    const struct message_label *labels;
    const struct message_sample *samples;
    size_t n_labels, n_samples;
};

/* The memory in which messages are made. */
struct message;
struct message *message_new(void); /* NULL: without memory */
void message_free(struct message *message);

/* Replaces *to by the message of these series. -ENOMEM. */
int message_pack(struct message *message, const struct message_series *series, size_t n,
                 struct buffer *to);

/* Appends the message in snappy's block form. -ENOMEM. */
int message_compress(const struct buffer *from, struct buffer *to);

#endif
