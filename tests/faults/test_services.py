#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of the group `service` and their scores, on made-up runs."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases
import injectors
import service_scores as scores
import services
import workloads

LABEL = {"host": "vm2", "resource": ["lock", "application"], "cause": "lock"}


def run_of(fault="F18", loop_s=20, labels=(LABEL,), state="suspected", host="vm2", resource="application", subject="host", workload="svc-store"):
    return {"id": f"s-{workload}-{fault}", "workload": workload, "fault": fault, "loop_s": loop_s, "scale": 1, "labels": list(labels),
            "report": {"verdict": {"state": state, "host": host, "resource": resource, "subject": subject}}}


def clean(**words):
    return run_of(**{"fault": "F0", "loop_s": 10, "labels": (), "state": "balanced", "host": None, "resource": "none", "subject": "none", **words})


def measured(*runs):
    scores.set_slowdowns(runs)
    return scores.measures(runs)


def count(m, name):
    return m[name]["right"], m[name]["n"]


class Scores(unittest.TestCase):
    def test_subject_and_resource_are_counted_apart(self):
        m = measured(clean(), run_of(), run_of(resource="cpu"), run_of(host="vm1"))
        self.assertEqual((count(m, "subject"), count(m, "resource")), ((2, 3), (1, 3)))

    def test_a_core_of_the_host_is_the_host(self):
        self.assertEqual(count(measured(clean(), run_of(subject="core")), "subject"), (1, 1))

    def test_one_that_names_no_limit_is_missed_where_it_cost_enough(self):
        m = measured(clean(), run_of(state="insufficient"), run_of(state="balanced"), run_of(state="balanced", loop_s=11.5))
        self.assertEqual((count(m, "missed"), count(m, "subject")), ((2, 2), (0, 3)))

    def test_a_fault_that_cost_nothing_is_not_to_be_found(self):
        m = measured(clean(), run_of(loop_s=10.5, state="balanced"))
        self.assertEqual((m["grey"], count(m, "subject"), count(m, "missed")), (1, (0, 0), (0, 0)))

    def test_less_work_is_no_speed(self):
        runs = clean(), dict(run_of(loop_s=10), scale=.5)
        scores.set_slowdowns(runs)
        self.assertEqual(runs[1]["slowdown"], 2)

    def test_innocent_is_whose_host_had_no_fault(self):
        m = measured(clean(), clean(state="suspected", host="vm1", resource="cpu", subject="host"), run_of(), run_of(host="vm1"), run_of(resource="cpu"))
        self.assertEqual((count(m, "innocent"), count(m, "innocent_clean")), ((2, 5), (1, 2)))

    def test_all_hosts_are_nobody(self):
        m = measured(clean(state="saturated", host=None, resource="cpu", subject="all-hosts"))
        self.assertEqual(count(m, "innocent"), (0, 1))

    def test_what_limits_the_program_itself_is_not_innocent(self):
        m = measured(*(clean(workload="svc-web", state="suspected", host=host, resource="application", subject="host") for host in ("vm1", "vm2")))
        self.assertEqual(count(m, "innocent"), (1, 2))

    def test_every_wrong_answer_has_a_line(self):
        runs = clean(), run_of(), run_of(host="vm1", resource="cpu")
        scores.set_slowdowns(runs)
        lines = scores.miss_lines(runs)
        self.assertEqual(len(lines), 1)
        self.assertIn("truth: vm2 lock/application (lock); said: suspected host vm1 cpu", lines[0])


class Plan(unittest.TestCase):
    def test_each_program_has_five_faults(self):
        self.assertEqual([len(faults) for faults in services.PLAN.values()], [5] * 7)
        self.assertEqual(set(services.PLAN), {program.name for program in services.PROGRAMS})

    def test_a_fault_hits_a_host_that_the_program_names(self):
        for name, faults in services.PLAN.items():
            program = workloads.WORKLOADS[name]
            for fault in faults:
                self.assertIn(program.targets[fault], range(program.ranks), (name, fault))
                self.assertEqual(cases.target_of(program, fault, 1), program.targets[fault])

    def test_their_ids_are_names_of_folders_and_differ(self):
        ids = [case["id"] for case in cases.cases_of("service", 2)]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertTrue(all("/" not in one for one in ids))

    def script(self, name, fault, magnitude):
        """The script that the program would start with that plant, and the labels."""
        program = workloads.WORKLOADS[name]
        with tempfile.TemporaryDirectory() as folder:
            case = {"folder": folder, "bin": "/bin", "scratch": "/tmp", "scale": 1, "plants": [], "plants_extra": [], "disks": [Disk(), Disk()],
                    "addresses": [f"10.0.0.{rank + 1}" for rank in range(program.ranks)]}
            with cases.FAULTS[fault][0](case, None, program.targets[fault], magnitude) if fault else injectors.nothing(case, None, 0, 0) as labels:
                with open(*program.words(case)) as file:
                    return file.read(), labels

    def test_a_plant_is_in_the_part_that_runs_on_its_host(self):
        for name, faults in services.PLAN.items():
            plain, _ = self.script(name, None, None)
            for fault in set(faults) & {"F11", "F12", "F18", "F19", "F20", "F21"} - ({"F11", "F21"} if name == "svc-train" else set()):
                text, labels = self.script(name, fault, faults[fault][0])
                changed = [line for line, before in zip(text.splitlines(), plain.splitlines()) if line != before]
                self.assertEqual(len(changed), 1, (name, fault))
                rank = workloads.WORKLOADS[name].targets[fault]
                self.assertEqual(f"vm{rank + 1} " in changed[0], rank > 0, (name, fault, changed))
                self.assertEqual(labels[0]["host"], f"vm{rank + 1}")

    def test_training_tells_all_ranks_whom_a_plant_is_for(self):
        text, labels = self.script("svc-train", "F21", 40)
        self.assertEqual(text.count("--plant input:1:40"), 2)
        self.assertEqual((labels[0]["host"], labels[0]["cause"]), ("vm2", "input"))


class Disk:
    path = "/disk"


if __name__ == "__main__":
    unittest.main()
