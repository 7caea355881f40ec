/* SPDX-License-Identifier: MIT */
/* The parts of chokepoint-calibrate that need no MPI: its plan, its arithmetic, its links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "workloads/calibrate/host.h"
#include "workloads/calibrate/link.h"
#include "workloads/calibrate/plan.h"

/* ---- arithmetic ---- */

static void a_rate_is_found_after_the_warm_up_and_past_a_stall(void **state) {
    struct meter meter = {0};
    struct meter_rates rates;
    double amount = 0;
    (void)state;
    for (int i = 0; i <= 100; i++) { /* 1000 at first, then 200, and nothing from 6.0 to 6.5 s */
        meter_read(&meter, 0.1 * i, amount);
        amount += i < 20 ? 100 : i >= 60 && i < 65 ? 0 : 20;
    }
    assert_true(meter_rate(&meter, 2, &rates));
    assert_true(fabs(rates.steady - 200) < 1e-6);
    assert_true(fabs(rates.mean - 187.5) < 1e-6);
    assert_true(rates.low < 190 && rates.high < 200.001 && rates.low >= 150 - 1e-6);
}

static void too_few_readings_are_no_rate(void **state) {
    struct meter meter = {0};
    struct meter_rates rates;
    (void)state;
    assert_false(meter_rate(&meter, 0, &rates));
    meter_read(&meter, 1, 5);
    assert_false(meter_rate(&meter, 0, &rates));
    meter_read(&meter, 1, 6); /* at the same instant */
    assert_false(meter_rate(&meter, 0, &rates));
    meter_read(&meter, 2, 7);
    assert_false(meter_rate(&meter, 1, &rates));
}

static void quantiles_lie_between_neighbours(void **state) {
    double values[] = {4, 1, 3, 2, 5};
    (void)state;
    assert_true(quantile(values, 5, .5) == 3);
    assert_true(quantile(values, 5, 0) == 1 && quantile(values, 5, 1) == 5);
    assert_true(fabs(quantile(values, 4, .5) - 2.5) < 1e-12);
    assert_true(isnan(quantile(values, 0, .5)));
}

static void a_figure_that_means_nothing_is_left_out(void **state) {
    struct figures figures = {0};
    (void)state;
    figures_add(&figures, "m", "u", -1, NAN, 0, 0, "-");
    figures_add(&figures, "m", "u", -1, 0, 0, 0, "-");
    figures_add(&figures, "m", "u", -1, INFINITY, 0, 0, "-");
    assert_int_equal(figures.n, 0);
    figures_add(&figures, "m", "u", -1, 5, 6, 4, "-");
    assert_true(figures.items[0].low == 5 && figures.items[0].high == 5);
    for (int i = 0; i < 2 * FIGURES_MAX; i++)
        figures_add(&figures, "m", "u", -1, 5, 5, 5, "-");
    assert_int_equal(figures.n, FIGURES_MAX);
}

static void texts_of_a_line_cannot_end_it(void **state) {
    char *line;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    (void)state;
    print_trouble(out, "a\"\\\n\033[2J", "\xff\x01");
    fclose(out);
    assert_string_equal(line, "{\"host\": \"a\\\"\\\\??[2J\", \"trouble\": \"??\"}\n");
    free(line);
}

/* ---- the plan ---- */

static size_t count(const struct plan *plan, enum step_kind kind, int a, int b) {
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++)
        n += plan->steps[i].kind == kind && (a < 0 || plan->steps[i].a == a) &&
             (b < 0 || plan->steps[i].b == b);
    return n;
}

static void five_hosts_are_measured_within_a_minute(void **state) {
    struct plan plan;
    (void)state;
    assert_int_equal(plan_make(&plan, 5, 5, PART_ALL, false), 0);
    assert_true(plan_seconds(&plan, 0) < 56); /* and starting takes a few more */
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            assert_int_equal(count(&plan, STEP_PAIR, a, b), a != b);
    assert_int_equal(count(&plan, STEP_RTT, -1, -1), 10);
    assert_int_equal(count(&plan, STEP_MPI, -1, -1), 10);
    assert_int_equal(count(&plan, STEP_TO_ALL, -1, -1), 5);
    assert_int_equal(count(&plan, STEP_CPU, -1, -1), 5);
    assert_int_equal(plan.n_pairs_left_out, 0);
    plan_release(&plan);
    assert_int_equal(plan_make(&plan, 5, 5, PART_ALL, true), 0);
    assert_true(plan_seconds(&plan, 0) < 16);
    plan_release(&plan);
}

