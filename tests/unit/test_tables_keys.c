/* SPDX-License-Identifier: MIT */
/* Keys of rows and their text: a key is read as it was written, any other text is unknown. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_frames.h"
#include "tables/keys.h"

#define ROUNDS 20000

static void assert_span(struct span span, const char *text) {
    if (!span_equal(span, text))
        fail_msg("'%.*s' is not '%s'", (int)span.size, span.data, text);
}

static void a_table_tells_the_form_of_its_keys(void **state) {
    (void)state;
    assert_int_equal(key_form_of(TABLE_SOCKET_WAIT), KEY_CONNECTION);
    assert_int_equal(key_form_of(TABLE_WAKEUP), KEY_PAIR);
    assert_int_equal(key_form_of(TABLE_DISK), KEY_WORD);
    assert_int_equal(key_read(KEY_WORD, "vda").form, KEY_WORD);
}

static void a_connection_has_two_ends(void **state) {
    struct table_key key = key_read(KEY_CONNECTION, "10.0.0.1:5000>[fe80::2]:80");
    uint8_t four[4] = {10, 0, 0, 1}, six[16] = {[0] = 0xfe, [1] = 0x80, [15] = 2};
    (void)state;
    assert_int_equal(key.form, KEY_CONNECTION);
    assert_int_equal(key.ends[0].address.family, AF_INET);
    assert_memory_equal(key.ends[0].address.bytes, four, sizeof four);
    assert_int_equal(key.ends[0].port, 5000);
    assert_int_equal(key.ends[1].address.family, AF_INET6);
    assert_memory_equal(key.ends[1].address.bytes, six, sizeof six);
    assert_int_equal(key.ends[1].port, 80);
    struct table_key mirror = key_mirror(&key);
    char text[INSTANCE_MAX + 1];
    key_write(&mirror, text);
    assert_string_equal(text, "[fe80::2]:80>10.0.0.1:5000");
    assert_int_not_equal(key_compare_ends(&mirror, &key), 0);
    mirror = key_mirror(&mirror);
    assert_int_equal(key_compare_ends(&mirror, &key), 0);
}

static void an_address_of_ipv4_in_ipv6_is_one_of_ipv4(void **state) {
    uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 7}, four[4] = {10, 0, 0, 7};
    struct key_end a = key_end_of(AF_INET6, mapped, 9), b = key_end_of(AF_INET, four, 9);
    (void)state;
    assert_memory_equal(&a, &b, sizeof a);
    mapped[0] = 1;
    assert_int_equal(key_end_of(AF_INET6, mapped, 9).address.family, AF_INET6);
}

static struct key_address address_of(const char *text) {
    struct key_address address = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};
    assert_int_equal(inet_pton(address.family, text, address.bytes), 1);
    return address;
}

static void some_addresses_are_of_no_host_or_of_many(void **state) {
    static const struct {
        const char *text;
        bool loopback, shared;
    } cases[] = {
        {"127.0.0.1", true, false},   {"127.9.9.9", true, false},   {"128.0.0.1", false, false},
        {"::1", true, false},         {"::2", false, false},        {"7f00::1", false, false},
        {"224.0.0.251", false, true}, {"239.255.0.1", false, true}, {"240.0.0.1", false, false},
        {"223.0.0.1", false, false},  {"10.0.0.255", false, true},  {"10.0.255.1", false, false},
        {"ff02::fb", false, true},    {"fe80::ff", false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct key_address address = address_of(cases[i].text);
        assert_int_equal(key_address_is_loopback(&address), cases[i].loopback);
        assert_int_equal(key_address_is_shared(&address), cases[i].shared);
    }
}

static void the_id_of_a_process_is_what_comes_last(void **state) {
    static const struct {
        const char *text, *program;
        int64_t pid;
    } cases[] = {{"sh[4711]", "sh", 4711},
                 {"train[1000][4711]", "train[1000]", 4711},
                 {"sh[ended]", "sh", KEY_ENDED},
                 {"[25]", "", 25},
                 {"postgres: walwriter [main][7]", "postgres: walwriter [main]", 7},
                 {"sh", "sh", KEY_NO_ID},
                 {"sh[47", "sh[47", KEY_NO_ID},
                 {"(ended between samples)", "(ended between samples)", KEY_NO_ID}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table_key key = key_read(KEY_PROCESS, cases[i].text);
        assert_int_equal(key.form, KEY_PROCESS);
        assert_span(key.process.program, cases[i].program);
        assert_int_equal(key.process.pid, cases[i].pid);
    }
}

static bool run_the_same(const char *one, const char *other) {
    struct table_key a = key_read(KEY_PROCESS, one), b = key_read(KEY_PROCESS, other);
    return key_same_program(&a, &b);
}

static void processes_of_one_program_differ_in_their_ids_alone(void **state) {
    (void)state;
    assert_true(run_the_same("sh[1]", "sh[22]"));
    assert_true(run_the_same("sh[1]", "sh[ended]"));
    assert_false(run_the_same("sh[1]", "sh2[1]"));
    assert_false(run_the_same("train[1][5]", "train[2][5]"));
    assert_false(run_the_same("sh[01]", "sh[01]")); /* no key at all */
}

