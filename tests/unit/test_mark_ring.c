/* SPDX-License-Identifier: MIT */
/* Marks from the program's call to the agent's callback, and what a hostile ring cannot do. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "agent/mark/ring.h"
#include "common/siphash.h"

void mark_from_another_unit(int64_t number); /* mark_second_unit.c */

enum { MAX_SEEN = 8 * CHOKEPOINT_MARK_CAPACITY };

struct fixture {
    char base[64], stem[96], dir[384];
    struct mark_reader reader;
    struct chokepoint_mark_record *seen;
    struct mark_writer from; /* of the last record */
    int n;
};

static void collect(void *ctx, const struct mark_writer *w,
                    const struct chokepoint_mark_record *r) {
    struct fixture *f = ctx;
    assert_in_range(f->n, 0, MAX_SEEN - 1);
    f->seen[f->n++] = *r;
    f->from = *w;
}

static int drain(struct fixture *f) {
    f->n = 0;
    return mark_reader_drain(&f->reader, collect, f);
}

static void forget_ring(void) {
    if (chokepoint_state_.ring)
        munmap(chokepoint_state_.ring, CHOKEPOINT_MARK_FILE_BYTES);
    memset(&chokepoint_state_, 0, sizeof chokepoint_state_);
    chokepoint_loop_ns_ = 0;
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->seen = calloc(MAX_SEEN, sizeof *f->seen);
    strcpy(f->base, "/tmp/test-mark-XXXXXX");
    assert_non_null(mkdtemp(f->base));
    snprintf(f->stem, sizeof f->stem, "%s/marks", f->base);
    assert_int_equal(mark_directory_path(f->stem, f->dir, sizeof f->dir), 0);
    assert_int_equal(mark_directory_create(f->dir), 0);
    assert_int_equal(mark_reader_open(&f->reader, f->dir), 0);
    unsetenv("OMPI_CHOKEPOINT_MARKS");
    setenv("CHOKEPOINT_MARKS", f->stem, 1);
    forget_ring();
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    mark_reader_release(&f->reader);
    assert_int_equal(mark_directory_remove(f->dir), 0);
    assert_int_equal(rmdir(f->base), 0);
    forget_ring();
    free(f->seen);
    free(f);
    return 0;
}

static void records_carry_what_the_program_said(void **state) {
    struct fixture *f = *state;
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    chokepoint_iteration(7);
    chokepoint_operator("matmul", 4096, 100, 25);
    chokepoint_value("loss", -0.6931471805);
    chokepoint_phase(NULL);
    unsetenv("OMPI_COMM_WORLD_RANK");

    assert_int_equal(drain(f), 5);
    assert_int_equal(f->from.pid, getpid());
    assert_int_equal(f->from.rank, 3);
    assert_int_equal(f->seen[0].kind, CHOKEPOINT_MARK_PHASE_BEGIN);
    assert_string_equal(f->seen[0].name, "training");
    assert_int_equal(f->seen[1].kind, CHOKEPOINT_MARK_ITERATION);
    assert_int_equal(f->seen[1].number, 7);
    assert_true(f->seen[1].duration_ns > 0);
    assert_int_equal(f->seen[2].bytes, 4096);
    assert_int_equal(f->seen[2].start_ns, 100);
    assert_int_equal(f->seen[2].duration_ns, 25);
    assert_int_equal(f->seen[3].value_nano, -693147181);
    assert_int_equal(f->seen[3].number, 7);
    assert_int_equal(f->seen[4].kind, CHOKEPOINT_MARK_PHASE_END);
    assert_int_equal(f->seen[4].start_ns, f->seen[0].start_ns);
}

