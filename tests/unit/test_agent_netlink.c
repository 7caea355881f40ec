/* SPDX-License-Identifier: MIT */
/* Netlink: dumps as a kernel gave them, cut, changed and forged; and connections of this test. */
#include "tests/unit/probe_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "agent/probes/connection/connection.h"
#include "agent/probes/qdisc.h"
#include "common/error.h"

/* A recorded dump in memory of exactly its size, so that a sanitizer sees reads beyond it. */
static struct bytes recording(const char *name) {
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, FIXTURES "netlink/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    char *data = malloc((size_t)st.st_size);
    assert_int_equal(fread(data, 1, (size_t)st.st_size, file), st.st_size);
    fclose(file);
    return (struct bytes){data, (size_t)st.st_size};
}
static void release(struct bytes bytes) {
    free((void *)(uintptr_t)bytes.data);
}

/* All that was read, as text and numbers. */
struct found {
    size_t n_connections, n_qdiscs;
    char names[16][INSTANCE_MAX + 1];
    int64_t values[16][CONNECTION_COLUMNS];
    uint32_t inodes[16];
    struct qdisc_message qdiscs[16];
};

static void take(void *ctx, unsigned type, struct bytes payload) {
    struct found *found = ctx;
    struct connection_message connection;
    struct qdisc_message qdisc;
    if (found->n_connections < 16 && connection_read(type, payload, &connection)) {
        size_t at = found->n_connections++;
        for (size_t i = 0; i < CONNECTION_COLUMNS; i++)
            found->values[at][i] = VALUE_ABSENT;
        assert_in_range(connection_name(&connection, found->names[at]), 1, INSTANCE_MAX);
        connection_values(&connection, found->values[at]);
        found->inodes[at] = connection.head.idiag_inode;
    }
    if (found->n_qdiscs < 16 && qdisc_read(type, payload, &qdisc))
        found->qdiscs[found->n_qdiscs++] = qdisc;
}

static int read_all(struct bytes bytes, struct found *found) {
    bool interrupted = false;
    *found = (struct found){0};
    return netlink_read(bytes, 0, &interrupted, take, found);
}

static const int64_t *values_of(const struct found *found, const char *name) {
    for (size_t i = 0; i < found->n_connections; i++)
        if (strcmp(found->names[i], name) == 0)
            return found->values[i];
    fail_msg("no connection %s", name);
    return NULL;
}

/* ---- as recorded ---- */

static void a_recorded_dump_has_its_connections(void **state) {
    static struct found found;
    struct bytes dump = recording("inet_diag");
    (void)state;
    assert_int_equal(read_all(dump, &found), 0);
    assert_int_equal(found.n_connections, 6); /* both families; no listeners */
    const int64_t *values = values_of(&found, "127.0.0.1:54802>127.0.0.1:40861");
    assert_int_equal(values[CONNECTION_SEND_BYTES], 100001); /* the SYN counts as a byte */
    assert_int_equal(values[CONNECTION_RECEIVE_BYTES], 0);
    assert_int_equal(values[CONNECTION_STATE], STATE_ESTABLISHED);
    assert_int_equal(values[CONNECTION_RETRANSMITS], 0);
    assert_in_range(values[CONNECTION_RTT], 1000, NS_PER_S);
    assert_int_equal(values[CONNECTION_PID], VALUE_ABSENT);
    values = values_of(&found, "127.0.0.1:40861>127.0.0.1:54802");
    assert_int_equal(values[CONNECTION_RECEIVE_BYTES], 100000);
    values = values_of(&found, "[::1]:37904>[::1]:57409");
    assert_int_equal(values[CONNECTION_SEND_BYTES], 5001);
    values_of(&found, "127.0.0.1:49423>127.0.0.1:54622"); /* IPv4 through an IPv6 socket */
    release(dump);
}

