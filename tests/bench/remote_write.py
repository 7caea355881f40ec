#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""remote_write.py [--hosts N] [--windows N] [HZ...]: CPU of the program that sends a run to an engine while it is recorded: 100 made-up
hosts of 288 series each, at 1 and 10 Hz. Beside it, in the same seconds, a second sender of the same run (A/A), and vmagent, where it is
installed, which scrapes as many series of as many hosts once a second and sends them. All send to a program that throws everything away. A
figure is the median over windows of 4 s, with a 95 % bootstrap interval. $CHOKEPOINT_BIN: where the programs are."""
import argparse
import contextlib
import http.server
import os
import random
import shutil
import socketserver
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
WINDOW_S = 4
SETTLE_S = 6 # the first round has all labels
SERIES = 288
WANTED_PCT = {1: 5, 10: 50}


class Sink(http.server.BaseHTTPRequestHandler):
    """Takes requests, and is a host with SERIES series."""
    protocol_version = "HTTP/1.1"
    page = "".join(f'metric_{i % 50}_total{{device="d{i // 50}"}} {i * 1.5}\n' for i in range(SERIES)).encode()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.page)))
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256


def sink_main():
    server = Server(("127.0.0.1", 0), Sink)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def used_ns(pid):
    total = 0
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
    return total


def interval(values):
    draws = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), draws[50], draws[-51]


class Bench:
    def __init__(self, stack):
        self.stack = stack
        self.work = stack.enter_context(tempfile.TemporaryDirectory())
        sink = self.start([sys.executable, os.path.abspath(__file__), "--sink"], stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(sink.stdout.readline())}"

    def start(self, words, **options):
        process = subprocess.Popen(words, **options)
        self.stack.callback(lambda: (process.kill(), process.wait()))
        return process

    def start_vmagent(self, hosts):
        if not shutil.which("vmagent"):
            print("vmagent is not here (package victoria-metrics)")
            return None
        config = f"{self.work}/scrape.yml"
        with open(config, "w") as file:
            file.write("global: {scrape_interval: 1s}\nscrape_configs:\n")
            for host in range(hosts):
                file.write(f"- job_name: node{host:03d}\n  static_configs: [{{targets: ['{self.url[7:]}'], labels: {{host: node{host:03d}}}}}]\n")
        return self.start(["vmagent", f"-promscrape.config={config}", f"-remoteWrite.url={self.url}/vmagent",
                           f"-remoteWrite.tmpDataPath={self.work}/vmagent", "-httpListenAddr=127.0.0.1:0", "-loggerLevel=ERROR"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def measure(self, hosts, rate, windows):
        database = f"{self.work}/{rate}.db"
        seconds = SETTLE_S + windows * WINDOW_S + 4
        recorder = self.start([f"{BIN}/bench_remote_write_hosts", database, str(hosts), str(seconds), str(rate), "--live"],
                              stdout=subprocess.PIPE, text=True)
        recorder.stdout.readline()
        programs = {}
        for name in "sender", "again":
            programs[name] = self.start([f"{BIN}/chokepoint", "export", "--db", database, "--remote-write", f"{self.url}/{name}"])
        if rate == 1 and (agent := self.start_vmagent(hosts)):
            programs["vmagent"] = agent
        time.sleep(SETTLE_S)
        shares = {name: [] for name in programs}
        before = {name: used_ns(program.pid) for name, program in programs.items()}
        for _ in range(windows):
            time.sleep(WINDOW_S)
            for name, program in programs.items():
                now = used_ns(program.pid)
                shares[name].append((now - before[name]) / 1e7 / WINDOW_S)
                before[name] = now
        self.tell(hosts, rate, shares)
        for name in "sender", "again":
            if programs[name].wait() != 0:
                sys.exit(f"{name} failed")
        if "vmagent" in programs:
            programs["vmagent"].kill()

    @staticmethod
    def tell(hosts, rate, shares):
        middle, low, high = interval(shares["sender"])
        print(f"{hosts} hosts of {SERIES} series at {rate} Hz: {middle:.2f} % of a core ({low:.2f} to {high:.2f}); wanted: {WANTED_PCT.get(rate, 5 * rate)}")
        middle, low, high = interval([a / b for a, b in zip(shares["sender"], shares["again"])])
        print(f"  A/A, beside a second sender: {middle:.2f} x ({low:.2f} to {high:.2f})")
        if "vmagent" in shares:
            middle, low, high = interval(shares["vmagent"])
            print(f"  vmagent, which scrapes and sends as many: {middle:.2f} % ({low:.2f} to {high:.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--windows", type=int, default=7)
    parser.add_argument("--sink", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("rates", type=int, nargs="*", default=[1, 10])
    options = parser.parse_args()
    if options.sink:
        sink_main()
    with contextlib.ExitStack() as stack:
        bench = Bench(stack)
        for rate in options.rates:
            bench.measure(options.hosts, rate, options.windows)


main()
