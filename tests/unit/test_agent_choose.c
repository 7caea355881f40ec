/* SPDX-License-Identifier: MIT */
/* Processes that the user named as the job, in made trees of /proc. */
#include "tests/unit/planted_process.h"

#include "agent/probes/process/process_private.h"

static struct job_choice choices[JOB_CHOICES_MAX];
static size_t n_choices;
static char noted[400];

static void note(void *ctx, enum note_level level, const char *subject, const char *text) {
    size_t n = strlen(noted);
    (void)ctx, (void)level;
    snprintf(noted + n, sizeof noted - n, "%s: %s\n", subject, text);
}

static void choose(const char *text) {
    char why[120];
    assert_int_equal(job_choice_parse(text, &choices[n_choices++], why, sizeof why), 0);
}

/* A process that is planted in the tree exists from the first sample on. */
static void make(struct tree *tree) {
    n_choices = 0;
    noted[0] = '\0';
    tree_make(tree, NULL);
    plant(tree, (struct planted){.pid = 1, .comm = "systemd"});
    tree_write(tree, "proc/self/cgroup", "0::/agents\n");
}

static void start(struct harness *h, struct tree *tree) {
    assert_int_equal(harness_init(h, tree->path, SCOPE_HOST), 0);
    h->env.run_token_id = "r1";
    h->env.choices = choices;
    h->env.n_choices = n_choices;
    h->env.note = note;
    assert_int_equal(harness_open(h, &probe_process), 0);
    look(h, 100);
}

/* ---- control groups ---- */

static bool matches(const char *text, const char *groups) {
    n_choices = 0;
    choose(text);
    return process_groups_match(&choices[0], groups, strlen(groups));
}

static void a_unit_is_a_whole_part_of_the_path(void **state) {
    static const char plain[] = "0::/system.slice/redis-server.service\n";
    static const char instance[] =
        "0::/system.slice/system-postgresql.slice/postgresql@15-main.service\n";
    (void)state;
    assert_true(matches("unit=redis-server", plain));
    assert_true(matches("unit=redis-server.service", plain));
    assert_true(matches("unit=system.slice", plain));
    assert_false(matches("unit=redis", plain));
    assert_false(matches("unit=server.service", plain));
    assert_true(matches("unit=postgresql", instance)); /* the parent group has no process itself */
    assert_true(matches("unit=postgresql.service", instance));
    assert_true(matches("unit=postgresql@15-main", instance));
    assert_false(matches("unit=postgresql@15", instance));
    assert_true(matches("unit=cron", "12:cpu:/user\n1:name=systemd:/system.slice/cron.service\n"));
}

static void a_container_is_known_by_the_beginning_of_its_id(void **state) {
#define ID "3f2a9c0d11e2b4a5968778695a4b3c2d1e0f3f2a9c0d11e2b4a5968778695a4b"
    (void)state;
    assert_true(matches("container=3f2a9c0d11e2", "0::/system.slice/docker-" ID ".scope\n"));
    assert_true(matches("container=3f2a", "5:memory:/docker/" ID "\n"));
    assert_true(matches("container=" ID, "0::/kubepods.slice/cri-containerd-" ID ".scope\n"));
    assert_true(matches("container=db", "0::/lxc.payload.db/system.slice\n"));
    assert_true(matches("container=db", "0::/machine.slice/machine-db.scope\n"));
    assert_false(matches("container=3f2", "5:memory:/docker/" ID "\n")); /* too short for an id */
    assert_false(matches("container=2a9c", "5:memory:/docker/" ID "\n"));
    assert_false(matches("container=abcd", "0::/system.slice/abcd.service\n"));
    assert_false(matches("container=db", "0::/lxc.payload.db2\n"));
}

static void a_group_has_what_is_below_it(void **state) {
    (void)state;
    assert_true(matches("cgroup=/a/b", "0::/a/b\n"));
    assert_true(matches("cgroup=/a/b", "0::/a/b/c\n"));
    assert_false(matches("cgroup=/a/b", "0::/a/bc\n"));
    assert_false(matches("cgroup=/a/b", "0::/a\n"));
    assert_true(matches("cgroup=/sys/fs/cgroup/cpu,cpuacct/a", "4:cpu,cpuacct:/a/b\n"));
    assert_true(matches("cgroup=/sys/fs/cgroup/systemd/a", "1:name=systemd:/a\n"));
    assert_false(matches("cgroup=/sys/fs/cgroup/memory/a", "4:cpu,cpuacct:/a/b\n"));
}

static void hostile_groups_match_nothing(void **state) {
    (void)state;
    assert_false(matches("unit=a", ""));
    assert_false(matches("unit=a", "::\n:\n0:\n0::a.service\nnothing\n"));
    assert_false(matches("container=abcd", "0:://///\n0::/-.scope\n0::/.scope\n"));
}

/* ---- whole hosts ---- */