static void values_saturate_and_nan_is_marked(void **state) {
    struct fixture *f = *state;
    chokepoint_value("big", 1e300);
    chokepoint_value("small", -INFINITY);
    chokepoint_value("nan", NAN);
    assert_int_equal(drain(f), 3);
    assert_true(f->seen[0].value_nano == INT64_MAX);
    assert_true(f->seen[1].value_nano == -INT64_MAX);
    assert_true(f->seen[2].value_nano == CHOKEPOINT_MARK_NAN);
    assert_int_equal(f->seen[0].number, -1);
}

static void nothing_is_written_when_nobody_listens(void **state) {
    struct fixture *f = *state;
    unsetenv("CHOKEPOINT_MARKS");
    chokepoint_phase("training");
    assert_false(chokepoint_listening());
    forget_ring();
    setenv("CHOKEPOINT_MARKS", "/nonexistent/marks", 1);
    chokepoint_phase("training");
    assert_false(chokepoint_listening());
    assert_int_equal(drain(f), 0);
    assert_int_equal(f->reader.n_writers, 0);
}

/* Users who see one host's directory cannot guess another's: its name is a code made with the key,
 * by common/siphash.c.
 */
static void a_key_becomes_a_code_of_the_host(void **state) {
    static const char stem[] = "/dev/shm/chokepoint-00112233445566778899aabbccddeeff";
    const uint64_t key[2] = {UINT64_C(0x0011223344556677), UINT64_C(0x8899aabbccddeeff)};
    static const char *const hosts[] = {"vm1", "vm2", "12345678", "a-long-name.example.org", ""};
    char path[200], expected[200];
    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        snprintf(expected, sizeof expected, "/dev/shm/chokepoint-%016llx",
                 (unsigned long long)siphash(key, hosts[i], strlen(hosts[i])));
        assert_int_equal(chokepoint_directory_path_(stem, hosts[i], path, sizeof path), 0);
        assert_string_equal(path, expected);
    }
    assert_int_equal(chokepoint_directory_path_(stem, "vm1", path, 36), -1);
    assert_int_equal(chokepoint_directory_path_("/x/marks-7", "vm1", path, sizeof path), 0);
    assert_string_equal(path, "/x/marks-7.vm1");
    assert_int_equal(chokepoint_directory_path_(stem + 20, "vm1", path, sizeof path), 0);
    assert_string_equal(path, "00112233445566778899aabbccddeeff.vm1"); /* without a host's name the
                                                                          key itself is the name */
}

static void the_form_that_mpirun_hands_on_is_heard_too(void **state) {
    struct fixture *f = *state;
    unsetenv("CHOKEPOINT_MARKS");
    setenv("OMPI_CHOKEPOINT_MARKS", f->stem, 1);
    chokepoint_phase("training");
    assert_int_equal(drain(f), 1);
}

static void all_units_of_a_program_share_one_ring(void **state) {
    struct fixture *f = *state;
    chokepoint_iteration(1);
    mark_from_another_unit(2);
    assert_int_equal(drain(f), 2);
    assert_int_equal(f->reader.n_writers, 1);
    assert_int_equal(f->seen[1].number, 2);
}

