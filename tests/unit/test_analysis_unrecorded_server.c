/* SPDX-License-Identifier: MIT */
/* Servers of a host that the job waits for and that are not of it. */
#include "tests/unit/counted_process.h"

#include "analysis/evidence/unrecorded_server.h"

/* A process in a socket for nearly all of its time. */
static double waits_of(size_t column, double t_s) {
    (void)t_s;
    return column == WAIT_PID                                                          ? 1000
           : column == WAIT_PROCESS_RUN || column == WAIT_NS_RUN                       ? 0.05e9
           : column == WAIT_PROCESS_SOCKET_RECEIVE || column == WAIT_NS_SOCKET_RECEIVE ? 0.95e9
           : column == WAIT_CLOCKED                                                    ? 1
                                                                                       : 0;
}

static double starved_now;
static int64_t pid_now;

static double socket_value(size_t column, double t_s) {
    (void)t_s;
    return column == SOCKET_WAIT_PROCESS_STARVED ? starved_now * 1e9
           : column == SOCKET_WAIT_PID           ? (double)pid_now
                                                 : 0;
}

/* The process waits on that connection for that share of the time. */
static void plant_wait(struct recording *r, int64_t pid, const char *connection, double share) {
    starved_now = share;
    pid_now = pid;
    plant(r, RECORDING_SOCKET_WAIT, 0, connection, 0.1, 1u << SOCKET_WAIT_PID, socket_value);
}

static void expect_server(struct recording *r, unsigned port, double share) {
    struct run_model model;
    struct unrecorded_server server;
    assert_int_equal(model_build(r, &model), 0);
    int result = unrecorded_server_find(&model, &server);
    if (!port) {
        assert_int_equal(result, 0);
    } else {
        assert_int_equal(result, 1);
        assert_int_equal(server.host, 0);
        assert_int_equal(server.port, port);
        assert_true(fabs(server.share - share) < 0.03);
    }
    model_release(&model);
    recording_release(r);
}

static void begin(struct recording *r) {
    plant_init(r, 2, 20);
    plant_process(r, 0, "client[1000]", (struct plant_process){-1, 0.1, 0, 0});
}

static void a_client_that_waits_names_the_port(void **state) {
    struct recording r;
    (void)state;
    begin(&r);
    plant_wait(&r, 1000, "127.0.0.1:40000>127.0.0.1:6379", 0.6);
    expect_server(&r, 6379, 0.6);
    begin(&r); /* at an address of its own, from many connections */
    plant_wait(&r, 1000, "10.0.0.1:40000>10.0.0.1:50000", 0.3);
    plant_wait(&r, 1000, "10.0.0.1:40001>10.0.0.1:50000", 0.2);
    expect_server(&r, 50000, 0.5);
}

static void a_server_of_the_job_is_recorded(void **state) {
    struct recording r;
    (void)state;
    begin(&r);
    plant_wait(&r, 1000, "127.0.0.1:40000>127.0.0.1:6379", 0.6);
    plant_wait(&r, 2000, "127.0.0.1:6379>127.0.0.1:40000", 0.1);
    expect_server(&r, 0, 0);
}

/* A thread of it waits for what never comes, as that for the session's bus. */
static double idle_value(size_t column, double t_s) {
    (void)t_s;
    return column == SOCKET_WAIT_STARVED ? 1e9 : column == SOCKET_WAIT_PID ? 1000 : 0;
}

static void a_connection_on_which_nothing_comes_is_no_wait(void **state) {
    struct recording r;
    (void)state;
    begin(&r);
    plant(&r, RECORDING_SOCKET_WAIT, 0, "127.0.0.1:40000>127.0.0.1:631", 0.1, 0, idle_value);
    expect_server(&r, 0, 0);
}

static void other_hosts_and_own_clients_are_no_servers_here(void **state) {
    struct recording r;
    (void)state;
    begin(&r);
    plant_wait(&r, 1000, "10.0.0.1:40000>10.0.0.2:6379", 0.6);
    expect_server(&r, 0, 0);
    begin(&r); /* the job serves, and waits for requests of clients outside */
    plant_wait(&r, 1000, "127.0.0.1:8080>127.0.0.1:40000", 0.9);
    plant_wait(&r, 1000, "127.0.0.1:8080>127.0.0.1:40001", 0.9);
    expect_server(&r, 0, 0);
}

static void expect_blamed(struct recording *r, bool blamed, const char *words) {
    struct judged j;
    judge(r, &j);
    assert_int_equal(j.verdict.kind == CAUSE_SERVER, blamed);
    if (blamed && (!strstr(j.words.limit, words) || j.verdict.subject != SUBJECT_OUTSIDE ||
                   !any_says(&j.words.next, "`--job port=")))
        fail_msg("%s", j.words.limit);
    release(r, &j);
}

static void begin_client(struct recording *r) {
    plant_init(r, 1, 20);
    host_now = 0;
    threads_now = 1;
    shares_now = (struct shares){0.05, 0, 0};
    plant(r, RECORDING_CPU, 0, "cpu0", 0.1, 0, quiet_cpu);
    plant(r, RECORDING_PROCESS, 0, "client[1000]", 1, PROCESS_LEVELS, process_of);
    plant(r, RECORDING_WAIT, 0, "client[1000]", 1, 1u << WAIT_PID, waits_of);
}

/* A port that the kernel gives to clients at both ends does not tell which end serves. */
static void a_client_of_a_server_that_is_not_recorded_is_told_to_wait_for_it(void **state) {
    struct recording r;
    (void)state;
    begin_client(&r);
    plant_wait(&r, 1000, "127.0.0.1:40000>127.0.0.1:6379", 0.9);
    expect_blamed(&r, true,
                  "client[1000] waits for the server on port 6379, which is not recorded");
    begin_client(&r);
    plant_wait(&r, 1000, "127.0.0.1:40000>127.0.0.1:50000", 0.9);
    expect_blamed(&r, false, "");
    begin_client(&r);
    plant_wait(&r, 1000, "127.0.0.1:40000>127.0.0.1:6379", 0.02);
    expect_blamed(&r, false, "");
}

static void of_one_connection_the_lower_port_serves(void **state) {
    struct recording r;
    (void)state;
    begin(&r); /* the job is the server */
    plant_wait(&r, 1000, "127.0.0.1:8080>127.0.0.1:40000", 0.9);
    expect_server(&r, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_that_waits_names_the_port),
        cmocka_unit_test(a_client_of_a_server_that_is_not_recorded_is_told_to_wait_for_it),
        cmocka_unit_test(of_one_connection_the_lower_port_serves),
        cmocka_unit_test(a_server_of_the_job_is_recorded),
        cmocka_unit_test(a_connection_on_which_nothing_comes_is_no_wait),
        cmocka_unit_test(other_hosts_and_own_clients_are_no_servers_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
