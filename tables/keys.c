/* SPDX-License-Identifier: MIT */
#include "tables/keys.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/rows.h"

#define PROTOCOL_ARP 0x0806

enum key_form key_form_of(enum table_id table) {
    static const enum key_form forms[TABLES_KNOWN] = {
#define KEY(ID, form) [TABLE_##ID] = KEY_##form,
#include "tables/tables.def"
    };
    return forms[table] ? forms[table] : KEY_WORD;
}

/* ---- writing: by hand, since agents do it for each row ---- */

#define NUMBER_SIZE 24
#define WORD(literal) ((struct span){literal, sizeof(literal) - 1})
#define JOIN(text, ...)                                                                            \
    join(text, (const struct span[]){__VA_ARGS__}, ARRAY_SIZE(((const struct span[]){__VA_ARGS__})))

static size_t join(char text[INSTANCE_MAX + 1], const struct span *pieces, size_t n) {
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        size_t room = INSTANCE_MAX - size, more = pieces[i].size < room ? pieces[i].size : room;
        if (more)
            memcpy(text + size, pieces[i].data, more);
        size += more;
    }
    text[size] = '\0';
    return size;
}

const char *key_address_write(const struct key_address *address, char text[KEY_ADDRESS_SIZE]) {
    text[0] = '\0';
    inet_ntop(address->family, address->bytes, text, KEY_ADDRESS_SIZE);
    return text;
}

/* Writes a number so that it ends at `end`. */
static struct span write_number(int64_t number, char *end) {
    char *at = end;
    uint64_t rest = (uint64_t)number;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    return (struct span){at, (size_t)(end - at)};
}

static struct span write_id(int64_t pid, char text[NUMBER_SIZE]) {
    if (pid == KEY_NO_ID || pid == KEY_ENDED)
        return pid == KEY_ENDED ? WORD("[ended]") : WORD("");
    struct span digits = write_number(pid, text + NUMBER_SIZE - 1);
    text[NUMBER_SIZE - 1] = ']';
    text[NUMBER_SIZE - 2 - digits.size] = '[';
    return (struct span){digits.data - 1, digits.size + 2};
}

static struct span write_end(const struct key_end *end, char text[INSTANCE_MAX + 1]) {
    char address[KEY_ADDRESS_SIZE], port[NUMBER_SIZE];
    bool six = end->address.family == AF_INET6;
    size_t size =
        JOIN(text, six ? WORD("[") : WORD(""), text_span(key_address_write(&end->address, address)),
             six ? WORD("]:") : WORD(":"), write_number(end->port, port + NUMBER_SIZE));
    return (struct span){text, size};
}

static size_t write_flow(const struct table_key *key, char *text) {
    char own[KEY_ADDRESS_SIZE], other[KEY_ADDRESS_SIZE], protocol[NUMBER_SIZE] = "arp";
    if (key->ends[0].address.family)
        return JOIN(text, key->interface, WORD(" "),
                    text_span(key_address_write(&key->ends[0].address, own)), WORD(" "),
                    text_span(key_address_write(&key->ends[1].address, other)));
    if (key->protocol != PROTOCOL_ARP)
        snprintf(protocol, sizeof protocol, "protocol 0x%04x", key->protocol);
    return JOIN(text, key->interface, WORD(" "), text_span(protocol));
}