static void the_end_of_a_connection_tells_its_last_figures(void **state) {
    static struct found found;
    struct bytes told = recording("destroyed");
    (void)state;
    assert_int_equal(read_all(told, &found), 1); /* no end of the dump was reported */
    assert_int_equal(found.n_connections, 2);
    const int64_t *values = values_of(&found, "127.0.0.1:54802>127.0.0.1:40861");
    assert_in_range(values[CONNECTION_SEND_BYTES], 100000, 100002);
    assert_int_equal(found.inodes[0], 0);
    release(told);
}

static void a_recorded_dump_has_its_queues(void **state) {
    static struct found found;
    char name[INSTANCE_MAX + 1];
    struct bytes dump = recording("qdisc");
    (void)state;
    assert_int_equal(read_all(dump, &found), 0);
    assert_int_equal(found.n_qdiscs, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct qdisc_message *qdisc = &found.qdiscs[i];
        qdisc_name(qdisc, "x", name);
        if (strcmp(name, "x tbf 1:") == 0) {
            assert_int_equal(qdisc->rate_bytes_per_s, 25000000);
            assert_int_equal(qdisc->bytes, 90);
            assert_int_equal(qdisc->packets, 1);
        } else if (strcmp(name, "x tbf 3:") == 0) {
            assert_int_equal(qdisc->rate_bytes_per_s, 5000000000); /* in 64 bits */
        } else if (strcmp(name, "x htb 2:") == 0) {
            assert_false(qdisc->has_rate);
            assert_true(qdisc->has_queue);
        } else {
            assert_string_equal(name, "x noqueue root");
        }
    }
    release(dump);
}

/* ---- hostile ---- */

static void no_cut_of_a_dump_reads_beyond_it(void **state) {
    static const char *const names[] = {"inet_diag", "destroyed", "qdisc"};
    static struct found found;
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct bytes dump = recording(names[i]);
        for (size_t cut = 0; cut < dump.size; cut++) {
            char *piece = malloc(cut ? cut : 1);
            memcpy(piece, dump.data, cut);
            int r = read_all((struct bytes){piece, cut}, &found);
            assert_true(r == 1 || r == -EBADMSG || r == 0);
            free(piece);
        }
        release(dump);
    }
}

static void no_changed_byte_reads_beyond_the_dump(void **state) {
    static const char *const names[] = {"inet_diag", "destroyed", "qdisc"};
    static const uint8_t values[] = {0, 1, 2, 3, 4, 5, 0x7f, 0x80, 0xff};
    static struct found found;
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct bytes dump = recording(names[i]);
        uint8_t *bytes = (uint8_t *)(uintptr_t)dump.data;
        for (size_t at = 0; at < dump.size; at++) {
            uint8_t was = bytes[at];
            for (size_t v = 0; v < sizeof values; v++) {
                bytes[at] = values[v];
                read_all(dump, &found);
            }
            bytes[at] = was;
        }
        release(dump);
    }
}

static void an_attribute_may_not_claim_more_than_there_is(void **state) {
    struct {
        uint16_t size, type;
        uint32_t value;
    } attributes[] = {{8, 1, 11}, {8, 2 | NLA_F_NESTED, 22}, {200, 3, 33}, {8, 4, 44}};
    struct bytes all = {attributes, sizeof attributes}, value;
    uint32_t number = 0;
    (void)state;
    assert_true(netlink_find(all, 1, &value) && netlink_u32(value, &number));
    assert_int_equal(number, 11);
    assert_true(netlink_find(all, 2, &value) && netlink_u32(value, &number));
    assert_int_equal(number, 22);
    assert_false(netlink_find(all, 3, &value));
    assert_false(netlink_find(all, 4, &value)); /* behind an invalid attribute */
    attributes[0].size = 0;
    assert_false(netlink_find(all, 1, &value));
    attributes[0].size = 6; /* a value of two bytes */
    assert_true(netlink_find(all, 1, &value));
    assert_false(netlink_u32(value, &number));
    assert_int_equal(netlink_after(all, 1000).size, 0);
}