static void a_forked_child_has_a_ring_of_its_own(void **state) {
    struct fixture *f = *state;
    chokepoint_iteration(1);
    pid_t child = fork();
    if (child == 0) {
        chokepoint_iteration(2);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    chokepoint_iteration(3);
    assert_int_equal(drain(f), 3);
    assert_int_equal(f->reader.n_writers, 2);
    for (int i = 0; i < 2; i++)
        assert_true(f->reader.writers[i].pid == child || f->reader.writers[i].pid == getpid());
}

static void a_program_started_by_exec_does_not_lose_its_marks(void **state) {
    struct fixture *f = *state;
    chokepoint_iteration(1);
    forget_ring(); /* as exec does */
    chokepoint_iteration(2);
    assert_int_equal(drain(f), 2);
    assert_int_equal(f->reader.n_writers, 2);
}

/* ---- several threads ---- */

enum { N_THREADS = 4, N_MARKS = 20000 };
static int writers_left; /* used by one test only */

static void *mark_many(void *arg) {
    int64_t base = (int64_t)(intptr_t)arg * N_MARKS;
    for (int64_t i = 0; i < N_MARKS; i++)
        chokepoint_operator("op", base + i, base + i, 2 * (base + i));
    __atomic_sub_fetch(&writers_left, 1, __ATOMIC_RELEASE);
    return NULL;
}

struct tally {
    int64_t next[N_THREADS];
    uint64_t n;
};

static void check_order(void *ctx, const struct mark_writer *w,
                        const struct chokepoint_mark_record *r) {
    struct tally *t = ctx;
    (void)w;
    int64_t thread = r->bytes / N_MARKS;
    assert_in_range(thread, 0, N_THREADS - 1);
    assert_int_equal(r->start_ns, r->bytes); /* not torn */
    assert_int_equal(r->duration_ns, 2 * r->bytes);
    assert_true(r->bytes >= t->next[thread]);
    t->next[thread] = r->bytes + 1;
    t->n++;
}

static void concurrent_marks_arrive_whole_in_order_or_are_counted(void **state) {
    struct fixture *f = *state;
    struct tally tally = {0};
    pthread_t threads[N_THREADS];
    writers_left = N_THREADS;
    for (intptr_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mark_many, (void *)i), 0);
    bool running = true;
    do {
        running = __atomic_load_n(&writers_left, __ATOMIC_ACQUIRE) > 0;
        assert_true(mark_reader_drain(&f->reader, check_order, &tally) >= 0);
    } while (running);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    /* A mark skipped for a writer that stopped a lap ago delays the ring twice: no more often than
     * needed.
     */
    while (f->reader.writers[0].cursor < N_THREADS * N_MARKS)
        assert_true(mark_reader_drain(&f->reader, check_order, &tally) >= 0);
    assert_int_equal(f->reader.n_writers, 1);
    assert_int_equal(f->reader.malformed, 0);
    assert_int_equal(tally.n + f->reader.lost, N_THREADS * N_MARKS);
}

/* ---- overflow ---- */

static void an_overrun_ring_gives_its_last_lap_and_counts_the_rest(void **state) {
    struct fixture *f = *state;
    const int n = 3 * CHOKEPOINT_MARK_CAPACITY + 10;
    for (int i = 0; i < n; i++)
        chokepoint_iteration(i);
    assert_int_equal(drain(f), CHOKEPOINT_MARK_CAPACITY);
    assert_int_equal(f->reader.lost, n - CHOKEPOINT_MARK_CAPACITY);
    assert_int_equal(f->seen[0].number, n - CHOKEPOINT_MARK_CAPACITY);
    assert_int_equal(f->seen[f->n - 1].number, n - 1);
    assert_int_equal(drain(f), 0);
    chokepoint_iteration(n);
    assert_int_equal(drain(f), 1);
}

/* ---- hostile rings ---- */

static struct chokepoint_mark_record *slot(int i) {
    return (struct chokepoint_mark_record *)(void *)((char *)chokepoint_state_.ring +
                                                     CHOKEPOINT_MARK_HEADER) +
           i;
}

static void an_unfinished_record_holds_the_ring_up_only_for_a_while(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++)
        chokepoint_iteration(i);
    slot(1)->sequence = CHOKEPOINT_MARK_BUSY;
    assert_int_equal(drain(f), 1);
    assert_int_equal(drain(f), 0);
    assert_int_equal(drain(f), 1);
    assert_int_equal(f->seen[0].number, 2);
    assert_int_equal(f->reader.lost, 1);
}

static void an_unfinished_record_that_is_finished_later_is_not_lost(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++)
        chokepoint_iteration(i);
    slot(1)->sequence = 0;
    assert_int_equal(drain(f), 1);
    slot(1)->sequence = 2;
    assert_int_equal(drain(f), 2);
    assert_int_equal(f->reader.lost, 0);
}