static void a_service_and_its_children_are_the_job(void **state) {
    static const char unit[] = "0::/system.slice/db.service\n";
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("unit=db");
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "db", .group = unit});
    plant(&tree, (struct planted){.pid = 60, .parent = 50, .comm = "w", .group = "0::/moved\n"});
    plant(&tree, (struct planted){.pid = 70, .parent = 1, .comm = "db", .group = "0::/other\n"});
    start(&h, &tree);
    assert_true(is_member(&h, 50));
    assert_true(is_member(&h, 60));
    assert_false(is_member(&h, 70));
    drop(&tree, 50); /* it is started again with another id */
    plant(&tree, (struct planted){
                     .pid = 80, .parent = 1, .comm = "db", .group = unit, .start_ticks = 10050});
    look(&h, 101);
    assert_true(is_member(&h, 80));
    end(&h, &tree);
}

static void init_is_never_the_job(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("user=0");
    choose("session=1");
    choose("pid=1");
    put_file(&tree, 1, "status", "Uid:\t0\t0\t0\t0\n", 13);
    plant(&tree, (struct planted){.pid = 70, .parent = 1, .session = 9, .comm = "other"});
    start(&h, &tree);
    assert_int_equal(h.job.n, 0);
    end(&h, &tree);
}

static void write_user(const struct tree *tree, int pid, const char *users) {
    char text[200];
    int n = snprintf(text, sizeof text, "Name:\tUid:\t7\nUmask:\t0022\nUid:\t%s\nGid:\t7\n", users);
    put_file(tree, pid, "status", text, (size_t)n);
}

static void a_user_is_whose_rights_a_process_has(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("user=1007");
    for (int pid = 50; pid < 54; pid++)
        plant(&tree, (struct planted){.pid = pid, .parent = 1, .comm = "p"});
    write_user(&tree, 50, "1007\t1007\t1007\t1007");
    write_user(&tree, 51, "0\t1007\t0\t0");
    write_user(&tree, 52, "1007\t0\t0\t0");
    write_user(&tree, 53, "x");
    start(&h, &tree);
    assert_true(is_member(&h, 50) && is_member(&h, 51));
    assert_false(is_member(&h, 52) || is_member(&h, 53));
    end(&h, &tree);
}

static void who_is_named_and_not_there_is_told(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("user=no-such-user-here");
    choose("pid=4000");
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "p"});
    start(&h, &tree);
    assert_string_equal(noted, "process: --job names a user that is not on this host: "
                               "no-such-user-here\n"
                               "process: --job names a process that is not on this host: 4000\n");
    plant(&tree, (struct planted){.pid = 4000, .parent = 1, .comm = "p", .start_ticks = 10050});
    look(&h, 101); /* another process has the id now */
    assert_int_equal(h.job.n, 0);
    assert_null(strstr(strstr(noted, "4000") + 1, "4000")); /* reported once */
    end(&h, &tree);
}

static void a_process_and_a_session_bring_their_children(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("pid=50");
    choose("session=70");
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "root"});
    plant(&tree, (struct planted){.pid = 40, .parent = 50, .comm = "child"});
    plant(&tree, (struct planted){.pid = 71, .parent = 1, .session = 70, .comm = "of session"});
    plant(&tree, (struct planted){.pid = 72, .parent = 71, .session = 72, .comm = "left it"});
    plant(&tree, (struct planted){.pid = 80, .parent = 1, .session = 8, .comm = "other"});
    start(&h, &tree);
    assert_true(is_member(&h, 50) && is_member(&h, 40) && is_member(&h, 71) && is_member(&h, 72));
    assert_false(is_member(&h, 80));
    end(&h, &tree);
}

/* ---- ports ---- */

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
#define SOCKET(port, state, inode)                                                                 \
    "   0: 0100007F:" port " 00000000:0000 " state                                                 \
    " 00000000:00000000 00:00000000 00000000   999        0 " inode " 1 ff 100 0\n"

static void hold(const struct tree *tree, int pid, int fd, const char *link) {
    char path[200], name[64];
    snprintf(name, sizeof name, "proc/%d/fd/.made", pid);
    tree_write(tree, name, "");
    snprintf(path, sizeof path, "%s/proc/%d/fd/%d", tree->path, pid, fd);
    assert_int_equal(symlink(link, path), 0);
}

static void who_listens_on_the_port_is_the_job(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("port=5432");
    hold(&tree, 1, 3, "socket:[700]"); /* systemd, which starts it on demand */
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "db"});
    hold(&tree, 50, 3, "/dev/null");
    hold(&tree, 50, 4, "socket:[700]");
    plant(&tree, (struct planted){.pid = 51, .parent = 50, .session = 51, .comm = "worker"});
    plant(&tree, (struct planted){.pid = 60, .parent = 1, .comm = "web"});
    hold(&tree, 60, 3, "socket:[800]");
    plant(&tree, (struct planted){.pid = 61, .parent = 1, .comm = "client"});
    hold(&tree, 61, 3, "socket:[900]");
    tree_write(&tree, "proc/net/tcp",
               HEAD SOCKET("1538", "0A", "700") SOCKET("0050", "0A", "800")
                   SOCKET("1538", "01", "900"));
    start(&h, &tree);
    assert_true(is_member(&h, 50) && is_member(&h, 51));
    assert_false(is_member(&h, 1) || is_member(&h, 60) || is_member(&h, 61));
    end(&h, &tree);
}