static void memory_has_its_share_of_the_time(void **state) {
    static const struct {
        int turns;
        bool quick;
        double seconds;
    } cases[] = {{5, false, 0.6}, {10, false, 0.3}, {2, true, 0.25}};
    (void)state;
    for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
        struct plan plan;
        assert_int_equal(
            plan_make(&plan, cases[c].turns, cases[c].turns, PART_MEMORY, cases[c].quick), 0);
        for (size_t i = 0; i < plan.n; i++)
            if (plan.steps[i].kind == STEP_MEMORY)
                assert_true(fabs(plan.steps[i].seconds - cases[c].seconds) < 1e-9);
        plan_release(&plan);
    }
}

static void no_number_of_hosts_makes_it_endless(void **state) {
    (void)state;
    for (int n = 1; n <= 4096; n += n < 20 ? 1 : 97) {
        struct plan plan;
        assert_int_equal(plan_make(&plan, n, n < 100 ? n : 1, PART_ALL, false), 0);
        assert_true(plan_seconds(&plan, 0) < 120);
        for (size_t i = 0; i < plan.n; i++) {
            const struct step *s = &plan.steps[i];
            assert_true(s->a >= 0 && s->a < n && s->b < n && s->a != s->b && s->seconds > 0);
            assert_true(s->b < 0 || count(&plan, s->kind, s->a, s->b) == 1);
        }
        plan_release(&plan);
    }
}

static void who_takes_part_is_agreed_on(void **state) {
    (void)state;
    for (int n = 2; n < 200; n += 7)
        for (int a = 0; a < n; a++) {
            int partners = 0;
            for (int rank = 0; rank < n; rank++)
                partners += plan_takes_part(n, a, rank);
            assert_int_equal(partners, plan_fan(n));
            for (int i = 0; i < plan_fan(n); i++)
                assert_true(plan_takes_part(n, a, plan_other(n, a, i)));
        }
}

/* ---- links, on loopback ---- */

static const uint8_t token[LINK_TOKEN_SIZE] = "0123456789abcdef", wrong[LINK_TOKEN_SIZE] = "0123";

struct ends {
    struct link_address address;
    int listener;
};

static void open_ends(struct ends *ends) {
    *ends = (struct ends){.address = {.ipv4 = htonl(INADDR_LOOPBACK)}};
    ends->listener = link_listen(&ends->address);
    assert_true(ends->listener >= 0);
}

/* A child that connects with the token and then runs `then`; its exit status. */
static pid_t start_child(const struct ends *ends, const uint8_t *shown, int (*then)(int fd)) {
    pid_t pid = fork();
    if (pid == 0) {
        close(ends->listener);
        int fd = link_connect(&ends->address, shown);
        _exit(fd < 0 ? 9 : then(fd));
    }
    assert_true(pid > 0);
    return pid;
}

