/* SPDX-License-Identifier: MIT */
#include "agent/push/push_reply.h"

#include <string.h>

#include "common/error.h"
#include "common/text.h"

enum {
    COMMITTED = 1,
    RECEIVED = 2,
    REPLIED = 4,
    STOP = 8,
    ALL = 15,
    ECHO = 16,
    TABLES = 32,
    NEXT = 64
};

/* The index of the word; 0 for an unknown word, negative if its number is malformed. */
static int read_line(struct span line, struct push_reply *reply) {
    const char *p = line.data, *end = p + line.size;
    struct span word;
    uint64_t number;
    if (!text_word(&p, end, &word))
        return 0;
    int which = span_equal(word, "committed")     ? COMMITTED
                : span_equal(word, "received_ns") ? RECEIVED
                : span_equal(word, "replied_ns")  ? REPLIED
                : span_equal(word, "stop")        ? STOP
                : span_equal(word, "echo")        ? ECHO
                : span_equal(word, "tables")      ? TABLES
                : span_equal(word, "next_ns")     ? NEXT
                                                  : 0;
    if (which == 0)
        return 0;
    if (!text_u64(&p, end, &number) || p != end || number > INT64_MAX)
        return -EBADMSG;
    if (which == COMMITTED)
        reply->committed = number;
    else if (which == RECEIVED)
        reply->received_ns = (int64_t)number;
    else if (which == REPLIED)
        reply->replied_ns = (int64_t)number;
    else if (which == ECHO)
        reply->echo_key = number;
    else if (which == NEXT)
        reply->next_ns = (int64_t)number;
    else if (which == TABLES)
        reply->tables = number;
    else
        reply->stop = number != 0;
    return which;
}

int push_reply_parse(const char *text, struct push_reply *ret_reply) {
    const char *end = text + strlen(text);
    struct push_reply reply = {0};
    struct span line;
    int seen = 0;
    while (text_line(&text, end, &line)) {
        int which = read_line(line, &reply);
        if (which < 0)
            return which;
        seen |= which;
    }
    if ((seen & ALL) != ALL)
        return -EBADMSG;
    *ret_reply = reply;
    return 0;
}