static void namespace(const struct tree *tree, const char *process, const char *link) {
    char path[200], name[64];
    snprintf(name, sizeof name, "proc/%s/ns/.made", process);
    tree_write(tree, name, "");
    snprintf(path, sizeof path, "%s/proc/%s/ns/net", tree->path, process);
    assert_int_equal(symlink(link, path), 0);
}

/* Two servers on the port, each in a container; the agent's own namespace has neither. */
static void who_listens_in_another_network_namespace_is_the_job(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("port=5432");
    tree_write(&tree, "proc/net/tcp", HEAD);
    namespace(&tree, "self", "net:[1]");
    for (int pid = 50; pid < 53; pid++) {
        char name[16], text[32];
        plant(&tree, (struct planted){.pid = pid, .parent = 1, .comm = "db"});
        snprintf(name, sizeof name, "%d", pid);
        snprintf(text, sizeof text, "net:[%d]", pid < 52 ? pid : 1);
        namespace(&tree, name, text);
        snprintf(text, sizeof text, "socket:[%d]", 700 + pid);
        hold(&tree, pid, 4, text);
    }
    tree_write(&tree, "proc/50/net/tcp", HEAD SOCKET("1538", "0A", "750"));
    tree_write(&tree, "proc/51/net/tcp6", HEAD SOCKET("1538", "0A", "751"));
    tree_write(&tree, "proc/52/net/tcp", HEAD SOCKET("1538", "0A", "752")); /* no process has that
                                                                               socket */
    start(&h, &tree);
    assert_true(is_member(&h, 50) && is_member(&h, 51));
    assert_false(is_member(&h, 52));
    end(&h, &tree);
}

/* A process that was there long before it began to listen, and its old child. */
static void a_server_that_listens_later_joins_with_its_children(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("port=80");
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "web"});
    plant(&tree, (struct planted){.pid = 51, .parent = 50, .session = 51, .comm = "worker"});
    tree_write(&tree, "proc/net/tcp", HEAD);
    start(&h, &tree);
    assert_int_equal(h.job.n, 0);
    tree_write(&tree, "proc/net/tcp6",
               HEAD "   0: 00000000000000000000000000000000:0050 "
                    "00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 "
                    "00000000     0        0 701 1 ff 100 0\n");
    look(&h, 110); /* no process has been seen with it yet */
    assert_int_equal(h.job.n, 0);
    hold(&tree, 50, 4, "socket:[701]");
    look(&h, 111);
    assert_true(is_member(&h, 50) && is_member(&h, 51));
    end(&h, &tree);
}

static void hostile_sockets_choose_nobody(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("port=5432");
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "p"});
    hold(&tree, 50, 3, "socket:[0]");
    hold(&tree, 50, 4, "socket:[x");
    tree_write(&tree, "proc/net/tcp",
               HEAD "0: 1:1538\n" SOCKET("1538", "0A", "0") SOCKET("1538", "0A", "99999999999999")
                   SOCKET("ZZZZ", "0A", "5") SOCKET("11538", "0A", "5")
                       SOCKET("111111111538", "0A", "5") "\n\n:::: : : 0A\n");
    start(&h, &tree);
    assert_int_equal(h.job.n, 0);
    end(&h, &tree);
}

/* ---- whom a choice may not reach ---- */

static void the_profiler_is_not_the_job_however_it_is_chosen(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    make(&tree);
    choose("session=40");
    plant(&tree, (struct planted){.pid = 40, .parent = 1, .session = 40, .comm = "bash"});
    plant(&tree, (struct planted){.pid = 41, .parent = 40, .session = 40, .comm = "chokepoint"});
    plant(&tree, (struct planted){.pid = 42,
                                  .parent = 41,
                                  .session = 40,
                                  .comm = "agent",
                                  .environ = "CHOKEPOINT_AGENT=r1"});
    plant(&tree, (struct planted){.pid = 50, .parent = 40, .session = 40, .comm = "server"});
    start(&h, &tree);
    look(&h, 101);
    assert_true(is_member(&h, 40) && is_member(&h, 50));
    assert_false(is_member(&h, 41) || is_member(&h, 42));
    end(&h, &tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_is_a_whole_part_of_the_path),
        cmocka_unit_test(a_container_is_known_by_the_beginning_of_its_id),
        cmocka_unit_test(a_group_has_what_is_below_it),
        cmocka_unit_test(hostile_groups_match_nothing),
        cmocka_unit_test(a_service_and_its_children_are_the_job),
        cmocka_unit_test(init_is_never_the_job),
        cmocka_unit_test(a_user_is_whose_rights_a_process_has),
        cmocka_unit_test(who_is_named_and_not_there_is_told),
        cmocka_unit_test(a_process_and_a_session_bring_their_children),
        cmocka_unit_test(who_listens_on_the_port_is_the_job),
        cmocka_unit_test(who_listens_in_another_network_namespace_is_the_job),
        cmocka_unit_test(a_server_that_listens_later_joins_with_its_children),
        cmocka_unit_test(hostile_sockets_choose_nobody),
        cmocka_unit_test(the_profiler_is_not_the_job_however_it_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
