#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""captions.py PAGE DATABASE RUN: recomputes the figures of the page's captions from the database, by SQL and sums alone.
Prints each caption with its figures, the recomputed ones beside them, and ends with 1 if one differs by more than rounding."""
import html
import re
import sqlite3
import statistics
import sys

page, database, run = open(sys.argv[1], encoding="utf-8").read(), sqlite3.connect(sys.argv[2]), int(sys.argv[3])
FULL = 0.9
TIME = """(f.mono_ns + coalesce((SELECT c.offset_ns + (f.mono_ns - c.at_ns) * c.drift_ppm / 1e6 FROM clock_piece c WHERE c.stream = s.stream
    AND c.from_ns <= f.mono_ns ORDER BY c.from_ns DESC LIMIT 1), s.clock_offset_ns) - r.started_mono_ns) / 1e9"""
end_s, = database.execute("SELECT (ended_mono_ns - started_mono_ns) / 1e9 FROM run WHERE run = ?", (run,)).fetchone()


def rows(table, host, columns):
    """Rows of the host by time: {time: [(instance, interval_s, columns...)]}."""
    found = {}
    for time, *row in database.execute(f"""SELECT {TIME}, i.name, d.interval_ns / 1e9, {columns} FROM run r JOIN host h ON h.run = r.run
            JOIN stream s ON s.host = h.host JOIN frame f ON f.stream = s.stream JOIN "{table}" d ON d.frame = f.frame
            JOIN instance i ON i.instance = d.instance WHERE r.run = ? AND h.name = ? ORDER BY 1""", (run, host)):
        found.setdefault(time, []).append(row)
    return found


def per_sample(table, host, columns, value, at_level=False, unwanted=()):
    """[(time, interval, value of the rows of that time)], where the interval is known. at_level: of a level, not of a growth."""
    samples = []
    for time, found in rows(table, host, columns).items():
        found = [row for row in found if row[0] not in unwanted]
        interval = min((row[1] for row in found if row[1]), default=None)  # an idle instance has fewer rows, of longer times
        known = value([row for row in found if row[1] or at_level])
        if known is not None and (interval or at_level):
            samples.append((time, interval or 0, known))
    return samples


def mean(samples):
    """Weighted by the part of each sample that lies in the run."""
    weights = [(max(0.0, min(t, end_s) - max(t - dt, 0.0)), v) for t, dt, v in samples]
    return sum(w * v for w, v in weights) / sum(w for w, _ in weights)


def within(samples):
    """Values of samples at least half of which lies in the run. A level has the time since the sample before."""
    before = [0] + [t for t, _, _ in samples]
    spans = [(t - (dt or t - last), t, v) for last, (t, dt, v) in zip(before, samples)]
    return [v for begin, t, v in spans if t > begin and min(t, end_s) - max(begin, 0) >= 0.5 * (t - begin)]


CORES = "user_ns, nice_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns"


def core_parts(row):
    known = [part or 0 for part in row[2:]]
    return sum(known), known[3], known[4]


def ticks(host):
    def busy(found):
        sums = [core_parts(row) for row in found]
        return 100 - 100 * sum(s[1] for s in sums) / sum(s[0] for s in sums) if sums else None
    return per_sample("cpu", host, CORES, busy)


def exact(host):
    """A host that is a group of another one is known to the nanosecond; the kernel's ticks of it are not."""
    cores = len({row[0] for found in rows("cpu", host, CORES).values() for row in found})
    return per_sample("cgroup", host, "cpu_ns", lambda found: max(
        (min(100, 100 * row[2] / row[1] / 1e9 / cores) for row in found if row[2] is not None), default=None))


def cpu(host):
    return exact(host) or ticks(host)


def fullest_core(host):
    """A host of one core has that one."""
    if len({row[0] for found in rows("cpu", host, CORES).values() for row in found}) == 1:
        return cpu(host)

    def most(found):
        return max((100 * (s[0] - s[1] - s[2]) / s[0] for s in map(core_parts, found) if s[0]), default=None)
    return per_sample("cpu", host, CORES, most)