size_t key_write(const struct table_key *key, char text[INSTANCE_MAX + 1]) {
    char number[NUMBER_SIZE], id[NUMBER_SIZE], own[INSTANCE_MAX + 1], other[INSTANCE_MAX + 1];
    switch (key->form) {
    case KEY_CORE:
        return key->core == KEY_ALL_CORES
                   ? JOIN(text, WORD(KEY_ALL_CORES_NAME))
                   : JOIN(text, WORD("cpu"), write_number(key->core, number + NUMBER_SIZE));
    case KEY_PROCESS:
        return JOIN(text, key->process.program, write_id(key->process.pid, id));
    case KEY_RANK:
        return JOIN(text, WORD("rank "), write_number(key->rank, number + NUMBER_SIZE),
                    key->pid == KEY_NO_ID ? WORD("") : WORD(" "), write_id(key->pid, id),
                    key->function.size ? WORD(" ") : WORD(""), key->function);
    case KEY_CONNECTION:
        return JOIN(text, write_end(&key->ends[0], own), WORD(">"),
                    write_end(&key->ends[1], other));
    case KEY_FLOW:
        return write_flow(key, text);
    case KEY_QUEUE:
        return JOIN(text, key->interface, WORD(" "), key->kind, WORD(" "), key->place);
    case KEY_PAIR:
        return JOIN(text, key->process.program, write_id(key->process.pid, id), WORD(" < "),
                    key->waker.program, write_id(key->waker.pid, number), WORD(" "), key->reason);
    case KEY_OPERATION:
        return JOIN(text, key->export, WORD(" "), key->operation);
    case KEY_GPU_PROCESS:
        return JOIN(text, key->gpu, WORD(" "), key->process.program,
                    write_id(key->process.pid, id));
    default:
        text[0] = '\0';
        return 0;
    }
}

struct row *rows_append_key(struct rows *rows, const struct table_key *key) {
    char name[INSTANCE_MAX + 1];
    size_t size = key_write(key, name);
    return rows_append(rows, name, size);
}

/* ---- reading: readers need not look for mistakes, since the key is written again ---- */

/* Cuts the part before the separator at `at` off the text, and the separator. Without a separator
 * cuts all. */
static struct span cut_at(struct span *text, const char *at, size_t size) {
    struct span before = {text->data, at ? (size_t)(at - text->data) : text->size};
    size_t gone = at ? before.size + size : before.size;
    *text = (struct span){text->data + gone, text->size - gone};
    return before;
}

static struct span cut(struct span *text, const char *separator) {
    size_t size = strlen(separator);
    return cut_at(text, memmem(text->data, text->size, separator, size), size);
}

static struct span cut_last(struct span *text, char separator) {
    return cut_at(text, memrchr(text->data, separator, text->size), 1);
}

/* Reads the digits at the beginning; 0: there are none, -1: too large. */
static int64_t read_number(struct span text) {
    long long number = strtoll(text.data, NULL, 10);
    return number < 0 || number > INT32_MAX ? -1 : number;
}

static struct key_process read_process(struct span text) {
    struct key_process process = {text, KEY_NO_ID};
    if (!text.size || text.data[text.size - 1] != ']')
        return process;
    process.program = cut_last(&text, '[');
    process.pid = read_number(text); /* KEY_ENDED if there are no digits */
    return process;
}

static void read_rank(struct span text, struct table_key *key) {
    cut(&text, " ");
    key->rank = read_number(cut(&text, " "));
    key->pid = KEY_NO_ID;
    if (span_starts(text, "["))
        key->pid = read_process(cut(&text, " ")).pid;
    key->function = text;
}

static struct key_address read_address(struct span text, int family) {
    struct key_address address = {.family = (uint16_t)family};
    char copy[KEY_ADDRESS_SIZE];
    snprintf(copy, sizeof copy, "%.*s", (int)text.size, text.data);
    return inet_pton(family, copy, address.bytes) == 1 ? address : (struct key_address){0};
}

static struct key_end read_end(struct span text) {
    struct span address = cut_last(&text, ':');
    bool six = address.size > 2 && address.data[0] == '[';
    if (six)
        address = (struct span){address.data + 1, address.size - 2};
    return (struct key_end){read_address(address, six ? AF_INET6 : AF_INET),
                            (uint16_t)read_number(text)};
}

static void read_flow(struct span text, struct table_key *key) {
    key->interface = cut(&text, " ");
    struct span own = cut(&text, " ");
    int family = memchr(own.data, ':', own.size) ? AF_INET6 : AF_INET;
    key->ends[0].address = read_address(own, family);
    key->ends[1].address = read_address(text, family);
    if (!key->ends[0].address.family)
        key->protocol = text.size ? (uint16_t)strtoul(text.data, NULL, 16) : PROTOCOL_ARP;
}

