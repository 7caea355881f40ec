/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/remote_storage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct remote_storage *find_export(struct remote_storage *items, size_t *n,
                                          struct span export) {
    for (size_t i = 0; i < *n; i++)
        if (span_equal(export, items[i].export))
            return &items[i];
    struct remote_storage *item = &items[(*n)++];
    *item = (struct remote_storage){.calls = 0};
    text_sanitize(item->export, sizeof item->export, export.data, export.size);
    return item;
}

static void add(const struct series_set *set, const struct series *series, struct windows windows,
                struct remote_storage *item) {
    item->calls += series_growth(set, series, NFS_OPERATIONS, windows, NULL);
    item->retransmissions += series_growth(set, series, NFS_RETRANSMISSIONS, windows, NULL);
    item->send_bytes += series_growth(set, series, NFS_SEND_BYTES, windows, NULL);
    item->receive_bytes += series_growth(set, series, NFS_RECEIVE_BYTES, windows, NULL);
    item->queue_s += series_growth(set, series, NFS_QUEUE, windows, NULL) / 1e9;
    item->rtt_s += series_growth(set, series, NFS_RTT, windows, NULL) / 1e9;
    item->execute_s += series_growth(set, series, NFS_EXECUTE, windows, NULL) / 1e9;
}

static int compare_exports(const void *a, const void *b) {
    const struct remote_storage *x = a, *y = b;
    if (x->execute_s != y->execute_s)
        return x->execute_s > y->execute_s ? -1 : 1;
    return strcmp(x->export, y->export);
}

int remote_storage_make(const struct run_model *model, int host, struct windows windows,
                        struct remote_storage **ret_items, size_t *ret_n) {
    const struct series_set *set = &model->recording->tables[RECORDING_NFS];
    struct remote_storage *items = calloc(set->n + 1, sizeof *items);
    size_t n = 0, kept = 0;
    if (!items)
        return -ENOMEM;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && set->items[s].key.form == KEY_OPERATION)
            add(set, &set->items[s], windows, find_export(items, &n, set->items[s].key.export));
    for (size_t i = 0; i < n; i++)
        if (items[i].calls > 0)
            items[kept++] = items[i];
    qsort(items, kept, sizeof *items, compare_exports);
    *ret_items = items;
    *ret_n = kept;
    return 0;
}

bool remote_storage_most(const struct run_model *model, size_t group, int host,
                         struct remote_storage *ret_item) {
    struct remote_storage *items;
    size_t n;
    if (remote_storage_make(model, host, phase_windows(&model->groups[group]), &items, &n) < 0)
        return false;
    if (n)
        *ret_item = items[0];
    free(items);
    return n > 0;
}