static int status_of(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

/* The last reading of a meter whose readings only grew; otherwise -1. */
static double counted(const struct meter *meter) {
    for (size_t i = 1; i < (size_t)meter->n; i++)
        if (meter->amount[i] < meter->amount[i - 1] || meter->t_s[i] < meter->t_s[i - 1])
            return -1;
    return meter->n ? meter->amount[meter->n - 1] : -1;
}

/* Until something has arrived: on a busy machine that may take any time. */
static int send_a_while(int fd) {
    struct link_meters meters = {0};
    int r;
    do
        r = link_send(&fd, 1, 0.02, &meters);
    while (r == 0 && counted(&meters.payload) == 0);
    link_close(&fd, 1);
    return r < 0 ? 1 : counted(&meters.payload) > 0 ? 0 : 2;
}
static int ping_a_while(int fd) {
    double times[50];
    int n = link_ping(fd, 0.1, times, 50);
    link_close(&fd, 1);
    return n > 2 && quantile(times, (size_t)n, .5) < 1 ? 0 : 1;
}
static int do_nothing(int fd) {
    link_close(&fd, 1);
    return 0;
}

static void bytes_flow_and_are_counted_at_both_ends(void **state) {
    struct ends ends;
    int fd;
    struct link_meters meters = {0};
    (void)state;
    open_ends(&ends);
    pid_t pid = start_child(&ends, token, send_a_while);
    assert_int_equal(link_accept(ends.listener, token, &fd, 1), 0);
    assert_int_equal(link_receive(&fd, 1, 0, &meters),
                     0); /* a reading each time something arrived */
    assert_true(counted(&meters.payload) > 0);
    link_close(&fd, 1);
    assert_int_equal(status_of(pid), 0);
    close(ends.listener);
}

static void round_trips_are_timed(void **state) {
    struct ends ends;
    int fd;
    (void)state;
    open_ends(&ends);
    pid_t pid = start_child(&ends, token, ping_a_while);
    assert_int_equal(link_accept(ends.listener, token, &fd, 1), 0);
    assert_int_equal(link_echo(fd, 0.1), 0);
    link_close(&fd, 1);
    assert_int_equal(status_of(pid), 0);
    close(ends.listener);
}

/* A stranger is disconnected, and does not keep out the expected client. */
static void without_the_token_nobody_gets_in(void **state) {
    struct ends ends;
    int fd;
    (void)state;
    open_ends(&ends);
    pid_t stranger = start_child(&ends, wrong, do_nothing);
    pid_t silent = fork();
    if (silent == 0) {
        struct sockaddr_in to = {
            .sin_family = AF_INET, .sin_port = ends.address.port, .sin_addr = {ends.address.ipv4}};
        char byte;
        close(ends.listener); /* otherwise its own connection would wait here */
        fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
            _exit(errno == ECONNREFUSED ? 0 : 1); /* it came after the end */
        _exit(recv(fd, &byte, 1, 0) == 0 || errno == ECONNRESET ? 0 : 1);
    }
    pid_t friend = start_child(&ends, token, do_nothing);
    assert_int_equal(link_accept(ends.listener, token, &fd, 1), 0);
    assert_int_equal(status_of(friend), 0);
    link_close(&fd, 1);
    close(ends.listener); /* this also refuses a client that still waits in its queue */
    assert_int_equal(status_of(stranger), 9);
    assert_int_equal(status_of(silent), 0);
}

static void who_never_comes_is_not_awaited_for_ever(void **state) {
    struct ends ends;
    int fd;
    (void)state;
    open_ends(&ends);
    assert_int_equal(link_accept(ends.listener, token, &fd, 1), -ETIME);
    close(ends.listener);
    assert_int_equal(link_connect(&ends.address, token), -ECONNREFUSED);
}

static void the_listener_is_open_on_one_address_only(void **state) {
    struct ends ends;
    struct sockaddr_in own;
    socklen_t size = sizeof own;
    (void)state;
    open_ends(&ends);
    assert_int_equal(getsockname(ends.listener, (struct sockaddr *)&own, &size), 0);
    assert_int_equal(own.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    close(ends.listener);
}

/* ---- the disk ---- */

static int count_entries(const char *directory) {
    DIR *dir = opendir(directory);
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void a_disk_is_measured_without_leaving_anything(void **state) {
    char directory[] = "./chokepoint-test-XXXXXX";
    struct figures figures = {0};
    (void)state;
    assert_non_null(mkdtemp(directory));
    measure_disk(directory, 0.1, &figures);
    assert_int_equal(count_entries(directory), 0);
    if (figures.n == 0)
        assert_non_null(strstr(figures.trouble, "O_DIRECT")); /* tmpfs of older kernels */
    else
        assert_int_equal(figures.n, 2);
    rmdir(directory);
    figures = (struct figures){0};
    measure_disk(directory, 0.1, &figures);
    assert_int_equal(figures.n, 0);
    assert_non_null(strstr(figures.trouble, "No such file"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_found_after_the_warm_up_and_past_a_stall),
        cmocka_unit_test(too_few_readings_are_no_rate),
        cmocka_unit_test(quantiles_lie_between_neighbours),
        cmocka_unit_test(a_figure_that_means_nothing_is_left_out),
        cmocka_unit_test(texts_of_a_line_cannot_end_it),
        cmocka_unit_test(five_hosts_are_measured_within_a_minute),
        cmocka_unit_test(memory_has_its_share_of_the_time),
        cmocka_unit_test(no_number_of_hosts_makes_it_endless),
        cmocka_unit_test(who_takes_part_is_agreed_on),
        cmocka_unit_test(bytes_flow_and_are_counted_at_both_ends),
        cmocka_unit_test(round_trips_are_timed),
        cmocka_unit_test(without_the_token_nobody_gets_in),
        cmocka_unit_test(who_never_comes_is_not_awaited_for_ever),
        cmocka_unit_test(the_listener_is_open_on_one_address_only),
        cmocka_unit_test(a_disk_is_measured_without_leaving_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
