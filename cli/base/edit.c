/* SPDX-License-Identifier: MIT */
#include "cli/base/edit.h"
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "common/error.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens it for reading first, which never creates a file and explains best what is wrong with
 * it. */
static int check(const char *verb, const char *database, struct store_file *ret_file) {
    struct store *store;
    struct stat st;
    bool found = stat(database, &st) == 0;
    if (found && S_ISREG(st.st_mode) && st.st_uid != geteuid()) {
        verb_complain(verb, "%s belongs to another user (uid %u), who alone may change it",
                      database, (unsigned)st.st_uid);
        return EXIT_USAGE;
    }
    int status = report_open_database(verb, database, &store);
    if (status)
        return status;
    store_close(store);
    *ret_file = found ? (struct store_file){(uint64_t)st.st_dev, (uint64_t)st.st_ino}
                      : (struct store_file){0};
    return 0;
}

int edit_open(const char *verb, const char *database, struct store **ret_store) {
    struct store_file file;
    char why[300] = "";
    int status = check(verb, database, &file);
    if (status == 0 && store_open_again(database, &file, ret_store, why, sizeof why)) {
        verb_complain(verb, "%s", why);
        status = EXIT_USAGE;
    }
    return status;
}

int edit_find(const char *verb, struct store *store, const char *database, const char *which,
              struct store_run *ret_run) {
    int r = store_find_run(store, which, ret_run);
    return r < 0 ? report_cannot_read_run(verb, store, database, which, r) : 0;
}

int edit_cannot_write(const char *verb, struct store *store, const char *database, int result) {
    const char *reason = store_error(store);
    verb_complain(verb, "%s cannot be written: %s", database,
                  strcmp(reason, STORE_NO_REASON) == 0 ? strerror(-result) : reason);
    return 1;
}