static void an_answer_to_another_question_is_skipped(void **state) {
    static struct found found;
    bool interrupted = false;
    struct bytes dump = recording("inet_diag"); /* asked with number 7 */
    (void)state;
    assert_int_equal(netlink_read(dump, 8, &interrupted, take, &found), 1);
    assert_int_equal(found.n_connections, 0);
    assert_int_equal(netlink_read(dump, 7, &interrupted, take, &found), 0);
    assert_int_equal(found.n_connections, 6);
    assert_false(interrupted);
    ((struct nlmsghdr *)(uintptr_t)dump.data)->nlmsg_flags |= NLM_F_DUMP_INTR;
    assert_int_equal(netlink_read(dump, 7, &interrupted, take, &found), 0);
    assert_true(interrupted);
    release(dump);
}

static void the_kernels_refusal_is_an_error(void **state) {
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
    } refusal = {.header = {.nlmsg_len = sizeof refusal, .nlmsg_type = NLMSG_ERROR},
                 .error = {.error = -ENOENT}};
    static struct found found;
    (void)state;
    assert_int_equal(read_all((struct bytes){&refusal, sizeof refusal}, &found), -ENOENT);
    refusal.header.nlmsg_len = sizeof refusal.header; /* without the number of the request */
    assert_int_equal(read_all((struct bytes){&refusal, sizeof refusal.header}, &found), -EBADMSG);
}

/* A kernel before 4.10 has a shorter struct tcp_info: without clocks, but with everything else. */
static void an_older_kernel_says_less(void **state) {
    struct {
        struct inet_diag_msg head;
        struct nlattr attribute;
        char info[offsetof(struct tcp_info, tcpi_busy_time)];
    } message = {.head = {.idiag_family = AF_INET, .idiag_state = 1},
                 .attribute = {sizeof message - sizeof message.head, INET_DIAG_INFO}};
    int64_t values[CONNECTION_COLUMNS];
    struct connection_message read;
    (void)state;
    for (size_t i = 0; i < CONNECTION_COLUMNS; i++)
        values[i] = VALUE_ABSENT;
    message.head.id.idiag_dport = htons(1);
    memset(message.info + offsetof(struct tcp_info, tcpi_min_rtt), 0xff, 4);
    struct bytes payload = {&message, sizeof message};
    assert_true(connection_read(SOCK_DIAG_BY_FAMILY, payload, &read));
    connection_values(&read, values);
    assert_int_equal(values[CONNECTION_SEND_BYTES], 0);
    assert_int_equal(values[CONNECTION_BUSY], VALUE_ABSENT);
    assert_int_equal(values[CONNECTION_SNDBUF_LIMITED], VALUE_ABSENT);
    assert_int_equal(values[CONNECTION_RTT], VALUE_ABSENT);     /* 0: not measured */
    assert_int_equal(values[CONNECTION_MIN_RTT], VALUE_ABSENT); /* ~0: not measured */
}

/* The rate stays at the best one of the start-up while the program sends less than its window. */
static void a_rate_says_whose_it_is(void **state) {
    struct {
        struct inet_diag_msg head;
        struct nlattr attribute;
        char info[sizeof(struct tcp_info)]; /* behind four bytes: not aligned */
    } message = {.head = {.idiag_family = AF_INET, .idiag_state = 1},
                 .attribute = {sizeof message - sizeof message.head, INET_DIAG_INFO}};
    struct tcp_info info = {0};
    struct connection_message read;
    (void)state;
    message.head.id.idiag_dport = htons(1);
    for (int64_t rate = 0; rate < 2; rate++)
        for (int64_t limited = 0; limited < 2; limited++) {
            int64_t values[CONNECTION_COLUMNS];
            for (size_t i = 0; i < CONNECTION_COLUMNS; i++)
                values[i] = VALUE_ABSENT;
            info.tcpi_delivery_rate = (uint64_t)rate;
            info.tcpi_delivery_rate_app_limited = limited & 1;
            memcpy(message.info, &info, sizeof info);
            assert_true(connection_read(SOCK_DIAG_BY_FAMILY,
                                        (struct bytes){&message, sizeof message}, &read));
            connection_values(&read, values);
            assert_int_equal(values[CONNECTION_APP_LIMITED], rate ? limited : VALUE_ABSENT);
        }
}

