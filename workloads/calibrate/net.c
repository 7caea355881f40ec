/* SPDX-License-Identifier: MIT */
#include "workloads/calibrate/net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define WARM 0.3 /* skipped part: slow start, and token buckets that begin full */
#define PINGS_MAX 500

static int make_token(struct net *net, const struct cluster *cluster) {
    bool made = cluster->rank != 0 ||
                getrandom(net->token, sizeof net->token, 0) == (ssize_t)sizeof net->token;
    if (!made)
        cluster_abort(cluster); /* without a token anyone could connect */
    cluster_tell(cluster, net->token, sizeof net->token);
    return 0;
}

int net_open(struct net *net, const struct cluster *cluster, const char *const *names,
             struct figures *figures) {
    struct link_address own = {0};
    const char *name = names[cluster->rank];
    *net = (struct net){.listener = -1};
    net->addresses = calloc((size_t)cluster->n, sizeof *net->addresses);
    if (!net->addresses)
        return -ENOMEM;
    make_token(net, cluster);
    own.ipv4 = link_own_address(name, names, cluster->n);
    if (!own.ipv4) {
        figures_trouble(figures, "network: %.100s has no IPv4 address that others could reach",
                        name);
    } else {
        link_interface(own.ipv4, net->interface);
        net->listener = link_listen(&own);
        if (net->listener < 0)
            figures_trouble(figures, "network: cannot listen: %s", strerror(-net->listener));
    }
    if (net->listener < 0)
        own = (struct link_address){0};
    cluster_exchange(cluster, &own, sizeof own, net->addresses);
    return 0;
}

void net_close(struct net *net) {
    if (net->listener >= 0)
        close(net->listener);
    free(net->addresses);
    *net = (struct net){.listener = -1};
}

static bool reachable(const struct net *net, int a, int b) {
    return net->addresses[a].port && net->addresses[b].port;
}

static void add_rate(struct figures *figures, const char *metric, int peer,
                     const struct meter *meter, double seconds, const char *what) {
    struct meter_rates r;
    if (meter_rate(meter, WARM * seconds, &r))
        figures_add(figures, metric, "MB/s", peer, r.steady * 1e-6, r.low * 1e-6, r.high * 1e-6,
                    "%s, %.2f s after %.2f s to warm up", what, (1 - WARM) * seconds,
                    WARM * seconds);
}

/* ---- two hosts ---- */

static void rtt_a(int fd, int b, double seconds, struct figures *figures) {
    double times[PINGS_MAX];
    int n = link_ping(fd, seconds, times, PINGS_MAX);
    for (int i = 0; i < n; i++)
        times[i] *= 1e6;
    if (n < 0)
        figures_trouble(figures, "network: round trip: %s", strerror(-n));
    if (n <= 0)
        return;
    size_t count = (size_t)n;
    double median = quantile(times, count, .5);
    figures_add(figures, "net_rtt", "us", b, median, quantile(times, count, 0),
                quantile(times, count, .95),
                "one byte there and back over TCP, median of %d; low: least, high: 95 %%", n);
}

static void pair_a(int fd, int b, double seconds, struct figures *figures) {
    struct link_meters meters = {0};
    int r = link_send(&fd, 1, seconds, &meters);
    if (r < 0)
        figures_trouble(figures, "network: sending: %s", strerror(-r));
    else
        add_rate(figures, "net_pair", b, &meters.payload, seconds,
                 "one TCP stream, acknowledged bytes");
}

static void two_hosts(const struct net *net, const struct cluster *cluster, const struct step *step,
                      const char *const *names, struct figures *figures) {
    bool rtt = step->kind == STEP_RTT;
    int fd;
    if (cluster->rank == step->b) {
        int r = link_accept(net->listener, net->token, &fd, 1);
        if (r < 0)
            return; /* the other rank reports it */
        r = rtt ? link_echo(fd, step->seconds) : link_receive(&fd, 1, step->seconds, NULL);
        link_close(&fd, 1);
    } else if (cluster->rank == step->a) {
        fd = link_connect(&net->addresses[step->b], net->token);
        if (fd < 0) {
            figures_trouble(figures, "network: %.100s cannot be reached: %s", names[step->b],
                            strerror(-fd));
            return;
        }
        (rtt ? rtt_a : pair_a)(fd, step->b, step->seconds, figures);
        link_close(&fd, 1);
    }
}

