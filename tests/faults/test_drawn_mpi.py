#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Phrases of a draw become what is planted in programs with MPI. Runs nothing."""
import importlib.machinery
import importlib.util
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f"{HERE}/drawn"]
import faults
import mpi
import stranger_scores

loader = importlib.machinery.SourceFileLoader("record_mpi", f"{HERE}/drawn/record_mpi")
recorder = importlib.util.module_from_spec(importlib.util.spec_from_loader("record_mpi", loader))
loader.exec_module(recorder)

LINE = ("mpi: liggghts: clean, clean; hog of 55 % duty on one host; receive buffer of 8 kB on one host; two of the above at once on two hosts; "
        "decoy: UDP at 50 MB/s off the path")


def numbers():
    return random.Random(1)


class Draws(unittest.TestCase):
    def test_a_line_has_a_program_its_faults_and_a_decoy(self):
        (name, phrases, decoy, _), = recorder.programs_of([LINE, "service: squid: clean, clean; x; decoy: y", "mpi, reserve: abinit gerris"])
        self.assertEqual((name, len(phrases), decoy), ("liggghts", 3, "UDP at 50 MB/s off the path"))

    def test_phrases_become_kinds_with_their_amount(self):
        for phrase, found in (("hog of 55 % duty on one host", ("duty", "55")), ("receive buffer of 8 kB on one host", ("rmem", "8192")),
                              ("one rank stopped 45 % of the time in turns of .2 s", ("stop", "0.09/0.2")), ("one rank has 1.7 times the work (input)", ("work", "1.7")),
                              ("one host sends at 46 Mbit/s", ("out", "46")), ("hog on one host's core, outside its group", ("outhog", "1"))):
            self.assertEqual(faults.read(phrase, numbers()), found)
        self.assertIsNone(faults.read("one hot key, lock or partition", numbers()))

    def test_the_same_line_plants_the_same(self):
        program = mpi.PROGRAMS["liggghts"]
        plants = [recorder.planted_of(program, random.Random(LINE), "two of the above at once on two hosts") for _ in (0, 1)]
        self.assertEqual(plants[0], plants[1])
        self.assertEqual([host for _, host, _ in plants[0]], ["vm1", "vm2"])

    def test_what_a_program_cannot_have_is_left_out_and_said(self):
        said = []
        phrases = ["disk writes of one host throttled to 25 MB/s or 88 per second, if it writes", "one rank has 1.7 times the work"]
        runs = list(recorder.planned(mpi.PROGRAMS["iqtree"], phrases, "ten idle helpers that wait for ever on a pipe", numbers(), said.append))
        self.assertEqual([len(plants) for _, plants in runs], [0, 1, 0])
        self.assertEqual(len(said), 2)

    def test_an_input_of_few_pieces_gives_the_rank_what_it_can(self):
        self.assertEqual(recorder.planted_of(mpi.PROGRAMS["abinit"], numbers(), "one rank has 1.7 times the work"), [("work", "vm1", "2")])

    def test_a_memory_limit_is_a_share_of_what_was_used(self):
        self.assertEqual(recorder.with_bytes([("mem", "vm2", "80"), ("hog", "vm1", "1")], {"vm2": 1000}), [("mem", "vm2", "800"), ("hog", "vm1", "1")])


class Words(unittest.TestCase):
    def test_each_kind_is_known_to_the_score(self):
        self.assertEqual(set(faults.KINDS), set(faults.DECOYS) | (set(faults.KINDS) & set(stranger_scores.PLANTED)))
        self.assertLessEqual(set(faults.DECOYS), set(stranger_scores.DECOYS))


if __name__ == "__main__":
    unittest.main()
