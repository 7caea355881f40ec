# SPDX-License-Identifier: MIT
"""Verdicts on strange programs, recorded once and scored since: whether host, resource and cause are right, what was
denied, whom it blamed for nothing. Pure: no files, no programs.

The truth of a run is a line of truth.jsonl: a fault as it was planted (`hog:vm2:1`, `in:vm2:60`), or in words; for words
strangers.json says what a right verdict names. There is what limits a program by nature, too."""
import re

import scorer

MUST = 1.15 # slowdown from which a fault has to be found
DENIED = 1.3 # slowdown from which a verdict must not deny it
SURE = .8 # confidence from which an innocent must not be blamed

# resources and kinds of cause that a planted fault may be called by
CPU = (("cpu",), ("contention",))
DISK = (("disk", "disk-throttle"), ("throttle", "remote-storage"))
NETWORK = ("path-limited", "link-contention")
PLANTED = {"hog": CPU, "outhog": CPU, "duty": CPU, "quota": (("cpu-quota",), ("quota",)),
           "in": (("net-ingress",), NETWORK), "out": (("net-egress",), NETWORK), "both": (("net-egress", "net-ingress"), NETWORK),
           "link": (("net-egress", "net-ingress"), NETWORK), "stop": (("application",), ("stopped", "frozen")),
           "wthrottle": DISK, "wiops": DISK, "diskr": DISK, "rmem": (("application", "net-ingress"), ("receiver",)),
           "wmem": (("application", "net-egress"), ("sndbuf",)), "foreign": (("net-egress", "net-ingress"), NETWORK),
           "work": (("imbalance", "cpu"), ("skew", "serial")), "mem": (("memory",), ("memory-limit", "swap"))}
DECOYS = ("udp", "idlehog", "sparehog", "cache", "helpers", "download", "buffered")


# ---- the truth ----

def truth_of(line, table):
    """{host, resource, cause, says, never} of a run with a fault, or None. The line may say it (`expected`). each: {host:
    (resources, causes)}, where hosts have faults of their own; resource and cause are then those that all share."""
    if "expected" in line:
        return line["expected"]
    key = f"{line['db']} {line['run']}"
    if key in table["truth"]:
        return table["truth"][key]
    faults = [part.split(":") for part in line["fault"].split()]
    if faults[0][0] not in PLANTED:
        return None
    resources, causes = (tuple(name for name in first if all(name in PLANTED[kind][i] for kind, *_ in faults)) for i, first in enumerate(PLANTED[faults[0][0]]))
    each = {host: PLANTED[kind] for kind, host, *_ in faults}
    return {"host": [fault[1] for fault in faults], "resource": resources, "cause": causes, "each": each}


def natural_limits(line, table):
    """{host: resources} that limit this program when nothing is wrong: those of the table, and of the line itself."""
    key = f"{line['db']} {line['run']}"
    if key in table["nothing_is_natural"]:
        return {}
    result = {host: list(names) for host, names in table["natural"].get(line["db"], {}).get(line["program"], {}).items()}
    for more in (table["also_natural"].get(key, {}), line.get("natural", {})):
        for host, names in more.items():
            result.setdefault(host, []).extend(names)
    return result


def run_of(line, report, table):
    """One scored run. `right`: "find", "grey" (too little lost), "unmeasured", or "clean"."""
    truth, slower = truth_of(line, table), line.get("slower")
    right = "clean" if truth is None else "unmeasured" if slower is None else "find" if slower >= MUST else "grey"
    return {"id": f"{line['db'].removesuffix('.db')} {line['run']}", "group": line["group"], "program": line["program"], "fault": line["fault"],
            "slower": slower or 1, "words": line.get("truth"), "truth": truth, "right": right, "natural": natural_limits(line, table),
            "hosts": [host["name"] for host in report["run"].get("host_details") or []], "verdict": report["verdict"]}


# ---- one answer ----

def blamed_hosts(run):
    """The hosts that a verdict names: all of them, where the limit is that of all hosts."""
    verdict = run["verdict"]
    if not scorer.names_a_limit(verdict):
        return []
    if verdict.get("host"):
        return [verdict["host"]]
    return run["hosts"] if verdict.get("subject") == "all-hosts" else []


def wanted(run):
    """(resources, causes or None): of the host that is named, where each has its own."""
    truth, named = run["truth"], blamed_hosts(run)
    return truth.get("each", {}).get(named[0] if len(named) == 1 else None, (truth["resource"], truth.get("cause")))


def is_right(run):
    """Host and resource. All hosts are right only where all of them were hurt."""
    truth, named = run["truth"], blamed_hosts(run)
    hosts_fit = named and (set(named) == set(truth["host"]) or (len(named) == 1 and named[0] in truth["host"]))
    return bool(hosts_fit) and run["verdict"]["resource"] in wanted(run)[0]


