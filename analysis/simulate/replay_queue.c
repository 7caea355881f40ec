/* SPDX-License-Identifier: MIT */
/* The queue of a replay's events, in order of time, then of creation. */
#include <errno.h>

#include "analysis/simulate/replay_run.h"

static bool is_before(const struct event *a, const struct event *b) {
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->order < b->order;
}

void replay_push(struct run *run, int64_t t, uint32_t kind, uint32_t index) {
    struct event *heap =
        replay_room(&run->heap, run->n_heap, &run->heap_capacity, sizeof *run->heap);
    if (!heap) {
        run->error = -ENOMEM;
        return;
    }
    struct event e = {t, run->order++, kind, index};
    size_t i = run->n_heap++;
    while (i > 0 && is_before(&e, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = e;
}

struct event replay_pop(struct run *run) {
    struct event *heap = run->heap, top = heap[0], last = heap[--run->n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < run->n_heap; i = child) {
        if (child + 1 < run->n_heap && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return top;
}
