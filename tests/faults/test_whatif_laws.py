#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The law of what-if accepts answers that keep it, and names planted violations."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import whatif_laws
from whatif_laws import Answer


def answers(**seconds):
    """answers(_0_5=12) is {0.5: 12 s}; None: refused."""
    return {float(name[1:].replace("_", ".")): Answer(s, "replayed" if s else None, None if s else "why") for name, s in seconds.items()}


def faults(**seconds):
    return list(whatif_laws.faults_of("cpu vm1", 10, answers(**seconds)))


class TheLaw(unittest.TestCase):
    def test_slower_costs_and_faster_saves(self):
        self.assertEqual(faults(_0_25=25, _0_5=15, _0_7=12, _1=10, _1_4=8, _2=7, _1000=4), [])

    def test_a_resource_that_does_not_matter(self):
        self.assertEqual(faults(_0_25=10, _0_5=10.01, _1=10, _2=9.99, _1000=10), [])

    def test_refused_answers_break_nothing(self):
        self.assertEqual(faults(_0_25=None, _0_5=None, _1=10, _2=7), [])

    def test_slower_that_is_faster(self):
        self.assertIn("cpu vm1 at 0.5x is faster: 9 of 10 s", faults(_0_5=9, _2=7))

    def test_faster_that_is_slower(self):
        self.assertIn("cpu vm1 at 2x is slower: 11 of 10 s", faults(_0_5=12, _2=11))

    def test_double_that_gains_where_half_costs_nothing(self):
        self.assertEqual(faults(_0_5=10, _2=7), ["cpu vm1 at 2x gains 3 s of 10 s, at 0.5x it costs 0 s"])

    def test_a_factor_in_between_that_does_not_lie_between(self):
        self.assertEqual(faults(_0_25=14, _0_5=15, _2=7), ["cpu vm1 at 0.5x takes 15 s, at 0.25x 14 s"])

    def test_nothing_changed_that_changes_the_time(self):
        self.assertEqual(faults(_1=10.4), ["cpu vm1 unchanged takes 10.4 of 10 s"])

    def test_a_link_lowered_below_what_flowed(self):
        low = lambda seconds, flowing: list(whatif_laws.low_link_faults("link vm1", 10, flowing, 25, Answer(seconds, "counted", None)))
        self.assertEqual(low(40, 100), [])
        self.assertEqual(low(9, 26), [])
        self.assertEqual(len(low(9, 100)), 1)
        self.assertEqual(low(None, 100), [])

    def test_slow_cores_where_the_path_computes(self):
        slow = lambda seconds, computing: list(whatif_laws.slow_core_faults("cpu all", 10, computing, Answer(seconds, "counted", None), 0.25))
        self.assertEqual(slow(10, 0.1), [])
        self.assertEqual(slow(25, 0.5), [])
        self.assertEqual(len(slow(10, 0.5)), 1)


class TheQuestions(unittest.TestCase):
    def test_each_resource_of_each_host_and_of_all_at_each_factor(self):
        subjects = dict(whatif_laws.subjects_of(["vm1", "vm2"], [0]))
        self.assertEqual(len(subjects), 3 * 3 + 1 + 1)
        self.assertEqual(subjects["link all"][0], (0.25, ("--link", "all=0.25x")))
        self.assertEqual(subjects["latency"][-1], (1000, ("--latency", "0.001x")))
        self.assertTrue(all(len(asked) == len(whatif_laws.FACTORS) for asked in subjects.values()))


if __name__ == "__main__":
    unittest.main()
