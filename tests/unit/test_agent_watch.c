/* SPDX-License-Identifier: MIT */
/* An agent without a job: busy processes are read as those of a job are, quiet ones are left, and
 * whose they are is kept. */
#include "tests/unit/planted_process.h"

#include <stdlib.h>

#include "agent/base/lineage.h"

#define WORKER 100
#define SHELL 50

static struct lineage *lineage;

static void put_times(const struct tree *tree, int64_t run_ns, int64_t wait_ns) {
    char name[64], text[96];
    snprintf(name, sizeof name, "proc/%d/task/%d/schedstat", WORKER, WORKER);
    snprintf(text, sizeof text, "%lld %lld 5\n", (long long)run_ns, (long long)wait_ns);
    tree_write(tree, name, text);
}

/* The worker has used so many ticks of 10 ms, and waited a tenth of that for a core. */
static void work(const struct tree *tree, int ticks) {
    plant(tree, (struct planted){.pid = WORKER,
                                 .parent = SHELL,
                                 .session = SHELL,
                                 .comm = "worker",
                                 .group = "0::/system.slice/work.service\n",
                                 .user_ticks = ticks});
    put_times(tree, ticks * S / 100, ticks * S / 1000);
}

static void begin_watching(struct harness *h, struct tree *tree) {
    tree_make(tree, NULL);
    lineage = calloc(1, sizeof *lineage);
    assert_non_null(lineage);
    plant(tree, (struct planted){.pid = 1, .comm = "init"});
    plant(tree, (struct planted){.pid = SHELL, .parent = 1, .session = SHELL, .comm = "sh"});
    work(tree, 100);
    tree_write(tree, "proc/self/cgroup", "0::/agents\n");
    assert_int_equal(harness_init(h, tree->path, SCOPE_HOST), 0);
    h->env.run_token_id = "nobody";
    h->env.watches_busiest = true;
    h->env.foreign_processes = 4;
    h->env.lineage = lineage;
    assert_int_equal(harness_open(h, &probe_process), 0);
    assert_int_equal(harness_sample_at(h, 100 * S), 0);
}

static void end_watching(struct harness *h, struct tree *tree) {
    end(h, tree);
    free(lineage);
}

static void a_busy_process_is_read_like_a_job(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin_watching(&h, &tree);
    assert_int_equal(h.rows.n, 0); /* nobody is known to be busy */
    work(&tree, 150);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "worker[100]", "job", 0);
    expect(&h, "worker[100]", "user_ns", 3 * S / 2);
    expect(&h, "worker[100]", "run_queue_ns", 3 * S / 20);
    end_watching(&h, &tree);
}

static void its_children_are_not_watched_for_its_sake(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin_watching(&h, &tree);
    work(&tree, 150);
    plant(&tree, (struct planted){.pid = 101, .parent = WORKER, .session = SHELL, .comm = "child"});
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(h.rows.n, 1);
    plant(
        &tree,
        (struct planted){
            .pid = 102, .parent = WORKER, .session = SHELL, .comm = "later", .start_ticks = 10150});
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    assert_int_equal(h.rows.n, 1);
    end_watching(&h, &tree);
}

static void a_quiet_process_is_left_and_comes_back_where_it_was(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin_watching(&h, &tree);
    work(&tree, 150);
    int t = 101;
    for (; t < 190; t++)
        assert_int_equal(harness_sample_at(&h, t * S), 0);
    assert_int_equal(h.rows.n, 0);
    work(&tree, 200);
    for (; t < 194; t++)
        assert_int_equal(harness_sample_at(&h, t * S), 0);
    expect(&h, "worker[100]", "user_ns", 2 * S);
    assert_in_range(harness_value(&h, "worker[100]", "run_queue_ns"), 3 * S / 20, S / 5);
    end_watching(&h, &tree);
}

static void whose_it_is_is_kept(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin_watching(&h, &tree);
    work(&tree, 150);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(lineage->n, 1);
    const struct lineage_entry *entry = &lineage->entries[0];
    assert_int_equal(entry->pid, WORKER);
    assert_int_equal(entry->start_ns, harness_value(&h, "worker[100]", "start_ns"));
    assert_int_equal(entry->session, SHELL);
    assert_int_equal(entry->n_above, 2);
    assert_int_equal(entry->above[0], SHELL);
    assert_int_equal(entry->above[1], 1);
    assert_memory_equal(entry->groups, "0::/system.slice/work.service\n", entry->groups_size);
    end_watching(&h, &tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_process_is_read_like_a_job),
        cmocka_unit_test(its_children_are_not_watched_for_its_sake),
        cmocka_unit_test(a_quiet_process_is_left_and_comes_back_where_it_was),
        cmocka_unit_test(whose_it_is_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