def cause_is_right(run):
    truth, verdict = run["truth"], run["verdict"]
    said = verdict.get("limit") or ""
    causes = wanted(run)[1]
    return (is_right(run) and (causes is None or verdict.get("cause_kind") in causes)
            and ("says" not in truth or bool(re.search(truth["says"], said))) and ("never" not in truth or not re.search(truth["never"], said)))


def is_denied(run):
    """Balanced, or computing and nothing else, though something else slowed it."""
    verdict = run["verdict"]
    return verdict["state"] == "balanced" or (verdict.get("cause_kind") == "compute-bound" and not is_right(run))


def is_unknown(run):
    return run["verdict"]["state"] == "insufficient"


def blames_an_innocent(run):
    """One host is blamed that had no fault, for what does not limit the program by nature. Where it has a fault, another
    resource of the same host is a miss and no innocent."""
    verdict = run["verdict"]
    host = verdict.get("host") if scorer.names_a_limit(verdict) else None
    hurt = run["truth"]["host"] if run["truth"] else []
    return bool(host) and verdict["confidence"] >= SURE and host not in hurt and verdict["resource"] not in run["natural"].get(host, [])


def is_wrong(run):
    return (run["right"] == "find" and not cause_is_right(run)) or blames_an_innocent(run)


# ---- measures ----

def measures(runs):
    find = [run for run in runs if run["right"] == "find"]
    slow = [run for run in find if run["slower"] >= DENIED]
    clean = [run for run in runs if run["right"] == "clean"]
    return {"host and resource": scorer.count(find, is_right), "with cause": scorer.count(find, cause_is_right),
            f"balanced or compute-bound though {DENIED} x slower": scorer.count(slow, is_denied),
            f"not known though {DENIED} x slower": scorer.count(slow, is_unknown),
            f"clean: innocent blamed at {SURE}": scorer.count(clean, blames_an_innocent),
            f"fault: innocent host blamed at {SURE}": scorer.count([run for run in runs if run["right"] != "clean"], blames_an_innocent)}


GROUPS = (("mpi", "with MPI"), ("service", "services"), (None, "all"))


def table_lines(runs):
    parts = [measures([run for run in runs if group in (None, run["group"])]) for group, _ in GROUPS]
    lines = [f"{'':46s}" + "".join(f"{name:>30s}" for _, name in GROUPS)]
    for name in parts[0]:
        cells = (part[name] for part in parts)
        lines.append(f"{name:46s}" + "".join(f"{cell_text(cell):>30s}" for cell in cells))
    counts = {right: sum(run["right"] == right for run in runs) for right in ("find", "clean", "grey", "unmeasured")}
    return lines + [f"{len(runs)} runs: " + ", ".join(f"{n} {right}" for right, n in counts.items())]


def program_lines(runs):
    """A row a program: faults found and their causes, and innocents blamed in its clean runs."""
    lines = []
    for name in sorted({run["program"] for run in runs}):
        part = measures([run for run in runs if run["program"] == name])
        lines.append(f"  {name:24s} host and resource {cell_text(part['host and resource'])}; cause {cell_text(part['with cause'])};"
                     f" clean, innocent {cell_text(part[f'clean: innocent blamed at {SURE}'])}")
    return lines


def cell_text(cell):
    if not cell["n"]:
        return "-"
    return f"{cell['right']} of {cell['n']}, {100 * cell['share']:.0f} % ({100 * cell['low']:.0f} to {100 * cell['high']:.0f})"


def said_text(run):
    verdict = run["verdict"]
    names = [verdict["state"], verdict.get("host") or verdict.get("subject"), verdict.get("resource"), verdict.get("cause_kind")]
    return f"{' '.join(name for name in names if name and name != 'none')} {verdict['confidence']:.2f}"


def mark_of(run):
    """One word for a run: right, what is wrong with it, or why there is nothing to find."""
    if blames_an_innocent(run):
        return "innocent"
    if run["right"] != "find":
        return run["right"]
    if cause_is_right(run):
        return "right"
    if is_right(run):
        return "cause"
    return "denied" if is_denied(run) else "unknown" if is_unknown(run) else "other"


def run_line(run):
    return f"  {mark_of(run):10s} {run['id']:16s} {run['program'][:10]:10s} {run['fault'][:26]:26s} {run['slower']:5.2f} x  {said_text(run):52s} {run['words'] or ''}".rstrip()


def changes(old, new):
    """Lines of the runs whose mark or verdict is another one."""
    return [f"  {was['id']:16s} {was['program'][:10]:10s} {was['fault'][:26]:26s} {mark_of(was)} -> {mark_of(now)}: {said_text(was)} -> {said_text(now)}"
            for was, now in zip(old, new) if mark_of(was) != mark_of(now) or said_text(was)[:-5] != said_text(now)[:-5]]
