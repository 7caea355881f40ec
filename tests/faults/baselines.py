# SPDX-License-Identifier: MIT
"""Answers of simpler rules about the same recordings. Each takes a report and returns (host, resource), or None to
blame no host; none sees a label."""
from stats import median


def resource(report, metric, what="mean"):
    """host -> value, over the whole run."""
    return {r["host"]: r[what] for r in report["resources"] if r["metric"] == metric and r["phase"] == "all" and r[what] is not None}


def busy_cpu(report):
    return {host: 100 - idle for host, idle in resource(report, "cpu_idle").items()}


def highest(values):
    return max(sorted(values), key=lambda host: values[host]) if values else None


def utilisation_80(report):
    """A resource used more than 80 % of its capacity, the fullest first."""
    full = {(host, "cpu"): v for host, v in busy_cpu(report).items()}
    full.update({(host, "disk"): v for host, v in resource(report, "disk_busy").items()})
    for row in report["resources"]:
        if row["metric"] in ("net_send", "net_recv") and row["phase"] == "all" and row.get("ceiling") and row["mean"] is not None:
            full[(row["host"], "net-egress" if row["metric"] == "net_send" else "net-ingress")] = 100 * row["mean"] / row["ceiling"]
    full = {k: v for k, v in full.items() if v > 80}
    return highest(full)


def busiest_cpu(report):
    host = highest(busy_cpu(report))
    return (host, "cpu") if host else None


def own_wall(report):
    """host -> wall time of its rank without waits for peers and transfers, over all phases."""
    result = {}
    for row in report.get("budget", []):
        away = sum(row.get(term) or 0 for term in ("peer_wait_s", "transfer_s", "file_s", "mpi_overhead_s", "mpi_unsplit_s"))
        if row.get("rank") is not None and row["wall_s"]:
            result[row["host"]] = result.get(row["host"], 0) + row["wall_s"] - away
    return result


def wall_ratio(report):
    """The rank that takes 1.5 times as long as the median of the others."""
    own = own_wall(report)
    host = highest(own)
    others = [v for h, v in own.items() if h != host]
    return (host, "cpu") if others and own[host] >= 1.5 * median(others) else None


METRICS = {"cpu_user": "cpu", "cpu_system": "cpu", "psi_cpu": "cpu", "net_send": "net-egress", "net_recv": "net-ingress",
           "disk_read": "disk", "disk_write": "disk", "psi_io": "disk", "psi_memory": "memory", "mem_used": "memory"}


def metric_distance(report):
    """The host and metric farthest from the other hosts, relative to the mean of all; of two hosts the larger one."""
    best, where = .5, None
    for metric, name in METRICS.items():
        values = resource(report, metric)
        for host in sorted(values, key=lambda host: (-values[host], host)):
            others = [v for h, v in values.items() if h != host]
            scale = sum(values.values()) / len(values) if values else 0
            if others and scale > 1e-6 and abs(values[host] - median(others)) / scale > best:
                best, where = abs(values[host] - median(others)) / scale, (host, name)
    return where


def pressure_alone(report):
    """The host and resource with the highest stall share, from 10 % on."""
    stalls = {(host, name): v for metric, name in (("psi_cpu", "cpu"), ("psi_io", "disk"), ("psi_memory", "memory"))
              for host, v in resource(report, metric).items() if v >= 10}
    return highest(stalls)


def efficiency_ratios(report):
    """Load balance below .9 blames the rank that computes longest; communication efficiency below .8 blames the server's
    network."""
    own = own_wall(report)
    walls = [row["wall_s"] for row in report.get("budget", []) if row.get("rank") is not None and row["wall_s"]]
    if not own or not walls:
        return None
    mean, top = sum(own.values()) / len(own), max(own.values())
    if top > 0 and mean / top < .9:
        return highest(own), "imbalance"
    return (sorted(own)[0], "net-egress") if top / (sum(walls) / len(own)) < .8 else None


BASELINES = {"utilisation above 80 %": utilisation_80, "busiest CPU": busiest_cpu, "wall ratio 1.5": wall_ratio,
             "distance between hosts' metrics": metric_distance, "PSI alone": pressure_alone,
             "load balance and communication efficiency": efficiency_ratios}


def as_report(rule, report):
    """The report with the rule's answer as its verdict, to be scored like any other."""
    answer = rule(report)
    verdict = {"state": "saturated" if answer else "balanced", "host": answer[0] if answer else None,
               "resource": answer[1] if answer else "none", "confidence": None}
    return dict(report, verdict=verdict, ranking=[])
