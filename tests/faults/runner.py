# SPDX-License-Identifier: MIT
"""Runs cases one after the other, and keeps for each its recording, its label, the program's output and the
report. A case is done when its folder has case.json, which is written last, so an interrupted matrix
resumes where it stopped."""
import contextlib
import json
import os
import shlex
import shutil
import subprocess
import time

import canary
import cases
import workloads
from bed import Bed, Disk, Unable, cores_awake, delay_accounting, machine_cpu_s, megabit_needed

LIMIT_S = 90 # seconds for a command
TRIES = 2 # for a run that other programs disturbed


class Matrix:
    def __init__(self, binaries, results, without_shim=False):
        self.instead = ("--no-shim", "--wait-clocks") if without_shim else ()
        self.bin, self.results = os.path.abspath(binaries), os.path.abspath(results)
        self.scratch = f"{self.results}/scratch"
        self.bed_name = f"fm{os.getpid() % 10000}"
        self.awake = False # whether cores are kept from halting

    def folder(self, case):
        return f"{self.results}/{case['id']}"

    def is_done(self, case):
        return os.path.exists(f"{self.folder(case)}/case.json")

    # ---- data ----

    def data(self):
        """Training text for the sgd workloads, made once."""
        path = f"{self.results}/data"
        if not os.path.exists(f"{path}/done"):
            subprocess.run([f"{self.bin}/chokepoint-sgd", "generate", "--features", str(workloads.FEATURES), "--examples", "60000",
                            "--files", "6", "--out", path], check=True, capture_output=True)
            open(f"{path}/done", "w").close()
        return path

    def digits(self):
        """Images for the trainings on them, made once."""
        path = f"{self.results}/digits"
        if not os.path.exists(f"{path}/done"):
            subprocess.run([f"{self.bin}/chokepoint-data", "generate", "digits", "--out", path, "--train", "6000", "--test", "100", "--quiet"],
                           check=True, capture_output=True)
            open(f"{path}/done", "w").close()
        return path

    def disks(self, case, workload, stack):
        """A disk for each rank, or one for all, with the data on it; the program gets the folder of links."""
        base = f"{self.scratch}/disk-{os.getpid()}"
        links = f"{base}/data"
        stack.callback(shutil.rmtree, base, ignore_errors=True)
        os.makedirs(links)
        case["disks"] = []
        for rank in range(case["ranks"]):
            shared = case["disks"] and workload.one_disk
            case["disks"].append(case["disks"][0] if shared else stack.enter_context(Disk(f"{base}/vm{rank + 1}", workload.disk_mb)))
        workload.fill_disks(case, links)
        os.sync()
        return links

    def need(self, case):
        """The network rate of this workload's first kept clean run."""
        for number in range(1000):
            path = f"{self.folder(cases.clean_case(case['half'], case['workload'], number))}/report.json"
            if os.path.exists(path):
                with open(path) as file:
                    return megabit_needed(json.load(file))
        raise RuntimeError(f"{case['id']}: no clean run of {case['workload']} yet, which says what it moves")

    # ---- a run ----

    def hostfile(self, bed, case):
        path = f"{case['folder']}/hosts"
        with open(path, "w") as file:
            file.writelines(f"vm{rank + 1} slots=1\n" for rank in range(case["ranks"]))
        return path

    def program(self, bed, case, workload):
        words = [str(word) for word in workload.words(case)]
        if case.get("pin") is not None:
            words = ["taskset", "-c", str(case["pin"]), *words]
        if not workload.mpi:
            return words
        if case["environment"]:
            words = self.wrapped(case, words)
        sanitizer = ["-x", "ASAN_OPTIONS"] if "ASAN_OPTIONS" in os.environ else []  # for a build with a sanitizer
        return ["mpirun", "--hostfile", case["hostfile"], "-np", str(case["ranks"]), "-N", "1", *sanitizer, *words]

    def wrapped(self, case, words):
        path = f"{case['folder']}/rank.sh"
        with open(path, "w") as file:
            file.write("#!/bin/sh\n")
            for rank, name, value in case["environment"]:
                file.write(f'[ "$OMPI_COMM_WORLD_RANK" != {rank} ] || export {name}={value}\n')
            file.write(f"exec {shlex.join(words)}\n")
        os.chmod(path, 0o755)
        return [path]

    def command(self, bed, case, workload):
        if case["fault"] == cases.PLAIN:
            return bed.words("vm1", *self.program(bed, case, workload))
        hosts = [] if workload.mpi else ["--hosts", case["hostfile"]]
        return bed.words("vm1", f"{self.bin}/chokepoint", "run", "--no-report", "--db", f"{case['folder']}/recording.db",
                         "-n", case["id"], *self.instead, *workload.options, *hosts, "--", *self.program(bed, case, workload))

    def fault(self, case, bed):
        inject = lambda fault: cases.FAULTS[fault][0] if fault in cases.FAULTS else cases.injectors.nothing
        if case["pair"]:
            (one, *rest), (other, *more) = case["pair"]
            return cases.injectors.two(case, bed, (inject(one), *rest), (inject(other), *more))
        return inject(case["inner"])(case, bed, case["rank"], case["amount"])

    def execute(self, bed, case, workload):
        """The command under the fault. Returns (its output, labels)."""
        later = None
        with contextlib.ExitStack() as stack:
            if case["window"] and case["inner"] in ("F1", "F2", "F3", "F4", "F5"):
                later = cases.injectors.Later(lambda: self.fault(case, bed), *self.window_s(case))
                labels = []
            else:
                labels = stack.enter_context(self.fault(case, bed))
            words = self.command(bed, case, workload)
            with open(f"{case['folder']}/log", "w") as log:
                process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=workloads.environment())
                try:
                    if later:
                        later.start()
                    process.wait(LIMIT_S)
                except BaseException:
                    process.terminate()
                    process.wait()
                    raise
                finally:
                    if later:
                        labels = later.finish()
        with open(f"{case['folder']}/log") as log:
            output = log.read()
        if process.returncode:
            raise RuntimeError(f"{case['id']}: exit status {process.returncode}: {output.strip()[-400:]}")
        return output, labels

    def window_s(self, case):
        """A fault from outside for a part of the run: where that part would be in a clean run."""
        clean = self.folder(cases.clean_case(case["half"], case["workload"], 0))
        with open(f"{clean}/case.json") as file:
            done = json.load(file)
        before = max(0, done["all_s"] - done["loop_s"] - .2)
        first, last = case["window"]
        return before + first * done["loop_s"], (last - first) * done["loop_s"] * 1.5

    def measure(self, case):
        """Runs one case in a new testbed; raises Unable if this machine cannot. Returns (report or None, case)."""
        workload = workloads.WORKLOADS[case["workload"]]
        folder = self.folder(case)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        os.makedirs(self.scratch, exist_ok=True)
        kept = dict(case)
        case = dict(case, folder=folder, bin=self.bin, plants=[], plants_extra=[], environment=[], scratch=self.scratch, seen_by=workload.seen_by)
        hosts = case["ranks"] + workload.strangers
        cpus = "0,1" if workload.own_cores else None
        if case["inner"] == "D1" or case["ranks"] == 1:
            cpus, case["pin"], case["spare_cpu"] = "0-1", 0 if workload.pinned else None, 1
            kept["pin"] = case["pin"]
        with contextlib.ExitStack() as stack:
            if case["inner"] in ("F3", "F4", "F5", "F6"):
                case["need"] = self.need(case)
            workload.prepare(case)
            case["data"] = self.data()
            if workload.needs_disks:
                case["data"] = self.disks(case, workload, stack)
            if workload.needs_digits:
                case["digits"] = self.digits()
            bed = stack.enter_context(Bed(self.bin, self.bed_name, hosts, cpus))
            case["hostfile"] = self.hostfile(bed, case)
            case["addresses"] = [bed.address(f"vm{r + 1}") for r in range(case["ranks"])]
            with canary.beating(self.bin, cpus) as kept["canary"]:
                begin, machine, own = time.time(), machine_cpu_s(), bed.cpu_s()
                output, labels = self.execute(bed, case, workload)
                kept["all_s"] = time.time() - begin
                kept["others_cores"] = max(0, machine_cpu_s() - machine - bed.cpu_s() + own) / kept["all_s"]
        kept["allowance"] = workload.allowance + (.2 if case["inner"] == "D4" else 0) # the kernel's write-back
        kept["loop_s"] = workload.loop_s(case, output)
        kept["started"], kept["mbit"], kept["awake"] = begin, case.get("mbit"), self.awake
        labels = [dict(one, process=workload.processes[case["fault"]]) if case["fault"] in workload.processes else one for one in labels]
        with open(f"{folder}/label.json", "w") as file:
            json.dump(labels, file, indent=1)
        report = None
        if case["fault"] != cases.PLAIN:
            report = report_of(self.bin, f"{folder}/recording.db")
            with open(f"{folder}/report.json", "w") as file:
                json.dump(report, file, indent=1)
        with open(f"{folder}/case.json.new", "w") as file:
            json.dump(kept, file, indent=1)
        os.rename(f"{folder}/case.json.new", f"{folder}/case.json")
        return report, kept


