#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scores of strange programs, on made-up runs."""
import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import stranger_scores as scores

TABLE = {"natural": {"x.db": {"prog": {"vm1": ["cpu"]}}}, "also_natural": {"x.db 7": {"vm1": ["net-egress"]}}, "nothing_is_natural": ["x.db 8"],
         "truth": {"x.db 5": {"host": ["vm2"], "resource": ["application"], "cause": ["sleep"], "never": "lock"},
                   "x.db 6": {"host": ["vm2"], "resource": ["application"], "says": "lock"}}}


def run_of(fault="hog:vm2:1", slower=2.0, number=1, state="saturated", subject="host", host="vm2", resource="cpu", cause="contention", limit="", confidence=.9,
           hosts=("vm1", "vm2")):
    line = {"db": "x.db", "run": number, "program": "prog", "fault": fault, "group": "mpi", **({} if slower is None else {"slower": slower})}
    verdict = {"state": state, "subject": subject, "host": host, "resource": resource, "cause_kind": cause, "limit": limit, "confidence": confidence}
    return scores.run_of(line, {"run": {"host_details": [{"name": name} for name in hosts]}, "verdict": verdict}, TABLE)


def balanced(**words):
    return run_of(**{"state": "balanced", "subject": "none", "host": None, "resource": "none", "cause": None, **words})


class Answers(unittest.TestCase):
    def test_host_resource_and_cause_are_asked_one_by_one(self):
        for words, mark in (({}, "right"), ({"cause": "serial"}, "cause"), ({"host": "vm1"}, "other"), ({"resource": "disk"}, "other")):
            self.assertEqual(scores.mark_of(run_of(**words)), mark, words)

    def test_a_fault_in_words_is_looked_up(self):
        sleeps = {"number": 5, "fault": "slow", "resource": "application", "cause": "sleep"}
        self.assertEqual(scores.mark_of(run_of(**sleeps, limit="it sleeps")), "right")
        self.assertEqual(scores.mark_of(run_of(**sleeps, limit="it sleeps while others wait for a lock")), "cause")
        self.assertEqual(scores.mark_of(run_of(**{**sleeps, "number": 6}, limit="it sleeps")), "cause")
        self.assertEqual(scores.mark_of(run_of(**{**sleeps, "number": 6}, limit="they wait for a lock")), "right")

    def test_a_line_may_say_what_is_expected_and_what_is_natural(self):
        line = {"db": "y.db", "run": 1, "program": "prog", "fault": "pause:12", "group": "service", "slower": 2.0,
                "expected": {"host": ["vm1"], "resource": ["application"], "cause": ["sleep"]}, "natural": {"vm2": ["cpu"]}}
        verdict = {"state": "saturated", "subject": "host", "host": "vm1", "resource": "application", "cause_kind": "sleep", "confidence": .9}
        report = {"run": {"host_details": [{"name": "vm1"}, {"name": "vm2"}]}, "verdict": verdict}
        self.assertEqual(scores.mark_of(scores.run_of(line, report, TABLE)), "right")
        self.assertEqual(scores.run_of(line, report, TABLE)["natural"], {"vm2": ["cpu"]})
        report["verdict"] = dict(verdict, host="vm2", resource="cpu", cause_kind="contention")
        self.assertEqual(scores.mark_of(scores.run_of(line, report, TABLE)), "other")

    def test_all_hosts_are_right_only_where_all_were_hurt(self):
        wide = {"subject": "all-hosts", "host": None}
        self.assertEqual(scores.mark_of(run_of(**wide)), "other")
        self.assertEqual(scores.mark_of(run_of("hog:vm1 hog:vm2", **wide)), "right")
        self.assertEqual(scores.mark_of(run_of(**wide, hosts=["vm2"])), "right")

    def test_two_faults_at_once_are_each_their_host_s(self):
        both = "hog:vm1:1 in:vm2:60"
        for words, mark in (({"host": "vm1"}, "right"), ({}, "other"), ({"resource": "net-ingress", "cause": "path-limited"}, "right"),
                            ({"host": "vm1", "resource": "net-ingress"}, "other"), ({"subject": "all-hosts", "host": None}, "other")):
            self.assertEqual(scores.mark_of(run_of(both, **words)), mark, words)

    def test_a_decoy_is_a_clean_run(self):
        for kind in scores.DECOYS:
            self.assertEqual(run_of(f"{kind}:vm2:1")["right"], "clean", kind)

    def test_balanced_and_compute_bound_deny_a_fault(self):
        self.assertEqual(scores.mark_of(balanced()), "denied")
        self.assertEqual(scores.mark_of(run_of("in:vm2:60", subject="all-hosts", host=None, cause="compute-bound")), "denied")
        self.assertEqual(scores.mark_of(balanced(state="insufficient")), "unknown")

    def test_innocent_is_a_host_without_fault_and_without_nature(self):
        self.assertTrue(scores.blames_an_innocent(run_of("clean", 1.0)))
        self.assertFalse(scores.blames_an_innocent(run_of("clean", 1.0, host="vm1")))
        self.assertFalse(scores.blames_an_innocent(run_of("clean", 1.0, confidence=.79)))
        self.assertTrue(scores.blames_an_innocent(run_of(host="vm1", resource="disk")))
        self.assertFalse(scores.blames_an_innocent(run_of(resource="disk")))

    def test_nature_can_differ_in_one_run(self):
        sends = {"fault": "clean", "slower": 1.0, "host": "vm1", "resource": "net-egress"}
        self.assertTrue(scores.blames_an_innocent(run_of(**sends)))
        self.assertFalse(scores.blames_an_innocent(run_of(**sends, number=7)))
        self.assertTrue(scores.blames_an_innocent(run_of("idle", 1.0, number=8, host="vm1")))

    def test_a_line_can_say_what_is_its_nature(self):
        line = {"db": "y.db", "run": 1, "program": "other", "natural": {"vm2": ["cpu"]}}
        self.assertEqual(scores.natural_limits(line, TABLE), {"vm2": ["cpu"]})
        self.assertEqual(scores.natural_limits(dict(line, db="x.db", program="prog"), TABLE), {"vm1": ["cpu"], "vm2": ["cpu"]})


