#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent_beside.py [--job PROCESSES,CONNECTIONS]... [--before BIN] [--windows N] [SECONDS]: CPU time of the whole agent, supervisor, spool and
push included, at 1 and 10 Hz, beside `sadc -S ALL 1`, node_exporter scraped once a second and pmlogger with its pmcd, each where it is installed. All run
at once beside the same job and are read at the same instants (schedstat of each thread), so that each window is a pair of any two; ratios
are medians over the windows with a 95 % bootstrap interval. A second agent at 1 Hz shows by its ratio what the figures cannot tell apart.
The slots that each agent missed are told, too. With --before the agents of another build run beside them. $CHOKEPOINT_BIN: where the
programs are; $NODE_EXPORTER: the exporter."""
import argparse
import contextlib
import http.client
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
RUN = "beside"
JOBS = ("1,0", "100,0", "1000,0", "8,4000")
SETTLE_S = 5 # processes are scanned repeatedly until they are 3 s old
EXPORTER = os.environ.get("NODE_EXPORTER") or shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
SADC = shutil.which("sadc") or next((path for path in ("/usr/lib/sysstat/sadc", "/usr/lib64/sa/sadc") if os.path.exists(path)), None)
PORT = 49107


def used_ns(pid):
    """CPU time of a process, its threads and its children."""
    sum_ns = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                sum_ns += int(file.read().split()[0])
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                sum_ns += sum(used_ns(child) for child in file.read().split())
    except (FileNotFoundError, ProcessLookupError):
        pass # it has just ended
    return sum_ns


class Bench:
    """The observers beside the job: they are stopped at the end, in reverse order."""

    def __init__(self, work, stack):
        self.work, self.stack, self.observers = work, stack, {}

    def start(self, name, words, environment=None, **options):
        process = subprocess.Popen(words, env=dict(os.environ, **(environment or {})), **options)
        self.stack.callback(self.stop, process)
        if name:
            self.observers[name] = process
        return process

    @staticmethod
    def stop(process):
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.terminate()
            process.wait(30)
        process.kill()
        process.wait()

    def crowd(self, job):
        process = self.start(None, [f"{BIN}/bench_crowd", *job.split(",")], {"CHOKEPOINT_RUN": RUN}, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, start_new_session=True)
        if process.stdout.readline() != b"ready\n":
            sys.exit("agent_beside.py: the job could not be started")

    def collector(self):
        database, secret = f"{self.work}/db", {"CHOKEPOINT_TOKEN": "0123456789abcdef" * 2}
        run = subprocess.run([f"{BIN}/new-run", database], check=True, capture_output=True, text=True).stdout.strip()
        process = self.start("collector", [f"{BIN}/chokepoint", "collector", "--db", database, "--run", run, "--listen", "127.0.0.1:0"], secret,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        told = {}
        while not {"listening", "pin"} <= told.keys():
            words = process.stdout.readline().split()
            told[words[0]] = words[1]
        return database, secret, told

    def agent(self, name, binaries, rate, collector):
        _, secret, told = collector
        host = name.replace(" ", "-")
        key = subprocess.run([f"{BIN}/chokepoint", "collector", "--key-of", host], env=dict(os.environ, **secret), check=True,
                             capture_output=True, text=True).stdout.strip()
        words = [f"{binaries}/chokepoint-agent", "--collector", f"https://{told['listening']}", "--pin", told["pin"], "--spool",
                 f"{self.work}/{host}", "--host", host, "--rate", str(rate)]
        with open(f"{self.work}/{host}.err", "w") as errors:
            self.start(name, words, {"CHOKEPOINT_TOKEN": key, "CHOKEPOINT_RUN": RUN, "CHOKEPOINT_AGENT": RUN}, stderr=errors)

    def others(self):
        if SADC:
            self.start("sadc", [SADC, "-S", "ALL", "1", f"{self.work}/sa"])
        if EXPORTER:
            self.start("node_exporter", [EXPORTER, f"--web.listen-address=127.0.0.1:{PORT}", "--log.level=error"],
                       stderr=subprocess.DEVNULL)
        if shutil.which("pmlogger") and subprocess.run(["pmprobe", "kernel.all.load"], capture_output=True).returncode == 0:
            with open(f"{self.work}/pmlogger", "w") as file:
                file.write("log mandatory on 1 sec { kernel disk.dev network.interface mem proc.psinfo proc.schedstat }\n")
            self.start("pmlogger", ["pmlogger", "-c", f"{self.work}/pmlogger", f"{self.work}/pcp"])
            with contextlib.suppress(OSError), open("/run/pcp/pmcd.pid") as file: # it samples what pmlogger writes
                self.observers["pmcd"] = types.SimpleNamespace(pid=int(file.read()))


def wait_scraping(until, connection):
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(1, left))
        if EXPORTER:
            connection.request("GET", "/metrics")
            connection.getresponse().read()


def interval(ratios):
    draws = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(2000))
    return draws[50], draws[1950]


def measure(job, options):
    """({observer: [ms of CPU per second]}, its probes' costs, its slots)"""
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        bench = Bench(work, stack)
        bench.crowd(job)
        collector = bench.collector()
        for label, binaries in (("before ", options.before), ("", BIN)):
            for name, rate in (("1 Hz", 1), ("10 Hz", 10)) if binaries else ():
                bench.agent(f"{label}agent {name}", os.path.abspath(binaries), rate, collector)
        bench.agent("agent 1 Hz again", BIN, 1, collector)
        bench.others()
        connection = http.client.HTTPConnection("127.0.0.1", PORT) # one for all: each new connection would be work for the agents
        wait_scraping(time.monotonic() + SETTLE_S, connection)
        figures = {name: [] for name in bench.observers}
        for _ in range(options.windows):
            before = {name: used_ns(process.pid) for name, process in bench.observers.items()}
            began = time.monotonic()
            wait_scraping(began + options.seconds, connection)
            took = time.monotonic() - began
            for name, process in bench.observers.items():
                figures[name].append((used_ns(process.pid) - before[name]) / took / 1e6)
        return figures, probes(collector[0]), slots(collector[0])


def probes(database):
    """{host: [(probe, ms of CPU per second after SETTLE_S)]}"""
    rows = sqlite3.connect(database).execute("""SELECT host.name, instance.name, 1e3 * sum(cpu_ns) / sum(interval_ns) FROM self
        JOIN instance USING (instance) JOIN host USING (host) JOIN frame USING (frame) JOIN stream USING (stream)
        WHERE cpu_ns > 0 AND frame.mono_ns > stream.first_mono_ns + ? GROUP BY 1, 2 ORDER BY 3 DESC""", (SETTLE_S * 10**9,))
    shown = {}
    for host, name, ms in rows:
        shown.setdefault(host, []).append((name, ms))
    return shown


def slots(database):
    """{host: (frames, missed slots of its agent, lateness in ms of the latest frame of each second, slots missed after SETTLE_S)}"""
    connection = sqlite3.connect(database)
    found = {name: [samples, missed, [], 0] for name, samples, missed in connection.execute(
        "SELECT host.name, sum(frames), sum(missed_slots) FROM stream JOIN host USING (host) WHERE period_ns > 0 GROUP BY 1")}
    for host, late in connection.execute("""SELECT host.name, late_ns FROM self JOIN instance USING (instance) JOIN host USING (host)
            WHERE instance.name = 'agent' AND late_ns IS NOT NULL"""):
        found[host][2].append(late / 1e6)
    for host, later in connection.execute("""SELECT host.name, total(frame.missed) FROM frame JOIN stream USING (stream) JOIN host USING (host)
            WHERE frame.mono_ns > stream.first_mono_ns + ? GROUP BY 1""", (SETTLE_S * 10**9,)):
        found[host][3] = int(later)
    return found


def show(job, figures, by_probe, by_slot):
    print(f"job of {job.replace(',', ' processes, ')} connections; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    yardstick = figures.get("sadc") or figures["agent 1 Hz"]
    for name, values in figures.items():
        ratios = [value / max(base, 1e-9) for value, base in zip(values, yardstick)]
        low, high = interval(ratios)
        print(f"  {name:18s} {statistics.median(values):8.2f} ms/s   {statistics.median(ratios):6.2f} x {'sadc' if SADC else 'agent 1 Hz'} "
              f"({low:.2f} to {high:.2f})")
    pairs = [again / first for again, first in zip(figures["agent 1 Hz again"], figures["agent 1 Hz"])]
    print(f"  A/A: the same agent twice: {statistics.median(pairs):.2f} x ({interval(pairs)[0]:.2f} to {interval(pairs)[1]:.2f})")
    for host, costs in by_probe.items():
        if not host.endswith("again"):
            print(f"  of {host}: " + ", ".join(f"{name} {ms:.2f}" for name, ms in costs[:7]))
    for host, (frames, missed, late, later) in by_slot.items():
        print(f"  slots of {host}: {missed} missed beside {frames} taken, {later} of them after the first {SETTLE_S} s; the latest of a second {statistics.median(late or [0]):.1f} ms late "
              f"in the median, {max(late or [0]):.1f} at most")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job", action="append", metavar="PROCESSES,CONNECTIONS")
    parser.add_argument("--before", metavar="BIN")
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("seconds", nargs="?", type=int, default=5)
    options = parser.parse_args()
    random.seed(1)
    for job in options.job or JOBS:
        show(job, *measure(job, options))


if __name__ == "__main__":
    main()
