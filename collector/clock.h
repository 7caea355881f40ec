/* SPDX-License-Identifier: MIT */
/*
 * A host's monotonic clock on the collector's: collector = host + offset(host), where the offset is
 * a line with few bends, and each piece of it says how far the truth can be away.
 *
 * An exchange proves that the offset lies in an interval, whatever the delays of the two ways were:
 * the request cannot arrive before it was sent, nor the answer (Cristian 1989). Many intervals are
 * intersected, not averaged, so that the bound stays proven; what an interval says of another
 * instant follows from how fast two clocks can drift apart. How fast these two do is learnt from
 * the intervals themselves: no line of the drift may leave any of them (Duda, Harrus, Haddad and
 * Bernard, "Estimating global time in distributed systems", 1987: the convex hulls of both ends).
 *
 * The bound rests on two numbers below. Within a window of some minutes a rate is taken to stay
 * within CLOCK_WANDER_PPM of its means; where the intervals contradict that, only CLOCK_DRIFT_PPM
 * is relied on; where they contradict even that, a clock jumped and what was known before does not
 * count after.
 */
#ifndef CHOKEPOINT_COLLECTOR_CLOCK_H
#define CHOKEPOINT_COLLECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two quartz clocks, each within 100 millionths of the truth or being steered there. */
#define CLOCK_DRIFT_PPM 200

/* How far the rate at an instant is from its mean over any part of a window. Room temperature moves
 * a quartz by less than 1; what NTP does to a clock that is right within a ms, by a few. */
#define CLOCK_WANDER_PPM 10

/* Exchanges that are solved together: from 256 to 512 s of them. */
#define CLOCK_WINDOW_NS (INT64_C(256) * 1000000000)
#define CLOCK_ESTIMATES_MAX 4096

/* An exchange as the agent reports it. */
struct clock_estimate {
    int64_t mono_ns;   /* of the host, when the interval was true */
    int64_t offset_ns; /* the middle of the interval */
    int64_t error_ns;  /* half its width */
};

/* A piece of the line. */
struct clock_piece {
    int64_t from_ns; /* host's time: holds from here to the next piece; the first one before, too */
    int64_t until_ns;  /* error_ns is proven from from_ns to here */
    int64_t at_ns;     /* offset_ns is the offset here */
    int64_t offset_ns; /* the collector's clock minus the host's */
    int64_t error_ns;  /* the truth is at most this far away */
    double drift_ppm;  /* growth of the offset */
};

/* The host's times for which an answer is wanted, and where the line begins if that is known. */
struct clock_span {
    int64_t from_ns, until_ns;
    bool joined;
    int64_t offset_ns; /* at from_ns, when joined */
};

/* Whether the numbers can be an exchange at all: they come from the network. Nothing that is valid
 * overflows in the sums here. */
bool clock_estimate_valid(const struct clock_estimate *estimate);

/* Whether the numbers can be a piece: they may come from a file of a stranger. */
bool clock_piece_valid(const struct clock_piece *piece);

/* Solves for the clock that the exchanges (valid, at most CLOCK_ESTIMATES_MAX, mono_ns rising)
 * prove together, as pieces that follow one another; the caller frees *ret_pieces. *ret_jumped (may
 * be NULL): the last exchange contradicts the ones before. -EINVAL without any exchange;
 * -ENOMEM. */
int clock_solve(const struct clock_estimate *estimates, size_t n, const struct clock_span *span,
                struct clock_piece **ret_pieces, size_t *ret_n, bool *ret_jumped);

/* The offset at the host's time mono_ns, by pieces that are valid and in order. *ret_error_ns (may
 * be NULL): its bound there. False without pieces. */
bool clock_read(const struct clock_piece *pieces, size_t n, int64_t mono_ns, int64_t *ret_offset_ns,
                int64_t *ret_error_ns);

#endif