/* Linux 4.8 reports nine numbers about a socket's memory; missing ones are absent. */
static void buffers_are_taken_as_far_as_they_were_told(void **state) {
    struct {
        struct inet_diag_msg head;
        struct nlattr attribute;
        uint32_t memory[SK_MEMINFO_DROPS + 1];
    } message = {.head = {.idiag_family = AF_INET, .idiag_state = 1},
                 .attribute = {.nla_type = INET_DIAG_SKMEMINFO},
                 .memory = {1, 131072, 3, 87040, 5, 70000, 7, 8, UINT32_MAX}};
    const size_t told[] = {9, 6, 5, 1, 0};
    (void)state;
    message.head.id.idiag_dport = htons(1);
    for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
        int64_t values[CONNECTION_COLUMNS];
        struct connection_message read;
        size_t size = sizeof message.attribute + told[i] * sizeof *message.memory;
        for (size_t k = 0; k < CONNECTION_COLUMNS; k++)
            values[k] = VALUE_ABSENT;
        message.attribute.nla_len = (uint16_t)size;
        assert_true(connection_read(SOCK_DIAG_BY_FAMILY,
                                    (struct bytes){&message, sizeof message.head + size}, &read));
        connection_values(&read, values);
        assert_int_equal(values[CONNECTION_RECEIVE_ROOM], told[i] > 1 ? 131072 : VALUE_ABSENT);
        assert_int_equal(values[CONNECTION_SEND_ROOM], told[i] > 3 ? 87040 : VALUE_ABSENT);
        assert_int_equal(values[CONNECTION_SEND_USED], told[i] > 5 ? 70000 : VALUE_ABSENT);
    }
}

static void the_longest_name_fits(void **state) {
    struct connection_message message = {.head = {.idiag_family = AF_INET6}};
    char name[INSTANCE_MAX + 1];
    (void)state;
    memset(&message.head.id, 0xfe, sizeof message.head.id);
    size_t size = connection_name(&message, name);
    assert_int_equal(size, strlen(name));
    assert_string_equal(name, "[fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe]:65278>"
                              "[fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe]:65278");
    struct qdisc_message qdisc = {.handle = 0xffff0000, .kind = "123456789012345"};
    assert_int_equal(qdisc_name(&qdisc, "fifteen_letters", name), 37);
}

/* ---- the table of connections ---- */

static void connections_come_and_go_for_ever(void **state) {
    struct connections *all = calloc(1, sizeof *all);
    (void)state;
    for (uint64_t sample = 1, cookie = 1; sample <= 50; sample++) {
        for (size_t i = 0; i < 1000; i++, cookie++)
            connections_add(all, cookie)->seen = sample;
        connections_keep(all, sample);
        assert_int_equal(all->n, 1000);
        assert_null(connections_find(all, cookie - 1001));
        assert_int_equal(connections_find(all, cookie - 1000)->cookie, cookie - 1000);
    }
    for (uint64_t i = 0; i < CONNECTIONS_MAX - 1000; i++)
        assert_non_null(connections_add(all, i << 40));
    assert_null(connections_add(all, 7)); /* full */
    assert_non_null(connections_find(all, 1000ull << 40));
    free(all);
}

/* ---- whose sockets ---- */

