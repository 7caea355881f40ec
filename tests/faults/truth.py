# SPDX-License-Identifier: MIT
"""The time of a run without its fault, and the right answer that follows from it. Pure: no files, no programs.

A *run* here is a dict: id, half, workload, fault, own_cores, others_cores, labels, loop_s and scale (how much of a clean
run's work it did), started, once_s (of clean ones, where they mark their iterations), report (chokepoint.report/1);
set_truth() adds the slowdown and the right answer:
    find       the fault must be found: it made the run 8 % slower at least, and by more than its twin is in doubt
    grey       3 to 8 %, or within that doubt, or it seems to have made the run faster, which no fault does: not scored
    balanced   nothing was done, or it cost less than 3 % (and surely less than 8 %)

The twin is made of all clean runs of the program, not of the one beside the run: each of them is as far off as the run is.
"""
import math

from stats import CACHES, every_core, feelings, harmonic, mean, median, quantile, settled, slower_core, undisturbed
from workloads import WORKLOADS

MUST_S, MAY_S = 1.08, 1.03
UNLIKE_CORES = 1.1 # slowest over fastest: from here on a rank on the slower core takes longer for the same work
FEELS_OFF = .25, CACHES # uncertainty of a program's response to slow cores and caches
LINK_FAULTS = ("F3", "F4", "F5")
AFTER_LOOP_S = .15 # about the time from the end of a program's loop to the end of the command
LEAST = 3 # clean runs needed for a spread
NEAR_S = 120 # distance in time at which a clean run weighs half as much as one at the same time
FEW = 4 # iterations compared with the first; a tenth of them if that is more


# ---- the clean runs ----

def per_work(run):
    return run["loop_s"] / run["scale"]


def whole_s(run):
    return run["report"].get("run", {}).get("duration_s") or run["loop_s"]


def nearest_clean(run, runs):
    """Clean runs of the same program, the nearest in time first; with a canary only those that have one."""
    clean = [r for r in runs if r["fault"] == "F0" and r["workload"] == run["workload"] and r["half"] == run["half"] and r is not run
             and not r.get("disturbed") and bool(core_ms(r)) == bool(core_ms(run))]
    return sorted(clean, key=lambda r: abs(r["started"] - run["started"]))


def nearness(run, other):
    return 1 / (1 + abs(other["started"] - run["started"]) / NEAR_S)


# ---- the cores beneath ----

def beats_of(run, what="cores"):
    """{core: canary's times on it} of the cores that the program may run on: all, or the one it was pinned to. The
    times are those of its sums, or (`what`: caches) of its walk through a core's caches."""
    cores = (run.get("canary") or {}).get(what, {})
    return cores if run.get("pin") is None else {core: beats for core, beats in cores.items() if int(core) == run["pin"]}


def loop_beats(run, what="cores"):
    """The canary's times during the loop: on the slower core at each beat, or of all where hosts share them and each rank
    runs on any. The loop is the end of a run, but for what the command does after it."""
    period_ns = (run.get("canary") or {}).get("period_ns", 1)
    times = (slower_core if run["own_cores"] else every_core)(beats_of(run, what))
    n = round(run["loop_s"] * 1e9 / period_ns)
    last = max(len(times) - round(AFTER_LOOP_S * 1e9 / period_ns), n)
    return times[max(last - n, 0):last]


def slowness(run, what="cores"):
    """How long the cores took for fixed work during the loop; 1 where that was not measured. A walk through caches at its mean
    time, as is the program's, which is for the most part computing."""
    times, all_beats = loop_beats(run), loop_beats(run, what)
    counted = all_beats[undisturbed(times[::2], times[1::2])] or [1]
    return harmonic(counted) if what == "cores" else mean(counted)


def core_ms(run):
    """{core: CPU time of the canary's work on it, at its mean speed during the run}; {} where it was not measured."""
    return {core: harmonic(beats) for core, beats in beats_of(run).items() if beats}


def cores_alike(run):
    """Whether the canary took about as long on all cores of the bed; None if not known."""
    times = core_ms(run).values()
    return max(times) < UNLIKE_CORES * min(times) if len(times) > 1 else None


def feels(clean):
    """How much of its cores' slowness a program feels, and of its caches', as exponents: by its clean runs and by what it is
    known to do."""
    expected = getattr(WORKLOADS.get(clean[0]["workload"]), "feels", 1) if clean else 1
    return feelings([(slowness(r), slowness(r, "caches"), per_work(r)) for r in clean], expected)


def held_up(run, felt):
    """The factor by which a program with that response takes longer on such cores."""
    return slowness(run) ** felt[0] * slowness(run, "caches") ** felt[1]


# ---- the twin ----

