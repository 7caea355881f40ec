#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage_adds_up.py [--only WORD] [--most PERCENT=1]: commands of many kinds, each recorded in its own control group. Compares
the summed CPU time in the report's table of processes with the kernel's charge to the group (cpuacct or cpu.stat, plus the
first shell's use before it entered) and to the command and all it waited for (wait4); and bytes read and written with those
of wait4. Exit status 1 if a sum differs by more than --most. Needs root, for the groups."""
import argparse, json, os, shutil, subprocess, sys, tempfile

BIN = os.environ.get("CHOKEPOINT_BIN") or os.path.join(os.path.dirname(__file__), "../../build/release/bin")
FILE = "$work/file"
SPIN = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
COMMANDS = [
    ("short spin", SPIN.format(150000)),
    ("long spin", SPIN.format(6000000)),
    ("two spins", f"({SPIN.format(3000000)}) & ({SPIN.format(3000000)}) & wait"),
    ("dd, fsync", f"dd if=/dev/zero of={FILE} bs=1M count=400 conv=fsync 2>/dev/null"),
    ("dd, direct", f"dd if=/dev/zero of={FILE} bs=1M count=400 oflag=direct 2>/dev/null"),
    ("dd below two shells", f"sh -c 'sh -c \"dd if=/dev/zero of={FILE} bs=1M count=300 conv=fsync 2>/dev/null; sleep 1\"'"),
    ("small writes", f"dd if=/dev/zero of={FILE} bs=512 count=400000 2>/dev/null"),
    ("read back", f"dd if=/dev/zero of={FILE} bs=1M count=200 conv=fsync 2>/dev/null; dd if={FILE} of=/dev/null bs=1M iflag=direct 2>/dev/null"),
    ("fork storm", "for i in $(seq 1500); do /bin/true; done"),
    ("forks without exec", "for i in $(seq 1500); do (:); done"),
    ("short compilers", "for i in 1 2 3 4 5 6; do echo 'int f(int a){return a;}' | cc -O2 -x c -c - -o $work/o; done"),
    ("pipes", "seq 3000000 | sort -n | tail -1 >/dev/null"),
    ("threads", "python3 -c 'import threading,hashlib\nb=bytes(80000000)\nt=[threading.Thread(target=lambda:hashlib.sha256(b)) for _ in range(8)]\n[x.start() for x in t];[x.join() for x in t]'"),
    ("short threads", "python3 -c 'import threading,hashlib\nb=bytes(2000000)\nfor _ in range(200):\n t=threading.Thread(target=lambda:hashlib.sha256(b));t.start();t.join()'"),
    ("wiped environment", f"env -i /bin/sh -c '{SPIN.format(2000000)}'"),
    ("a session of its own", f"setsid -w sh -c '{SPIN.format(2000000)}'"),
    ("below a subshell", f"(({SPIN.format(1000000)}); ({SPIN.format(1000000)}))"),
    ("xargs", "seq 300 | xargs -n1 -P2 sh -c 'echo $0 | sha256sum >/dev/null'"),
    ("gzip", "head -c 60000000 /dev/urandom | gzip -1 >$work/gz"),
    ("exec", f"{SPIN.format(800000)}; exec sh -c '{SPIN.format(800000)}'"),
    ("sleeps", "for i in 1 2 3; do sleep .4; " + SPIN.format(100000) + "; done"),
]


def group_make(name):
    for root, word in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup/cpu,cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat")):
        path = f"{root}/{name}"
        try:
            os.mkdir(path)
        except OSError:
            continue
        if os.path.exists(f"{path}/{word}"):
            return path, f"{path}/{word}"
        os.rmdir(path)
    sys.exit("skipped: no control groups")


def group_cpu_s(file):
    text = open(file).read()
    if file.endswith("cpuacct.usage"):
        return int(text) / 1e9
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("usage_usec"))) / 1e6


def record(work, number, script):
    group, file = group_make(f"chokepoint-usage-{os.getpid()}-{number}")
    db = f"{work}/runs.db"
    try:
        command = f"read ns rest </proc/self/schedstat; echo $ns >$work/before; echo 0 >{group}/cgroup.procs; exec sh -c \"$1\""
        subprocess.run([f"{BIN}/chokepoint", "run", "--db", db, "--no-report", "-q", "sh", "-c", command, "sh", script],
                       env=dict(os.environ, work=work), check=True, stdin=subprocess.DEVNULL)
        charged = group_cpu_s(file) + int(open(f"{work}/before").read()) / 1e9
    finally:
        os.rmdir(group)
    report = json.loads(subprocess.run([f"{BIN}/chokepoint", "report", "last", "--db", db, "--format", "json"], check=True,
                                       capture_output=True).stdout)
    waited = subprocess.run(["sqlite3", db, "SELECT (user_ns + system_ns) / 1e9, read_bytes / 1e6, write_bytes / 1e6 FROM run_usage"
                             " ORDER BY run DESC LIMIT 1"], check=True, capture_output=True, text=True).stdout.split("|")
    return report, charged, [float(x) for x in waited]


def measure(work, number, name, script):
    report, charged, (waited, read, written) = record(work, number, script)
    length = report["run"]["duration_s"]
    rows = [p for p in report["processes"] if p["job"]]
    cpu = sum(p["cpu_pct"] or 0 for p in rows) * length / 100
    bytes_of = [sum(p[key] or 0 for p in rows) * length for key in ("read_mb_s", "write_mb_s")]
    return dict(name=name, length=length, cpu=cpu, charged=charged, waited=waited, read=read, written=written,
                rows_read=bytes_of[0], rows_written=bytes_of[1])


def off(a, b, least):
    return 100 * abs(a - b) / max(b, least)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=float, default=1)
    asked = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("skipped: needs root")
    work = tempfile.mkdtemp(dir="/var/tmp")
    bad = 0
    print(f"{'command':22} {'s':>6} {'rows s':>8} {'group s':>8} {'wait4 s':>8} {'off %':>6}  {'rows MB':>9} {'wait4 MB':>9} {'off %':>6}")
    try:
        for number, (name, script) in enumerate(COMMANDS):
            if asked.only not in name:
                continue
            m = measure(work, number, name, script)
            moved, told = m["rows_read"] + m["rows_written"], m["read"] + m["written"]
            cpu_off, io_off = off(m["cpu"], m["charged"], .01), off(moved, told, 1)
            bad += cpu_off > asked.most or io_off > asked.most
            print(f"{name:22} {m['length']:6.2f} {m['cpu']:8.4f} {m['charged']:8.4f} {m['waited']:8.4f} {cpu_off:6.2f}  "
                  f"{moved:9.3f} {told:9.3f} {io_off:6.2f}", flush=True)
    finally:
        shutil.rmtree(work)
    print(f"{bad} further off than {asked.most:g} %")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