static void a_socket_belongs_to_the_rank_that_inherited_it(void **state) {
    const struct job_process processes[] = {
        {.pid = 70, .rank = -1}, {.pid = 71, .rank = 4}, {.pid = 72, .rank = -1}, {.pid = 73}};
    const struct owner_busy busy = {{0}};
    static struct owners owners;
    static struct job job;
    struct tree tree;
    (void)state;
    tree_make(&tree, NULL);
    run_command("mkdir -p %s/70/fd %s/71/fd", tree.path, tree.path);
    run_command("mkdir -p %s/72/fd; cd %s/70/fd; ln -s 'socket:[11]' 0; ln -s 'socket:[12]' 3",
                tree.path, tree.path);
    run_command("cd %s/71/fd; ln -s 'socket:[11]' 9; ln -s 'pipe:[13]' 4%s", tree.path, "");
    run_command("cd %s/72/fd; ln -s 'socket:[11]' 1; ln -s 'socket:[12]' 2; "
                "ln -s 'socket:[99999999999]' 5%s",
                tree.path, "");
    int fd = open(tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
        job_set(&job, i, &processes[i]);
    job_end(&job, ARRAY_SIZE(processes)); /* the last process has ended meanwhile */
    owners_forget(&owners);
    assert_int_equal(owners_look(&owners, fd, &job, 1, &busy), 0); /* one process at a time */
    assert_int_equal(owners_find(&owners, 11)->pid, 70);
    assert_int_equal(owners_look(&owners, fd, &job, 1, &busy), 0);
    assert_int_equal(owners_look(&owners, fd, &job, SIZE_MAX, &busy), 0);
    assert_int_equal(owners_look(&owners, fd, &job, SIZE_MAX, &busy), 0); /* no process is left */
    assert_int_equal(owners_find(&owners, 11)->pid, 71);
    assert_int_equal(owners_find(&owners, 11)->rank, 4);
    assert_int_equal(owners_find(&owners, 12)->pid, 72); /* no rank: the youngest */
    assert_null(owners_find(&owners, 13));
    assert_null(owners_find(&owners, 0));
    assert_int_equal(owners.n, 2);
    job_end(&job, 0);
    owners_forget(&owners);
    assert_int_equal(owners_look(&owners, fd, &job, SIZE_MAX, &busy), 0);
    assert_null(owners_find(&owners, 11));
    close(fd);
    tree_remove(&tree);
}

/* ---- this test's own connections ---- */

struct wire {
    int listener, client, server;
    char name[INSTANCE_MAX + 1]; /* name of the client's end */
};

static void wire_connect(struct wire *wire) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}, own;
    socklen_t size = sizeof at;
    wire->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(wire->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(wire->listener, 8), 0);
    getsockname(wire->listener, (struct sockaddr *)&at, &size);
    wire->client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(wire->client, (struct sockaddr *)&at, sizeof at), 0);
    wire->server = accept(wire->listener, NULL, NULL);
    getsockname(wire->client, (struct sockaddr *)&own, &size);
    snprintf(wire->name, sizeof wire->name, "127.0.0.1:%u>127.0.0.1:%u", ntohs(own.sin_port),
             ntohs(at.sin_port));
}

static void wire_send(struct wire *wire, size_t n) {
    char bytes[1000] = "";
    for (size_t left = n; left; left -= sizeof bytes) {
        assert_int_equal(write(wire->client, bytes, sizeof bytes), sizeof bytes);
        assert_int_equal(recv(wire->server, bytes, sizeof bytes, MSG_WAITALL), sizeof bytes);
    }
}

static void wire_close(struct wire *wire) {
    close(wire->client);
    close(wire->server);
    close(wire->listener);
}

/* The wire's client, in a dump or an answer. */
struct sought {
    const char *name;
    size_t n;
    struct connection_message message;
};

static void take_sought(void *ctx, unsigned type, struct bytes payload) {
    struct sought *sought = ctx;
    struct connection_message message;
    char name[INSTANCE_MAX + 1];
    if (!connection_read(type, payload, &message))
        return;
    connection_name(&message, name);
    if (strcmp(name, sought->name) != 0)
        return;
    sought->message = message;
    sought->n++;
}

