/* SPDX-License-Identifier: MIT */
#include "agent/push/stream.h"

#include <string.h>

#include "common/crc32c.h"
#include "common/error.h"

#define REQUEST_MAGIC 0x51525043u /* "CPRQ" */
#define ANSWER_MAGIC 0x4e415043u  /* "CPAN" */
#define CRC_AT 20
#define FINAL 1

static uint32_t get_u32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get_u64(const uint8_t *p) {
    return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

static uint32_t checksum(const uint8_t *record, size_t size, const void *rest, size_t rest_size) {
    uint32_t crc = crc32c(0, record, CRC_AT);
    crc = crc32c(crc, record + STREAM_HEAD_SIZE, size - STREAM_HEAD_SIZE);
    return crc32c(crc, rest, rest_size);
}

/* A head with the numbers a and b, 32 bits each, between magic and number. */
static size_t put_head(struct buffer *to, uint32_t magic, uint32_t a, uint32_t b, uint64_t number) {
    size_t at = to->size;
    buffer_put_u32le(to, magic);
    buffer_put_u32le(to, a);
    buffer_put_u32le(to, b);
    buffer_put_u64le(to, number);
    buffer_put_u32le(to, 0);
    return at;
}

static int seal(struct buffer *to, size_t at, const void *rest, size_t rest_size) {
    if (to->error)
        return to->error;
    uint32_t crc = checksum(to->data + at, to->size - at, rest, rest_size);
    for (size_t i = 0; i < 4; i++)
        to->data[at + CRC_AT + i] = (uint8_t)(crc >> 8 * i);
    return 0;
}

/* Checks what all records have in common; *ret_size is the size of the whole record. */
static int check(const uint8_t *data, size_t size, size_t parts, size_t *ret_size) {
    *ret_size = STREAM_HEAD_SIZE + parts;
    if (size < *ret_size)
        return STREAM_MORE;
    return checksum(data, *ret_size, NULL, 0) == get_u32(data + CRC_AT) ? 0 : -EBADMSG;
}

/* ---- requests ---- */

int stream_put_request(struct buffer *to, uint64_t number, const struct push_request *request) {
    size_t clock = request->clock ? strlen(request->clock) : 0;
    const struct buffer *body = request->body;
    if (body->size > SPOOL_BODY_MAX)
        return -EMSGSIZE;
    if (clock > STREAM_CLOCK_MAX)
        return -EINVAL;
    uint32_t flags = (request->final ? FINAL : 0) | (uint32_t)clock << 8;
    size_t at = put_head(to, REQUEST_MAGIC, flags, (uint32_t)body->size, number);
    buffer_put(to, request->clock, clock);
    return seal(to, at, body->data, body->size);
}

/* The text becomes the value of an HTTP header. */
static bool take_clock(const uint8_t *text, size_t size, char *ret_clock) {
    for (size_t i = 0; i < size; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && text[i] != '-' && text[i] != ' ')
            return false;
    memcpy(ret_clock, text, size);
    ret_clock[size] = '\0';
    return true;
}

int stream_read_request(const uint8_t *data, size_t size, struct stream_request *ret_request,
                        size_t *ret_size) {
    *ret_size = STREAM_HEAD_SIZE;
    if (size < STREAM_HEAD_SIZE)
        return STREAM_MORE;
    uint32_t flags = get_u32(data + 4);
    size_t clock = flags >> 8, body = get_u32(data + 8);
    if (get_u32(data) != REQUEST_MAGIC || (flags & 0xff) > FINAL || clock > STREAM_CLOCK_MAX ||
        body > SPOOL_BODY_MAX)
        return -EBADMSG;
    int r = check(data, size, clock + body, ret_size);
    if (r)
        return r;
    *ret_request = (struct stream_request){.number = get_u64(data + 12),
                                           .final = flags & FINAL,
                                           .body = data + STREAM_HEAD_SIZE + clock,
                                           .body_size = body};
    return take_clock(data + STREAM_HEAD_SIZE, clock, ret_request->clock) ? 0 : -EBADMSG;
}

/* ---- answers ---- */

int stream_put_answer(struct buffer *to, uint64_t number, const struct push_answer *answer) {
    size_t address = strlen(answer->address), why = strlen(answer->why),
           text = strlen(answer->text);
    uint32_t status = answer->status > 0 && answer->status < 1000 ? (uint32_t)answer->status : 0;
    size_t at = put_head(to, ANSWER_MAGIC, status | (uint32_t)answer->port << 16,
                         (uint32_t)(address | why << 8 | text << 16), number);
    buffer_put(to, answer->address, address);
    buffer_put(to, answer->why, why);
    buffer_put(to, answer->text, text);
    return seal(to, at, NULL, 0);
}

static void take_text(char *to, const uint8_t **from, size_t size) {
    memcpy(to, *from, size);
    to[size] = '\0';
    *from += size;
}

int stream_read_answer(const uint8_t *data, size_t size, uint64_t *ret_number,
                       struct push_answer *ret_answer, size_t *ret_size) {
    *ret_size = STREAM_HEAD_SIZE;
    if (size < STREAM_HEAD_SIZE)
        return STREAM_MORE;
    uint32_t sizes = get_u32(data + 8);
    size_t address = sizes & 0xff, why = sizes >> 8 & 0xff, text = sizes >> 16;
    struct push_answer answer = {.status = get_u32(data + 4) & 0xffff,
                                 .port = (uint16_t)(get_u32(data + 4) >> 16)};
    if (get_u32(data) != ANSWER_MAGIC || address >= sizeof answer.address ||
        why >= sizeof answer.why || text > PUSH_ANSWER_MAX)
        return -EBADMSG;
    int r = check(data, size, address + why + text, ret_size);
    if (r)
        return r;
    const uint8_t *from = data + STREAM_HEAD_SIZE;
    take_text(answer.address, &from, address);
    take_text(answer.why, &from, why);
    take_text(answer.text, &from, text);
    *ret_number = get_u64(data + 12);
    *ret_answer = answer;
    return 0;
}
