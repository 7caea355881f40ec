/* SPDX-License-Identifier: MIT */
/*
 * A sender of pushes for the benchmark of the collector: one TLS connection, one POST at a time,
 * and nothing else. The agent's own sender takes several times the CPU time, so thousands of them
 * would need more cores than the measured collector.
 */
#ifndef CHOKEPOINT_TESTS_BENCH_LIGHT_PUSH_H
#define CHOKEPOINT_TESTS_BENCH_LIGHT_PUSH_H

#include "agent/push/push_http.h"

struct light_push;

/* url: https://ADDRESS:PORT, IPv4. -EINVAL, -ENOMEM, the error of connecting, -EPROTO. */
int light_push_open(const char *url, const char *host, const char *key,
                    struct light_push **ret_light);
void light_push_close(struct light_push *light);

/* Like push_http_post. */
int light_push_post(struct light_push *light, const struct buffer *body,
                    struct push_answer *ret_answer);

#endif
