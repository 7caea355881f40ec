#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slow_connections.py [--connections N=2000] [--again N=500] [--within S=2] [--seconds S=20]: a host that comes while N
connections without a key, from its own address, each send a byte every 12 s; those that are closed are made again, --again a
second. The time from the
start of its agent to its delivered sample, again and again for so many seconds, by kind of flood: plain bytes, half of
the first message of a TLS handshake, and all of it, which the collector answers. The number of connections that are open at
the end is printed, too. Exit status 1 if one sample took longer than --within."""
import argparse, os, resource, select, socket, ssl, statistics, subprocess, sys, tempfile, time

BIN = os.environ.get("CHOKEPOINT_BIN") or os.path.join(os.path.dirname(__file__), "../../build/release/bin")
SECRET = "00112233445566778899aabbccddeeff"
SLOW_S = 12
HALF_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


def whole_hello():
    out, context = ssl.MemoryBIO(), ssl.create_default_context()
    context.check_hostname = False
    try:
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    except ssl.SSLWantReadError:
        return out.read()


class Flood:
    def __init__(self, address, n, first, again):
        self.address, self.n, self.first, self.again = address, n, first, again
        self.due = n  # connections that may be made now
        self.stepped = time.monotonic()
        self.open, self.poll, self.lost = {}, select.epoll(), 0

    def connect(self):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(self.address)
        self.open[s.fileno()] = [s, 0.0]
        self.poll.register(s, select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR)

    def step(self):
        """Makes connections up to their number, as fast as allowed, and sends a byte on each that is due."""
        for fd, what in self.poll.poll(0):
            if what == select.EPOLLIN and self.open[fd][0].recv(4096):
                continue
            self.poll.unregister(fd)
            self.open.pop(fd)[0].close()
            self.lost += 1
        now = time.monotonic()
        self.due = min(self.n, self.due + (now - self.stepped) * self.again)
        self.stepped = now
        for _ in range(int(min(self.due, self.n - len(self.open)))):
            self.connect()
            self.due -= 1
        for entry in self.open.values():
            if now - entry[1] >= SLOW_S:
                try:  # it may not be connected yet, or no longer
                    entry[0].send(self.first if entry[1] == 0 else b"x")
                    entry[1] = now
                except OSError:
                    pass

    def close(self):
        for s, _ in self.open.values():
            s.close()


def start_collector(work):
    db = f"{work}/x.db"
    subprocess.run([f"{BIN}/new-run", db], check=True, stdout=subprocess.DEVNULL)
    collector = subprocess.Popen([f"{BIN}/chokepoint", "collector", "--db", db, "--run", "1", "--listen", "127.0.0.1:0"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pin = collector.stdout.readline().split()[1]
    address = collector.stdout.readline().split()[1]
    return collector, pin, address


def start_agent(work, pin, address, name):
    key = subprocess.run([f"{BIN}/chokepoint", "collector", "--key-of", name], check=True, capture_output=True, text=True).stdout.strip()
    return subprocess.Popen([f"{BIN}/chokepoint-agent", "--collector", f"https://{address}", "--pin", pin, "--spool", f"{work}/{name}", "--host",
                             name, "--samples", "1", "--no-supervise"], env={**os.environ, "CHOKEPOINT_TOKEN": key})


def measure(flood, seconds, work, pin, address):
    took, end, number = [], time.monotonic() + seconds, 0
    while time.monotonic() < end or len(took) < 3:
        began, number = time.monotonic(), number + 1
        agent = start_agent(work, pin, address, f"host{number}")
        while agent.poll() is None:
            flood.step()
            time.sleep(0.002)
        if agent.returncode:
            sys.exit(f"an agent ended with {agent.returncode}")
        took.append(time.monotonic() - began)
    return took


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--connections", type=int, default=2000)
    words.add_argument("--again", type=float, default=500)
    words.add_argument("--within", type=float, default=2)
    words.add_argument("--seconds", type=float, default=20)
    words = words.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.environ["CHOKEPOINT_TOKEN"] = SECRET
    late = False
    with tempfile.TemporaryDirectory() as work:
        collector, pin, address = start_collector(work)
        host, port = address.split(":")
        for kind, n, first in (("no flood", 0, b""), ("plain", words.connections, b"P"), ("half a hello", words.connections, HALF_HELLO),
                               ("a hello", words.connections, whole_hello())):
            flood = Flood((host, int(port)), n, first, words.again)
            until = time.monotonic() + 1
            while n and time.monotonic() < until:
                flood.step()
                time.sleep(0.01)
            took = measure(flood, words.seconds if n else 1, f"{work}", pin, address)
            late |= max(took) > words.within
            print(f"{kind}: {n} connections wanted, {len(flood.open)} open, {flood.lost} were closed; a new host's first sample: median "
                  f"{statistics.median(took):.2f} s, longest {max(took):.2f} s of {len(took)}", flush=True)
            flood.close()
            for i in range(1, len(took) + 1):
                subprocess.run(["rm", "-rf", f"{work}/host{i}"], check=True)
        collector.stdin.close()
        collector.stdout.read()
        if collector.wait():
            sys.exit(f"the collector ended with {collector.returncode}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
