# SPDX-License-Identifier: MIT
"""Which runs the matrix has. A case = workload x fault x magnitude x seed; the seed also says which rank
it hits. Magnitudes of the scored half were never used for tuning. Two faulty runs share the clean runs
next to them, so the order is clean, fault, fault, clean, ..."""
import injectors
from workloads import WORKLOADS

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
    "D1": (injectors.unused_core, "decoy: hog on an unused core"),
    "D2": (injectors.traffic_elsewhere, "decoy: traffic off the path"),
    "D3": (injectors.page_cache, "decoy: large page cache"),
    "D4": (injectors.buffered_writes, "decoy: bursts of buffered writes"),
    "D5": (injectors.spinning, "decoy: much spinning"),
}
NAMES = dict({k: v[1] for k, v in FAULTS.items()}, F0="nothing", F15="a fault for part of the run", F16="two faults on two hosts")
NOT_HERE = {"F10": "memory-bandwidth hog: needs more cores than the hosts and the hog have together"}

CPU = {"F1", "F2", "F11", "F12", "F13", "F15", "F16"}

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
}
SCORED = {
    "async": {"F1": [1, 2, 4], "F2": [75, 50, 30], "F11": [1.25, 2], "F12": [10, 30], "F13": [10, 25],
              "F15": [("F1", 2, .4, .6), ("F2", 30, .4, .6), ("F12", 60, .4, .6)],
              "F16": [(("F13", 0, 20), ("F12", 1, 30))], "D3": [300], "D4": [50], "D5": [1]},
    "async-net": {"F3": [150, 75, 50], "F4": [150, 75, 50], "F5": [75, 50], "F6": [2, 4], "F14s": [2048], "F14r": [2048], "D2": [30]},
    "lenet": {"F1": [1, 2], "F2": [50, 30], "F11": [1.5, 2], "F12": [10, 25], "D3": [300]},
    "lammps": {"F1": [1, 2], "F2": [75, 50, 30], "F5": [75, 50], "D3": [300], "D4": [50]},
    "ring": {"F1": [1, 2], "F2": [75, 50], "F5": [75, 50], "D4": [50]},
    "ring-disk": {"F7": [20, 50], "F8": [1, 2]},
    "ring-memory": {"F9": [55, 70]},
    "sync": {"F1": [4], "F2": [75, 50, 30], "F11": [1.25, 2], "F12": [10, 30], "F13": [8, 25],
             "F15": [("F1", 2, .4, .6), ("F12", 60, .4, .6)]},
    "sync-net": {"F3": [150, 75, 50], "F4": [150, 75, 50], "F5": [75, 50]},
    "sync-disk": {"F7": [4, 9], "F8": [1]},
    "sync-memory": {"F9": [100, 130]},
}


def magnitude_text(magnitude):
    if isinstance(magnitude, tuple):
        return "-".join(magnitude_text(m) for m in magnitude)
    return str(magnitude).replace(".", "p")


def target_of(workload, fault, seed):
    """The rank it hits: the server where the fault is one of servers, else by the seed."""
    if fault in ("F3", "F4", "F6", "F13"):
        return 0
    if fault in ("F5", "F14s", "F14r"):
        return 1 + seed % (workload.ranks - 1)
    return seed % workload.ranks


def scale_of(fault, magnitude):
    """So that no run takes much more than twice as long as a clean one."""
    if fault == "F1":
        return 1.6 / (1 + magnitude)
    if fault == "F2":
        return min(1, 1.8 * magnitude / 100)
    if fault in ("F3", "F4", "F5", "F6"):
        return .6
    return {"F7": .7, "F9": .6, "F14s": .4, "F14r": .5, "F16": .7}.get(fault, 1)


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
            "ranks": w.ranks, "rank": target_of(w, inner, seed), "scale": scale_of(fault, magnitude), "own_cores": w.own_cores}


def clean_case(half, workload, number):
    w = WORKLOADS[workload]
    return {"id": f"{half[0]}-{workload}-F0-{number}", "half": half, "workload": workload, "fault": "F0", "inner": "F0",
            "window": None, "pair": None, "amount": 0, "seed": number, "ranks": w.ranks, "rank": 0, "scale": 1, "own_cores": w.own_cores}


def cases_of(half, seeds):
    """Seed by seed, so that whoever stops early has seen every case; in each, workload by workload with a clean
    run before every two faulty ones and one at the end."""
    result, cleans = [], {}

    def add_clean(workload):
        cleans[workload] = cleans.get(workload, -1) + 1
        result.append(clean_case(half, workload, cleans[workload]))

    for seed in range(1, seeds + 1):
        for workload, faults in (TUNING if half == "tuning" else SCORED).items():
            faulty = [case_of(half, workload, fault, magnitude, seed) for fault, magnitudes in faults.items() for magnitude in magnitudes]
            for i, case in enumerate(faulty):
                if i % 2 == 0:
                    add_clean(workload)
                result.append(case)
            add_clean(workload)
    return result
