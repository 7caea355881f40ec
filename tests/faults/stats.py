# SPDX-License-Identifier: MIT
"""Small statistics of the scores."""
import math
import random


def wilson(right, n, z=1.96):
    """95 % interval of a proportion (Wilson 1927); (0, 1) of nothing."""
    if n == 0:
        return 0.0, 1.0
    p, zz = right / n, z * z
    middle = (p + zz / (2 * n)) / (1 + zz / n)
    half = z / (1 + zz / n) * math.sqrt(p * (1 - p) / n + zz / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def quantile(values, q):
    """Linear between the two nearest; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def median(values):
    return quantile(values, .5)


def median_interval(values, resamples=2000):
    """95 % bootstrap interval of the median, the same each time; None of fewer than three."""
    if len(values) < 3:
        return None
    draw = random.Random(1)
    medians = [median(draw.choices(values, k=len(values))) for _ in range(resamples)]
    return quantile(medians, .025), quantile(medians, .975)


def calibration_error(pairs, bins=10):
    """Expected calibration error: pairs of (confidence, right or not), bins of equal width weighed by their size."""
    total = 0.0
    for low, high, mean, share, n in calibration_bins(pairs, bins):
        total += n * abs(mean - share)
    return total / len(pairs) if pairs else None


def calibration_bins(pairs, bins=10):
    """(low, high, mean confidence, share right, n) of each bin that has any."""
    result = []
    for i in range(bins):
        inside = [(c, r) for c, r in pairs if min(int(c * bins), bins - 1) == i]
        if inside:
            n = len(inside)
            result.append((i / bins, (i + 1) / bins, sum(c for c, _ in inside) / n, sum(bool(r) for _, r in inside) / n, n))
    return result


def fitted_map(pairs):
    """Confidence to share right by isotonic regression (pool adjacent violators): steps of (from confidence, share)."""
    blocks = [] # [least confidence, sum right, n]
    for confidence, right in sorted(pairs):
        blocks.append([confidence, float(bool(right)), 1])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            last = blocks.pop()
            blocks[-1][1] += last[1]
            blocks[-1][2] += last[2]
    return [(low, right / n) for low, right, n in blocks]
