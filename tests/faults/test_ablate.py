#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ablation of a made-up judge finds what its rules are known to earn."""
import argparse
import contextlib
import io
import json
import os
import sqlite3
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ablate
from made_up import label, made, scored

# Without the rule of the CPU, or with its threshold 1.4 times as high, no host is blamed; without connections all are;
# the other rule does nothing. Each report is counted.
PROGRAM = """#!/bin/sh
here=$(dirname "$0")
[ "$1" != rules ] || exec cat "$here/rules.json"
echo "$CHOKEPOINT_JUDGE" >>"$here/asked"
case "$CHOKEPOINT_JUDGE" in
    -contention|*waited*1.4*) exec cat "$here/quiet.json" ;;
    -source:connections) exec cat "$here/blame.json" ;;
esac
exec cat "$(dirname "$3")/said.json"
"""
LISTING = {"rules": [{"name": "contention", "resource": "cpu", "cause": "contention", "subject": "host", "needs": ["rank"], "reason": "Tasks wait for a core.",
                      "thresholds": [{"name": "waited", "value": 5, "unit": "%", "reason": "LEAST"}]},
                     {"name": "throttle", "resource": "disk-throttle", "cause": "throttle", "needs": ["cgroup"], "instead": ["shim"], "reason": "Held back.", "thresholds": []}],
           "thresholds": [{"name": "SURE_S", "value": 10, "unit": "s"}], "sources": ["connections", {"name": "shim"}]}