class Measures(unittest.TestCase):
    def test_only_what_cost_enough_has_to_be_found(self):
        runs = [run_of(), balanced(slower=1.2), balanced(slower=1.4), balanced(slower=1.1), balanced(slower=None), balanced(fault="clean", slower=1.0),
                balanced(fault="udp:vm1:50", slower=1.0)]
        measured = list(scores.measures(runs).values())
        self.assertEqual([(m["right"], m["n"]) for m in measured], [(1, 3), (1, 3), (1, 2), (0, 2), (0, 2), (0, 5)])
        self.assertEqual(scores.table_lines(runs)[-1], "7 runs: 3 find, 2 clean, 1 grey, 1 unmeasured")

    def test_changes_are_other_verdicts(self):
        same, right, wrong = balanced(fault="clean", slower=1.0), run_of(), balanced()
        self.assertEqual(len(scores.changes([same, right], [same, wrong])), 1)
        self.assertEqual(scores.changes([right], [run_of(confidence=.95)]), [])


class TheTable(unittest.TestCase):
    def test_its_kinds_and_resources_are_those_of_the_judge(self):
        with open(f"{HERE}/strangers.json") as file:
            table = json.load(file)
        with open(f"{HERE}/../../analysis/causes/causes.def") as file:
            known = set(re.findall(r'^(?:KIND|RESOURCE)\(\w+, "([\w-]+)"', file.read(), re.MULTILINE)) | {"lock"} # a lock may get a kind of its own
        for key, truth in table["truth"].items():
            self.assertLessEqual({*truth["resource"], *truth.get("cause", ())}, known, key)
            self.assertTrue(truth.get("cause") or truth.get("says"), key)
        for planted in scores.PLANTED.values():
            self.assertLessEqual({name for names in planted for name in names}, known)


if __name__ == "__main__":
    unittest.main()
