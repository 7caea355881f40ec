/* SPDX-License-Identifier: MIT */
/*
 * make-seeds DIR: valid inputs for targets whose bytes are structs and packets, so that a fuzzer
 * starts behind the first checks: DIR/fuzz_calls, fuzz_flow, fuzz_datagrams and fuzz_stream. They
 * are made anew each time, since the structs are those of this version.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/push/stream.h"
#include "agent/shim/calls.h"
#include "common/buffer.h"
#include "common/error.h"

static int keep(const char *dir, const char *target, const char *name, struct buffer *seed) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", dir, target, name);
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(seed->data, 1, seed->size, file) == seed->size;
    int r = file && fclose(file) == 0 && written && !seed->error ? 0 : -EIO;
    if (r < 0)
        perror(path);
    buffer_release(seed);
    return r;
}

/* ---- a rank's file: 200 bytes over its header, then what lies over totals and records ---- */

#define CALLS_HEAD 200

/* No byte of the header is overwritten; that many records, rank 1 of 4. */
static void put_calls_head(struct buffer *to, uint8_t records) {
    uint8_t head[CALLS_HEAD] = {0, 0, records, 0, 1, 0, 0, 0, 4};
    buffer_put(to, head, sizeof head);
}

static void put_record(struct buffer *to, uint64_t at, uint16_t function, uint16_t flags,
                       int32_t tag) {
    int64_t begin_ns = 1000000 + (int64_t)at * 500000;
    struct call_record record = {.sequence = at + 1,
                                 .function = function,
                                 .flags = flags,
                                 .comm = at & 1 ? CALL_COMM_WORLD : 77,
                                 .peer = (int32_t)(at % 4),
                                 .tag = tag,
                                 .bytes = 4096,
                                 .enter_ns = begin_ns,
                                 .exit_ns = begin_ns + 200000,
                                 .cpu_us = 100,
                                 .gap_cpu_us = 50,
                                 .site_offset = 64,
                                 .site_module = 3,
                                 .thread = (uint16_t)(at & 1)};
    buffer_put(to, &record, sizeof record);
}

/* Every function once; every flag separately; the same again, folded. */
static int make_calls(const char *dir) {
    struct buffer functions = {0}, flags = {0}, totals = {0};
    put_calls_head(&functions, CALL_COUNT);
    for (uint16_t i = 0; i < CALL_COUNT; i++)
        put_record(&functions, i, i, CALL_HAS_CPU | CALL_HAS_GAP_CPU, 0);
    put_calls_head(&flags, 24);
    for (uint16_t i = 0; i < 24; i++)
        put_record(&flags, i, (uint16_t)(2 + i), (uint16_t)(1U << i % 12),
                   i < 12 ? CALL_NO_TAG : 5);
    put_calls_head(&totals, 0);
    for (uint64_t i = 0; i < CALL_COUNT; i++) {
        struct call_total total = {i, i * 1000, i * 500, i * 250, i * 4096, i * 8192, 0, 0};
        buffer_put(&totals, &total, sizeof total);
    }
    int r = keep(dir, "fuzz_calls", "functions", &functions);
    r = keep(dir, "fuzz_calls", "flags", &flags) < 0 ? -EIO : r;
    return keep(dir, "fuzz_calls", "totals", &totals) < 0 ? -EIO : r;
}

/* ---- packets: a length, a byte of interface, protocol and direction, so many bytes ---- */

enum { IPV4 = 0, IPV6 = 1, ARP = 2, LLDP = 3 };

static void put_packet(struct buffer *to, unsigned protocol, bool sent, const uint8_t *bytes,
                       uint8_t size) {
    uint8_t head[2] = {size, (uint8_t)(0x10 | protocol << 1 | sent)};
    buffer_put(to, head, 2);
    buffer_put(to, bytes, size);
}

static void put_ipv4(struct buffer *to, bool sent, uint8_t transport, uint8_t last_byte) {
    uint8_t packet[40] = {0x45, 0, 0, 40, 0,  1, 0x40, 0,         64,   transport, 0,    0,
                          10,   0, 0, 1,  10, 0, 0,    last_byte, 0x1f, 0x90,      0xc0, 1};
    put_packet(to, IPV4, sent, packet, sizeof packet);
}

static void put_ipv6(struct buffer *to, bool sent, uint8_t next, uint8_t last_byte) {
    uint8_t packet[60] = {0x60, 0, 0, 0, 0, 20, next, 64, 0xfe, 0x80};
    packet[23] = 1;
    packet[24] = 0xfe;
    packet[25] = 0x80;
    packet[39] = last_byte;
    put_packet(to, IPV6, sent, packet, sizeof packet);
}

