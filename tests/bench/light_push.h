/* SPDX-License-Identifier: MIT */
/*
 * A sender of pushes for the bench of the collector: one TLS connection, one POST at a time, and
 * nothing else. The agent's own takes several times the CPU time, so that thousands of them need
 * more cores than the collector that is measured.
 */
#ifndef CHOKEPOINT_TESTS_BENCH_LIGHT_PUSH_H
#define CHOKEPOINT_TESTS_BENCH_LIGHT_PUSH_H

#include "agent/push/push_http.h"

struct light_push;

/* url: https://ADDRESS:PORT, IPv4. -EINVAL, -ENOMEM, why it cannot connect, -EPROTO. */
int light_push_open(const char *url, const char *host, const char *key,
                    struct light_push **ret_light);
void light_push_close(struct light_push *light);

/* As push_http_post. */
int light_push_post(struct light_push *light, const struct buffer *body,
                    struct push_answer *ret_answer);

#endif
