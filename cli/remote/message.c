/* SPDX-License-Identifier: MIT */
#include "cli/remote/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "remote.pb-c.h"

/* Arrays that grow and are used again for each message. */
struct message {
    Remote__TimeSeries *series, **series_at;
    Remote__Label *labels, **labels_at;
    Remote__Sample *samples, **samples_at;
    size_t n_series, n_labels, n_samples; /* room */
};

double message_stale(void) {
    const uint64_t bits = MESSAGE_STALE_BITS;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct message *message_new(void) {
    return calloc(1, sizeof(struct message));
}

void message_free(struct message *message) {
    if (!message)
        return;
    free(message->series);
    free(message->series_at);
    free(message->labels);
    free(message->labels_at);
    free(message->samples);
    free(message->samples_at);
    free(message);
}

/* Makes room for n items of `size` bytes and for as many pointers to them. */
static int make_room(void *items, void *pointers, size_t *room, size_t n, size_t size) {
    if (n <= *room)
        return 0;
    void *grown = realloc(*(void **)items, n * size);
    if (grown)
        *(void **)items = grown;
    void *grown_pointers = grown ? realloc(*(void **)pointers, n * sizeof(void *)) : NULL;
    if (!grown_pointers)
        return -ENOMEM;
    *(void **)pointers = grown_pointers;
    *room = n;
    return 0;
}

static int make_all_room(struct message *message, const struct message_series *series, size_t n) {
    size_t n_labels = 0, n_samples = 0;
    for (size_t i = 0; i < n; i++) {
        n_labels += series[i].n_labels;
        n_samples += series[i].n_samples;
    }
    int r = make_room(&message->series, &message->series_at, &message->n_series, n,
                      sizeof *message->series);
    if (!r)
        r = make_room(&message->labels, &message->labels_at, &message->n_labels, n_labels,
                      sizeof *message->labels);
    return r ? r
             : make_room(&message->samples, &message->samples_at, &message->n_samples, n_samples,
                         sizeof *message->samples);
}

static void fill_labels(struct message *message, const struct message_series *from,
                        Remote__TimeSeries *to, size_t at) {
    to->n_labels = from->n_labels;
    to->labels = message->labels_at + at;
    for (size_t i = 0; i < from->n_labels; i++) {
        const struct message_label *label = &from->labels[i];
        Remote__Label *copy = &message->labels[at + i];
        remote__label__init(copy);
        copy->name = (ProtobufCBinaryData){label->name_size, (uint8_t *)label->name};
        copy->value = (ProtobufCBinaryData){label->value_size, (uint8_t *)label->value};
        to->labels[i] = copy;
    }
}

static void fill_samples(struct message *message, const struct message_series *from,
                         Remote__TimeSeries *to, size_t at) {
    to->n_samples = from->n_samples;
    to->samples = message->samples_at + at;
    for (size_t i = 0; i < from->n_samples; i++) {
        Remote__Sample *copy = &message->samples[at + i];
        remote__sample__init(copy);
        copy->value = from->samples[i].value;
        copy->timestamp = from->samples[i].ms;
        to->samples[i] = copy;
    }
}

int message_pack(struct message *message, const struct message_series *series, size_t n,
                 struct buffer *to) {
    Remote__WriteRequest request = REMOTE__WRITE_REQUEST__INIT;
    size_t n_labels = 0, n_samples = 0;
    int r = make_all_room(message, series, n);
    if (r)
        return r;
    for (size_t i = 0; i < n; i++) {
        Remote__TimeSeries *copy = &message->series[i];
        remote__time_series__init(copy);
        fill_labels(message, &series[i], copy, n_labels);
        fill_samples(message, &series[i], copy, n_samples);
        n_labels += series[i].n_labels;
        n_samples += series[i].n_samples;
        message->series_at[i] = copy;
    }
    request.n_timeseries = n;
    request.timeseries = message->series_at;
    size_t size = remote__write_request__get_packed_size(&request);
    buffer_reset(to);
    r = buffer_reserve(to, size);
    if (!r)
        to->size = remote__write_request__pack(&request, to->data);
    return r;
}
