#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The time of made-up runs without their faults, on cores with known speed."""
import os
import sys
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import canary
import cases
import scorer
import stats
import truth
from made_up import beating, label, made, scored


class Truth(unittest.TestCase):
    def test_the_twin_decides_what_is_right(self):
        runs = scored(made("F0", 10), made("F1", 10.2, labels=[label()]), made("F1", 10.5, labels=[label()]), made("F1", 10.9, labels=[label()]))
        self.assertEqual([r["right"] for r in runs], ["balanced", "balanced", "grey", "find"])
        self.assertAlmostEqual(runs[3]["slowdown"], 1.09)

    def test_the_twin_is_the_mean_of_all_other_clean_runs_the_nearer_the_heavier(self):
        runs = scored(made("F0", 10, started=500), made("F0", 80, started=500 + truth.NEAR_S), made("F1", 40, labels=[label()], started=500))
        self.assertAlmostEqual(runs[2]["slowdown"], 2) # 10 times the third root of 80 / 10, which weighs half as much
        self.assertAlmostEqual(runs[0]["twin_s"], 80)

    def test_less_of_the_same_work_counts_by_the_work(self):
        runs = scored(made("F0", 10), dict(made("F1", 8, labels=[label()]), scale=.4))
        self.assertAlmostEqual(runs[1]["slowdown"], 2)

    def test_what_a_loop_takes_once_is_no_less_with_less_work(self):
        clean = [dict(made("F0", 11, started=s), once_s=once) for s, once in enumerate((1, .9, 1.2))] # 1 s, and 10 of work
        runs = scored(*clean, dict(made("F2", 9, labels=[label()]), scale=.4)) # 1 s, and 4 of work that take 8
        self.assertAlmostEqual(runs[-1]["slowdown"], 9 / 5)
        self.assertAlmostEqual(runs[-1]["whole_twin_s"], 5)
        self.assertAlmostEqual(truth.true_ratio(runs[-1], 9), 5 / 9)
        self.assertAlmostEqual(truth.capped_ratio(runs[-1], runs[0], 11), 21 / 11)
        self.assertAlmostEqual(truth.overheads(runs, [dict(made("plain", 5, started=1), scale=.4)])["w"][0], 0)

    def test_a_first_iteration_tells_what_a_loop_takes_once_and_never_less_than_nothing(self):
        begins = lambda *lengths: [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        self.assertAlmostEqual(truth.once_s(begins(1.5, *[.5] * 10, *[2] * 40)), 1) # it became slower later
        self.assertEqual([truth.once_s(b) for b in ([], [3], begins(9, 1, 1, 1), begins(.1, *[1] * 20))], [0] * 4)
        self.assertEqual([truth.loops_once_s(runs) for runs in ([], [made("F0", 10)], [dict(made("F0", 10), once_s=.2)])], [0, 0, .2])

    def test_a_clean_run_that_something_else_held_up_is_hardly_counted_but_of_two_neither_is_it(self):
        slow = lambda *seconds: scored(*[made("F0", s) for s in seconds], made("F1", 20, labels=[label()]))[-1]["slowdown"]
        self.assertAlmostEqual(slow(10, 10, 10, 10, 17), 2, 1)
        self.assertAlmostEqual(slow(10, 40), 1)
        self.assertAlmostEqual(slow(10, 10.2, 9.8), 2, 2) # as similar as runs usually are: their mean

    def test_a_truth_by_which_a_fault_made_the_run_faster_is_none(self):
        runs = scored(made("F0", 10), made("F5", 9.6, labels=[label()]), made("F5", 9.8, labels=[label()]), made("D2", 9.6))
        self.assertEqual([r["right"] for r in runs[1:]], ["grey", "balanced", "balanced"]) # a decoy has no fault

    def test_a_twin_on_cores_of_another_speed_is_in_doubt(self):
        clean = [beating(made("F0", 10, started=s), 8) for s in range(3)]
        right = lambda seconds, ms: scored(*[dict(r) for r in clean], beating(made("F2", seconds, labels=[label()], started=3), ms))[-1]["right"]
        self.assertEqual([right(10.9, 8), right(12, 8 * 1.5)], ["find", "grey"]) # a quarter of half as slow again: 10 %
        self.assertEqual([right(10.1, 8), right(15.1, 8 * 1.5), right(17.1, 8 * 1.5)], ["balanced", "grey", "find"])

    def test_a_decoy_that_costs_is_not_scored(self):
        runs = scored(made("F0", 10), made("D2", 12, "saturated", "vm1", "cpu"))
        self.assertEqual(runs[1]["right"], "grey")
        self.assertFalse(scorer.is_scored(runs[1]))

    def test_what_others_disturbed_is_left_out_and_is_nobodys_twin(self):
        runs = [made("F0", 10), made("F0", 20, started=1), made("F1", 20, labels=[label()], started=2)]
        runs[0]["others_cores"], runs[0]["allowance"] = .3, .3 # the kernel's work for its disk
        runs[1]["others_cores"] = .5
        truth.set_truth(runs)
        self.assertEqual([r["right"] for r in runs], ["balanced", "disturbed", "find"])
        self.assertAlmostEqual(runs[2]["slowdown"], 2)
        self.assertEqual(scorer.measures(runs)["disturbed"], 1)


class Cores(unittest.TestCase):
    def test_the_mean_speed_of_its_beats_tells_whether_cores_are_alike(self):
        self.assertAlmostEqual(truth.core_ms(beating(made("F0", 10), [.1, .3], .2))["0"], .15) # twice at half of 10 and 3.3 a ms
        self.assertEqual([truth.cores_alike(beating(made("F0", 10), *c)) for c in ((8, 8.7), (8, 8.9), (9, 8))], [True, False, False])

    def test_the_canary_is_asked_of_each_core_of_a_list_and_of_no_more_than_it_takes(self):
        asked = []
        process = unittest.mock.Mock(returncode=0, communicate=lambda timeout: ('{"cores": {}}', ""))
        begin = lambda words, **_: asked.append(words[1:]) or process
        with unittest.mock.patch("subprocess.Popen", begin), unittest.mock.patch("os.sched_getaffinity", lambda pid: set(range(96))):
            for cpus in ("0-3", "0,2-3", None):
                with canary.beating(".", cpus) as beats:
                    self.assertEqual(beats, {})
                self.assertEqual(beats, {"cores": {}})
        self.assertEqual(asked, [list("0123"), list("023"), [str(core) for core in range(64)]])

    def test_a_canary_ends_with_its_block_and_says_what_it_died_of(self):
        process = unittest.mock.Mock(returncode=1, communicate=lambda timeout: ("", "fault-canary: thread: no\n"))
        with unittest.mock.patch("subprocess.Popen", lambda words, **_: process):
            with self.assertRaisesRegex(RuntimeError, "fault-canary: thread: no"), canary.beating(".", "0"):
                pass
            with self.assertRaises(KeyboardInterrupt), canary.beating(".", "0"):
                raise KeyboardInterrupt
        self.assertEqual((process.kill.call_count, process.wait.call_count), (2, 2))

    def test_what_was_not_measured_is_not_known(self):
        none = dict(made("F0", 10), canary={"cores": {"0": [], "1": []}})
        self.assertEqual([truth.cores_alike(r) for r in (made("F0", 10), beating(made("F0", 10), 8), none)], [None] * 3)
        self.assertEqual([truth.slowness(r) for r in (made("F0", 10), none)], [1, 1])

    def test_a_blame_on_unlike_cores_is_a_false_alarm_and_told_apart(self):
        blaming = lambda started: made("F0", 10, "suspected", "vm1", "cpu", started=started)
        m = scorer.measures(scored(beating(made("F0", 10), 8, 8), beating(blaming(1), 8, 10), beating(blaming(2), 8, 8), made("F0", 10, started=3)))
        self.assertEqual([(m[k]["right"], m[k]["n"]) for k in ("false_alarms", "false_alarms_alike", "false_alarms_unlike")], [(2, 4), (1, 2), (1, 1)])

    def test_a_twin_is_as_slow_as_the_cores_were_during_the_run(self):
        says = ("saturated", "vm2", "cpu", [label()])
        runs = scored(beating(made("F0", 10), 8, 8), beating(made("F0", 15, started=1), 10, 12), beating(made("F1", 30, *says, started=2), 16, 16),
                      made("F0", 99, started=3), made("F0", 99, started=4))
        self.assertAlmostEqual(runs[2]["twin_s"], 20)
        self.assertAlmostEqual(runs[2]["slowdown"], 1.5)
        self.assertAlmostEqual(runs[3]["twin_s"], 99) # runs without a canary are compared with each other
        m = scorer.measures(runs)
        self.assertAlmostEqual(m["twin_error"]["worst"], 0)
        self.assertAlmostEqual(m["twin_error_as_measured"]["worst"], .5)
        self.assertEqual(m["twin_error_as_measured"]["n"], 2)
        self.assertAlmostEqual(truth.capped_ratio(runs[2], runs[0], 10), 1.5)
        self.assertAlmostEqual(truth.capped_ratio(dict(runs[2], fault="F5"), runs[0], 10), 3) # limited by a link

    def test_the_slower_core_of_each_beat_of_the_loop_counts(self):
        run = beating(made("F0", 4), [9, 9, 1, 2, 3, 6], [9, 9, 3, 3, 3, 3])
        self.assertEqual(truth.loop_beats(run), [3, 3, 3, 6])
        self.assertAlmostEqual(truth.slowness(run), 4 / (3 / 3 + 1 / 6))
        self.assertEqual(truth.loop_beats(dict(run, loop_s=99)), truth.loop_beats(dict(run, loop_s=6)))

    def test_where_hosts_share_cores_their_mean_speed_counts(self):
        self.assertAlmostEqual(truth.slowness(beating(made("F0", 2, own_cores=False), [1, 3], [3, 3])), 1 / ((1 / 1 + 1 / 3 + 2 / 3) / 4))

    def test_beats_that_samples_of_agents_fall_on_do_not_count(self):
        slowness = lambda *beats: truth.slowness(beating(made("F0", len(beats)), list(beats)))
        self.assertAlmostEqual(slowness(*[4, 5] * 30), 4)
        self.assertAlmostEqual(slowness(*[5, 4] * 30), 4)
        self.assertAlmostEqual(slowness(*[4] * 30, *[6] * 30), 4.8) # cores that become slower
        self.assertAlmostEqual(slowness(*[4, 4.1] * 30), 2 / (1 / 4 + 1 / 4.1)) # as similar as chance makes them
        self.assertAlmostEqual(slowness(*[4, 5] * 5), 2 / (1 / 4 + 1 / 5)) # too few beats to tell

    def test_a_pinned_program_is_as_slow_as_its_own_core(self):
        run = beating(made("F0", 2), [2, 4, 4], [8, 9, 9])
        self.assertEqual([truth.slowness(r) for r in (run, dict(run, pin=None), dict(run, pin=0))], [9, 9, 4])
        self.assertEqual(truth.core_ms(dict(run, pin=0)), {"0": 3})

    def test_a_program_feels_as_much_of_slow_cores_as_its_clean_runs_show(self):
        clean = lambda power: [beating(made("F0", 10 * ms ** power, started=ms), ms, ms) for ms in (1, 2, 4)]
        self.assertAlmostEqual(truth.feels(clean(.6))[0], .6, 1)
        self.assertAlmostEqual(truth.feels(clean(2))[0], 1, 2) # nothing is slower by more than its core is
        self.assertAlmostEqual(truth.feels(clean(0))[0], 0, 2)
        felt = lambda c: tuple(round(e, 6) for e in truth.feels(c))
        self.assertEqual([felt(c) for c in ([], clean(2)[:1], [made("F0", 10), made("F0", 11)])], [(1, stats.CACHES)] * 3)
        runs = scored(*clean(1), beating(made("F1", 60, "saturated", "vm2", "cpu", [label()], started=3), 3, 3))
        self.assertAlmostEqual(runs[-1]["slowdown"], 2, 2)

    def test_slow_caches_are_told_from_slow_cores(self):
        def run(core, cache, started, fault="F0", cost=1, **more):
            beats = beating(made(fault, 10 * core ** .8 * cache ** .08 * cost, started=started, **more), *[[core] * 400] * 2)
            beats["canary"]["caches"] = {"0": [cache] * 400, "1": [cache / 2] * 400} # the slower core counts
            return beats
        clean = [run(*at) for at in ((1, 1, 0), (1.2, 1, 1), (1, 4, 2), (1.2, 4, 3), (1.1, 2, 4))]
        cores, caches = truth.feels(clean)
        self.assertAlmostEqual(cores, .8, 1)
        self.assertTrue(.07 < caches < .08) # drawn towards the expected value
        runs = scored(*clean, run(1, 9, 5, "F1", 1.5, labels=[label()]))
        self.assertAlmostEqual(runs[-1]["slowdown"], 1.5, 1)
        self.assertGreater(runs[-1]["doubt"], .05) # caches four times as slow as in the average clean run

    def test_what_a_program_is_known_to_feel_is_taken_where_clean_runs_cannot_tell(self):
        alike = lambda name: [dict(beating(made("F0", 10, started=i), 8, 8), workload=name) for i in range(3)]
        felt = lambda c: tuple(round(e, 6) for e in truth.feels(c))
        self.assertEqual([felt(alike(name)) for name in ("sync", "sync-disk", "ring", "nobody's")], [(feels, round(feels * stats.CACHES, 6)) for feels in (1, .15, .5, 1)])

    def test_one_clean_run_far_off_does_not_tell_what_a_program_feels(self):
        points = [(ms, 10 * ms) for ms in (1, 1.1, 1.2, 1.3, 1.4)]
        self.assertAlmostEqual(stats.feeling(points + [(1.5, 10)]), 1, 1)
        self.assertAlmostEqual(stats.feeling([(ms, 10 * ms ** .3) for ms, _ in points]), .3, 1) # none of them is an outlier

    def test_what_profiling_adds_is_told_from_slower_cores(self):
        clean = scored(beating(made("F0", 12), 10, 10), made("F0", 99))
        self.assertAlmostEqual(truth.overheads(clean, [beating(made("plain", 11, started=1), 11, 11)])["w"][0], .2)


class Noise(unittest.TestCase):
    def clean(self, *seconds):
        return [made("F0", s, started=t) for t, s in enumerate(seconds)]

    def test_what_clean_runs_differ_by_decides_what_a_fault_must_cost(self):
        runs = scored(*self.clean(10, 10, 13, 10, 10), made("F1", 12, labels=[label()], started=5), made("F1", 20, labels=[label()], started=6))
        self.assertTrue(.18 < runs[0]["spread"] < .25) # 0.07 or so four times, .3: nine of ten
        runs = scored(*self.clean(13, 10, 13, 10, 10, 13), made("F1", 12, labels=[label()], started=6), made("F1", 20, labels=[label()], started=7))
        self.assertEqual([r["right"] for r in runs[-2:]], ["grey", "find"])

    def test_a_fault_that_seems_to_cost_nothing_is_balanced_only_where_that_is_known(self):
        quiet = scored(*self.clean(10, 10, 10, 10), made("F2", 10, labels=[label()]))
        noisy = scored(*self.clean(9, 11, 10, 9, 11, 10), made("F2", 10, labels=[label()]), made("D3", 10))
        self.assertEqual([quiet[-1]["right"], noisy[-2]["right"], noisy[-1]["right"]], ["balanced", "grey", "balanced"])

    def test_two_clean_runs_say_nothing_about_their_spread(self):
        self.assertEqual(scored(*self.clean(10, 20))[0]["spread"], 0)
        others = [dict(r, workload="v") for r in self.clean(10, 10, 10)]
        self.assertGreater(scored(*self.clean(10, 20), *others)[0]["spread"], .5) # of all programs
        self.assertAlmostEqual(scored(*self.clean(10, 20), *others)[-1]["spread"], 0)

    def test_profiling_costs_what_neighbours_differ_by(self):
        runs = scored(*self.clean(10.2, 20.2))
        alone = [dict(made(cases.PLAIN, s, started=t)) for t, s in ((.1, 10), (.9, 20))]
        self.assertEqual([round(v, 3) for v in truth.overheads(runs, alone)[None]], [.02, .01])
        alone[0]["others_cores"] = 1
        self.assertEqual(len(truth.overheads(runs, alone)["w"]), 1)
        self.assertEqual(stats.median_interval([.02, .02, .02]), (.02, .02))
        self.assertIsNone(stats.median_interval([.02, .01]))


if __name__ == "__main__":
    unittest.main()