static void a_known_connection_answers_by_its_cookie_alone(void **state) {
    static struct connections all;
    struct netlink ask;
    struct wire wire;
    (void)state;
    if (netlink_open(&ask, NETLINK_SOCK_DIAG) < 0)
        skip();
    wire_connect(&wire);
    struct inet_diag_req request = {.idiag_states = UINT32_MAX};
    struct sought sought = {.name = wire.name};
    if (netlink_dump(&ask, TCPDIAG_GETSOCK, &request, sizeof request, take_sought, &sought) < 0)
        skip();
    assert_int_equal(sought.n, 1);
    for (int i = 0; i < 100; i++) { /* more than fit in one question; only one of them exists */
        struct connection *connection =
            connections_add(&all, sought.message.cookie + (uint64_t)i * 1000000);
        connection->id = sought.message.head.id;
        connection->id.idiag_cookie[0] += i == 70 ? 0 : 1;
        connection->family = AF_INET;
        connection->pid = 1;
    }
    sought.n = 0;
    assert_int_equal(connections_ask(&ask, &all, SIZE_MAX, take_sought, &sought), 0);
    assert_int_equal(sought.n, 1);
    assert_true(sought.message.info.size > 0 && sought.message.buffers.size > 0);
    assert_int_equal(connections_ask(&ask, &all, 70, take_sought, &sought), 0);
    assert_int_equal(sought.n, 1);
    assert_int_equal(connections_ask(&ask, &all, 71, take_sought, &sought), 0);
    assert_int_equal(sought.n, 2);
    wire_close(&wire);
    netlink_close(&ask);
}

static bool opens_of(const char *text, uint64_t *ret_opens) {
    char *exact = malloc(strlen(text)); /* so that a sanitizer sees reads beyond it */
    memcpy(exact, text, strlen(text));
    bool known = connection_read_opens(exact, strlen(text), ret_opens);
    free(exact);
    return known;
}

static void connections_opened_are_counted_in_both_directions(void **state) {
    uint64_t opens = 0;
    (void)state;
    assert_true(opens_of("Ip: Forwarding\nIp: 2\nTcp: MaxConn ActiveOpens PassiveOpens InSegs\n"
                         "Tcp: -1 300 21 7\nUdp: InDatagrams\nUdp: 1\n",
                         &opens));
    assert_int_equal(opens, 321);
    assert_false(opens_of("", &opens));
    assert_false(opens_of("Tcp: ActiveOpens PassiveOpens\n", &opens));
    assert_false(opens_of("Tcp: ActiveOpens PassiveOpens\nUdp: 1 2\n", &opens));
    assert_false(opens_of("Tcp: ActiveOpens PassiveOpens\nTcp: 1\n", &opens));
    assert_false(opens_of("Tcp: ActiveOpens PassiveOpens\nTcp: 1 x\n", &opens));
    assert_false(opens_of("Tcp: ActiveOpens InSegs\nTcp: 1 2\n", &opens));
}

/* Starts the probe with this process as the job's rank 5. */
static void start(struct harness *h) {
    struct job_process self = {.pid = getpid(), .rank = 5};
    assert_int_equal(harness_init(h, "", SCOPE_HOST), 0);
    h->env.run_token_id = "r";
    job_set(&h->job, 0, &self);
    job_end(&h->job, 1);
    if (harness_open(h, &probe_connection) == PROBE_ABSENT) {
        print_message("%s\n", h->why);
        skip();
    }
    assert_int_equal(h->opened, 0);
    assert_int_equal(harness_sample(h), 0);
}

/* Samples until the row shows that state: the kernel takes a while to report the end of a
 * connection.
 */
static void await_state(struct harness *h, const char *name, int64_t connection_state) {
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(harness_sample(h), 0);
        if (harness_value(h, name, "state") == connection_state)
            return;
        usleep(1000);
    }
    fail_msg("%s never had state %d", name, (int)connection_state);
}

static void a_connection_of_the_job_is_seen_from_birth_to_end(void **state) {
    static struct harness h;
    struct wire wire;
    (void)state;
    start(&h);
    wire_connect(&wire);
    wire_send(&wire, 50000);
    assert_int_equal(harness_sample(&h), 0);
    expect(&h, wire.name, "send_bytes", 50001);
    expect(&h, wire.name, "rank", 5);
    expect(&h, wire.name, "pid", getpid());
    expect(&h, wire.name, "connections", 1);
    assert_true(harness_row(&h, wire.name)->flags & ROW_BORN);
    wire_send(&wire, 7000);
    assert_int_equal(harness_sample(&h), 0);
    expect(&h, wire.name, "send_bytes", 57001);
    assert_false(harness_row(&h, wire.name)->flags & ROW_BORN);
    wire_send(&wire, 3000);
    wire_close(&wire);
    await_state(&h, wire.name, STATE_CLOSE);
    assert_in_range(harness_value(&h, wire.name, "send_bytes"), 60000, 60002);
    expect(&h, wire.name, "rank", 5);
    assert_int_equal(harness_sample(&h), 0);
    assert_null(harness_row(&h, wire.name));
    harness_close(&h);
}

