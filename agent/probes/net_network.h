/* SPDX-License-Identifier: MIT */
/*
 * The network that an interface is in, from /proc/net/route: interfaces of two hosts with the same
 * one reach each other without a router, as far as addresses tell. IPv4 alone: the file has no
 * other.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_NET_NETWORK_H
#define CHOKEPOINT_AGENT_PROBES_NET_NETWORK_H

#include "agent/base/probe.h"
#include "common/text.h"

/* The network of the first route through that interface that has no gateway: its address, shifted
 * by a byte, and the length of its prefix. VALUE_ABSENT: there is none. */
int64_t net_network_parse(const char *text, const char *end, const char *interface);

/* The same of an interface that carries packets to other hosts by itself; VALUE_ABSENT of bridges
 * and tunnels, whose networks often are those of one host alone, and where there is no link. */
int64_t net_network_of(const struct probe_env *env, const char *routes, const char *end,
                       const char *interface);

#endif
