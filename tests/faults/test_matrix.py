#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plan of the matrix, the questions asked of recordings, and how results are written."""
import os
import random
import re
import signal
import sqlite3
import sys
import tempfile
import threading
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases
import estimates
import injectors
import made_inputs
import misses
import page
import recordings
import runner
import scorer
import tables
import workloads
from made_up import label, made, scored


class Scenarios(unittest.TestCase):
    def test_the_shell_that_starts_a_run_chooses_no_kernels_for_the_first_rank_alone(self):
        with unittest.mock.patch.dict(os.environ, {"OPENBLAS_CORETYPE": "Haswell", "MKL_NUM_THREADS": "8", "OMP_NUM_THREADS": "7", "HOME": "/h"}, clear=True):
            self.assertEqual(workloads.environment(), {"HOME": "/h"} | workloads.QUIET)

    def test_a_limit_is_asked_of_the_clean_run_as_it_was_set(self):
        asked = lambda fault, amount, **more: recordings.cap_words(dict(made(fault, 20, labels=[label()]), amount=amount, **more))
        self.assertEqual(asked("F2", 60), ["--quota", "vm2=60%"])
        self.assertEqual(asked("F3", 60, mbit={"send": 41.7}), ["--link", "vm2:egress=41700kbit,18000B", "--together"])
        self.assertEqual(asked("F5", 60, mbit={"send": 1, "receive": 7}), ["--link", "vm2:egress=1000kbit,18000B", "--link", "vm2:ingress=7000kbit,18000B", "--together"])
        self.assertIsNone(asked("F12", 20))

    def test_excess_work_is_gone_and_not_shared_out(self):
        run = dict(made("F11", 20, labels=[dict(label(), rank=1)]), inner="F11", amount=2.2)
        for rank, asked in ((0, ["--cpu", "vm2=2.2x"]), (None, ["--without-straggler", "vm2"])):
            run["report"]["budget"] = [{"rank": rank}, {"rank": None}]
            self.assertEqual(recordings.what_if_words(run), asked)
        self.assertIsNone(recordings.what_if_words(dict(run, fault="F15"))) # for a part of the run

    def test_a_prediction_is_held_against_the_measured_slowdown(self):
        runs = scored(dict(made("F0", 10), folder="c"), dict(made("F2", 20, labels=[label()]), folder="f", amount=50))
        answers = {"c": (1.9, None, 10), "f": (.55, None, 20)}
        with unittest.mock.patch("recordings.predicted", lambda binaries, run, words: answers[run["folder"]]):
            self.assertAlmostEqual(recordings.what_if_capped(runs[1], runs, "")[0], -.05)
            self.assertAlmostEqual(recordings.what_if(dict(runs[1], inner="F2", labels=[dict(label(), rank=None)]), "")[0], .1)

    def test_a_limit_is_held_against_the_whole_of_the_run_that_had_it_for_the_work_of_the_clean_one(self):
        clean, other = dict(made("F0", 10, started=1), folder="c"), made("F0", 14)
        slow = dict(made("F2", 8, labels=[label()], started=2), scale=.4, folder="f", amount=50)
        for run, seconds in ((clean, 11), (slow, 11)):
            run["report"]["run"] = {"duration_s": seconds}
        runs = scored(clean, other, slow) # 20 s of the clean run's loop, and 3 s beside it
        for measured_s, true in ((11, 23 / 11), (10, 2), (6, 2)): # of all of it, of the loop alone, of a part of that
            with unittest.mock.patch("recordings.predicted", lambda *_: (1.1 * true, None, measured_s)):
                error, answer = recordings.what_if_capped(runs[2], runs, "")
                self.assertAlmostEqual(error, .1)
                self.assertAlmostEqual(answer[3], true)
        with unittest.mock.patch("recordings.predicted", lambda *_: (None, "no calls", None)):
            runs[2]["cap_error"], runs[2]["cap_answer"] = recordings.what_if_capped(runs[2], runs, "")
        self.assertIn("true 1.691, predicted refused: no calls", "\n".join(estimates.all_lines(runs)))

    def test_every_question_is_listed_the_worst_first_and_refusals_with_their_reason(self):
        faulty = dict(amount=50, inner="F2", labels=[dict(label(), resource=["cpu-quota"], rank=None)])
        runs = scored(dict(made("F0", 10), id="clean"), dict(made("F2", 20, "saturated", "vm2", "cpu-quota", gain_pct={"estimate": 40}), id="near", **faulty),
                      dict(made("F2", 20), id="far", **faulty), dict(made("F2", 20), id="silent", **faulty))
        for run, ratio in zip(runs[1:], (.52, .7, None)):
            run["whatif_answer"] = (ratio, None if ratio else "no calls", 20 if ratio else None)
            run["whatif_error"] = ratio and ratio * run["slowdown"] - 1
        lines = estimates.all_lines(runs)
        self.assertEqual([line.split()[0] for line in lines[1:4]], ["far", "near", "silent"])
        self.assertIn("  w            F2   1 of 1 answered: +4.0 %", lines)
        self.assertIn("  w            F2   1 of 1 answered: -16.7 %", lines)
        self.assertIn("+40.0 %", lines[1])
        self.assertIn("refused: no calls", lines[3])
        self.assertIn("explains +80.0 %", "\n".join(lines))


