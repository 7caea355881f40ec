# SPDX-License-Identifier: MIT
"""Which runs the matrix has. A case = workload x fault x magnitude x seed; the seed also says which rank
it hits. Magnitudes of the scored half were never used for tuning, and are new for each published score; those of D1 and
D5 say nothing, they only tell such runs from earlier ones.
The order is such that whoever stops early has seen all workloads and all faults alike: each workload's
cases are cut into blocks of a clean run and three faulty ones, in which its faults take turns, and the
blocks of all workloads are dealt out evenly."""
import injectors
import services
from bed import STRESSORS
from workloads import WORKLOADS

BLOCK = 3 # faulty runs that follow a clean one
PLAIN = "plain" # the fault of runs that nobody profiles: what a program takes alone

# id: (injector, what it is for the manual)
FAULTS = {
    "F1": (injectors.hog, "CPU hog on a host's core"),
    "F2": (injectors.quota, "CPU quota"),
    "F3": (injectors.egress, "server's link, sending, shaped"),
    "F4": (injectors.ingress, "server's link, receiving, shaped"),
    "F5": (injectors.both_ways, "a worker's link shaped both ways"),
    "F6": (injectors.foreign_traffic, "foreign traffic on a shaped link"),
    "F7": (injectors.read_throttle, "block-I/O throttle"),
    "F8": (injectors.foreign_reader, "foreign reader on a slow disk"),
    "F9": (injectors.memory_limit, "memory limit below the working set"),
    "F11": (injectors.skew, "data skew"),
    "F12": (injectors.sleep, "sleep in one rank"),
    "F13": (injectors.apply, "slow apply at the server"),
    "F14s": (injectors.send_buffer, "small send buffer"),
    "F14r": (injectors.receive_buffer, "small receive buffer"),
    "F17": (injectors.stops, "a rank that is stopped now and then"),
    "F18": (injectors.lock_held, "a lock held long"),
    "F19": (injectors.pool, "a pool of connections that is empty"),
    "F20": (injectors.thread_full, "one thread that has more to do"),
    "F21": (injectors.input_starved, "a loader that is slower than the step"),
    "F22": (injectors.operations_limit, "limit of block-I/O operations"),
    "F23": (injectors.stressor, "stress-ng on a rank's host"),
    "D1": (injectors.unused_core, "decoy: hog on an unused core"),
    "D2": (injectors.traffic_elsewhere, "decoy: traffic off the path"),
    "D3": (injectors.page_cache, "decoy: large page cache"),
    "D4": (injectors.buffered_writes, "decoy: bursts of buffered writes"),
    "D5": (injectors.spinning, "decoy: much spinning"),
}
NAMES = dict({k: v[1] for k, v in FAULTS.items()}, F0="nothing", F15="a fault for part of the run", F16="two faults on two hosts")
NOT_HERE = {"F10": "memory-bandwidth hog: needs more cores than the hosts and the hog have together"}