static void a_writer_stopped_in_its_record_is_not_written_over(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < CHOKEPOINT_MARK_CAPACITY; i++)
        chokepoint_iteration(i);
    assert_int_equal(drain(f), CHOKEPOINT_MARK_CAPACITY);
    slot(0)->sequence = CHOKEPOINT_MARK_BUSY;
    slot(0)->number = 77;
    chokepoint_iteration(1000000);
    assert_int_equal(slot(0)->number, 77);
    assert_true(slot(0)->sequence == CHOKEPOINT_MARK_BUSY);
    chokepoint_iteration(1000001);
    assert_int_equal(drain(f), 0);
    assert_int_equal(drain(f), 0);
    assert_int_equal(drain(f), 1);
    assert_int_equal(f->seen[0].number, 1000001);
    assert_int_equal(f->reader.lost, 1);
}

static void malformed_records_are_counted_and_skipped(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 6; i++)
        chokepoint_operator("op", 1, 1, 1);
    slot(0)->kind = 99;
    slot(1)->duration_ns = -1;
    slot(2)->start_ns = INT64_MAX;
    slot(3)->bytes = -5;
    memset(slot(4)->name, 'A', sizeof slot(4)->name); /* no NUL */
    memcpy(slot(5)->name, "a\x1b[2J\xff\n", 8);
    assert_int_equal(drain(f), 2);
    assert_int_equal(f->reader.malformed, 4);
    assert_int_equal(strlen(f->seen[0].name), CHOKEPOINT_MARK_NAME - 1);
    assert_string_equal(f->seen[1].name, "a?[2J??");
}

static void a_record_with_another_lap_s_number_is_lost(void **state) {
    struct fixture *f = *state;
    chokepoint_iteration(1);
    chokepoint_iteration(2);
    slot(0)->sequence = 1 + CHOKEPOINT_MARK_CAPACITY;
    assert_int_equal(drain(f), 1);
    assert_int_equal(f->seen[0].number, 2);
    assert_int_equal(f->reader.lost, 1);
}

static void a_counter_running_backwards_ends_the_ring(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++)
        chokepoint_iteration(i);
    assert_int_equal(drain(f), 5);
    chokepoint_state_.ring->head = 2;
    assert_int_equal(drain(f), 0);
    assert_true(f->reader.writers[0].broken);
}

static void an_absurd_counter_ends_the_ring(void **state) {
    struct fixture *f = *state;
    chokepoint_iteration(1);
    chokepoint_state_.ring->head = UINT64_MAX;
    assert_int_equal(drain(f), 0);
    assert_true(f->reader.writers[0].broken);
    assert_int_equal(f->reader.lost, 0);
}

static void the_ring_path(const struct fixture *f, char *path, size_t size) {
    snprintf(path, size, "%s/%ld.ring", f->dir, (long)getpid());
}

static void a_truncated_ring_kills_nobody(void **state) {
    struct fixture *f = *state;
    char path[512];
    chokepoint_iteration(1);
    assert_int_equal(drain(f), 1);
    the_ring_path(f, path, sizeof path);
    assert_int_equal(truncate(path, 64), 0);
    chokepoint_state_.mode = CHOKEPOINT_OFF_; /* the writer itself would get SIGBUS */
    assert_int_equal(drain(f), 0);
    assert_true(f->reader.writers[0].broken);
}

static void put_file(const struct fixture *f, const char *name, size_t bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    close(fd);
}