def bytes_of(table, column, unwanted=()):
    def of(host):
        def rate(found):
            known = [row[2] / row[1] / 1e6 for row in found if row[2] is not None]
            return sum(known) if known else None
        return per_sample(table, host, column, rate, unwanted=unwanted)
    return of


RATES = {"sends": bytes_of("net", "send_bytes", ("lo",)), "receives": bytes_of("net", "receive_bytes", ("lo",)),
         "reads": bytes_of("disk", "read_bytes"), "writes": bytes_of("disk", "write_bytes")}


def memory(host):
    def levels(found):
        return found[0][2] / 1e9, found[0][3] / 1e9
    return per_sample("memory", host, "total_bytes, available_bytes", levels, True)


def pressure(host, resource):
    def some(found):
        return next((100 * row[2] / row[1] / 1e9 for row in found if row[0] == resource and row[2] is not None), None)
    return per_sample("psi", host, "some_ns", some)


def quota(host):
    """Used shares of the host's quota: of cores, or of periods in which it was used up."""
    def used(found):
        row = next((row for row in found if row[5] and row[6]), None)
        if not row:
            return None
        throttled = row[4] / row[3] if row[3] else 0
        return max((row[2] or 0) / row[1] / 1e9 / (row[5] / row[6]), throttled)
    return per_sample("cgroup", host, "cpu_ns, periods, throttled_periods, quota_ns, d.period_ns", used)


def full_share(values):
    return 100 * sum(v >= FULL for v in values) / len(values)


FULL_OF = {"CPU": lambda host: [v / 100 for _, _, v in cpu(host)],
           "CPU quota": lambda host: [v for _, _, v in quota(host)],
           "memory": lambda host: [(total - left) / total for _, _, (total, left) in memory(host)]}


def budget(phase):
    """Sums of the terms of a phase, in percent of the time of its ranks."""
    columns = [row[1] for row in database.execute("PRAGMA table_info(budget)")]
    terms = [c for c in columns[columns.index("cpu_ns"):] if c.endswith("_ns") and c not in ("unknown_ns", "other_threads_cpu_ns", "awaited_ns")]
    sums = database.execute(f"""SELECT sum(wall_ns), {', '.join(f'sum(coalesce({t}, 0))' for t in terms)} FROM budget
        WHERE run = ? AND phase = ? AND iteration IS NULL""", (run, phase)).fetchone()
    return sorted((100 * s / sums[0] for s in sums[1:]), reverse=True)


checked, wrong = 0, 0


def hold(caption, said, recomputed, slack=0.0):
    """said: as it is written, with its digits."""
    global checked, wrong
    digits = len(said.split(".")[1]) if "." in said else 0
    unit = 10.0 ** -digits if "e" not in said else 0.01 * abs(float(said))
    off = abs(float(said) - recomputed)
    checked += 1
    good = off <= 0.51 * unit + slack + 1e-3 * abs(recomputed)
    wrong += not good
    print(f"{'   ' if good else '!! '}{caption}: says {said}, recomputed {recomputed:.5g}")


NUMBER = r"(-?[0-9.]+(?:e-?[0-9]+)?)"
# Ticks of 10 ms are brought to the exact use of the kernel's groups: within a point.
POINT = 1.0


def check_map(text):
    for host, what, share in re.findall(r"(\S+)'s ([A-Za-z ]+?)(?: was full:?)? " + NUMBER + " %", text):
        if what in FULL_OF:
            hold(f"map, {host}'s {what}", share, full_share(FULL_OF[what](host)), POINT)


def check_cpu(text):
    host, busy, core = re.search(r"(\S+) is (?:the busiest host: |busy )" + NUMBER + r" % of the time, its fullest core " + NUMBER, text).groups()
    hold(f"CPU of {host}", busy, mean(cpu(host)), POINT)
    hold(f"fullest core of {host}", core, mean(fullest_core(host)), POINT)
    for other, least in re.findall(r"(\S+) is the idlest: " + NUMBER, text):
        hold(f"CPU of {other}", least, mean(cpu(other)), POINT)


