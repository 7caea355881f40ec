/* SPDX-License-Identifier: MIT */
/*
 * The shim where nothing is installed: ranks of all hosts are told one path, so once a host was
 * sent its agent and the shim, all find it in the run's own directory, this machine by a link.
 */
#include "cli/launch/run_session.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libchokepoint-mpi.so"

void session_name_shim(struct run_session *s) {
    if (s->has_preload)
        snprintf(s->plan.shim, sizeof s->plan.shim, "/tmp/chokepoint-%s-lib", s->run_id);
}

static bool is_delivered(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].delivered)
            return true;
    return false;
}

/* Hosts that share /tmp with us have put it there already. */
static int make_link(const char *directory, const char *path, const char *library) {
    struct stat info;
    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return negative_errno();
    if (lstat(directory, &info) < 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
        return -EPERM;
    return symlink(library, path) < 0 && errno != EEXIST ? negative_errno() : 0;
}

void session_place_shim(struct run_session *s) {
    char path[sizeof s->plan.shim + sizeof LIBRARY + 1];
    if (!s->plan.shim[0] || !is_delivered(s))
        return;
    s->placed_shim = true;
    snprintf(path, sizeof path, "%s/" LIBRARY, s->plan.shim);
    int r = make_link(s->plan.shim, path, s->preload.library);
    if (r == 0)
        r = preload_move(&s->preload, path);
    if (r)
        session_note(s, "MPI calls of ranks on hosts without Chokepoint are not recorded: %s: %s",
                     s->plan.shim, r < 0 ? strerror(-r) : "LD_PRELOAD is too long");
}

void session_remove_shim(struct run_session *s) {
    char path[sizeof s->plan.shim + sizeof LIBRARY + 1];
    if (!s->placed_shim)
        return;
    snprintf(path, sizeof path, "%s/" LIBRARY, s->plan.shim);
    unlink(path);
    rmdir(s->plan.shim);
    s->placed_shim = false;
}
