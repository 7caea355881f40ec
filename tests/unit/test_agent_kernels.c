/* SPDX-License-Identifier: MIT */
/* Kernels on request: a libcupti that plays, in a program that loads the library as CUDA does. */
#include "tests/unit/probe_test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/kernels/kernel_file.h"
#include "agent/kernels/kernel_name.h"
#include "agent/mark/ring.h"

static struct tree tree;
static char stem[128], directory[512], said[512];
static struct harness marks, bursts, kernels;
static pid_t child;
static int input;

static void note(void *ctx, enum note_level level, const char *subject, const char *text) {
    (void)ctx;
    assert_int_equal(level, NOTE_WARNING);
    snprintf(said, sizeof said, "%s: %s", subject, text);
}

static void open_probe(struct harness *h, const struct probe *probe) {
    assert_int_equal(harness_init(h, "", SCOPE_HOST), 0);
    h->env.marks = stem;
    h->env.note = note;
    assert_int_equal(harness_open(h, probe), 0);
}

static int make(void **state) {
    (void)state;
    tree_make(&tree, NULL);
    snprintf(stem, sizeof stem, "%s/marks", tree.path);
    assert_int_equal(mark_directory_path(stem, directory, sizeof directory), 0);
    said[0] = '\0';
    child = 0;
    open_probe(&marks, &probe_mark);
    open_probe(&bursts, &probe_gpu_burst);
    open_probe(&kernels, &probe_gpu_kernel);
    return 0;
}