def check_rates(text):
    for host, does, average, most in re.findall(r"(\S+) (sends|receives|reads|writes) most: " + NUMBER + r" MB/s on average, " + NUMBER + " at most", text):
        samples = RATES[does](host)
        hold(f"{host} {does}", average, mean(samples))
        hold(f"{host} {does} at most", most, max(within(samples)))


def check_memory(text):
    host, most, of = re.search(r"(\S+) uses most: at most " + NUMBER + " of " + NUMBER, text).groups()
    levels = within(memory(host))
    most_used = max(total - left for total, left in levels)
    hold(f"memory of {host}", most, most_used, 0.01 * most_used)  # a sample on an end of the run may be in it or not
    hold(f"memory of {host} in all", of, levels[0][0])


def check_pressure(text):
    for host, what, share in re.findall(r"most on (\S+): for (a core|I/O|memory), " + NUMBER, text):
        samples = pressure(host, {"a core": "cpu", "I/O": "io", "memory": "memory"}[what])
        hold(f"pressure of {host}", share, mean(samples))


def check_budget(text):
    phase = re.search(r"wall time of (?:phase )?(.+), by", text).group(1)
    for said, recomputed in zip(re.findall(NUMBER + " %", text), budget("all" if phase == "the whole run" else phase)):
        hold(f"time of {phase}", said, recomputed)


def check_iterations(text):
    """An iteration lasts from one end mark to the next of its rank, or the mark tells how long it took."""
    kind, = database.execute("SELECT count(*) FROM mark WHERE kind = 2").fetchone()
    durations = {}
    for rank, ns in database.execute("SELECT rank, duration_ns FROM mark m JOIN frame f USING(frame) JOIN stream s USING(stream) JOIN host h USING(host) "
                                     "WHERE h.run = ? AND kind = 2 AND duration_ns > 0", (run,)):
        durations.setdefault(rank, []).append(ns / 1e9)
    said = re.search(r"An iteration takes " + NUMBER, text)
    if said and kind and durations:
        hold("iteration", said.group(1), max(statistics.median(of) for of in durations.values()))


def routes():
    """Bytes that connections carried from host to host, as their senders count them."""
    found, at, host_of = {}, {}, {}
    for host, name, sent in database.execute("""SELECT h.name, i.name, sum(coalesce(d.send_bytes, 0)) FROM host h JOIN stream s ON s.host = h.host
            JOIN frame f ON f.stream = s.stream JOIN connection d ON d.frame = f.frame JOIN instance i ON i.instance = d.instance
            WHERE h.run = ? GROUP BY 1, 2""", (run,)):
        here, there = (end.rsplit(":", 1)[0] for end in name.split(">"))
        at[host, there] = at.get((host, there), 0) + sent
        host_of[here] = host
    for (host, there), sent in at.items():
        if host_of.get(there, host) != host:
            found[host, host_of[there]] = found.get((host, host_of[there]), 0) + sent
    return found


def check_pairs(text):
    of = re.search(r"(\S+) to (\S+) carried most: " + NUMBER + " MB/s on average, " + NUMBER + " % of all", text)
    if not of:
        return
    sums = routes()
    sent = sums[of.group(1), of.group(2)]
    hold(f"from {of.group(1)} to {of.group(2)}", of.group(3), sent / 1e6 / end_s)
    hold("of all pairs", of.group(4), 100 * sent / sum(sums.values()))


CHECKS = {"map": check_map, "cpu": check_cpu, "network": check_rates, "disk": check_rates, "memory": check_memory, "pressure": check_pressure,
          "budget": check_budget, "iterations": check_iterations, "pairs": check_pairs}
stored, = database.execute("SELECT count(*) FROM budget WHERE run = ?", (run,)).fetchone()
for name, caption in re.findall(r'<figure data-plot="([a-z-]+)"><figcaption>(.*?)</figcaption>', page, re.S):
    if name in CHECKS and (name != "budget" or stored):
        CHECKS[name](html.unescape(re.sub("<[^>]*>", "", caption)))
print(f"{checked} figures, {wrong} of them wrong")
sys.exit(0 if checked and not wrong else 1)
