# SPDX-License-Identifier: MIT
"""engine_series.py DATABASE prometheus|victoria-metrics URL: an engine that got the last run of a database by remote write
has each sample of it once, in order and with the right value, and nothing else. The samples are made of the database's
rows here, by the words of docs/engines.md."""
import json
import sqlite3
import sys
import urllib.parse
import urllib.request

TABLES = "cpu memory vmstat psi load cgroup net disk gpu energy filesystem nfs".split()
NOT_SENT = {"net": {"network"},
            "gpu": set("fp16_ns fp32_ns fp64_ns graphics_ns memory_busy_ns memory_clock_hz last_xid pcie_replays "
                       "ecc_corrected clock_reasons".split())}

BUSY = {"user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"}
REST = {"idle_ns", "iowait_ns", "steal_ns"}


def name_of(table, column, unit, kind):
    ends = {"ns": ("_ns", "_seconds"), "bytes": ("_bytes", "_bytes"), "1e-9": ("_nano", "")}
    old, new = ("_hz", "_hertz") if column.endswith("_hz") else ends.get(unit, ("_total", ""))
    stem = column[: -len(old)] if column.endswith(old) else column
    return f"chokepoint_{table}_{stem}{new}" + ("_total" if kind == "counter" else "")


class Instance:
    """The samples of an instance's columns, from its rows in their order."""

    def __init__(self, columns):
        self.columns, self.rows, self.sums, self.samples = columns, 0, {}, {}

    def take(self, values):
        for (name, unit, kind), value in zip(self.columns, values):
            if value is None or name is None:
                continue
            samples = self.samples.setdefault(name, [])
            if kind == "counter":
                if not samples and self.rows:
                    samples.append(0)
                value = self.sums[name] = self.sums.get(name, 0) + max(value, 0)
            samples.append(value / 1e9 if unit in ("ns", "1e-9") else float(value))
        self.rows += 1


def summed(names, rows):
    """Rows of all cores of a frame as one, with the time at work and all that passed."""
    frames = {}
    for host, _, frame, values in rows:
        frames.setdefault((frame, host), []).append(values)
    for (frame, host), parts in sorted(frames.items()):
        sums = [None if all(v is None for v in column) else sum(v or 0 for v in column) for column in zip(*parts)]
        busy, passed = ([v for name, v in zip(names, sums) if v is not None and name in some] for some in (BUSY, BUSY | REST))
        yield host, "all", frame, sums + [sum(busy) if busy else None, sum(passed) if passed else None]


def expected(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    run, run_name, command = db.execute("SELECT run, name, command FROM run ORDER BY run DESC LIMIT 1").fetchone()
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    series = {}
    for table in TABLES:
        if table not in there:
            continue
        label, = db.execute("SELECT instance FROM table_info WHERE name = ?", (table,)).fetchone()
        columns = db.execute("SELECT c.name, c.unit, c.kind FROM column_info c JOIN table_info t USING(table_id)"
                             " WHERE t.name = ? ORDER BY ordinal", (table,)).fetchall()
        names = [(None if c in NOT_SENT.get(table, ()) else name_of(table, c, u, k), u, k) for c, u, k in columns]
        listed = ", ".join(f'd."{c}"' for c, _, _ in columns)
        rows = [(row[0], row[1], row[2], list(row[3:])) for row in db.execute(
            f"SELECT h.name, i.name, d.frame, {listed} FROM {table} d JOIN instance i USING(instance) JOIN host h USING(host)"
            " WHERE h.run = ? ORDER BY d.frame, d.instance", (run,))]
        if table == "cpu":
            rows = summed([c for c, _, _ in columns], rows)
            names = names + [(f"chokepoint_cpu_{what}_seconds_total", "ns", "counter") for what in ("busy", "passed")]
        instances = {}
        for host, instance, _, values in rows:
            instances.setdefault((host, instance), Instance(names)).take(values)
        for (host, instance), made in instances.items():
            for name, samples in made.samples.items():
                labels = {"__name__": name, "host": host, "instance" if label == "host" else label: instance}
                series[tuple(sorted(labels.items()))] = samples
    info = {"__name__": "chokepoint_run_info", "run": str(run), "name": run_name, "command": command}
    hosts = [row[0] for row in db.execute("SELECT name FROM host WHERE run = ?", (run,))]
    return series, [tuple(sorted({**info, "host": host}.items())) for host in hosts]


def ask(url, path, **words):
    with urllib.request.urlopen(f"{url}{path}", urllib.parse.urlencode(words).encode()) as answer:
        return answer.read().decode()


def of_prometheus(url):
    answer = json.loads(ask(url, "/api/v1/query", query='{__name__=~"chokepoint_.+"}[1d]'))
    for item in answer["data"]["result"]:
        yield item["metric"], [float(t) for t, _ in item["values"]], [float(v) for _, v in item["values"]]
    now = json.loads(ask(url, "/api/v1/query", query='count({__name__=~"chokepoint_.+"})'))["data"]["result"]
    if now:
        sys.exit(f"{now[0]['value'][1]} series have no mark of their end")


def of_victoria(url):
    for line in ask(url, "/api/v1/export", **{"match[]": '{__name__=~"chokepoint_.+"}'}).splitlines():
        item = json.loads(line)
        if item["values"][-1] is not None:
            sys.exit(f"{item['metric']} has no mark of its end")
        kept = [(t, v) for t, v in zip(item["timestamps"], item["values"]) if v is not None]
        yield item["metric"], [t / 1000 for t, _ in kept], [v for _, v in kept]


def main():
    database, kind, url = sys.argv[1:]
    plan, infos = expected(database)
    n = 0
    for metric, times, values in {"prometheus": of_prometheus, "victoria-metrics": of_victoria}[kind](url):
        key = tuple(sorted(metric.items()))
        if any(b <= a for a, b in zip(times, times[1:])):
            sys.exit(f"{key}: a sample twice, or out of order")
        if key in infos:
            infos.remove(key)
            if set(values) != {1.0}:
                sys.exit(f"{key}: {values}")
            continue
        want = plan.pop(key, None)
        if want is None:
            sys.exit(f"{key} is in no plan")
        if len(values) != len(want):
            sys.exit(f"{key}: {len(values)} samples of {len(want)}")
        for have, should in zip(values, want):
            if abs(have - should) > 1e-9 * max(1, abs(should)):
                sys.exit(f"{key}: {have} for {should}")
        n += len(values)
    if plan or infos:
        sys.exit(f"{len(plan) + len(infos)} series are missing, such as {next(iter(plan or infos))}")
    print(f"{n} samples, each once")


main()