static void read_pair(struct span text, struct table_key *key) {
    key->process = read_process(cut(&text, " < "));
    if (memmem(text.data, text.size, " < ", 3))
        key->form = KEY_UNKNOWN; /* two readings are possible */
    key->waker = read_process(cut_last(&text, ' '));
    key->reason = text;
}

static struct table_key read_text(enum key_form form, struct span text) {
    struct table_key key = {.form = form};
    if (form == KEY_CORE) {
        key.core = span_equal(text, KEY_ALL_CORES_NAME) ? KEY_ALL_CORES
                                                        : (cut(&text, "u"), read_number(text));
    } else if (form == KEY_PROCESS) {
        key.process = read_process(text);
    } else if (form == KEY_RANK) {
        read_rank(text, &key);
    } else if (form == KEY_CONNECTION) {
        key.ends[0] = read_end(cut(&text, ">"));
        key.ends[1] = read_end(text);
    } else if (form == KEY_FLOW) {
        read_flow(text, &key);
    } else if (form == KEY_QUEUE) {
        key.interface = cut(&text, " ");
        key.kind = cut(&text, " ");
        key.place = text;
    } else if (form == KEY_PAIR) {
        read_pair(text, &key);
    } else if (form == KEY_OPERATION) {
        key.export = cut_last(&text, ' ');
        key.operation = text;
    } else if (form == KEY_GPU_PROCESS) {
        key.gpu = cut(&text, " ");
        key.process = read_process(text);
    }
    return key;
}

struct table_key key_read(enum key_form form, const char *text) {
    struct table_key key = read_text(form, text_span(text));
    char again[INSTANCE_MAX + 1];
    if (form == KEY_WORD)
        return key;
    bool whole =
        key_write(&key, again) && strcmp(again, text) == 0 &&
        (form != KEY_CONNECTION || (key.ends[0].address.family && key.ends[1].address.family));
    return whole ? key : (struct table_key){.form = KEY_UNKNOWN};
}

/* ---- addresses ---- */

struct key_address key_address_of(int family, const void *bytes) {
    struct key_address address = {.family = (uint16_t)family};
    memcpy(address.bytes, bytes, family == AF_INET6 ? 16 : 4);
    return address;
}

struct key_end key_end_of(int family, const void *address, uint16_t port) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool four = family == AF_INET6 && memcmp(address, mapped, sizeof mapped) == 0;
    return (struct key_end){four ? key_address_of(AF_INET, (const uint8_t *)address + sizeof mapped)
                                 : key_address_of(family, address),
                            port};
}

bool key_address_is_loopback(const struct key_address *address) {
    static const uint8_t six[16] = {[15] = 1};
    return address->family == AF_INET6 ? memcmp(address->bytes, six, sizeof six) == 0
                                       : address->bytes[0] == 127;
}

bool key_address_is_shared(const struct key_address *address) {
    const uint8_t *bytes = address->bytes;
    return address->family == AF_INET6 ? bytes[0] == 0xff
                                       : (bytes[0] & 0xf0) == 224 || bytes[3] == 255;
}

int key_compare_ends(const struct table_key *a, const struct table_key *b) {
    return memcmp(a->ends, b->ends, sizeof a->ends);
}

struct table_key key_mirror(const struct table_key *connection) {
    return (struct table_key){.form = connection->form,
                              .ends = {connection->ends[1], connection->ends[0]}};
}

/* ---- processes ---- */

bool key_same_program(const struct table_key *a, const struct table_key *b) {
    struct span one = a->process.program, other = b->process.program;
    return a->form == KEY_PROCESS && b->form == KEY_PROCESS && one.size == other.size &&
           memcmp(one.data, other.data, one.size) == 0;
}

/* The kernel keeps 15 bytes of a name. */
bool key_is_name_server(const struct table_key *pair) {
    static const char *const servers[] = {KEY_NAME_SERVER, "nscd", "systemd-resolve"};
    bool is = false;
    for (size_t i = 0; pair->form == KEY_PAIR && i < ARRAY_SIZE(servers); i++)
        is |= span_equal(pair->waker.program, servers[i]);
    return is;
}
