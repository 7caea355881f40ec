/* SPDX-License-Identifier: MIT */
/*
 * Passes the requests of the delivered agent to the collector as pushes over HTTP, and the answers
 * back unchanged, so that agent/push/push.c decides on acknowledgement, refusal and retry as ever.
 * When the relay is asked to end, its next answer asks the agent to stop.
 */
#include "agent/relay/relay.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "agent/push/push.h"
#include "agent/push/stream.h"

#define STOP "stop 1\n"

static bool go_on(void *ctx) {
    struct relay *relay = ctx;
    relay_wait(relay, -1, 0, 0);
    return false;
}

static void ask_to_stop(struct push_answer *answer) {
    size_t size = strlen(answer->text);
    if (answer->status == 200 && size + sizeof STOP <= sizeof answer->text)
        memcpy(answer->text + size, STOP, sizeof STOP);
}

/* An agent that cannot be asked over its stream is asked through its launcher. */
static int answer_request(struct relay *relay, struct push_http *http,
                          const struct stream_request *request) {
    struct buffer record, body = {.data = (uint8_t *)request->body, .size = request->body_size};
    struct push_answer answer;
    const struct push_request push = {.body = &body,
                                      .clock = request->clock[0] ? request->clock : NULL,
                                      .final = request->final,
                                      .give_up = go_on,
                                      .ctx = relay};
    if (push_http_post(http, &push, &answer) < 0)
        answer.status = 0;
    if (relay->told && answer.status != 200)
        relay_signal(relay, SIGTERM);
    if (relay->told)
        ask_to_stop(&answer);
    buffer_init(&record);
    int r = stream_put_answer(&record, request->number, &answer);
    bool told = relay->told;
    relay->told = false; /* an answer has begun, and is written whole */
    if (r == 0)
        r = relay_write(relay, record.data, record.size);
    relay->told |= told;
    buffer_release(&record);
    return r;
}

/* 0: more may come. */
static int take(struct relay *relay, struct push_http *http) {
    struct stream_request request;
    size_t size;
    int r = stream_read_request(relay->in.data, relay->in.size, &request, &size);
    if (r == STREAM_MORE) {
        r = relay_read(relay, size - relay->in.size);
        return r == -EINTR ? 0 : r;
    }
    if (r < 0)
        return r;
    r = answer_request(relay, http, &request);
    relay->in.size -= size;
    memmove(relay->in.data, relay->in.data + size, relay->in.size);
    return r;
}

void relay_pump(struct relay *relay, const char *token) {
    const struct push_config config = {
        .url = relay->collector, .pin = relay->pin, .host = relay->host, .token = token};
    struct push_http *http;
    int r = push_load(relay->collector);
    if (r == 0)
        r = push_http_open(&config, &http);
    if (r < 0) {
        relay_say("%s: %s\n", relay->collector, strerror(-r));
        relay_close_input(relay);
        return;
    }
    while (r == 0)
        r = take(relay, http);
    if (r == -EBADMSG)
        relay_say("%s: its standard output has bytes that are not the agent's\n", relay->host);
    relay_close_input(relay);
    push_http_close(http);
}
