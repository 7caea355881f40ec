/* SPDX-License-Identifier: MIT */
/*
 * Landlock (Linux 5.13): rules for files by path, which a filter of calls cannot express. Reading
 * is not limited: libraries read settings, locales and /proc at any time. The calls are made
 * directly, since Debian 12 has no library for them. A kernel without Landlock is no error: the
 * filter of calls does most of the work.
 *
 * SQLite keeps its journal beside the database; if the path is a link, beside its target.
 */
#include "collector/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/error.h"

#ifndef LANDLOCK_ACCESS_FS_REFER /* headers before Linux 5.19 */
#define LANDLOCK_ACCESS_FS_REFER (UINT64_C(1) << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE /* headers before Linux 6.2 */
#define LANDLOCK_ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)
#endif

#define WRITES                                                                                     \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                              \
     LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR)
#define OTHERS                                                                                     \
    (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

static uint64_t known_to(long version) {
    return WRITES | OTHERS | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) |
           (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0);
}

/* A directory that is not there needs no rule. */
static int allow(int rules, const char *path, uint64_t access) {
    struct landlock_path_beneath_attr below = {.allowed_access = access,
                                               .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (below.parent_fd < 0)
        return 0;
    long r = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    int error = r < 0 ? negative_errno() : 0;
    close(below.parent_fd);
    return error;
}

static int allow_directory_of(int rules, const char *file, uint64_t access) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", file);
    return allow(rules, dirname(path), access);
}

static int allow_all(int rules, enum confine_role role, const char *database, uint64_t access) {
    char real[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    int r = allow_directory_of(rules, database, access);
    if (r == 0 && realpath(database, real))
        r = allow_directory_of(rules, real, access);
    if (r == 0)
        r = allow(rules, "/dev/null",
                  access & (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE));
    if (r == 0 && role != CONFINE_STORES) /* healed copies are made there */
        r = allow(rules, temporary && *temporary ? temporary : "/tmp", access);
    return r;
}

int confine_files(enum confine_role role, const char *database) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr attributes = {.handled_access_fs = known_to(version)};
    if (version < 0)
        return 0;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes,
                             sizeof attributes.handled_access_fs, 0);
    if (rules < 0)
        return negative_errno();
    int r = allow_all(rules, role, database, attributes.handled_access_fs & ~(uint64_t)OTHERS);
    if (r == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                   syscall(SYS_landlock_restrict_self, rules, 0) < 0))
        r = negative_errno();
    close(rules);
    return r;
}