static bool asks_for_names(const char *text) {
    struct table_key key = key_read(KEY_PAIR, text);
    return key_is_name_server(&key);
}

static void only_the_one_that_wakes_may_be_a_server_of_names(void **state) {
    (void)state;
    assert_true(asks_for_names("curl[7] < nscd[3] unix"));
    assert_true(asks_for_names("curl[7] < systemd-resolve[3] poll"));
    assert_true(asks_for_names("curl[7] < name server name"));
    assert_false(asks_for_names("nscd[3] < curl[7] poll"));
    assert_false(asks_for_names("curl[7] < nscd2[3] unix"));
    assert_false(asks_for_names("x < nscd[3] < real[9] futex")); /* a name made to deceive */
    assert_false(asks_for_names("other"));
}

static void a_flow_has_addresses_or_a_protocol(void **state) {
    struct table_key key = key_read(KEY_FLOW, "eth0 10.0.0.1 10.0.0.2");
    struct key_address other = address_of("10.0.0.2");
    (void)state;
    assert_span(key.interface, "eth0");
    assert_memory_equal(&key.ends[1].address, &other, sizeof other);
    key = key_read(KEY_FLOW, "eth0 arp");
    assert_int_equal(key.ends[0].address.family, 0);
    assert_int_equal(key.protocol, 0x0806);
    assert_int_equal(key_read(KEY_FLOW, "eth0 protocol 0x88cc").protocol, 0x88cc);
}

static void queues_operations_cores_and_ranks_have_their_parts(void **state) {
    struct table_key key = key_read(KEY_QUEUE, "eth0 pfifo_fast root");
    (void)state;
    assert_span(key.interface, "eth0");
    assert_span(key.kind, "pfifo_fast");
    assert_span(key.place, "root");
    key = key_read(KEY_OPERATION, "server:/a b READ");
    assert_span(key.export, "server:/a b");
    assert_span(key.operation, "READ");
    assert_int_equal(key_read(KEY_CORE, "cpu12").core, 12);
    assert_int_equal(key_read(KEY_CORE, "cpus").core, KEY_ALL_CORES);
    key = key_read(KEY_RANK, "rank 3 [4711] MPI_Send");
    assert_int_equal(key.rank, 3);
    assert_int_equal(key.pid, 4711);
    assert_span(key.function, "MPI_Send");
    assert_int_equal(key_read(KEY_RANK, "rank 3").pid, KEY_NO_ID);
}

static void a_process_on_a_gpu_has_both_names(void **state) {
    struct table_key key =
        key_read(key_form_of(TABLE_GPU_PROCESS), "gpu0/mig1 python3 a b.py[4711]");
    (void)state;
    assert_int_equal(key.form, KEY_GPU_PROCESS);
    assert_span(key.gpu, "gpu0/mig1");
    assert_span(key.process.program, "python3 a b.py");
    assert_int_equal(key.process.pid, 4711);
}