class Inputs(unittest.TestCase):
    def test_made_up_sequences_are_of_one_length_and_the_same_from_the_same_seed(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = []
            for name in ("one", "other"):
                made_inputs.alignment(f"{folder}/{name}", 5, 60)
                with open(f"{folder}/{name}.phy") as rows, open(f"{folder}/{name}.tree") as tree:
                    texts.append(rows.read() + tree.read())
        rows = texts[0].splitlines()[1:6]
        self.assertEqual(texts[0], texts[1])
        self.assertEqual([len(row.split()[1]) for row in rows], [60] * 5)
        self.assertEqual(sorted(re.findall("t[0-9]", texts[0].splitlines()[6])), [row.split()[0] for row in sorted(rows)])

    def test_half_of_the_reads_are_of_the_other_strand(self):
        with tempfile.TemporaryDirectory() as folder:
            made_inputs.reads(f"{folder}/reads.fa", 50, 20, 4)
            with open(f"{folder}/reads.fa") as file:
                reads = file.read().split("\n")[1::2]
        whole = "".join(random.Random(1).choices(made_inputs.BASES, k=50))
        back = lambda read: read.translate(made_inputs.OTHER_STRAND)[::-1]
        self.assertEqual([read in whole or 2 * (back(read) in whole) for read in reads], [True, 2] * 5)

    def test_a_rank_that_was_stopped_goes_on_when_the_fault_ends(self):
        over, seen = threading.Event(), []
        sent = lambda pid, number: (seen.append(number), over.set())
        with unittest.mock.patch("injectors.ranks_on", lambda bed, host, seen_by: [7]), unittest.mock.patch("os.kill", sent):
            cases.injectors.stop_now_and_then(None, "vm1", "RANK=", .999, over)
        self.assertEqual(seen, [signal.SIGSTOP, signal.SIGCONT])


class Delay(unittest.TestCase):
    def test_the_first_that_holds_is_found_by_few_questions(self):
        for n, first in ((1, 1), (100, 37), (100, 100), (7, 5)):
            asked = []
            self.assertEqual(recordings.first_true(lambda k: asked.append(k) or k >= first, n), first)
            self.assertLess(len(asked), 15)
        self.assertIsNone(recordings.first_true(lambda k: False, 9))
        self.assertIsNone(recordings.first_true(lambda k: True, 0))

    def test_a_verdict_and_a_straggler_both_name_it_another_host_does_not(self):
        says = lambda host, resource, *stragglers: {"verdict": {"state": "saturated", "host": host, "resource": resource}, "stragglers": [{"host": s} for s in stragglers]}
        answers = [recordings.names_it(r, [label()]) for r in (says("vm2", "cpu"), says("vm2", "disk"), says("vm1", "disk", "vm2"), says("vm1", "cpu", "vm3"), None)]
        self.assertEqual(answers, [True, False, True, False, False])

    def test_a_cut_leaves_what_had_been_by_then(self):
        db = sqlite3.connect(":memory:")
        db.executescript("""
            CREATE TABLE run(started_mono_ns, ended_wall_ns, ended_mono_ns); INSERT INTO run VALUES (1e9, 100e9, 11e9);
            CREATE TABLE table_info(name, kind); INSERT INTO table_info VALUES ('cpu', 'samples'), ('mark', 'events'), ('call', 'events');
            CREATE TABLE stream(stream, period_ns, last_mono_ns, frames); INSERT INTO stream VALUES (1, 1e8, 11e9, 2), (2, 0, 11e9, 1);
            CREATE TABLE frame(frame, stream, mono_ns); INSERT INTO frame VALUES (1, 1, 2e9), (2, 1, 9e9), (3, 2, 11e9);
            CREATE TABLE cpu(frame, v); INSERT INTO cpu VALUES (1, 1), (2, 2);
            CREATE TABLE mark(frame, kind, start_ns, duration_ns); INSERT INTO mark VALUES (3, 1, 1e9, 9e9), (3, 2, 4e9, 1e9), (3, 2, 5e9, 2e9), (3, 2, 7e9, 1e9);
            CREATE TABLE call(frame, start_ns, duration_ns); INSERT INTO call VALUES (3, 3e9, 1e9), (3, 5e9, 3e9);""")
        recordings.remove_after(db, 5)
        rows = lambda sql: db.execute(sql).fetchall()
        self.assertEqual(rows("SELECT v FROM cpu"), [(1,)])
        self.assertEqual(rows("SELECT frame FROM frame"), [(1,), (3,)])
        self.assertEqual(rows("SELECT kind, start_ns, duration_ns FROM mark"), [(1, 1e9, 5e9), (2, 4e9, 1e9)])
        self.assertEqual(rows("SELECT start_ns FROM call"), [(3e9,)])
        self.assertEqual(rows("SELECT frames, last_mono_ns FROM stream"), [(1, 6e9), (1, 6e9)])
        self.assertEqual(rows("SELECT ended_wall_ns, ended_mono_ns FROM run"), [(95e9, 6e9)])


class Plan(unittest.TestCase):
    def test_ids_are_unique_and_the_halves_share_no_recording(self):
        ids = [c["id"] for half in ("tuning", "scored") for c in cases.cases_of(half, 2)]
        self.assertEqual(len(ids), len(set(ids)))

    def test_no_magnitude_is_both_tuned_and_scored(self):
        for workload, faults in cases.SCORED.items():
            for fault, magnitudes in faults.items():
                tuned = cases.TUNING.get(workload, {}).get(fault, [])
                if fault[0] == "F":
                    self.assertFalse(set(map(str, magnitudes)) & set(map(str, tuned)), (workload, fault))

    def test_a_fraction_of_something_greedy_is_one_more_for_a_part_of_the_time(self):
        shares = cases.injectors.shares_of
        self.assertEqual([shares(.7), shares(1), shares(2.3)], [[70], [100], [100, 100, 30]])

    def test_each_stressor_has_three_strengths_beside_three_programs(self):
        amounts = {case["workload"]: set() for case in cases.cases_of("stress", 1)}
        for case in cases.cases_of("stress", 1):
            if case["fault"] == "F23":
                amounts[case["workload"]].add(case["amount"])
        self.assertEqual({workload: len(found) for workload, found in amounts.items()}, {"matmul": 24, "sync": 24, "async": 24})
        self.assertIn("switch/4", amounts["sync"])

    def test_a_stressor_is_started_on_the_rank_s_host_and_ended(self):
        bed = unittest.mock.Mock()
        with injectors.stressor({"scratch": "/s"}, bed, 1, "hdd/2") as labels:
            bed.stressed.assert_called_once_with("vm2", "hdd", "2", "/s")
            bed.end.assert_not_called()
        bed.end.assert_called_once_with(bed.stressed.return_value)
        self.assertIn("disk", labels[0]["resource"])

    def test_whoever_stops_early_has_seen_every_program_and_every_fault_alike(self):
        plan = cases.cases_of("scored", 1)
        for part in (.5, .8):
            seen = plan[:int(len(plan) * part)]
            self.assertEqual({c["workload"] for c in plan if c["workload"] != "one"}, {c["workload"] for c in seen} - {"one"})
            self.assertGreaterEqual(len({c["fault"] for c in seen}), .9 * len({c["fault"] for c in plan}))
            for workload in {c["workload"] for c in plan}:
                n, whole = (sum(c["workload"] == workload for c in some) for some in (seen, plan))
                self.assertLessEqual(abs(n - part * whole), 1.5 * (cases.BLOCK + 2), workload)

    def test_a_clean_run_stands_before_any_fault_and_near_it(self):
        last = {}
        for at, case in enumerate(cases.cases_of("scored", 2)):
            if case["fault"] == "F0":
                last[case["workload"]] = at
            elif case["fault"] != cases.PLAIN:
                self.assertLessEqual(at - last[case["workload"]], cases.BLOCK + 1, case["id"])
        self.assertEqual(cases.cases_of("tuning", 1)[0]["fault"], "F0")

    def test_runs_without_profiling_stand_beside_clean_ones_on_either_side(self):
        plan = cases.cases_of("scored", 2)
        sides = [plan[at + 1]["fault"] == "F0" for at, c in enumerate(plan) if c["fault"] == cases.PLAIN]
        for n in range(8, len(sides) + 1):
            self.assertLessEqual(abs(2 * sum(sides[:n]) - n), 5)
        self.assertFalse([c for c in cases.cases_of("tuning", 2) if c["fault"] == cases.PLAIN])

    def test_the_first_matrix_is_large_enough(self):
        plan = [c for c in cases.cases_of("scored", 3) if c["fault"] != cases.PLAIN]
        self.assertGreaterEqual(len(plan), 300)
        self.assertGreaterEqual(sum(c["fault"] == "F0" or c["fault"][0] == "D" for c in plan), 60)
        self.assertGreaterEqual(len({c["fault"] for c in plan if c["fault"] not in ("F0",) and c["fault"][0] == "F"}), 8)


class Rights(unittest.TestCase):
    def test_who_may_not_make_hosts_is_told_so_in_a_line(self):
        with unittest.mock.patch("os.geteuid", return_value=1000):
            self.assertEqual(runner.trouble_here(runner.Matrix("/nowhere", "/nowhere")), "emulated hosts need root")
        with unittest.mock.patch("os.geteuid", return_value=0):
            self.assertIn("build first", runner.trouble_here(runner.Matrix("/nowhere", "/nowhere")))


class Page(unittest.TestCase):
    def test_a_rank_s_period_is_held_against_its_own_marks_and_who_only_serves_has_none(self):
        periods = lambda source, *seconds: {"iterations": {"source": source, "by_rank": [{"rank": i, "median_s": s} for i, s in enumerate(seconds)]}}
        run = lambda workload, *seconds: {"workload": workload, "report": periods("marker", *seconds)}
        runs = [run("sync", 1, 2), run("async", 1, 2), run("sync", 1, 2), {"workload": "lammps", "report": periods("calls", 3)}]
        found = [periods("calls", 1.1, 2), periods("calls", 2, 2.4), {"iterations": None}, periods("calls", 4)]
        e = tables.period_errors(runs, found)
        self.assertEqual((e["n"], e["tried"]), (3, 5))
        self.assertAlmostEqual(e["median"], .1)
        self.assertAlmostEqual(e["worst"], .2)
        self.assertIn("found of 3 of 5 ranks", tables.error_text(e))

    def test_a_miss_shows_what_it_rests_on(self):
        run = made("F1", 20, "saturated", "vm1", "cpu", [label()], evidence=["some", "task"], against=["none"], summary="Waits.")
        run["report"]["ranking"] = [{"host": "vm1", "resource": "cpu", "cause_kind": None, "state": "saturated", "blocked_pct": 31.4, "gain_pct": None}]
        run["report"]["budget"] = [{"host": "vm1", "rank": 0, "phase": "all", "wall_s": 10, "cpu_s": 4, "quota_s": .1, "peer_wait_s": None}]
        text = "\n".join(misses.lines_of(scored(made("F0", 10), run)[1]))
        for part in ("2.00x", "truth: vm2 cpu (contention)", "said: saturated vm1 cpu", "for: some", "against: none", "blocked 31 %", "(all, 10.0 s): cpu 40 %\n"):
            self.assertIn(part, text + "\n")

    def test_a_reason_that_lacks_or_is_of_no_miss_is_told(self):
        run = scored(made("F0", 10), made("F1", 20, labels=[label()], started=1))[1]
        told = "\n".join(misses.all_lines([run], {"s-old": "was so", "t-other": "of the other half"}, ["s"]))
        self.assertIn("not in misses.txt yet", told)
        self.assertIn("misses.txt has s-old", told)
        self.assertNotIn("t-other", told)

    def test_the_table_of_programs_has_a_row_for_each(self):
        runs = scored(made("F0", 10), made("F1", 20, "saturated", "vm2", "cpu", [label()]))
        rows = tables.workload_table(scorer.by_workload(runs), {None: [.02], "w": [.02]})
        self.assertEqual(rows[2], "| w | 2 | 1 | 10.00 | - | 1 of 1 | 0 of 1 | 1 of 1 | 0 | +2.0 %, 1 |")

    def test_what_lies_beyond_the_picture_is_on_its_edge_and_marked(self):
        promises = lambda loop_s, percent, started: made("F1", loop_s, "saturated", "vm2", "cpu", [label()], gain_pct={"estimate": percent}, started=started)
        points = page.slowdown_points(scored(made("F0", 10), promises(20, 50, 1), promises(200, 50, 2), promises(20, 99, 3), promises(20, -9, 4)))
        self.assertEqual([[round(x, 6) for x in point] for point in points], [[2, 2, False], [10, 2, True], [2, 10, True], [2, 1, True]])

    def test_a_table_is_markdown_and_nothing_is_shown_as_a_dash(self):
        text = tables.share_text({"right": 19, "n": 20, "share": .95, "low": .764, "high": .991})
        self.assertEqual(text, "95.0 % (76.4 to 99.1), 19 of 20")
        self.assertEqual(tables.share_text({"right": 0, "n": 0, "share": None, "low": 0, "high": 1}), "-")


if __name__ == "__main__":
    unittest.main()
