/* SPDX-License-Identifier: MIT */
/* Tables of events as virtual tables of the store's own connection, which else may have none. */
#include "collector/store_module.h"
#include "collector/store_private.h"

#include <errno.h>
#include <stdio.h>

static int set_query_only(struct store *store, bool on) {
    return store->writable ? 0
                           : sql_exec(store, on ? "PRAGMA query_only=ON" : "PRAGMA query_only=OFF");
}

#define STEPS_A_ROW 400 /* with joins to names, and sorted */

/* A reader may do work for the rows of a block: it has many more than pages. */
static void allow_work(void *ctx, size_t n) {
    struct store *store = ctx;
    store->steps_left += (int64_t)n * STEPS_A_ROW;
}

static int register_module(struct store *store) {
    if (store->has_module)
        return 0;
    int r = sql_errno(store_module_register(store->db, allow_work, store));
    store->has_module = r == 0;
    return r;
}

static int create(struct store *store, const char *table, const char *name) {
    char *sql = sqlite3_mprintf(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.\"%w\" USING " STORE_MODULE "(%s)", name, table);
    store->showing = true;
    int r = sql ? sql_exec(store, sql) : -ENOMEM;
    store->showing = false;
    sqlite3_free(sql);
    return r;
}

int store_show_all(struct store *store) {
    int r = register_module(store);
    if (!r)
        r = set_query_only(store, false);
    store->showing = true;
    if (!r)
        r = sql_errno(store_module_show(store->db));
    store->showing = false;
    int error = set_query_only(store, true);
    return r ? r : error;
}

int store_show_events(struct store *store, const char *table, char name[STORE_SHOWN_SIZE]) {
    snprintf(name, STORE_SHOWN_SIZE, "rows of %s", table);
    int r = register_module(store);
    if (!r)
        r = set_query_only(store, false);
    if (!r) {
        r = create(store, table, name);
        int error = set_query_only(store, true);
        r = r ? r : error;
    }
    return r;
}
