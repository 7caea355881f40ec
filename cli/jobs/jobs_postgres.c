/* SPDX-License-Identifier: MIT */
/* Jobs as rows of a table of the site's PostgreSQL. libpq reads where it is, and the password, from
 * the environment and from ~/.pgpass: none of it stands on a command line. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/jobs/jobs.h"
#include "common/error.h"
#include "reports/formats/formats.h"

#define ID_SIZE 4608 /* a host, a path and two numbers */

/* Says the first line of what the server said. */
static int complain(PGconn *connection, const char *what) {
    const char *why = PQerrorMessage(connection);
    verb_complain("jobs", "%s: %.*s", what, (int)strcspn(why, "\n"), why);
    return -EIO;
}

static int execute(PGconn *connection, const char *sql, int n, const char *const *values) {
    PGresult *result = PQexecParams(connection, sql, n, NULL, values, NULL, NULL, 0);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return good ? 0 : complain(connection, "PostgreSQL");
}

/* The run as the member of list's JSON, on one line; owned. NULL: no memory. */
static char *row_of(const struct listed_run *run) {
    char *text = NULL, *row = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    bool good = to && runs_write(run, 1, &format_json, to) == 0;
    good = to && fclose(to) == 0 && good;
    json_t *document = good ? json_loadb(text, size, 0, NULL) : NULL;
    json_t *one = json_array_get(json_object_get(document, "runs"), 0);
    if (one)
        row = json_dumps(one, JSON_COMPACT);
    json_decref(document);
    free(text);
    return row;
}

/* The same each time for the same run of the same file. */
static void identify(const struct listed_run *run, char id[ID_SIZE]) {
    char host[256] = "", *path = realpath(run->file, NULL);
    gethostname(host, sizeof host - 1);
    snprintf(id, ID_SIZE, "%s:%s:%" PRId64 ":%" PRId64, host, path ? path : run->file, run->id,
             run->started_wall_ns);
    free(path);
}

static int put(PGconn *connection, const char *sql, const struct listed_run *run) {
    char id[ID_SIZE], *row = row_of(run);
    identify(run, id);
    const char *values[] = {id, row};
    int r = row ? execute(connection, sql, 2, values) : -ENOMEM;
    free(row);
    return r;
}

/* One transaction: all of them or none. */
static int put_all(PGconn *connection, const struct job *jobs, size_t n, const char *name) {
    char sql[512];
    snprintf(sql, sizeof sql,
             "CREATE TABLE IF NOT EXISTS %s(id text PRIMARY KEY, job jsonb NOT NULL)", name);
    int r = execute(connection, "SET client_min_messages = warning", 0, NULL);
    if (r == 0)
        r = execute(connection, "BEGIN", 0, NULL);
    if (r == 0)
        r = execute(connection, sql, 0, NULL);
    snprintf(
        sql, sizeof sql,
        "INSERT INTO %s VALUES ($1, $2::jsonb) ON CONFLICT (id) DO UPDATE SET job = EXCLUDED.job",
        name);
    for (size_t i = 0; i < n && r == 0; i++)
        r = put(connection, sql, jobs[i].run);
    return r ? r : execute(connection, "COMMIT", 0, NULL);
}

int jobs_to_postgres(const struct job *jobs, size_t n, const char *table) {
    PGconn *connection = PQconnectdb("");
    char *name = NULL;
    int r = PQstatus(connection) == CONNECTION_OK ? 0 : complain(connection, "no PostgreSQL");
    if (r == 0 &&
        (strlen(table) > 63 || !(name = PQescapeIdentifier(connection, table, strlen(table)))))
        r = verb_refuse("jobs", "no name of a table:", table, "at most 63 bytes");
    if (r == 0)
        r = put_all(connection, jobs, n, name);
    if (r == -ENOMEM)
        verb_complain("jobs", "%s", strerror(ENOMEM));
    PQfreemem(name);
    PQfinish(connection);
    if (r == 0)
        verb_tell("%zu rows in table %s", n, table);
    return r;
}
