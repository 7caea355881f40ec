/* SPDX-License-Identifier: MIT */
/*
 * The network of an interface, from /proc/net/route. By their addresses, interfaces of two hosts in
 * one network reach each other without a router. The file has IPv4 alone.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_NET_NETWORK_H
#define CHOKEPOINT_AGENT_PROBES_NET_NETWORK_H

#include "agent/base/probe.h"
#include "common/text.h"

/* The first network that the interface reaches without a gateway: its address, shifted by a byte,
 * and the length of its prefix. VALUE_ABSENT: there is none. */
int64_t net_network_parse(const char *text, const char *end, const char *interface);

/* As net_network_parse, for interfaces that carry packets to other hosts themselves. VALUE_ABSENT
 * without a link, and for bridges and tunnels, whose networks often belong to one host. */
int64_t net_network_of(const struct probe_env *env, const char *routes, const char *end,
                       const char *interface);

#endif