# workload: fault: magnitudes. Units stand with the injectors; F15: (fault, magnitude, from, to).
TUNING = {
    "sync": {"F1": [1, 2], "F2": [70, 40], "F11": [1.5], "F12": [15], "F13": [12],
             "F15": [("F2", 30, .3, .7), ("F12", 40, .4, .6)],
             "F16": [(("F13", 0, 15), ("F12", 1, 15))], "D3": [200], "D4": [30], "D5": [1]},
    "sync-net": {"F3": [200, 90], "F4": [200, 90], "F5": [90], "F6": [3], "F14s": [4096], "F14r": [4096], "D2": [20]},
    "sync-disk": {"F7": [6], "F8": [2]},
    "sync-memory": {"F9": [120]},
    "matmul": {"F1": [1], "F2": [40], "F12": [8]},
    "one": {"D1": [1]},
    "async-tune": {"F1": [1], "F2": [60, 35], "F11": [1.5], "F12": [10], "F13": [8], "F15": [("F12", 30, .4, .6)]},
}
SCORED = {
    "async": {"F1": [1.41, 1.81], "F16": [(("F13", 0, 13.3), ("F12", 1, 17.8))], "F2": [57.5, 49.9], "F11": [1.58, 2.21],
              "F12": [20.9, 25.1], "F13": [11.8, 16.6], "F15": [("F1", 1.76, .3, .6), ("F12", 43.7, .45, .7)], "D3": [285], "D5": [22]},
    "async-net": {"F3": [100.5, 67], "F4": [97.5, 71], "F5": [67.5, 54.5], "F6": [3.45], "F14s": [3550], "F14r": [2950], "D2": [22]},
    "lenet": {"F1": [1.41, 1.81], "F2": [57.5, 49.9], "F11": [1.58, 2.21], "F12": [14.1, 17.4],
              "F15": [("F2", 33.5, .4, .7), ("F11", 2.42, .4, .7)], "D4": [65]},
    "softmax": {"F1": [1.41, 1.81], "F2": [53.5], "F5": [67.5], "F11": [1.58, 2.21], "F12": [14.1, 17.4],
                "F15": [("F2", 33.5, .35, .65)], "D3": [285]},
    "lammps": {"F1": [1.41, 1.81], "F2": [57.5, 49.9], "F5": [67.5], "D3": [285], "D4": [65]},
    "hpcc": {"F2": [69.5, 45.6], "F5": [85.5], "D4": [65]}, # a hog beside its spinning ranks takes minutes
    "espresso": {"F1": [0.81], "F2": [57.5, 49.9], "F5": [67.5], "D3": [285]},
    "scalapack": {"F2": [69.5, 45.6], "F5": [67.5], "D4": [65]},
    "mpb": {"F1": [1.48], "F2": [69.5, 45.6], "F5": [75.5, 65.5], "D3": [285]},
    "mrbayes": {"F1": [1.41, 1.81], "F2": [57.5, 49.9], "D3": [285], "D4": [65]},
    "nwchem": {"F2": [57.5, 49.9], "F5": [67.5], "D4": [65]}, # a hog beside its spinning ranks takes minutes, as with hpcc
    "gromacs": {"F1": [0.81], "F2": [57.5, 49.9], "F5": [67.5], "D3": [285]},
    "cp2k": {"F2": [57.5, 49.9], "F5": [67.5], "D3": [285], "D4": [65]}, # nor here
    "ring": {"F1": [1.41, 1.81], "F2": [57.5, 49.9], "F5": [67.5, 54.5], "D3": [285], "D4": [65]},
    "gloo": {"F1": [1.49, 1.82], "F2": [34.5], "F5": [80.5, 67.2], "F11": [1.78, 2.06], "F12": [24.2, 31.7], "D4": [89]},
    "ring-disk": {"F7": [5.45], "F8": [3.45]},
    "ring-memory": {"F9": [45.5, 46.5], "D3": [285]},
    "sync": {"F1": [1.41, 1.81], "F2": [57.5, 49.9], "F11": [1.58, 2.21], "F12": [20.9, 25.1], "F13": [11.8, 16.6],
             "F15": [("F1", 1.76, .35, .65), ("F12", 43.7, .5, .75)],
             "F16": [(("F13", 0, 13.3), ("F12", 1, 17.8))], "D3": [285], "D4": [65], "D5": [22]},
    "sync-net": {"F3": [100.5, 67], "F4": [97.5, 71], "F5": [67.5, 54.5], "F6": [2.35], "D2": [22]},
    "sync-disk": {"F7": [4.85], "F8": [1.9]},
    "sync-memory": {"F9": [99.5, 112.5]},
    "one": {"D1": [15]},
    "examl": {"F1": [0.37], "F2": [52.5], "F5": [62.5], "F15": [("F2", 31.5, .3, .7)], "F17": [43]},
    "meep": {"F1": [1.27], "F2": [61.5], "F3": [58.5], "F5": [66.5], "F15": [("F1", 1.83, .35, .75)]},
    "abyss": {"F1": [0.93], "F2": [54.5], "F4": [61.5], "F5": [58.5], "F17": [39]},
    "dgpart": {"F1": [0.43], "F2": [47.5], "F4": [55.5], "F5": [59.5], "F15": [("F2", 29.5, .3, .8)]},
    "petsc": {"F1": [0.47], "F2": [58.5], "F11": [1.84], "F12": [10.5], "F13": [9.4]},
    "fft": {"F1": [1.29], "F2": [51.5], "F3": [62.5], "F5": [57.5], "F12": [57]},
    "hdf": {"F1": [1.39], "F2": [48.5], "F7": [5.15], "F8": [1.55], "F12": [33]},
    "distcc": {"F1": [1.87], "F2": [36.5], "F3": [33.5], "F5": [27.5], "F15": [("F2", 24.5, .2, .8)]},
    "pbzip2": {"F1": [1.57], "F2": [92.5], "F7": [9.15], "F8": [2.55], "F15": [("F1", 2.64, .2, .8)]},
}


# Faults that others wrote: each stressor with one, two and four workers, in turn.
STRESS = {workload: {"F23": [f"{kind}/{workers}" for workers in (1, 2, 4) for kind in STRESSORS]} for workload in ("matmul", "sync", "async")}
HALVES = {"tuning": TUNING, "scored": SCORED, "service": services.PLAN, "stress": STRESS}