static int make_flow(const char *dir) {
    static const uint8_t transports[] = {1, 6, 17, 0, 44, 58};
    static const uint8_t request[28] = {0, 1, 8, 0, 6, 4, 0, 1};
    struct buffer few = {0}, many = {0};
    for (size_t i = 0; i < ARRAY_SIZE(transports); i++) {
        put_ipv4(&few, i & 1, transports[i], 2);
        put_ipv6(&few, i & 1, transports[i], 2);
    }
    put_packet(&few, ARP, true, request, sizeof request);
    put_packet(&few, LLDP, false, request, sizeof request);
    put_packet(&few, IPV4, false, request, 3);
    for (unsigned i = 0; i < 250; i++) {
        put_ipv4(&many, i & 1, 6, (uint8_t)i);
        put_ipv6(&many, i & 1, 17, (uint8_t)i);
    }
    int r = keep(dir, "fuzz_flow", "few", &few);
    return keep(dir, "fuzz_flow", "many", &many) < 0 ? -EIO : r;
}

/* ---- datagrams: what is done and to which end, and 40 bytes ---- */

enum { TO_SERVER = 0, TO_CLIENT = 1, CLIENT_ASKS = 2, SERVER_CALLS = 3, WRONG_KEY = 4, RAW = 8 };
enum { ASK = 1, TELL = 2, CALL = 3 };

static void put_datagram(struct buffer *to, uint8_t what, uint8_t kind, uint64_t id, int64_t ns) {
    uint8_t piece[42] = {what, kind};
    int64_t replied_ns = ns + 1000;
    memcpy(piece + 2, &id, 8);
    memcpy(piece + 10, &ns, 8);
    memcpy(piece + 18, &replied_ns, 8);
    buffer_put(to, piece, sizeof piece);
}

static int make_datagrams(const char *dir) {
    struct buffer good = {0}, wrong = {0};
    for (uint64_t i = 1; i <= 6; i++) {
        put_datagram(&good, TO_SERVER, ASK, i, 0);
        put_datagram(&good, CLIENT_ASKS, 3, 0, 0);
        put_datagram(&good, TO_CLIENT, (uint8_t)(TELL | i << 2), i, (int64_t)i * 1000000);
        put_datagram(&good, SERVER_CALLS, 0, 0, 0);
        put_datagram(&good, TO_CLIENT, CALL, i, 0);
    }
    for (uint64_t i = 1; i <= 3; i++) {
        put_datagram(&wrong, TO_SERVER | WRONG_KEY, ASK, i, 0);
        put_datagram(&wrong, TO_CLIENT | WRONG_KEY, TELL, i, 1000);
        put_datagram(&wrong, TO_SERVER, TELL, i, 1000);
        put_datagram(&wrong, TO_SERVER | RAW, 40, i, 1000);
        put_datagram(&wrong, TO_CLIENT | RAW, 49, i, 1000);
    }
    int r = keep(dir, "fuzz_datagrams", "good", &good);
    return keep(dir, "fuzz_datagrams", "wrong", &wrong) < 0 ? -EIO : r;
}

/* ---- a request of a delivered agent, and an answer to it ---- */

static int make_stream(const char *dir) {
    struct buffer request, answer, body;
    buffer_init(&request);
    buffer_init(&answer);
    buffer_init(&body);
    buffer_put(&body, "frames", 6);
    const struct push_request push = {.body = &body, .clock = "12 -3 4", .final = true};
    const struct push_answer text = {
        .status = 200, .address = "10.0.0.1", .port = 7, .text = "committed 5\nstop 0\n"};
    int r = stream_put_request(&request, 1, &push);
    buffer_put(&request, body.data, body.size);
    if (r == 0)
        r = stream_put_answer(&answer, 1, &text);
    buffer_release(&body);
    int kept = keep(dir, "fuzz_stream", "request", &request);
    kept |= keep(dir, "fuzz_stream", "answer", &answer);
    return r ? r : kept;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: make-seeds DIR\n", stderr);
        return 2;
    }
    bool good = make_calls(argv[1]) == 0;
    good &= make_flow(argv[1]) == 0;
    good &= make_datagrams(argv[1]) == 0;
    good &= make_stream(argv[1]) == 0;
    return good ? 0 : 1;
}
