/* SPDX-License-Identifier: MIT */
/*
 * Maps a host's monotonic clock to the collector's: collector = host + offset(host). The offset is
 * a line with few bends, and each piece of it has a bound on its error.
 *
 * An exchange proves that the offset lies in an interval, whatever the delays of the two ways were:
 * neither the request nor the answer can arrive before it was sent (Cristian 1989). Intervals are
 * intersected and not averaged, so that the bound stays proven. An interval holds for another
 * instant when it is widened by the drift between the clocks. The drift is learnt from the
 * intervals, too: its line must pass through all of them (Duda, Harrus, Haddad and Bernard,
 * "Estimating global time in distributed systems", 1987: the convex hulls of both ends).
 *
 * The bound rests on the two numbers below. Within a window of some minutes the rate stays within
 * CLOCK_WANDER_PPM of its means. Where the intervals contradict that, only CLOCK_DRIFT_PPM is
 * assumed. Where they contradict this, too, a clock jumped, and no exchange before the jump counts
 * after it.
 */
#ifndef CHOKEPOINT_COLLECTOR_CLOCK_H
#define CHOKEPOINT_COLLECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two quartz clocks, each within 100 ppm of the truth or steered to it. */
#define CLOCK_DRIFT_PPM 200

/* How far the rate at an instant is from its mean over any part of a window. Room temperature moves
 * a quartz by less than 1 ppm; NTP moves a clock that is right within a ms by a few ppm. */
#define CLOCK_WANDER_PPM 10

/* Exchanges that are solved together; they span 256 to 512 s. */
#define CLOCK_WINDOW_NS (INT64_C(256) * 1000000000)
#define CLOCK_ESTIMATES_MAX 4096

/* An exchange as the agent reports it. */
struct clock_estimate {
    int64_t mono_ns;   /* host's time when the interval was true */
    int64_t offset_ns; /* the middle of the interval */
    int64_t error_ns;  /* half the width of the interval */
};

/* A piece of the line. */
struct clock_piece {
    int64_t from_ns;   /* host's time; the first piece also holds before */
    int64_t until_ns;  /* error_ns is proven from from_ns to here */
    int64_t at_ns;     /* offset_ns is the offset here */
    int64_t offset_ns; /* the collector's clock minus the host's */
    int64_t error_ns;  /* the truth is at most this far away */
    double drift_ppm;  /* growth of the offset */
};

/* The host's times for which offsets are wanted, and the offset at the beginning of the line if it
 * is known. */
struct clock_span {
    int64_t from_ns, until_ns;
    bool joined;
    int64_t offset_ns; /* at from_ns, when joined */
};

/* Whether the numbers, which come from the network, can be an exchange. No sum here overflows with
 * valid numbers. */
bool clock_estimate_valid(const struct clock_estimate *estimate);

/* Whether the numbers can be a piece: the file may be a stranger's. */
bool clock_piece_valid(const struct clock_piece *piece);

/* Solves for the clock that all exchanges prove together (valid, at most CLOCK_ESTIMATES_MAX,
 * mono_ns rising). The pieces follow one another; the caller frees *ret_pieces. *ret_jumped (may be
 * NULL): the last exchange contradicts the earlier ones. -EINVAL without any exchange; -ENOMEM. */
int clock_solve(const struct clock_estimate *estimates, size_t n, const struct clock_span *span,
                struct clock_piece **ret_pieces, size_t *ret_n, bool *ret_jumped);

/* The offset at the host's time mono_ns; the pieces must be valid and in order. *ret_error_ns (may
 * be NULL): the bound of the offset. False without pieces. */
bool clock_read(const struct clock_piece *pieces, size_t n, int64_t mono_ns, int64_t *ret_offset_ns,
                int64_t *ret_error_ns);

#endif
