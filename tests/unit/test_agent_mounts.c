/* SPDX-License-Identifier: MIT */
/* File systems: which lines of mountinfo count, and that a hanging server delays no sample. */
#include "tests/unit/probe_test.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>

#include "agent/base/mounts.h"
#include "common/error.h"

static bool reads(const char *line, struct mount *mount) {
    return mount_read((struct span){line, strlen(line)}, mount);
}

static void disks_servers_and_roots_of_containers_are_file_systems(void **state) {
    struct mount mount;
    (void)state;
    assert_true(reads("25 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw", &mount));
    assert_string_equal(mount.point, "/");
    assert_false(mount.remote);
    assert_true(reads("26 1 0:40 / /a\\040b rw master:1 shared:2 - nfs4 s:/x rw", &mount));
    assert_string_equal(mount.point, "/a b");
    assert_true(mount.remote);
    assert_true(reads("27 1 0:50 / / rw - overlay overlay rw", &mount));
    assert_false(reads("27 1 0:50 / /var/lib/docker/x rw - overlay overlay rw", &mount));
    assert_false(reads("28 1 0:5 / /proc rw - proc proc rw", &mount));
    assert_false(reads("29 1 7:1 / /snap/x ro - squashfs /dev/loop1 ro", &mount));
}

static void lines_that_are_none_are_refused(void **state) {
    static char line[3000];
    struct mount mount;
    (void)state;
    assert_false(reads("", &mount));
    assert_false(reads("25 1 8:1 / /", &mount));
    assert_false(reads("25 1 8:1 / / rw ext4 /dev/sda1 rw", &mount)); /* no "-" */
    assert_false(reads("25 1 8:1 / / rw - ext4", &mount));
    assert_false(reads("25 1 8:1 / /x\\000y rw - ext4 /dev/sda1 rw", &mount));
    snprintf(line, sizeof line, "25 1 8:1 / /%02000d rw - ext4 /dev/sda1 rw", 0);
    assert_false(reads(line, &mount));
    snprintf(line, sizeof line, "25 1 %0100d:1 / / rw - ext4 /dev/sda1 rw", 0);
    assert_false(reads(line, &mount));
}

/* ---- scans ---- */

static sem_t gone;     /* the hanging server is released */
static sem_t asked;    /* it was asked */
static sem_t finished; /* its scan ended */

static int scan(const char *point, struct statvfs *ret_stat) {
    *ret_stat = (struct statvfs){.f_blocks = 100,
                                 .f_bfree = 50,
                                 .f_bavail = 40,
                                 .f_frsize = 4096,
                                 .f_files = 10,
                                 .f_ffree = 5};
    if (strncmp(point, "/server", 7) != 0)
        return 0;
    sem_post(&asked);
    while (sem_wait(&gone) < 0 && errno == EINTR)
        ;
    sem_post(&finished);
    return -1;
}

static const char mountinfo[] = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
                                "2 1 0:9 / /server rw - nfs4 s:/x rw\n"
                                "3 2 8:2 / /server/disk rw - ext4 /dev/sdb1 rw\n"
                                "4 1 8:1 / /bind rw - ext4 /dev/sda1 rw\n"
                                "5 1 8:3 / /b rw - ext4 /dev/sdc1 rw\n"
                                "6 1 8:4 / /b rw - ext4 /dev/sdd1 rw\n";

/* `again` asks for another scan, as often as the sampler would: a thread that is still ending its
 * round does not notice a request.
 */
static size_t take_two(struct mounts *mounts, bool again, struct mount_fill fills[8]) {
    size_t n = 0;
    while (n < 2) { /* the other thread only needs to run */
        if (again)
            mounts_scan_again(mounts);
        n += mounts_take(mounts, fills + n, 8 - n);
        poll(NULL, 0, 1);
    }
    return n;
}

static void a_server_that_does_not_answer_holds_up_nobody(void **state) {
    struct tree tree;
    struct mounts *mounts;
    struct mount_fill fills[8];
    char path[128], point[MOUNT_POINT_MAX + 1];
    (void)state;
    sem_init(&gone, 0, 0);
    sem_init(&asked, 0, 0);
    sem_init(&finished, 0, 0);
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/self/mountinfo", mountinfo);
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", tree.path);
    assert_int_equal(mounts_new(path, scan, &mounts), 0);
    sem_wait(&asked);
    assert_int_equal(take_two(mounts, false, fills), 2);
    assert_string_equal(fills[0].name, "/");
    assert_int_equal(fills[0].size_bytes, 409600);
    assert_int_equal(fills[0].available_bytes, 163840);
    assert_int_equal(fills[0].free_files, 5);
    assert_string_equal(fills[1].name, "/b");
    assert_false(mounts_stuck(mounts, point)); /* it was asked just now */
    mounts_scan_again(mounts);
    assert_true(mounts_stuck(mounts, point));
    assert_string_equal(point, "/server");
    assert_true(take_two(mounts, true, fills) >= 2); /* disks are scanned again */
    mounts_scan_now(mounts, INT64_MAX / 4);          /* waits for no server */
    mounts_take(mounts, fills, 8);
    mounts_scan_now(mounts, INT64_MAX / 4);
    assert_int_equal(mounts_take(mounts, fills, 8), 2);
    mounts_free(mounts); /* and does not wait */
    sem_post(&gone);
    sem_wait(&finished);
    tree_remove(&tree);
}