/* The process has as many files open as before. */
static void a_connection_in_the_place_of_another_gets_its_process(void **state) {
    static struct harness h;
    struct wire wire, next;
    bool found = false;
    (void)state;
    wire_connect(&wire);
    start(&h);
    expect(&h, wire.name, "pid", getpid());
    assert_int_equal(harness_sample(&h), 0); /* a round over its files begins, and is done */
    wire_close(&wire);
    wire_connect(&next);
    for (int i = 0; i < 4 && !found; i++) {
        assert_int_equal(harness_sample(&h), 0);
        found = harness_row(&h, next.name) != NULL;
    }
    assert_true(found);
    wire_close(&next);
    harness_close(&h);
}

static void the_buffers_are_those_the_program_asked_for(void **state) {
    static struct harness h;
    struct wire wire;
    int asked = 30000, sending, receiving;
    socklen_t size = sizeof sending;
    (void)state;
    start(&h);
    wire_connect(&wire);
    setsockopt(wire.client, SOL_SOCKET, SO_SNDBUF, &asked, sizeof asked);
    getsockopt(wire.client, SOL_SOCKET, SO_SNDBUF, &sending, &size);
    getsockopt(wire.client, SOL_SOCKET, SO_RCVBUF, &receiving, &size);
    assert_int_equal(harness_sample(&h), 0);
    expect(&h, wire.name, "send_buffer_bytes", sending);
    expect(&h, wire.name, "receive_buffer_bytes", receiving);
    expect(&h, wire.name, "send_buffer_used_bytes", 0);
    wire_close(&wire);
    harness_close(&h);
}

static void what_was_there_before_is_not_born(void **state) {
    static struct harness h;
    struct wire wire;
    (void)state;
    wire_connect(&wire);
    wire_send(&wire, 1000);
    start(&h);
    expect(&h, wire.name, "send_bytes", 1001);
    assert_false(harness_row(&h, wire.name)->flags & ROW_BORN);
    wire_close(&wire);
    harness_close(&h);
}

static void what_came_and_went_unseen_is_added_up(void **state) {
    static struct harness h;
    struct wire wire;
    (void)state;
    start(&h);
    int64_t before = harness_value(&h, "ended unseen", "send_bytes");
    before = before == HARNESS_NO_ROW ? 0 : before;
    wire_connect(&wire);
    wire_send(&wire, 400000);
    wire_close(&wire);
    int64_t grown = 0;
    for (int i = 0; i < 1000 && grown < 400000; i++) {
        usleep(1000);
        assert_int_equal(harness_sample(&h), 0);
        int64_t now = harness_value(&h, "ended unseen", "send_bytes");
        grown = now == HARNESS_NO_ROW ? 0 : now - before;
    }
    assert_in_range(grown, 400000, 800000); /* other programs' connections may have ended, too */
    expect_absent(&h, "ended unseen", "pid");
    harness_close(&h);
}

/* Its process had closed it before its owner could be found, and it still had data to deliver. */
static void what_was_only_seen_as_an_orphan_is_added_up_too(void **state) {
    static struct harness h;
    struct wire wire;
    char bytes[30000] = "";
    (void)state;
    start(&h);
    wire_connect(&wire);
    assert_int_equal(write(wire.client, bytes, sizeof bytes), sizeof bytes);
    close(wire.client);
    assert_int_equal(harness_sample(&h), 0);
    assert_null(harness_row(&h, wire.name));
    int64_t before = harness_value(&h, "ended unseen", "send_bytes"), now = before;
    before = before == HARNESS_NO_ROW ? 0 : before;
    close(wire.server); /* it has unread data, so closing resets it */
    for (int i = 0; i < 1000 && (now == HARNESS_NO_ROW || now < before + 30000); i++) {
        usleep(1000);
        assert_int_equal(harness_sample(&h), 0);
        now = harness_value(&h, "ended unseen", "send_bytes");
    }
    assert_true(now >= before + 30000);
    close(wire.listener);
    harness_close(&h);
}