def once_s(begins):
    """The one-time part of a loop, whatever its number of iterations (memory touched, connections made): the excess of
    its first iteration over those soon after it. begins: when each began, s; 0 where there are too few."""
    lengths = [end - begin for begin, end in zip(begins, begins[1:])]
    later = lengths[1:1 + max(FEW, len(lengths) // 10)]
    return max(lengths[0] - mean(later), 0) if len(later) >= FEW else 0


def loops_once_s(clean):
    """The same of a program by its clean runs; 0 where none marks its iterations, as programs do that are not this project's:
    all clean runs are of one length, which cannot tell it."""
    return median([r.get("once_s", 0) for r in clean]) or 0


def as_much_s(one, other, once):
    """Time of run `one`'s loop with as much work as that of `other`."""
    return once + (one["loop_s"] - once) * other["scale"] / one["scale"]


def at_speed(one, other, once, felt):
    """The same on cores as fast as during the other run, for a program with that response to them."""
    return as_much_s(one, other, once) * held_up(other, felt) / held_up(one, felt)


def twin_s(run, runs):
    """Time of the loop without the fault, for the same work on cores as fast: the geometric mean of all other clean
    runs of the program; runs near in time weigh more, outliers hardly count."""
    clean = nearest_clean(run, runs)
    once, felt = loops_once_s(clean), feels(clean)
    return math.exp(settled([math.log(at_speed(r, run, once, felt)) for r in clean], [nearness(run, r) for r in clean])) if clean else None


def outside_s(run):
    """Time of the run outside its loop: start and end, which less work does not shorten."""
    return whole_s(run) - run["loop_s"]


def whole_twin_s(run, runs):
    """Time of the whole run without the fault, for the same work: a verdict and a prediction refer to the whole."""
    return run["twin_s"] and run["twin_s"] + median([outside_s(r) for r in nearest_clean(run, runs)])


# ---- the right answer ----

def set_twin(run, runs):
    clean = nearest_clean(run, runs)
    run["twin_s"], run["feels"], run["loops_once_s"] = twin_s(run, runs), feels(clean), loops_once_s(clean)
    run["whole_twin_s"] = whole_twin_s(run, runs)
    run["slowdown"] = run["loop_s"] / run["twin_s"] if run["twin_s"] else None


def on_unlike_cores(run, clean):
    """How far a twin may be off, as a logarithm, as it stands on what the program is taken to feel of its cores: the less the
    more these were like those of the clean runs that it is made of."""
    weights = [nearness(run, r) for r in clean]
    unlike = lambda what: abs(mean([math.log(slowness(run, what) / slowness(r, what)) for r in clean], weights))
    return math.hypot(FEELS_OFF[0] * unlike("cores"), FEELS_OFF[1] * unlike("caches")) if clean else 0


def set_truth(runs, tolerate=.1):
    """Adds disturbed, twin_s, feels, loops_once_s, whole_twin_s, slowdown, spread, doubt and right to each run."""
    for run in runs:
        run["disturbed"] = run.get("others_cores", 0) > tolerate + run.get("allowance", 0)
    for run in runs:
        set_twin(run, runs)
    for run in runs:
        run["spread"] = clean_spread(runs, run["half"], run["workload"])
        run["doubt"] = math.hypot(run["spread"], on_unlike_cores(run, nearest_clean(run, runs)))
        run["right"] = right_answer(run)


def clean_spread(runs, half, workload):
    """How far a clean run of the program is from its own twin in nine of ten: a fault that costs less than that may as
    well cost nothing, or more. Where there are too few to say, that of all programs; of few at all 0."""
    all_off = [(r["workload"], abs(r["slowdown"] - 1)) for r in runs if r["fault"] == "F0" and r["half"] == half and not r["disturbed"] and r["slowdown"]]
    own = [off for name, off in all_off if name == workload]
    off = own if len(own) >= LEAST else [off for _, off in all_off]
    return quantile(off, .9) if len(off) >= LEAST else 0


def right_answer(run):
    if run["disturbed"]:
        return "disturbed"
    if run["fault"] == "F0":
        return "balanced"
    if run["slowdown"] is None:
        return "no twin"
    if run["slowdown"] >= max(MUST_S, 1 + run["doubt"]) and run["labels"]:
        return "find"
    harmless = run["slowdown"] > 2 - MAY_S and run["slowdown"] + run["doubt"] < MUST_S
    return "balanced" if run["slowdown"] < MAY_S and (harmless or not run["labels"]) else "grey"


# ---- what predictions and reports are held against ----

def ratio_of(run, loop_s, beside_s, measured_s):
    """Ratio of a loop and the time beside it, of so many seconds, to the time that a prediction on this run is about:
    the whole of it, or its main phase; a phase within the loop has the ratio of the loop."""
    beside = max(measured_s - run["loop_s"], 0) / outside_s(run) if outside_s(run) > 0 else 0
    return (loop_s + min(beside, 1) * beside_s) / max(measured_s, run["loop_s"])


def true_ratio(run, measured_s):
    """The same for its clean twin."""
    return ratio_of(run, run["twin_s"], run["whole_twin_s"] - run["twin_s"], measured_s)


def capped_ratio(run, clean, measured_s):
    """The other way round: the ratio of a faulty run to that clean run, for the same work on cores as fast as in the
    clean one; a program that is limited by a link does not feel its cores. By the recordings a limit does not lengthen
    the one-time part of a loop."""
    felt = (0, 0) if run["fault"] in LINK_FAULTS else run["feels"]
    return ratio_of(clean, at_speed(run, clean, run["loops_once_s"], felt), outside_s(run), measured_s)


def overheads(runs, plain, tolerate=.1):
    """Overhead of profiling, {workload: ratios less 1 of a profiled clean run to the unprofiled one beside it}; None:
    all of them."""
    result = {None: []}
    for alone in plain:
        clean = nearest_clean(alone, runs)
        if clean and alone["others_cores"] <= tolerate + alone.get("allowance", 0):
            added = at_speed(clean[0], alone, loops_once_s(clean), feels(clean)) / alone["loop_s"] - 1
            for key in (None, alone["workload"]):
                result.setdefault(key, []).append(added)
    return result


def as_measured(runs):
    """Clean runs with a canary as if they had none, with the twins that they would then have."""
    blind = [dict(r, canary=None) for r in runs if r["fault"] == "F0" and not r["disturbed"] and core_ms(r)]
    for run in blind:
        set_twin(run, blind)
    return blind