def report_of(binaries, database, run="last", judge=""):
    """judge: changed rules, thresholds and sources (ablate.py)."""
    environment = dict(os.environ, CHOKEPOINT_JUDGE=judge) if judge else None
    done = subprocess.run([f"{binaries}/chokepoint", "report", "--db", database, run, "--format", "json"], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"report of {database}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def short(report):
    if report is None:
        return "not profiled"
    v = report["verdict"]
    return f"{v['state']} {v['host'] or ''} {v['resource']} {v.get('cause_kind') or ''} {v['confidence']:.2f}"


def tried(matrix, case, tolerate):
    """Measures, and once more if other programs disturbed it."""
    for _ in range(TRIES):
        report, kept = matrix.measure(case)
        if kept["others_cores"] <= tolerate + kept["allowance"]:
            break
    return report, kept


def trouble_here(matrix):
    """Why this machine or user cannot have emulated hosts, in a line; None if it can."""
    if os.geteuid() != 0:
        return "emulated hosts need root"
    missing = [name for name in ("chokepoint", "fault-trouble", "fault-canary") if not os.path.exists(f"{matrix.bin}/{name}")]
    if missing:
        return f"{matrix.bin} has no {missing[0]}: build first, or name the directory of the programs with --bin"
    if not shutil.which("mpirun"):
        return "mpirun is not installed"
    try:
        with Bed(matrix.bin, matrix.bed_name, 2, None):
            return None
    except (Unable, RuntimeError, OSError) as error:
        return str(error).removeprefix("chokepoint testbed: ").splitlines()[0]


def run_all(matrix, todo, seconds=None, limit=None, say=print, tolerate=.1):
    """Returns (done, failed, skipped). Begins no run that would end after `seconds`, judging by the longest recent
    one."""
    waiting = [case for case in todo if not matrix.is_done(case)]
    say(f"{len(todo)} cases, {len(todo) - len(waiting)} done before, {len(waiting)} to run")
    os.makedirs(matrix.results, exist_ok=True)
    began, count, failed, skipped, unable, took = time.time(), 0, [], [], {}, []
    with delay_accounting(), cores_awake() as awake:
        matrix.awake = awake.is_set
        for case in waiting:
            if (limit is not None and count >= limit) or (seconds is not None and time.time() - began + max(took[-12:], default=0) > seconds):
                break
            workload = workloads.WORKLOADS[case["workload"]]
            reason = workload.available(matrix.bin) or unable.get(case["inner"])
            if reason:
                skipped.append((case["id"], reason))
                continue
            start = time.time()
            try:
                report, kept = tried(matrix, case, tolerate)
            except Unable as error:
                unable[case["inner"]] = str(error)
                skipped.append((case["id"], str(error)))
                continue
            except (RuntimeError, OSError, AttributeError, ValueError, subprocess.SubprocessError) as error:
                failed.append((case["id"], str(error)))
                say(f"FAILED {case['id']}: {error}")
                continue
            count += 1
            took.append(time.time() - start)
            left = (len(waiting) - count - len(failed) - len(skipped)) * sum(took) / count
            say(f"{count:4d}  {case['id']:36s} loop {kept['loop_s']:6.2f} s  all {took[-1]:5.1f} s  "
                f"others {kept['others_cores']:4.2f}  {short(report):45s} left {left / 60:.0f} min")
    shutil.rmtree(matrix.scratch, ignore_errors=True)
    return count, failed, skipped