/* ---- this machine ---- */

static void this_machine_has_a_root(void **state) {
    struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_filesystem), 0);
    int64_t t = S;
    do {
        poll(NULL, 0, 1);
        assert_int_equal(harness_sample_at(&h, t++), 0);
    } while (h.rows.n == 0);
    const struct row *row = &h.rows.items[0];
    struct statvfs stat;
    assert_int_equal(statvfs(row->name, &stat), 0);
    assert_true(row->values[0] == (int64_t)(stat.f_blocks * stat.f_frsize));
    harness_close(&h);
}

static void load_and_uptime_are_the_kernels(void **state) {
    struct harness h;
    double load = -1, uptime = -1;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_load), 0);
    assert_int_equal(harness_sample_at(&h, S), 0);
    FILE *file = fopen("/proc/uptime", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lf", &uptime), 1);
    fclose(file);
    file = fopen("/proc/loadavg", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*f %*f %lf", &load), 1);
    fclose(file);
    assert_true(harness_value(&h, "host", "uptime_ns") <= (int64_t)(uptime * 1e9) + 10000000);
    assert_true(harness_value(&h, "host", "uptime_ns") > 0);
    assert_true(llabs(harness_value(&h, "host", "load_15_nano") - (int64_t)(load * 1e9)) <
                INT64_C(500000000));
    assert_true(harness_value(&h, "host", "running") >= 1); /* this process */
    assert_int_equal(harness_sample_at(&h, 5 * S), 0);
    assert_int_equal(h.rows.n, 0); /* too early */
    assert_int_equal(harness_sample_at(&h, 6 * S), 0);
    assert_int_equal(h.rows.n, 1);
    harness_close(&h);
}

static void write_stat(const struct tree *tree, int pid, const char *text) {
    char name[64];
    snprintf(name, sizeof name, "proc/%d/stat", pid);
    tree_write(tree, name, text);
}

/* One of each state, and two that sleep; a name may look like the rest of the line. */
static void load_counts_the_tasks_of_another_root(void **state) {
    static const char *const stats[] = {"1 (a) S 0 1 1\n",     "2 (b) R 0 1 1\n", "3 (c) D 0 1 1\n",
                                        "4 (d) t 0 1 1\n",     "5 (e) Z 0 1 1\n", "6 (f) I 0 1 1\n",
                                        "7 (x) R 1) S 0 1 1\n"};
    static const char *const none[] = {"", "9 (", "9 (a)", "9 (a) "};
    struct harness h;
    struct tree tree;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/loadavg", "0.52 12.5 3 1/190 4711\n");
    tree_write(&tree, "proc/uptime", "86400.07 1.00\n");
    for (int i = 0; i < (int)ARRAY_SIZE(stats); i++)
        write_stat(&tree, i + 1, stats[i]);
    for (int i = 0; i < (int)ARRAY_SIZE(none); i++)
        write_stat(&tree, i + 20, none[i]);
    probe_start(&h, tree.path, SCOPE_HOST, &probe_load, S);
    expect(&h, "host", "load_1_nano", 520000000);
    expect(&h, "host", "load_5_nano", 12500000000);
    expect(&h, "host", "load_15_nano", 3000000000);
    expect(&h, "host", "uptime_ns", 86400070000000);
    expect(&h, "host", "running", 1);
    expect(&h, "host", "sleeping", 2);
    expect(&h, "host", "waiting", 1);
    expect(&h, "host", "stopped", 1);
    expect(&h, "host", "zombie", 1);
    expect(&h, "host", "other", 1);
    harness_close(&h);
    tree_remove(&tree);
}

static void a_load_that_is_no_number_is_absent(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/loadavg", "x 99999999999999999999 0.1234567890123\n");
    tree_write(&tree, "proc/uptime", "\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_load, S);
    expect_absent(&h, "host", "load_1_nano");
    expect_absent(&h, "host", "load_5_nano");
    expect_absent(&h, "host", "load_15_nano");
    expect_absent(&h, "host", "uptime_ns");
    harness_close(&h);
    tree_remove(&tree);
}

static void without_a_load_average_there_is_no_load(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/uptime", "1.00 1.00\n");
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_load), PROBE_ABSENT);
    harness_close(&h);
    tree_remove(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disks_servers_and_roots_of_containers_are_file_systems),
        cmocka_unit_test(lines_that_are_none_are_refused),
        cmocka_unit_test(a_server_that_does_not_answer_holds_up_nobody),
        cmocka_unit_test(this_machine_has_a_root),
        cmocka_unit_test(load_and_uptime_are_the_kernels),
        cmocka_unit_test(load_counts_the_tasks_of_another_root),
        cmocka_unit_test(a_load_that_is_no_number_is_absent),
        cmocka_unit_test(without_a_load_average_there_is_no_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
