#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs beside another user of all hosts, who wants to stop, to read or to take them over.

    second_user.py BIN [RUNS]      (root; default 100 runs)

Ranks on three hosts of a testbed, on two of which nothing is installed. The other user looks at all command lines and at
/tmp, /var/tmp and /dev/shm without a pause, and makes first what he can foresee: every path there that a command line names,
the same below each other host's name, and directories with an agent and a library of his own, which leave a mark where they
run. Prints how many runs did not start or were not recorded, in how many something of his was run, and how many files of
runs he could open.
"""
import multiprocessing
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

USER = 65534
PLACES = ("/tmp", "/var/tmp", "/dev/shm")
HOSTS = ("vm1", "vm2", "vm3")
PATH = re.compile(rb"(?:/tmp|/var/tmp|/dev/shm)/[A-Za-z0-9._/-]*[Cc]hokepoint[A-Za-z0-9._-]*")


def plant(path, mark, library):
    """A directory with programs that leave a mark, which all users may enter."""
    try:
        os.mkdir(path, 0o777)
    except OSError:
        return 0
    with open(os.path.join(path, "chokepoint-agent"), "w") as agent:
        agent.write(f"#!/bin/sh\n: >{mark}/agent\n")
    os.chmod(os.path.join(path, "chokepoint-agent"), 0o755)
    shutil.copy(library, os.path.join(path, "libchokepoint-mpi.so"))
    return 1


def names_like(path):
    """Names that a run could use next, once one of it was seen."""
    yield path
    stem = re.sub(r"[.-](vm\d)$", "", path)
    for host in HOSTS:
        yield f"{stem}-{host}"
        yield f"{stem}.{host}"
    for number in re.findall(r"[0-9a-f]{16,32}", path):
        for place in PLACES:
            yield f"{place}/chokepoint-{number}-lib"
            yield f"{place}/chokepoint-{number}"
            for host in HOSTS:
                yield f"{place}/chokepoint-{number}-{host}"
                yield f"{place}/chokepoint-{number}.{host}"


def seen():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as words:
                text = words.read()
        except OSError:
            continue
        for path in PATH.findall(text):
            yield path.decode()
        for number in re.findall(rb"[0-9a-f]{16,32}", text):
            yield f"/tmp/chokepoint-{number.decode()}"
    for place in PLACES:
        for name in os.listdir(place):
            if "chokepoint" in name and "-test-" not in name:
                yield os.path.join(place, name)


def attack(mark, library, planted, opened, looks, stop):
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    tried = set()
    while not stop.is_set():
        looks.value += 1
        for path in seen():
            if path in tried:
                continue
            tried.add(path)
            try:
                if os.stat(path).st_uid != USER:
                    entries = os.listdir(path)
                    opened.value += len(entries)
                    print(f"he reads {path}: {' '.join(entries)}", flush=True)
            except OSError:
                pass
            planted.value += sum(plant(name, mark, library) for name in names_like(path))


def make_library(folder):
    """A library that leaves a mark wherever it is loaded."""
    source, library = os.path.join(folder, "theirs.c"), os.path.join(folder, "theirs.so")
    with open(source, "w") as file:
        file.write('#include <fcntl.h>\n#include <unistd.h>\n__attribute__((constructor)) static void mark(void)\n'
                   f'{{ close(open("{folder}/library", O_CREAT | O_WRONLY, 0666)); }}\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def record(binaries, name, work, rsh, run):
    database = os.path.join(work, "runs.db")
    command = [os.path.join(binaries, "chokepoint"), "testbed", "--name", name, "exec", "--", "env",
               f"OMPI_MCA_plm_rsh_agent={rsh}", f"CHOKEPOINT_RSH={rsh}", f"HOME={work}/home",
               os.path.join(binaries, "chokepoint"), "run", "--no-report", "--start-timeout", "60", "--db", database,
               "mpirun", "--hostfile", f"{work}/hosts", "--bind-to", "none", "-N", "1", "-np", "3", f"{work}/program"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=work)
    with sqlite3.connect(database) as store:
        hosts, = store.execute("SELECT count(*) FROM host WHERE run = (SELECT max(run) FROM run)").fetchone()
        ranks, = store.execute("SELECT count(DISTINCT host) FROM mpi_function JOIN instance USING (instance) "
                               "JOIN host USING (host) WHERE run = (SELECT max(run) FROM run)").fetchone()
    if done.returncode or hosts != 3 or ranks != 3:
        print(f"run {run}: status {done.returncode}, {hosts} hosts, calls of {ranks}: {done.stderr.strip()[:900]}")
        return False
    return True


def main():
    binaries, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    work = tempfile.mkdtemp(prefix="second-user-", dir="/var/tmp")
    name = f"second{os.getpid()}"
    mark = tempfile.mkdtemp(prefix="mark-", dir="/var/tmp")
    os.chmod(mark, 0o1777)
    os.chmod(work, 0o755)
    os.mkdir(f"{work}/home", 0o700)
    library = make_library(mark)
    shutil.copy(os.path.join(binaries, "calls_simple"), f"{work}/program")
    with open(f"{work}/hosts", "w") as file:
        file.write("".join(f"{host}\n" for host in HOSTS))
    rsh = f"{work}/rsh"
    like_ssh = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools/like_ssh.py")
    with open(rsh, "w") as file:
        file.write("#!/bin/bash\nwhile [[ $1 == -* ]]; do [[ $1 != -o ]] || shift; shift; done\nhost=$1\nshift\n"
                   f"exec python3 '{like_ssh}' '{binaries}/chokepoint' testbed --name {name} exec \"$host\" -- "
                   f"unshare -m sh -c 'mount -t tmpfs none {binaries} && exec /bin/sh -c \"$0\"' \"$*\"\n")
    os.chmod(rsh, 0o755)
    testbed = [os.path.join(binaries, "chokepoint"), "testbed", "--name", name]
    subprocess.run([*testbed, "up", "3"], check=True, stdout=subprocess.DEVNULL)
    planted, opened, looks = (multiprocessing.Value("q", 0) for _ in range(3))
    stop = multiprocessing.Event()
    other = multiprocessing.Process(target=attack, args=(mark, library, planted, opened, looks, stop), daemon=True)
    stopped = hijacked = 0
    try:
        other.start()
        for run in range(1, runs + 1):
            stopped += not record(binaries, name, work, rsh, run)
            left = [entry for entry in ("agent", "library") if os.path.exists(os.path.join(mark, entry))]
            hijacked += bool(left)
            for entry in left:
                os.unlink(os.path.join(mark, entry))
    finally:
        stop.set()
        other.join(10)
        subprocess.run([*testbed, "down"], stdout=subprocess.DEVNULL)
        for place in PLACES:
            for entry in filter(lambda name: "chokepoint" in name, os.listdir(place)):
                path = os.path.join(place, entry)
                if os.lstat(path).st_uid == USER:
                    shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(mark, ignore_errors=True)
    print(f"{runs} runs on 3 hosts, 2 of them with nothing installed: {stopped} not started or not recorded whole, "
          f"{hijacked} in which something of the other user ran, {opened.value} files of runs that he saw "
          f"({looks.value} looks, {planted.value} directories made first)")
    return 1 if stopped or hijacked or opened.value else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
