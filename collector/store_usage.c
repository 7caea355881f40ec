/* SPDX-License-Identifier: MIT */
/* The resources that the command of a run used, from wait4. */
#include "collector/store_private.h"

#include <errno.h>
#include <string.h>

#include "collector/store_read.h"
#include "common/error.h"
#include "common/text.h"

int store_run_usage(struct store *store, int64_t run, const char *host,
                    const struct run_usage *usage) {
    return sql_run(store, SQL_USAGE_INSERT, "itiiiii", run, host, usage->user_ns, usage->system_ns,
                   usage->read_bytes, usage->write_bytes, usage->peak_rss_bytes);
}

int store_find_usage(struct store *store, int64_t run, char host[INSTANCE_MAX + 1],
                     struct run_usage *ret_usage) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    bool has;
    int r = sql_has_table(store, "run_usage", &has);
    if (r || !has)
        return r ? r : -ENOENT;
    r = sql_prepare(store,
                    "SELECT host, user_ns, system_ns, read_bytes, write_bytes, peak_rss_bytes"
                    " FROM run_usage WHERE run = ?",
                    &row);
    if (!r)
        r = sql_bind(row, "i", run);
    int code = r ? SQLITE_DONE : sqlite3_step(row);
    if (code != SQLITE_ROW)
        return r ? r : sql_errno(code) ? sql_errno(code) : -ENOENT;
    const char *name = (const char *)sqlite3_column_text(row, 0);
    text_sanitize(host, INSTANCE_MAX + 1, name ? name : "", name ? strlen(name) : 0);
    *ret_usage = (struct run_usage){.user_ns = sql_column(row, 1),
                                    .system_ns = sql_column(row, 2),
                                    .read_bytes = sql_column(row, 3),
                                    .write_bytes = sql_column(row, 4),
                                    .peak_rss_bytes = sql_column(row, 5)};
    return 0;
}
