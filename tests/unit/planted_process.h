/* SPDX-License-Identifier: MIT */
/* Processes planted in a tree of files, for tests of membership in the job. */
#ifndef CHOKEPOINT_TESTS_PLANTED_PROCESS_H
#define CHOKEPOINT_TESTS_PLANTED_PROCESS_H

#include "tests/unit/probe_test.h"

struct planted {
    int pid, parent, session;
    const char *comm, *environ, *group; /* environ: one or two entries, or NULL */
    const char *environ2;
    char state;
    int start_ticks, user_ticks;
};

static inline void put_file(const struct tree *tree, int pid, const char *name, const char *text,
                            size_t size) {
    char path[200];
    snprintf(path, sizeof path, "%s/proc/%d/%s", tree->path, pid, name);
    file_write(path, text, size, 0);
}

static inline void plant(const struct tree *tree, struct planted p) {
    char name[64], text[512], environ[256];
    snprintf(name, sizeof name, "proc/%d/stat", p.pid);
    snprintf(text, sizeof text,
             "%d (%s) %c %d 1 %d 0 -1 4194560 1 0 0 0 %d 0 0 0 20 0 1 0 %d 1 1 1 1 1 0 0 0 0 0 0 "
             "0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             p.pid, p.comm, p.state ? p.state : 'S', p.parent, p.session ? p.session : 1,
             p.user_ticks, p.start_ticks ? p.start_ticks : 100);
    tree_write(tree, name, text);
    int size = snprintf(environ, sizeof environ, "%s%c%s%c", p.environ ? p.environ : "A=b", 0,
                        p.environ2 ? p.environ2 : "B=c", 0);
    put_file(tree, p.pid, "environ", environ, (size_t)size);
    if (p.group)
        put_file(tree, p.pid, "cgroup", p.group, strlen(p.group));
}

static inline void drop(const struct tree *tree, int pid) {
    char name[16];
    snprintf(name, sizeof name, "%d", pid);
    run_command("rm -r %s/proc/%s", tree->path, name);
}

#define MARK "CHOKEPOINT_RUN=r1"

static inline void begin(struct harness *h, struct tree *tree) {
    tree_make(tree, NULL);
    plant(tree, (struct planted){.pid = 1, .comm = "init"});
    tree_write(tree, "proc/self/cgroup", "0::/agents\n");
    assert_int_equal(harness_init(h, tree->path, SCOPE_HOST), 0);
    h->env.run_token_id = "r1";
    assert_int_equal(harness_open(h, &probe_process), 0);
    assert_int_equal(harness_sample_at(h, 100 * S), 0);
}

static inline void end(struct harness *h, struct tree *tree) {
    harness_close(h);
    tree_remove(tree);
}

static inline void look(struct harness *h, int second) {
    assert_int_equal(harness_sample_at(h, second * S), 0);
}

static inline bool is_member(const struct harness *h, int32_t pid) {
    for (size_t i = 0; i < h->job.n; i++)
        if (h->job.processes[i].pid == pid)
            return true;
    return false;
}

static inline int32_t rank_of(const struct harness *h, int32_t pid) {
    for (size_t i = 0; i < h->job.n; i++)
        if (h->job.processes[i].pid == pid)
            return h->job.processes[i].rank;
    return -2;
}

static inline void point_exe(const struct tree *tree, int pid, const char *program) {
    char path[200], to[200];
    snprintf(to, sizeof to, "%s/%s", tree->path, program);
    FILE *file = fopen(to, "a");
    assert_non_null(file);
    fclose(file);
    snprintf(path, sizeof path, "%s/proc/%d/exe", tree->path, pid);
    unlink(path);
    assert_int_equal(symlink(to, path), 0);
}

#endif
