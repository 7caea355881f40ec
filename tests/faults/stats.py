# SPDX-License-Identifier: MIT
"""Small statistics of the scores."""
import math
import random


def wilson(right, n, z=1.96):
    """95 % interval of a proportion (Wilson 1927); (0, 1) for n = 0."""
    if n == 0:
        return 0.0, 1.0
    p, zz = right / n, z * z
    middle = (p + zz / (2 * n)) / (1 + zz / n)
    half = z / (1 + zz / n) * math.sqrt(p * (1 - p) / n + zz / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def quantile(values, q):
    """Linear between the two nearest; None without values."""
    if not values:
        return None
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def harmonic(times):
    """The harmonic mean: the time of a piece of work at the mean speed."""
    return len(times) / sum(1 / t for t in times)


def slower_core(cores):
    """At each beat, the canary's time on the slowest core of {core: [time, ...]}: ranks wait for each other."""
    return [max(times) for times in zip(*cores.values())]


def every_core(cores):
    """At each beat, the canary's time at the mean speed of all cores of {core: [time, ...]}."""
    return [harmonic(times) for times in zip(*cores.values())]


HALF = 10 # beats needed to tell the halves apart
HALVES_ALIKE = 1.05 # agents make a beat a fifth slower, while chance hardly separates two halves of a hundred beats by 4 %


def undisturbed(even, odd):
    """Which beats of the canary count, as a slice: agents sample ten times a second, and where that falls on its beats it
    falls on every second one; interrupts of theirs are in its CPU time, and no core is slower for it. `even`, `odd`: times of
    beats with agents there, by their number."""
    if min(len(even), len(odd)) < HALF:
        return slice(0, None)
    means = harmonic(even), harmonic(odd)
    if max(means) < HALVES_ALIKE * min(means):
        return slice(0, None)
    return slice(means.index(min(means)), None, 2)


NOISE = .03 # of a run
FAR = 2.385 * NOISE # 95 % as efficient as least squares without outliers (Holland and Welsch 1977)
ROUNDS = 30 # more than needed to converge


def hardly_if_far(offs):
    """Cauchy's weights: a run that something else disturbed, too, weighs little."""
    return [1 / (1 + (off / FAR) ** 2) for off in offs]


def mean(values, weights=None):
    weights = weights or [1] * len(values)
    return sum(w * v for w, v in zip(weights, values)) / sum(weights)


def settled(logs, weights):
    """The weighted mean of logarithms of runs' times; starting from their median, those far from it hardly count. With
    two, neither is the odd one."""
    at = median(logs) if len(logs) > 2 else mean(logs, weights)
    for _ in range(ROUNDS if len(logs) > 2 else 0):
        at = mean(logs, [w * near for w, near in zip(weights, hardly_if_far([v - at for v in logs]))])
    return at


def feeling(points, expected=1, doubt=.5):
    """How much of its cores' slowness a program feels: the exponent with which it takes longer where the canary does,
    from (canary's time, program's time) of runs of equal work. A program that waits for the memory feels a neighbour on
    the physical core less, one that lives in the caches more. Least squares of logarithms, reweighted so that a run far
    off hardly counts (Holland and Welsch 1977), drawn towards the expected exponent as far as few runs on cores of one
    speed leave it open (noise of 3 %, an exponent within `doubt` of that)."""
    if not points:
        return expected
    xs, ys = ([math.log(value) for value in axis] for axis in zip(*points))
    weights, exponent, drawn = [1] * len(xs), expected, (NOISE / doubt) ** 2
    for _ in range(ROUNDS):
        middle_x, middle_y = mean(xs, weights), mean(ys, weights)
        together = sum(w * (x - middle_x) * (y - middle_y) for w, x, y in zip(weights, xs, ys))
        exponent = (together + expected * drawn) / (sum(w * (x - middle_x) ** 2 for w, x in zip(weights, xs)) + drawn)
        weights = hardly_if_far([y - middle_y - exponent * (x - middle_x) for x, y in zip(xs, ys)])
    return exponent


CACHES = .04 # typical exponent for slow caches, known within as much
TURNS = 5 # until neither exponent changes


def feelings(points, expected=1):
    """The same of cores and of their caches, from (canary's sums, its walk through caches, program's time): two
    exponents, each by what the other leaves of the times' differences, in turn. A program feels at most all of its
    cores' slowness: if few runs say more than that, something besides the cores was slow then, and need not be so
    another time."""
    cores, caches = expected, expected * CACHES
    for _ in range(TURNS):
        cores = min(feeling([(core, time / cache ** caches) for core, cache, time in points], expected), 1)
        caches = max(feeling([(cache, time / core ** cores) for core, cache, time in points], expected * CACHES, CACHES), 0)
    return cores, caches


def median(values):
    return quantile(values, .5)


def median_interval(values, resamples=2000):
    """95 % bootstrap interval of the median, the same each time; None with fewer than three values."""
    if len(values) < 3:
        return None
    draw = random.Random(1)
    medians = [median(draw.choices(values, k=len(values))) for _ in range(resamples)]
    return quantile(medians, .025), quantile(medians, .975)


def calibration_error(pairs, bins=10):
    """Expected calibration error: pairs of (confidence, right or not), in bins of equal width weighted by their size."""
    total = 0.0
    for low, high, mean, share, n in calibration_bins(pairs, bins):
        total += n * abs(mean - share)
    return total / len(pairs) if pairs else None


def calibration_bins(pairs, bins=10):
    """(low, high, mean confidence, share right, n) of each non-empty bin."""
    result = []
    for i in range(bins):
        inside = [(c, r) for c, r in pairs if min(int(c * bins), bins - 1) == i]
        if inside:
            n = len(inside)
            result.append((i / bins, (i + 1) / bins, sum(c for c, _ in inside) / n, sum(bool(r) for _, r in inside) / n, n))
    return result


def fitted_map(pairs):
    """Maps confidence to the share right by isotonic regression (pool adjacent violators): steps of (from confidence,
    share)."""
    blocks = [] # [least confidence, sum right, n]
    for confidence, right in sorted(pairs, key=lambda pair: (pair[0], not pair[1])): # equal confidence: one step
        blocks.append([confidence, float(bool(right)), 1])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            last = blocks.pop()
            blocks[-1][1] += last[1]
            blocks[-1][2] += last[2]
    return [(low, right / n) for low, right, n in blocks]
