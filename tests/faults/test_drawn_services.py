#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Services that a draw chooses: its words become faults, and what is recorded becomes lines that the score reads. Nothing is run."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0] = HERE
import stranger_scores
from drawn import planted, services

loader = importlib.machinery.SourceFileLoader("record", f"{HERE}/drawn/record")
record = importlib.util.module_from_spec(importlib.util.spec_from_loader("record", loader))
loader.exec_module(record)

FAULTS = ("hog inside the server's group", "hog on the server's core, outside its group", "quota of 40 % on the server", "server sends at 60 Mbit/s", "server receives at 60 Mbit/s",
          "the client's host at 30 Mbit/s", "disk of the server throttled: 20 MB/s or 60 requests a second", "memory limit 75 % of what the server uses",
          "a pool, worker or connection limit of 1", "one slow downstream (22 ms a request)", "one hot key, lock or partition", "a client that is too slow to ask (12 ms between requests)",
          "a handler that computes 12 ms a request", "slow look-ups of names (90 ms)", "receive buffer of 9 kB at the server")
DECOYS = ("hog of SCHED_IDLE on a used core", "hog on a core that nobody uses", "UDP at 50 MB/s off the path", "a large page cache made and dropped",
          "ten idle helpers that wait for ever on a pipe", "a foreign download through the same interface at a tenth of its rate",
          "a process that writes 20 MB/s buffered on another device")


def numbers(rate, busy=.2, **more):
    return {"loop": 4.0, "done": 4 * rate, "failed": 0, "status": 0, "run": 1, "all": 5.0, "busy_vm1": busy, "busy_vm2": busy, **more}


class TheDraw(unittest.TestCase):
    def test_only_lines_of_services_are_taken(self):
        lines = ["mpi: abinit: clean, clean; a; b; c; decoy: d", "service: rsync+nginx: clean, clean; one; two: 3 or 4; five; decoy: six", "service, reserve: x y"]
        self.assertEqual(list(record.drawn_of(lines)), [("rsync+nginx", ["one", "two: 3 or 4", "five"], "six")])

    def test_each_fault_is_planted_or_refused_with_its_reason(self):
        for service in services.SERVICES.values():
            for text in FAULTS:
                try:
                    fault = planted.fault_of(text, service, 100e6)
                except planted.NotApplicable as reason:
                    self.assertNotIn("unknown", str(reason))
                    continue
                line = {"db": "x.db", "run": 1, "fault": fault.word, **({"expected": fault.expected} if fault.expected else {})}
                truth = stranger_scores.truth_of(line, {"truth": {}})
                self.assertTrue(truth and set(truth["host"]) <= {"vm1", "vm2"}, (service.name, text))
                self.assertTrue(truth.get("cause") or truth.get("says"))
                self.assertTrue(fault.outside or fault.plant)

    def test_a_decoy_is_no_fault_to_the_score(self):
        for text in DECOYS:
            line = {"db": "x.db", "run": 1, "fault": planted.decoy_of(text).word}
            self.assertIsNone(stranger_scores.truth_of(line, {"truth": {}}), text)

    def test_words_that_are_not_known_are_refused(self):
        with self.assertRaises(planted.NotApplicable):
            planted.fault_of("a storm", services.SERVICES["memcached"], 0)
        with self.assertRaises(planted.NotApplicable):
            planted.decoy_of("a calm")


class TheLines(unittest.TestCase):
    def test_slower_is_held_against_the_clean_rate(self):
        service = services.SERVICES["memcached"]
        fault = planted.fault_of("quota of 40 % on the server", service, 0)
        line = record.line_of(service, fault, numbers(50), 100, {})
        self.assertEqual((line["fault"], line["slower"], line["group"]), ("quota:vm2:40", 2.0, "service"))

    def test_a_run_that_failed_has_no_slowdown(self):
        line = record.line_of(services.SERVICES["memcached"], None, numbers(50, status=1), 100, {})
        self.assertNotIn("slower", line)

    def test_a_busy_core_limits_by_nature(self):
        self.assertEqual(record.natural_of(services.SERVICES["haproxy"], [numbers(9), numbers(9, busy=4.0)]), {"vm1": ["cpu"], "vm2": ["cpu"]})
        self.assertEqual(record.natural_of(services.SERVICES["beanstalkd"], [numbers(9)]), {"vm2": ["disk", "disk-throttle"]})


class TheScripts(unittest.TestCase):
    def test_a_server_and_its_load_are_words_of_a_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            for service in services.SERVICES.values():
                if service.name in ("nfs-kernel-server", "icecc"):
                    continue
                case = argparse.Namespace(service=service, folder=folder, data=folder, scale=1, group=None, server="10.0.0.2", client="10.0.0.1",
                                          plants=dict.fromkeys((*service.can, "pause", "helpers"), 5))
                with contextlib.suppress(IndexError): # where PostgreSQL is not installed
                    record.scripts(case)
                    subprocess.run(["bash", "-c", f"cd {folder} && bash -n run.sh && bash -n serve.sh && bash -n stop.sh"], check=True)


if __name__ == "__main__":
    unittest.main()
