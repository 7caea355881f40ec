/* SPDX-License-Identifier: MIT */
/* A child confines itself and tries what a hijacked program would; its exit status is the line of
 * the first failure. Then it does what it must still be able to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/confine.h"
#include "collector/store.h"
#include "common/error.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

struct fixture {
    char directory[64], database[96], outside[64];
};

/* The first check that fails ends the child with its line number. */
#define CHECK(holds)                                                                               \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #holds, strerror(errno));               \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define REFUSED(call) CHECK((call) < 0 && errno == ENOSYS)

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    strcpy(f->directory, "/tmp/confine.XXXXXX");
    strcpy(f->outside, "/tmp/confine-outside.XXXXXX");
    if (!mkdtemp(f->directory) || !mkdtemp(f->outside))
        return -1;
    snprintf(f->database, sizeof f->database, "%s/db", f->directory);
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s %s", f->directory, f->outside);
    int r = system(command);
    free(f);
    return r;
}

static bool kernel_has_landlock(void) {
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

static int open_at(const char *directory, const char *name, int flags) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return open(path, flags | O_CLOEXEC, 0600);
}

static void run_in_child(struct fixture *f, void (*body)(struct fixture *)) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        body(f);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void *thread_main(void *ctx) {
    char *word[] = {(char *)"true", NULL};
    bool *refused = ctx;
    *refused = execve("/nowhere", word, word) < 0 && errno == ENOSYS;
    return NULL;
}

static void check_calls(void) {
    char *word[] = {(char *)"true", NULL};
    REFUSED(execve("/nowhere", word, word));
    REFUSED(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG));
    REFUSED(socket(AF_INET, SOCK_STREAM, 0));
    REFUSED(syscall(SYS_bpf, 0, NULL, 0));
    REFUSED(syscall(SYS_mount, "a", "b", "c", 0, NULL));
    REFUSED(syscall(SYS_clone3, NULL, 0));
    if (SANITIZED)
        return;
    REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    REFUSED(fork());
    REFUSED(kill(1, 0));
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
              MAP_FAILED &&
          errno == ENOSYS);
}

static void check_files(const struct fixture *f) {
    CHECK(open_at(f->directory, "db-wal-like", O_RDWR | O_CREAT) >= 0);
    CHECK(open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0);
    if (!kernel_has_landlock())
        return;
    CHECK(open_at(f->outside, "new", O_WRONLY | O_CREAT) < 0 && errno == EACCES);
    CHECK(open_at(f->outside, "there", O_RDWR) < 0 && errno == EACCES);
    CHECK(open_at(f->outside, "there", O_RDONLY) >= 0);
    CHECK(mkdir(f->outside, 0700) < 0);
}

/* A connection over a socket that listened before. */
static void check_connection(int listen_fd, int client_fd) {
    char text[8] = "";
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(send(client_fd, "hello", 5, MSG_NOSIGNAL) == 5);
    CHECK(recv(fd, text, sizeof text, 0) == 5 && strcmp(text, "hello") == 0);
}

static void connect_to(int listen_fd, int *ret_client) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    CHECK(bind(listen_fd, (struct sockaddr *)&address, size) == 0 && listen(listen_fd, 4) == 0);
    CHECK(getsockname(listen_fd, (struct sockaddr *)&address, &size) == 0);
    *ret_client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(*ret_client, (struct sockaddr *)&address, size) == 0);
}

static void write_a_run(struct store *store) {
    const struct run_begin begin = {.name = "run", .command = "x"};
    int64_t run;
    CHECK(store_run_begin(store, &begin, &run) == 0);
}

static void be_collector(struct fixture *f) {
    struct store *store;
    char why[200];
    bool refused = false;
    pthread_t thread;
    int client, listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(open_at(f->outside, "there", O_WRONLY | O_CREAT) >= 0);
    CHECK(store_open_write(f->database, &store, why, sizeof why) == 0);
    connect_to(listen_fd, &client);
    CHECK(confine_files(CONFINE_STORES, f->database) == 0);
    CHECK(confine_calls(CONFINE_STORES) == 0);
    check_calls();
    check_files(f);
    CHECK(pthread_create(&thread, NULL, thread_main, &refused) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && refused);
    check_connection(listen_fd, client);
    write_a_run(store);
    store_close(store);
}

static void a_collector_stores_and_answers_and_does_nothing_else(void **state) {
    run_in_child(*state, be_collector);
}

struct late {
    int fd;
    bool refused;
};

static void *wait_then_exec(void *ctx) {
    struct late *late = ctx;
    char byte;
    return read(late->fd, &byte, 1) == 1 ? thread_main(&late->refused) : NULL;
}

static void filter_late(struct fixture *f) {
    (void)f;
    int ends[2];
    struct late late = {0};
    pthread_t thread;
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    late.fd = ends[0];
    CHECK(pthread_create(&thread, NULL, wait_then_exec, &late) == 0);
    CHECK(confine_calls(CONFINE_STORES) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0 && late.refused);
}

static void threads_that_began_before_are_filtered_too(void **state) {
    run_in_child(*state, filter_late);
}

static void be_server(struct fixture *f) {
    int status;
    setenv("TMPDIR", f->directory, 1); /* it could write there, too */
    CHECK(confine_files(CONFINE_SERVES, f->database) == 0);
    CHECK(confine_calls(CONFINE_SERVES) == 0);
    CHECK(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG) >= 0);
    REFUSED(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
    REFUSED(socket(AF_INET, SOCK_STREAM, 0));
    if (!SANITIZED)
        REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    check_files(f);
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(confine_calls(CONFINE_READS) == 0);
        check_calls();
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
          WEXITSTATUS(status) == 0);
}

static void a_server_starts_programs_that_are_confined_further(void **state) {
    struct fixture *f = *state;
    close(open_at(f->outside, "there", O_WRONLY | O_CREAT));
    run_in_child(f, be_server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_collector_stores_and_answers_and_does_nothing_else,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_that_began_before_are_filtered_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_server_starts_programs_that_are_confined_further, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