static void a_text_that_no_agent_writes_is_no_key(void **state) {
    static const struct {
        enum key_form form;
        const char *text;
    } cases[] = {{KEY_CONNECTION, ""},
                 {KEY_CONNECTION, "ended unseen"},
                 {KEY_GPU_PROCESS, "gpu0"},
                 {KEY_GPU_PROCESS, "gpu0 sh[04]"},
                 {KEY_CONNECTION, ">"},
                 {KEY_CONNECTION, "10.0.0.1:5000"},
                 {KEY_CONNECTION, "10.0.0.1:5000>10.0.0.2:65536"},
                 {KEY_CONNECTION, "10.0.0.1:5000>10.0.0.2:-1"},
                 {KEY_CONNECTION, "10.0.0.1:5000>10.0.0.2: 80"},
                 {KEY_CONNECTION, "10.0.0.1:05000>10.0.0.2:80"},
                 {KEY_CONNECTION, "10.0.0.1:5000>10.0.0.2:80>10.0.0.3:1"},
                 {KEY_CONNECTION, "10.0.0.300:5000>10.0.0.2:80"},
                 {KEY_CONNECTION, "fe80::1:5000>[fe80::2]:80"},
                 {KEY_CONNECTION, "[fe80:0::1]:5000>[fe80::2]:80"},
                 {KEY_CONNECTION, "[10.0.0.1]:5000>10.0.0.2:80"},
                 {KEY_CONNECTION, "[]:5000>[]:80"},
                 {KEY_FLOW, "other"},
                 {KEY_FLOW, "not captured"},
                 {KEY_FLOW, "eth0 10.0.0.1"},
                 {KEY_FLOW, "eth0 10.0.0.1 10.0.0.2 "},
                 {KEY_FLOW, "eth0 10.0.0.1 fe80::1"},
                 {KEY_FLOW, "eth0 protocol 0x88cc0"},
                 {KEY_FLOW, "eth0 protocol 88cc"},
                 {KEY_QUEUE, "eth0"},
                 {KEY_QUEUE, "eth0 tbf"},
                 {KEY_PAIR, "other"},
                 {KEY_PAIR, "sh[1] < cat[2]"},
                 {KEY_PAIR, "a[1] < b[2] < c[3] futex"}, /* in two ways */
                 {KEY_OPERATION, "READ"},
                 {KEY_CORE, "cpu"},
                 {KEY_CORE, "cpu-1"},
                 {KEY_CORE, "cpu01"},
                 {KEY_CORE, "cpu4294967295"},
                 {KEY_CORE, "x cpu1"},
                 {KEY_PROCESS, ""},
                 {KEY_PROCESS, "sh[007]"},
                 {KEY_PROCESS, "sh[x]"},
                 {KEY_PROCESS, "sh[4294967296]"},
                 {KEY_RANK, "rank"},
                 {KEY_RANK, "rank x"},
                 {KEY_RANK, "rank 3 [x]"},
                 {KEY_RANK, "4 rank 3"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (key_read(cases[i].form, cases[i].text).form != KEY_UNKNOWN)
            fail_msg("'%s' is a key of form %d", cases[i].text, (int)cases[i].form);
}

static void a_key_that_is_too_long_is_cut_and_not_read_back(void **state) {
    char program[200], text[INSTANCE_MAX + 1];
    (void)state;
    memset(program, 'x', sizeof program);
    assert_int_equal(key_write(&KEY_OF_PROCESS(program, sizeof program, 4711), text), INSTANCE_MAX);
    assert_int_equal(strlen(text), INSTANCE_MAX);
    assert_int_equal(key_read(KEY_PROCESS, text).process.pid, KEY_NO_ID);
}

/* ---- any key ---- */

static struct span random_word(uint64_t *seed, char *room, size_t most) {
    static const char letters[] = "abz09_-.:/[]<>\"'%";
    size_t n = 1 + random_below(seed, most);
    for (size_t i = 0; i < n; i++)
        room[i] = letters[random_below(seed, sizeof letters - 1)];
    return (struct span){room, n};
}

static struct key_end random_end(uint64_t *seed, int family) {
    uint8_t bytes[16];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = random_below(seed, 3) ? (uint8_t)random_next(seed) : 0;
    return key_end_of(family, bytes, (uint16_t)random_next(seed));
}

static struct key_process random_process(uint64_t *seed, char *room) {
    return (struct key_process){random_word(seed, room, 20),
                                (int64_t)random_below(seed, INT32_MAX)};
}

static struct table_key random_key(uint64_t *seed, enum key_form form, char words[3][32]) {
    struct table_key key = {.form = form};
    int family = random_below(seed, 2) ? AF_INET : AF_INET6;
    bool addresses = form == KEY_CONNECTION || (form == KEY_FLOW && random_below(seed, 4));
    for (size_t i = 0; addresses && i < 2; i++)
        key.ends[i] = random_end(seed, family);
    if (form == KEY_FLOW && addresses)
        key.ends[0].port = key.ends[1].port = 0;
    if (form == KEY_FLOW && !addresses)
        key.protocol = (uint16_t)random_next(seed);
    if (form == KEY_FLOW || form == KEY_QUEUE)
        key.interface = random_word(seed, words[0], 15);
    if (form == KEY_QUEUE) {
        key.kind = random_word(seed, words[1], 15);
        key.place = random_word(seed, words[2], 10);
    } else if (form == KEY_PROCESS || form == KEY_PAIR || form == KEY_GPU_PROCESS) {
        key.process = random_process(seed, words[0]);
    } else if (form == KEY_OPERATION) {
        key.export = random_word(seed, words[0], 31);
        key.operation = random_word(seed, words[1], 31);
    } else if (form == KEY_CORE) {
        key.core = (int64_t)random_below(seed, 4096) - 1;
    } else if (form == KEY_RANK) {
        key.rank = (int64_t)random_below(seed, INT32_MAX);
        key.pid = (int64_t)random_below(seed, 2) ? KEY_NO_ID : 4711;
        key.function = random_below(seed, 2) ? text_span("MPI_Send") : (struct span){0};
    }
    if (form == KEY_GPU_PROCESS)
        key.gpu = random_word(seed, words[1], 15);
    if (form == KEY_PAIR) {
        key.waker = random_process(seed, words[1]);
        key.reason = text_span("futex");
    }
    return key;
}

static void assert_same_words(struct span a, struct span b) {
    assert_int_equal(a.size, b.size);
    if (a.size)
        assert_memory_equal(a.data, b.data, a.size);
}

static void assert_same_key(const struct table_key *a, const struct table_key *b) {
    assert_int_equal(a->form, b->form);
    if (a->form == KEY_CONNECTION || a->form == KEY_FLOW) {
        assert_memory_equal(a->ends, b->ends, sizeof a->ends);
        assert_int_equal(a->protocol, b->protocol);
    }
    if (a->form == KEY_FLOW || a->form == KEY_QUEUE)
        assert_same_words(a->interface, b->interface);
    if (a->form == KEY_QUEUE)
        assert_same_words(a->place, b->place);
    if (a->form == KEY_PROCESS || a->form == KEY_PAIR || a->form == KEY_GPU_PROCESS) {
        assert_same_words(a->process.program, b->process.program);
        assert_int_equal(a->process.pid, b->process.pid);
        assert_same_words(a->gpu, b->gpu);
        assert_same_words(a->waker.program, b->waker.program);
        assert_int_equal(a->waker.pid, b->waker.pid);
    }
    if (a->form == KEY_OPERATION)
        assert_same_words(a->export, b->export);
    if (a->form == KEY_CORE)
        assert_int_equal(a->core, b->core);
    if (a->form == KEY_RANK) {
        assert_int_equal(a->pid, b->pid);
        assert_same_words(a->function, b->function);
    }
}

static void what_is_written_is_read(void **state) {
    uint64_t seed = 42;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        char words[3][32], text[INSTANCE_MAX + 1];
        enum key_form form = KEY_CORE + random_below(&seed, KEY_GPU_PROCESS - KEY_CORE + 1);
        struct table_key key = random_key(&seed, form, words);
        size_t size = key_write(&key, text);
        struct table_key read = key_read(form, text);
        assert_int_equal(size, strlen(text));
        assert_same_key(&key, &read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_tells_the_form_of_its_keys),
        cmocka_unit_test(a_connection_has_two_ends),
        cmocka_unit_test(an_address_of_ipv4_in_ipv6_is_one_of_ipv4),
        cmocka_unit_test(some_addresses_are_of_no_host_or_of_many),
        cmocka_unit_test(the_id_of_a_process_is_what_comes_last),
        cmocka_unit_test(processes_of_one_program_differ_in_their_ids_alone),
        cmocka_unit_test(only_the_one_that_wakes_may_be_a_server_of_names),
        cmocka_unit_test(a_flow_has_addresses_or_a_protocol),
        cmocka_unit_test(queues_operations_cores_and_ranks_have_their_parts),
        cmocka_unit_test(a_process_on_a_gpu_has_both_names),
        cmocka_unit_test(a_text_that_no_agent_writes_is_no_key),
        cmocka_unit_test(a_key_that_is_too_long_is_cut_and_not_read_back),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