class Ablation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin, self.results = folder.name, f"{folder.name}/results"
        self.put("chokepoint", PROGRAM)
        os.chmod(f"{self.bin}/chokepoint", 0o755)
        self.put("rules.json", json.dumps(LISTING))
        self.put("quiet.json", json.dumps(made("F0", 10)["report"]))
        self.put("blame.json", json.dumps(made("F1", 10, "saturated", "vm2", "cpu")["report"]))
        clean, slow = made("F0", 10, started=1), made("F1", 20, "saturated", "vm2", "cpu", [label()], started=2, cause_kind="contention", culprit=None)
        for run in (clean, slow, made("F7", 20, "saturated", "vm2", "disk-throttle", [label(resource="disk-throttle")], started=3)):
            self.keep(run)

    def put(self, name, text):
        with open(f"{self.bin}/{name}", "w") as file:
            file.write(text)

    def keep(self, run):
        folder = f"{self.results}/{run['id']}"
        os.makedirs(folder)
        for name, what in (("case", {k: v for k, v in run.items() if k not in ("report", "labels")} | {"window": None}), ("label", run["labels"]), ("said", run["report"])):
            with open(f"{folder}/{name}.json", "w") as file:
                json.dump(what, file)
        with contextlib.closing(sqlite3.connect(f"{folder}/recording.db")) as db, db:
            db.execute("CREATE TABLE table_info(name TEXT)")

    def asked(self):
        with open(f"{self.bin}/asked") as file:
            return file.read().split("\n")[:-1]

    def ablate(self, **options):
        options = argparse.Namespace(**dict(dict(bin=self.bin, results=self.results, half="both", tolerate=.1, only="", rules=None, thresholds=None, all=False,
                                                 page=False), **options))
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as said:
            self.status = ablate.main(options, self.bin)
        self.said = said.getvalue()
        return out.getvalue()

    def test_a_rule_that_finds_a_fault_costs_it_and_one_that_does_nothing_is_told(self):
        text = self.ablate()
        self.assertEqual(self.status, 0)
        self.assertIn("Without it: 1 verdicts change; top-1 2 to 1; cause 1 to 0.", text)
        self.assertIn("Without it: nothing changes.", text)
        self.assertIn("Rules that change no verdict of these runs: throttle.", text)
        self.assertIn("| waited | 5 % | LEAST | nothing changes | 1 verdicts change; top-1 2 to 1; cause 1 to 0 |", text)
        self.assertIn("disk-throttle, cause throttle. Needs: cgroup. Not asked where there is shim.", text)
        self.assertIn("2 rules, 2 thresholds, on 3 recorded runs", text)

    def test_the_size_of_the_judge_is_told(self):
        os.makedirs(f"{self.bin}/analysis/rules")
        for name, text in (("a.c", "1\n2\n"), ("rules/b.def", "1\n"), ("rules/c.o", "1\n")):
            with open(f"{self.bin}/analysis/{name}", "w") as file:
                file.write(text)
        self.assertIn("The judge (analysis/) has 3 lines in 2 files.", self.ablate())

    def test_thresholds_that_change_nothing_together_are_not_tried_alone(self):
        self.ablate()
        count = self.asked().count
        self.assertEqual((count("SURE_S*0.7;waited*0.7"), count("waited*0.7"), count("SURE_S*0.7")), (2, 0, 1)) # on one of three the first has no bearing
        self.assertEqual((count("SURE_S*1.4;waited*1.4"), count("waited*1.4"), count("SURE_S*1.4")), (2, 1, 2))

    def test_a_source_bears_on_every_run(self):
        text = self.ablate()
        row = next(line for line in text.splitlines() if line.startswith("| without connections"))
        self.assertIn("| 100.0 % (20.7 to 100.0), 1 of 1 | 3 |", row)
        self.assertIn("| without shim |", text)

    def test_a_rule_is_tried_on_clean_runs_and_those_that_name_its_resource(self):
        self.ablate()
        self.assertEqual(self.asked().count("-contention"), 2)
        self.assertEqual(self.asked().count("-source:shim"), 3)
        self.assertEqual(sum("SURE_S*0.7" in words for words in self.asked()), 3)
        os.remove(f"{self.bin}/asked")
        self.keep(made("F1", 21, labels=[label()], started=5)) # a miss that the rule should have found
        self.ablate(rules="contention", thresholds="")
        self.assertEqual(self.asked().count("-contention"), 1)

    def test_answers_are_kept_until_the_program_is_another(self):
        self.ablate()
        before = len(self.asked())
        self.ablate()
        self.assertEqual(len(self.asked()) - before, 3) # the reports themselves, made anew by every score
        self.put("chokepoint", PROGRAM + "# another\n")
        os.chmod(f"{self.bin}/chokepoint", 0o755)
        self.ablate()
        self.assertEqual(len(self.asked()) - before - 3, before)

    def test_some_rules_or_thresholds_alone(self):
        self.ablate(rules="throttle")
        self.assertEqual({words for words in self.asked() if words}, {"-throttle"})
        self.ablate(thresholds="waited")
        self.assertEqual({words for words in self.asked() if words}, {"-throttle", "waited*0.7", "waited*1.4"})
        self.ablate(rules="throttle", all=True)
        self.assertEqual(self.asked().count("-throttle"), 3)

    def test_the_page_keeps_what_stands_around_the_table(self):
        os.mkdir(f"{self.bin}/docs")
        self.ablate(page=True)
        with open(f"{self.bin}/docs/rules.md") as file:
            first = file.read()
        self.assertTrue(first.startswith("# The rules of the judge"))
        self.put("docs/rules.md", "By hand.\n\n" + first.split("\n\n", 2)[2].replace("Tasks wait for a core.", "obsolete") + "After.\n")
        self.ablate(page=True)
        with open(f"{self.bin}/docs/rules.md") as file:
            again = file.read()
        self.assertTrue(again.startswith("By hand.") and again.endswith("After.\n"))
        self.assertEqual((again.count("Tasks wait for a core."), again.count(ablate.BEGIN), "obsolete" in again), (1, 1, False))

    def test_a_program_without_a_listing_is_told(self):
        self.put("chokepoint", "#!/bin/sh\necho no such command >&2\nexit 2\n")
        self.assertEqual((self.ablate(), self.status), ("", 2))
        self.assertIn("chokepoint rules: no such command", self.said)


class Outcomes(unittest.TestCase):
    def test_who_is_lost_and_won_is_named(self):
        base = scored(made("F0", 10), made("F1", 20, "saturated", "vm2", "cpu", [label()], started=1), made("F1", 20, labels=[label()], started=2))
        answers = {run["id"]: {"verdict": other["report"]["verdict"], "ranking": []} for run, other in zip(base[1:], base[:0:-1])}
        told = ablate.outcome(ablate.judged_so(base, answers), base)
        self.assertEqual((told["lost"], told["won"], told["changed"]), (["F1-1"], ["F1-2"], ["F1-1", "F1-2"]))
        self.assertIn("as many are right", ablate.earned_text(told, told))

    def test_a_recording_that_cannot_be_judged_so_says_nothing(self):
        base = scored(made("F0", 10), made("F1", 20, "saturated", "vm2", "cpu", [label()], started=1))
        self.assertEqual(ablate.outcome(ablate.judged_so(base, {"F1-1": None}), base)["lost"], ["F1-1"])


if __name__ == "__main__":
    unittest.main()