static void a_connection_of_others_is_nobodys(void **state) {
    static struct harness h;
    struct wire wire;
    (void)state;
    start(&h);
    job_end(&h.job, 0); /* this process left the job */
    wire_connect(&wire);
    assert_int_equal(harness_sample(&h), 0);
    assert_null(harness_row(&h, wire.name));
    struct job_process self = {.pid = getpid(), .rank = -1};
    job_set(&h.job, 0, &self);
    job_end(&h.job, 1);
    assert_int_equal(harness_sample(&h), 0); /* it came back, without a rank */
    expect(&h, wire.name, "pid", getpid());
    expect_absent(&h, wire.name, "rank");
    wire_close(&wire);
    harness_close(&h);
}

/* As if handed over: the number of processes is the same, and nothing was opened. The job had no
 * connection before, so that rounds are long. */
static void a_socket_handed_to_the_job_becomes_its_within_two_rounds(void **state) {
    static struct harness h;
    struct wire wire;
    (void)state;
    start(&h);
    struct job_process other = {.pid = getppid(), .rank = -1}, self = h.job.processes[0];
    job_set(&h.job, 0, &other);
    job_end(&h.job, 1);
    wire_connect(&wire);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(harness_sample(&h), 0);
        assert_null(harness_row(&h, wire.name));
    }
    h.job.processes[0] = self;
    int samples = 0;
    for (; samples < 128 && !harness_row(&h, wire.name); samples++)
        assert_int_equal(harness_sample(&h), 0);
    expect(&h, wire.name, "pid", getpid());
    wire_close(&wire);
    harness_close(&h);
}

static void without_a_job_there_is_nothing_to_look_at(void **state) {
    static struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_connection), PROBE_ABSENT);
    assert_non_null(strstr(h.why, "CHOKEPOINT_RUN"));
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorded_dump_has_its_connections),
        cmocka_unit_test(the_end_of_a_connection_tells_its_last_figures),
        cmocka_unit_test(a_recorded_dump_has_its_queues),
        cmocka_unit_test(no_cut_of_a_dump_reads_beyond_it),
        cmocka_unit_test(no_changed_byte_reads_beyond_the_dump),
        cmocka_unit_test(an_attribute_may_not_claim_more_than_there_is),
        cmocka_unit_test(an_answer_to_another_question_is_skipped),
        cmocka_unit_test(the_kernels_refusal_is_an_error),
        cmocka_unit_test(an_older_kernel_says_less),
        cmocka_unit_test(a_rate_says_whose_it_is),
        cmocka_unit_test(buffers_are_taken_as_far_as_they_were_told),
        cmocka_unit_test(the_longest_name_fits),
        cmocka_unit_test(connections_come_and_go_for_ever),
        cmocka_unit_test(a_socket_belongs_to_the_rank_that_inherited_it),
        cmocka_unit_test(a_known_connection_answers_by_its_cookie_alone),
        cmocka_unit_test(connections_opened_are_counted_in_both_directions),
        cmocka_unit_test(a_connection_of_the_job_is_seen_from_birth_to_end),
        cmocka_unit_test(a_connection_in_the_place_of_another_gets_its_process),
        cmocka_unit_test(the_buffers_are_those_the_program_asked_for),
        cmocka_unit_test(what_was_there_before_is_not_born),
        cmocka_unit_test(what_came_and_went_unseen_is_added_up),
        cmocka_unit_test(what_was_only_seen_as_an_orphan_is_added_up_too),
        cmocka_unit_test(a_connection_of_others_is_nobodys),
        cmocka_unit_test(a_socket_handed_to_the_job_becomes_its_within_two_rounds),
        cmocka_unit_test(without_a_job_there_is_nothing_to_look_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