static void what_is_no_ring_is_refused(void **state) {
    struct fixture *f = *state;
    char path[512], target[512];
    put_file(f, "1.ring", CHOKEPOINT_MARK_FILE_BYTES); /* no magic */
    put_file(f, "2.ring", 100);
    put_file(f, "3.ring", CHOKEPOINT_MARK_FILE_BYTES + 1);
    snprintf(path, sizeof path, "%s/4.ring", f->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    chokepoint_iteration(1);
    the_ring_path(f, target, sizeof target);
    snprintf(path, sizeof path, "%s/5.ring", f->dir);
    assert_int_equal(symlink(target, path), 0);
    put_file(f, "6.ring", CHOKEPOINT_MARK_FILE_BYTES); /* a copy under another pid's name */
    snprintf(path, sizeof path, "%s/6.ring", f->dir);
    int fd = open(path, O_WRONLY);
    assert_int_equal(write(fd, chokepoint_state_.ring, 8192), 8192);
    close(fd);
    assert_int_equal(drain(f), 1);
    assert_int_equal(f->reader.n_writers, 1);
    assert_int_equal(f->from.pid, getpid());
    assert_int_equal(f->reader.files.refused, 6);
}

/* Files that a program leaves in its directory cost each sample only a bounded time. */
static void a_crowded_directory_is_looked_at_in_part(void **state) {
    struct fixture *f = *state;
    char name[32];
    for (int i = 1; i <= 5000; i++) {
        snprintf(name, sizeof name, "%d.ring", i);
        put_file(f, name, 0);
    }
    assert_int_equal(drain(f), 0);
    assert_in_range(f->reader.files.refused, 4000, 4096);
}

static void names_that_are_no_pids_are_ignored(void **state) {
    struct fixture *f = *state;
    const char *const names[] = {"x.ring", "-1.ring", "1.rings", "99999999999999999999.ring"};
    char path[512];
    for (size_t i = 0; i < 4; i++)
        put_file(f, names[i], 10);
    assert_int_equal(drain(f), 0);
    assert_int_equal(f->reader.files.refused, 0);
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", f->dir, names[i]);
        assert_int_equal(mark_directory_remove(f->dir), -ENOTEMPTY);
        unlink(path);
    }
    mark_directory_create(f->dir);
}

static void a_ring_of_another_user_is_refused(void **state) {
    struct fixture *f = *state;
    char path[512];
    if (geteuid() != 0)
        skip();
    chokepoint_iteration(1);
    the_ring_path(f, path, sizeof path);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(drain(f), 0);
    assert_int_equal(f->reader.files.refused, 1);
}

static void a_directory_open_to_others_is_refused(void **state) {
    struct fixture *f = *state;
    struct mark_reader other;
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_int_equal(mark_reader_open(&other, f->dir), -EPERM);
    assert_int_equal(mark_reader_open(&other, "/nonexistent"), -ENOENT);
    assert_int_equal(mark_directory_create(f->dir), -EEXIST);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(records_carry_what_the_program_said),
        TEST(values_saturate_and_nan_is_marked),
        TEST(nothing_is_written_when_nobody_listens),
        TEST(a_key_becomes_a_code_of_the_host),
        TEST(the_form_that_mpirun_hands_on_is_heard_too),
        TEST(all_units_of_a_program_share_one_ring),
        TEST(a_forked_child_has_a_ring_of_its_own),
        TEST(a_program_started_by_exec_does_not_lose_its_marks),
        TEST(concurrent_marks_arrive_whole_in_order_or_are_counted),
        TEST(an_overrun_ring_gives_its_last_lap_and_counts_the_rest),
        TEST(an_unfinished_record_holds_the_ring_up_only_for_a_while),
        TEST(an_unfinished_record_that_is_finished_later_is_not_lost),
        TEST(a_writer_stopped_in_its_record_is_not_written_over),
        TEST(malformed_records_are_counted_and_skipped),
        TEST(a_record_with_another_lap_s_number_is_lost),
        TEST(a_counter_running_backwards_ends_the_ring),
        TEST(an_absurd_counter_ends_the_ring),
        TEST(a_truncated_ring_kills_nobody),
        TEST(what_is_no_ring_is_refused),
        TEST(a_crowded_directory_is_looked_at_in_part),
        TEST(names_that_are_no_pids_are_ignored),
        TEST(a_ring_of_another_user_is_refused),
        TEST(a_directory_open_to_others_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