/* ---- one to many ---- */

static void add_both(struct figures *figures, bool sent, const struct link_meters *meters,
                     double seconds, int n) {
    char what[64];
    snprintf(what, sizeof what, "%d TCP stream%s, %s bytes", n, n == 1 ? "" : "s",
             sent ? "acknowledged" : "received");
    add_rate(figures, sent ? "net_egress" : "net_ingress", -1, &meters->payload, seconds, what);
    snprintf(what, sizeof what, "%.16s counted, %d TCP stream%s", meters->interface, n,
             n == 1 ? "" : "s");
    add_rate(figures, sent ? "net_egress_wire" : "net_ingress_wire", -1, &meters->wire, seconds,
             what);
}

static int connect_others(const struct net *net, const struct cluster *cluster, int *fds,
                          const char *const *names, struct figures *figures) {
    int n = plan_fan(cluster->n), made = 0;
    for (int i = 0; i < n; i++) {
        int other = plan_other(cluster->n, cluster->rank, i);
        int fd = reachable(net, cluster->rank, other)
                     ? link_connect(&net->addresses[other], net->token)
                     : -EADDRNOTAVAIL;
        if (fd >= 0)
            fds[made++] = fd;
        else
            figures_trouble(figures, "network: %.100s cannot be reached: %s", names[other],
                            strerror(-fd));
    }
    return made;
}

static void to_all(const struct net *net, const struct cluster *cluster, const struct step *step,
                   const char *const *names, struct figures *figures) {
    int fds[PLAN_FAN_MAX];
    struct link_meters meters = {.interface = net->interface};
    if (cluster->rank != step->a) {
        if (net->listener < 0 || !plan_takes_part(cluster->n, step->a, cluster->rank) ||
            !net->addresses[step->a].port || link_accept(net->listener, net->token, fds, 1) < 0)
            return;
        link_receive(fds, 1, step->seconds, NULL);
        link_close(fds, 1);
        return;
    }
    int n = connect_others(net, cluster, fds, names, figures);
    int r = n ? link_send(fds, n, step->seconds, &meters) : -ENOTCONN;
    link_close(fds, n);
    if (r == 0)
        add_both(figures, true, &meters, step->seconds, n);
    else
        figures_trouble(figures, "network: sending to all: %s", strerror(-r));
}

static int count_senders(const struct net *net, const struct cluster *cluster, int a) {
    int n = 0;
    for (int i = 0; i < plan_fan(cluster->n); i++)
        n += reachable(net, a, plan_other(cluster->n, a, i));
    return n;
}

static void from_all(const struct net *net, const struct cluster *cluster, const struct step *step,
                     struct figures *figures) {
    int fds[PLAN_FAN_MAX];
    struct link_meters meters = {.interface = net->interface};
    if (cluster->rank != step->a) {
        if (!plan_takes_part(cluster->n, step->a, cluster->rank) ||
            !reachable(net, step->a, cluster->rank))
            return;
        int fd = link_connect(&net->addresses[step->a], net->token);
        if (fd < 0)
            return; /* the receiver reports it */
        link_send(&fd, 1, step->seconds, NULL);
        link_close(&fd, 1);
        return;
    }
    int n = net->listener < 0 ? 0 : count_senders(net, cluster, step->a);
    int r = n ? link_accept(net->listener, net->token, fds, n) : -ENOTCONN;
    if (r == 0) {
        r = link_receive(fds, n, step->seconds, &meters);
        link_close(fds, n);
    }
    if (r == 0)
        add_both(figures, false, &meters, step->seconds, n);
    else
        figures_trouble(figures, "network: receiving from all: %s", strerror(-r));
}

void net_step(const struct net *net, const struct cluster *cluster, const struct step *step,
              const char *const *names, struct figures *figures) {
    if (step->kind == STEP_TO_ALL)
        to_all(net, cluster, step, names, figures);
    else if (step->kind == STEP_FROM_ALL)
        from_all(net, cluster, step, figures);
    else if (reachable(net, step->a, step->b))
        two_hosts(net, cluster, step, names, figures);
    else if (cluster->rank == step->a)
        figures_trouble(figures, "network: no way to %.100s", names[step->b]);
}