static int clean(void **state) {
    (void)state;
    if (child) {
        close(input);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    harness_close(&kernels);
    harness_close(&bursts);
    harness_close(&marks);
    tree_remove(&tree);
    return 0;
}

/* A program with the library in it, and with that runtime; it ends with its input. */
static void start(const char *runtime, const char *play) {
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        setenv("CHOKEPOINT_MARKS", stem, 1);
        setenv("CUDA_INJECTION64_PATH", KERNELS_LIBRARY, 1);
        setenv("CUPTI_PLAY", play, 1);
        execl(INJECTED, INJECTED, runtime, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    input = ends[1];
}

/* Samples until there are rows or something was said. */
static void await(struct harness *h) {
    int64_t until_ns = clock_monotonic_ns() + 60 * S;
    do {
        poll(NULL, 0, 20);
        assert_int_equal(harness_sample_at(h, clock_monotonic_ns()), 0);
        assert_true(clock_monotonic_ns() < until_ns);
    } while (!h->rows.n && !said[0]);
}

static void about(double value, double wanted) {
    if (value < .95 * wanted || value > 1.05 * wanted)
        fail_msg("%g is not about %g", value, wanted);
}

/* "0[4711]": a row of the program's. */
static const char *of_child(const char *name) {
    static char key[2][96];
    static unsigned turn;
    char *to = key[turn++ % 2];
    snprintf(to, sizeof key[0], "%s[%d]", name, (int)child);
    return to;
}

static void kernels_and_copies_of_a_burst_are_added_up(void **state) {
    (void)state;
    start(CUPTI_PLAYER "/libcudart.so.12", "");
    await(&bursts);
    assert_int_equal(bursts.rows.n, 1);
    double watched = (double)harness_value(&bursts, of_child("0"), "watched_ns");
    assert_true(watched >= .5e9);
    about((double)harness_value(&bursts, of_child("0"), "kernel_ns"), .55 * watched);
    about((double)harness_value(&bursts, of_child("0"), "copy_ns"), .25 * watched);
    about((double)harness_value(&bursts, of_child("0"), "both_ns"), .1 * watched);
    expect(&bursts, of_child("0"), "streams", 2);
    expect(&bursts, of_child("0"), "dropped", 0);
    int64_t copies = harness_value(&bursts, of_child("0"), "copies");
    expect(&bursts, of_child("0"), "kernels", 2 * copies);
    expect(&bursts, of_child("0"), "copied_bytes", 4096 * copies);
    await(&kernels);
    assert_int_equal(kernels.rows.n, 2);
    assert_string_equal(kernels.rows.items[0].name, of_child("at::native::pool"));
    expect(&kernels, of_child("at::native::pool"), "launches", copies);
    expect(&kernels, of_child("at::native::pool"), "busy_ns", 100000 * copies);
    expect(&kernels, of_child("sgemm_128x64"), "busy_ns", 10000 * copies);
    assert_int_equal(harness_sample_at(&bursts, clock_monotonic_ns()), 0);
    assert_int_equal(bursts.rows.n, 0); /* each burst is told once */
}

static void refused(const char *runtime, const char *play, const char *why) {
    start(runtime, play);
    await(&bursts);
    if (!strstr(said, why))
        fail_msg("%s", said);
    assert_int_equal(bursts.rows.n, 0);
}

static void another_tool_is_said(void **state) {
    (void)state;
    refused(CUPTI_PLAYER "/libcudart.so.12", "taken", "another tool uses CUPTI");
}

static void a_missing_permission_is_said(void **state) {
    (void)state;
    refused(CUPTI_PLAYER "/libcudart.so.12", "forbidden", "INSUFFICIENT_PRIVILEGES");
}

static void a_cuda_without_cupti_is_said(void **state) {
    (void)state;
    refused(CUPTI_PLAYER "/alone/libcudart.so.12", "", "no CUPTI lies beside");
}

static void a_program_without_a_runtime_is_said(void **state) {
    (void)state;
    refused(NULL, "", "has loaded no libcudart");
}

static void records_that_cannot_be_are_left_out(void **state) {
    (void)state;
    start(CUPTI_PLAYER "/libcudart.so.12", "mad");
    await(&bursts);
    assert_true(harness_value(&bursts, of_child("0"), "kernels") > 0); /* those without a name */
    assert_int_equal(harness_sample_at(&kernels, clock_monotonic_ns()), 0);
    assert_int_equal(kernels.rows.n, 0);
}

/* ---- files ---- */

/* The file of a process that does not live. */
static struct kernel_file *whole_file(void) {
    static struct kernel_file file;
    memset(&file, 0, sizeof file);
    file.magic = KERNEL_FILE_MAGIC;
    file.sequence = 2;
    file.ended_ns = S;
    file.n_kernels = 1;
    file.kernels[0] = (struct kernel_sum){.launches = 3, .busy_ns = 30, .name = "k"};
    file.devices[0] = (struct kernel_device){.watched_ns = S, .kernel_ns = 5, .kernels = 1};
    for (size_t i = 1; i < KERNEL_DEVICES_MAX; i++)
        file.devices[i].index = -1;
    return &file;
}

static void write_kernels(const struct kernel_file *file, size_t size) {
    char path[600];
    snprintf(path, sizeof path, "%s/2147483647" KERNEL_FILE_SUFFIX, directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, size), (ssize_t)size);
    close(fd);
}

static size_t rows_of(struct harness *h, const struct kernel_file *file) {
    write_kernels(file, sizeof *file);
    assert_int_equal(harness_sample_at(h, 2 * S), 0);
    return h->rows.n;
}

static void hostile_files_are_checked(void **state) {
    struct kernel_file *file = whole_file();
    (void)state;
    write_kernels(file, 100); /* not whole: looked at again */
    assert_int_equal(harness_sample_at(&bursts, 2 * S), 0);
    assert_int_equal(bursts.rows.n, 0);
    assert_int_equal(rows_of(&bursts, file), 1);
    assert_int_equal(rows_of(&kernels, file), 1);
    file->sequence = 3; /* being written */
    assert_int_equal(rows_of(&bursts, file), 0);
    file->sequence = 4;
    file->devices[0].index = 99;
    assert_int_equal(rows_of(&bursts, file), 0);
    file->sequence = 6;
    file->devices[0].index = 0;
    file->devices[0].both_ns = 6; /* more than its kernels ran */
    assert_int_equal(rows_of(&bursts, file), 0);
    file->sequence = 8;
    file->n_kernels = INT64_MAX;
    memset(file->kernels[0].name, 'x', sizeof file->kernels[0].name);
    file->kernels[1] = (struct kernel_sum){.launches = -1, .name = "negative"};
    assert_int_equal(rows_of(&kernels, file), 0);
    file->sequence = 10;
    memset(file->why, 'w', sizeof file->why); /* without an end */
    assert_int_equal(rows_of(&bursts, file), 0);
    assert_true(strlen(said) < 300);
}

static void the_directory_is_removed_with_its_files(void **state) {
    struct stat st;
    (void)state;
    write_kernels(whole_file(), sizeof(struct kernel_file));
    harness_close(&marks);
    assert_int_equal(stat(directory, &st), -1);
    open_probe(&marks, &probe_mark);
}

static void names_are_as_people_write_them(void **state) {
    static const char *const names[][2] = {
        {"sm90_xmma_fprop_implicit_gemm", "sm90_xmma_fprop_implicit_gemm"},
        {"_ZN2at6native26batch_norm_backward_kernelIN3c108BFloat16EffiEEvPT_",
         "at::native::batch_norm_backward_kernel"},
        {"_Z17wgrad_alg0_engineIfLi128ELi5ELi5ELi3ELi3ELi3ELb0ELi512EEviii", "wgrad_alg0_engine"},
        {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapperEEEEEvT1_",
         "at::native::reduce_kernel"},
        {"_ZN5cudnn19engines_precompiled16nchwToNhwcKernelI13__nv_bfloat16EEvv",
         "cudnn::engines_precompiled::nchwToNhwcKernel"},
        {"_Z", "_Z"},
        {"_ZN9999999999x", "_ZN9999999999x"},
        {"_ZN4abI", "_ZN4abI"},
        {"_ZN1aI1b", "a"},
        {"bad\nname", "bad?name"},
        {"", ""},
    };
    char to[80], little[4];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kernel_name_write(names[i][0], to, sizeof to);
        assert_string_equal(to, names[i][1]);
    }
    kernel_name_write(names[0][0], little, sizeof little);
    assert_string_equal(little, "sm9");
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, make, clean)
    const struct CMUnitTest tests[] = {
        EACH(kernels_and_copies_of_a_burst_are_added_up),
        EACH(another_tool_is_said),
        EACH(a_missing_permission_is_said),
        EACH(a_cuda_without_cupti_is_said),
        EACH(a_program_without_a_runtime_is_said),
        EACH(records_that_cannot_be_are_left_out),
        EACH(hostile_files_are_checked),
        EACH(the_directory_is_removed_with_its_files),
        cmocka_unit_test(names_are_as_people_write_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