def plan_of(half):
    return HALVES[half]


def magnitude_text(magnitude):
    if isinstance(magnitude, tuple):
        return "-".join(magnitude_text(m) for m in magnitude)
    return str(magnitude).replace(".", "p").replace("/", "-")


def target_of(workload, fault, seed):
    """The rank that is hit: the one that a program names; for faults of servers the server; otherwise by the seed."""
    if fault in workload.targets:
        return workload.targets[fault]
    if fault in ("F3", "F4", "F6", "F13"):
        return 0
    if fault in ("F5", "F14s", "F14r"):
        return 1 + seed % (workload.ranks - 1)
    return (seed + workload.hit) % workload.ranks


LONGER = 1.8 # work of a faulty run relative to a clean one: one-time parts and chance weigh less then


def scale_of(workload, fault, magnitude):
    """Limits the length of a faulty run to about a clean one's, if its magnitude shows its cost."""
    if workload.faulty_scale or not workload.scales:
        return workload.faulty_scale or 1
    if fault == "F1":
        return min(1, LONGER / (1 + magnitude))
    if fault == "F23":
        return min(1, LONGER / (1 + int(magnitude.split("/")[1])))
    if fault == "F2":
        return min(1, LONGER * magnitude / 100)
    if fault in ("F3", "F4", "F5"):
        return max(.5, min(1, LONGER * magnitude / 100))
    return {"F6": .6, "F7": .7, "F9": .6, "F14s": .4, "F14r": .5, "F16": .7, "F17": .7, "F18": .6, "F19": .6, "F20": .6, "F21": .6, "F22": .7}.get(fault, 1)


def case_of(half, workload, fault, magnitude, seed):
    inner, window, pair = fault, None, None
    if fault == "F15":
        inner, magnitude_inner, *window = magnitude
    if fault == "F16":
        pair = [list(one) for one in magnitude]
    w = WORKLOADS[workload]
    return {"id": f"{half[0]}-{workload}-{fault}-{magnitude_text(magnitude)}-{seed}", "half": half, "workload": workload,
            "fault": fault, "inner": inner, "window": window, "pair": pair,
            "amount": magnitude_inner if fault == "F15" else magnitude, "seed": seed,
            "ranks": w.ranks, "rank": target_of(w, inner, seed), "scale": scale_of(w, fault, magnitude), "own_cores": w.own_cores}


def clean_case(half, workload, number, fault="F0"):
    w = WORKLOADS[workload]
    return {"id": f"{half[0]}-{workload}-{fault}-{number}", "half": half, "workload": workload, "fault": fault, "inner": "F0",
            "window": None, "pair": None, "amount": 0, "seed": number, "ranks": w.ranks, "rank": 0, "scale": 1, "own_cores": w.own_cores}


def faulty_cases(half, workload, faults, seed, first):
    """One of each fault in turn, then the second magnitudes, and so on; `first` is the fault to begin
    with."""
    names = list(faults)
    names = names[first % len(names):] + names[:first % len(names)]
    longest = max(len(magnitudes) for magnitudes in faults.values())
    return [case_of(half, workload, fault, faults[fault][i], seed) for i in range(longest) for fault in names if i < len(faults[fault])]


def blocks_of(half, workload, faulty, number):
    """Blocks of a clean run and the faulty ones after it; beside every third clean one of the scored half the same
    without profiling, before and after it in turn, and of every other program before it to begin with: an early stop
    leaves as many of either. `number`: the clean runs this workload has had."""
    other = list(plan_of(half)).index(workload)
    for i in range(0, len(faulty), BLOCK):
        clean, alone = [clean_case(half, workload, number)], []
        if half == "scored" and number % 3 == 0:
            alone = [clean_case(half, workload, number, PLAIN)]
        yield (alone + clean if (number + other) % 2 else clean + alone) + faulty[i:i + BLOCK]
        number += 1


def cases_of(half, seeds):
    """Seed by seed; in each, the blocks of a workload are spread evenly."""
    result, cleans = [], {}
    for seed in range(1, seeds + 1):
        dealt = []
        for at, (workload, faults) in enumerate(plan_of(half).items()):
            blocks = list(blocks_of(half, workload, faulty_cases(half, workload, faults, seed, at + seed), cleans.get(workload, 0)))
            cleans[workload] = cleans.get(workload, 0) + len(blocks)
            dealt += [((i + .2) / len(blocks), at, block) for i, block in enumerate(blocks)]
        result += [case for _, _, block in sorted(dealt, key=lambda d: d[:2]) for case in block]
    return result
