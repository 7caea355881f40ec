#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scorer on made-up runs whose scores are known."""
import os
import sqlite3
import sys
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import baselines
import calibration
import canary
import cases
import estimates
import misses
import page
import recordings
import runner
import scorer
import stats
import truth


def label(host="vm2", resource="cpu", cause="contention", pid=None):
    return {"host": host, "resource": [resource], "cause": cause, "rank": None, "pid": pid, "start": None, "end": None}


def made(fault, loop_s, state="balanced", host=None, resource="none", labels=(), started=0, own_cores=True, confidence=.9, **verdict):
    v = dict({"state": state, "host": host, "resource": resource, "confidence": confidence, "gain_pct": {"estimate": None}}, **verdict)
    return {"id": f"{fault}-{started}", "half": "scored", "workload": "w", "fault": fault, "own_cores": own_cores, "others_cores": 0,
            "labels": list(labels), "loop_s": loop_s, "scale": 1, "started": started,
            "report": {"verdict": v, "ranking": [], "resources": [], "budget": []}}


def scored(*runs):
    runs = list(runs)
    truth.set_truth(runs)
    return runs


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
        self.assertAlmostEqual(slow(10, 10.2, 9.8), 2, 2) # as alike as runs are: their mean

    def test_a_decoy_that_costs_is_not_scored(self):
        runs = scored(made("F0", 10), made("D2", 12, "saturated", "vm1", "cpu"))
        self.assertEqual(runs[1]["right"], "grey")
        self.assertFalse(scorer.is_scored(runs[1]))

    def test_what_others_disturbed_is_left_out_and_is_nobodys_twin(self):
        runs = [made("F0", 10), made("F0", 20, started=1), made("F1", 20, labels=[label()], started=2)]
        runs[0]["others_cores"], runs[0]["allowance"] = .3, .3 # the kernel for its disk
        runs[1]["others_cores"] = .5
        truth.set_truth(runs)
        self.assertEqual([r["right"] for r in runs], ["balanced", "disturbed", "find"])
        self.assertAlmostEqual(runs[2]["slowdown"], 2)
        self.assertEqual(scorer.measures(runs)["disturbed"], 1)


def beating(run, *cores):
    """The same run with a canary that took so many milliseconds on each core."""
    return dict(run, canary={"period_ns": 1e9, "cores": {str(i): beats if isinstance(beats, list) else [beats] for i, beats in enumerate(cores)}})


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
        self.assertAlmostEqual(runs[3]["twin_s"], 99) # those without a canary are held against their like
        m = scorer.measures(runs)
        self.assertAlmostEqual(m["twin_error"]["worst"], 0)
        self.assertAlmostEqual(m["twin_error_as_measured"]["worst"], .5)
        self.assertEqual(m["twin_error_as_measured"]["n"], 2)
        self.assertAlmostEqual(truth.capped_ratio(runs[2], runs[0], 10), 1.5)
        self.assertAlmostEqual(truth.capped_ratio(dict(runs[2], fault="F5"), runs[0], 10), 3) # held up by a link

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
        self.assertAlmostEqual(slowness(*[4, 4.1] * 30), 2 / (1 / 4 + 1 / 4.1)) # as alike as chance makes them
        self.assertAlmostEqual(slowness(*[4, 5] * 5), 2 / (1 / 4 + 1 / 5)) # too few to say

    def test_a_pinned_program_is_as_slow_as_its_own_core(self):
        run = beating(made("F0", 2), [2, 4, 4], [8, 9, 9])
        self.assertEqual([truth.slowness(r) for r in (run, dict(run, pin=None), dict(run, pin=0))], [9, 9, 4])
        self.assertEqual(truth.core_ms(dict(run, pin=0)), {"0": 3})

    def test_a_program_feels_as_much_of_slow_cores_as_its_clean_runs_show(self):
        clean = lambda power: [beating(made("F0", 10 * ms ** power, started=ms), ms, ms) for ms in (1, 2, 4)]
        self.assertAlmostEqual(truth.feels(clean(2)), 2, 2)
        self.assertAlmostEqual(truth.feels(clean(0)), 0, 2)
        self.assertEqual([truth.feels(c) for c in ([], clean(2)[:1], [made("F0", 10), made("F0", 11)])], [1, 1, 1])
        runs = scored(*clean(2), beating(made("F1", 180, "saturated", "vm2", "cpu", [label()], started=3), 3, 3))
        self.assertAlmostEqual(runs[-1]["slowdown"], 2, 2)

    def test_what_a_program_is_known_to_feel_is_taken_where_clean_runs_cannot_tell(self):
        alike = lambda name: [dict(beating(made("F0", 10, started=i), 8, 8), workload=name) for i in range(3)]
        self.assertEqual([truth.feels(alike(name)) for name in ("sync", "sync-disk", "ring", "nobody's")], [1, .15, .5, 1])

    def test_one_clean_run_far_off_does_not_tell_what_a_program_feels(self):
        points = [(ms, 10 * ms) for ms in (1, 1.1, 1.2, 1.3, 1.4)]
        self.assertAlmostEqual(stats.feeling(points + [(1.5, 10)]), 1, 1)
        self.assertAlmostEqual(stats.feeling([(ms, 10 * ms ** .3) for ms, _ in points]), .3, 1) # none of them is

    def test_what_profiling_adds_is_told_from_slower_cores(self):
        clean = scored(beating(made("F0", 12), 10, 10), made("F0", 99))
        self.assertAlmostEqual(truth.overheads(clean, [beating(made("plain", 11, started=1), 11, 11)])["w"][0], .2)


class Answers(unittest.TestCase):
    def test_host_and_resource_must_both_be_right(self):
        runs = scored(made("F0", 10), *[made("F1", 20, "saturated", host, what, [label()]) for host, what in
                                        (("vm2", "cpu"), ("vm1", "cpu"), ("vm2", "disk"), (None, "cpu"))])
        self.assertEqual([scorer.is_top1(r) for r in runs[1:]], [True, False, False, False])
        m = scorer.measures(runs)
        self.assertEqual((m["top1"]["right"], m["top1"]["n"], m["precision"]["right"], m["precision"]["n"]), (1, 4, 1, 4))

    def test_saying_balanced_is_a_miss_but_blames_nobody(self):
        m = scorer.measures(scored(made("F0", 10), made("F1", 20, labels=[label()])))
        self.assertEqual((m["recall"]["right"], m["recall"]["n"], m["precision"]["n"]), (0, 1, 0))

    def test_one_of_several_resources_will_do(self):
        either = dict(label("vm3"), resource=["net-egress", "net-ingress"])
        runs = scored(made("F0", 10), made("F5", 20, "suspected", "vm3", "net-ingress", [either]))
        self.assertTrue(scorer.is_top1(runs[1]))

    def test_the_cause_needs_the_culprit_where_there_is_one(self):
        right = dict(cause_kind="contention", culprit={"process": "x", "pid": 7, "host": "vm2"})
        runs = scored(made("F0", 10), made("F1", 20, "saturated", "vm2", "cpu", [label(pid=7)], **right),
                      made("F1", 20, "saturated", "vm2", "cpu", [label(pid=8)], **right),
                      made("F1", 20, "saturated", "vm2", "cpu", [label()], cause_kind="serial"),
                      made("F2", 20, "saturated", "vm2", "cpu-quota", [label(resource="cpu-quota", cause="quota")], cause_kind="quota", culprit=None))
        self.assertEqual([scorer.cause_is_right(r) for r in runs[1:]], [True, False, False, True])

    def test_any_of_several_culprits_will_do(self):
        right = dict(cause_kind="link-contention", culprit={"process": "x", "pid": 7, "host": "vm2"})
        runs = scored(*(made("F6", 4, "saturated", "vm2", "cpu", [dict(label(pid=pids), cause="link-contention")], **right)
                        for pids in ([6, 7], [5, 6])))
        nobody = scored(made("F6", 4, "saturated", "vm2", "cpu", [label(pid=[7])], cause_kind="contention", culprit=None))
        self.assertEqual([scorer.cause_is_right(r) for r in runs + nobody], [True, False, False])

    def test_two_faults_must_both_be_among_the_first_two(self):
        both = [label("vm1"), label("vm2", "application", "sleep")]
        run = made("F16", 20, "saturated", "vm1", "cpu", both)
        run["report"]["ranking"] = [{"host": "vm1", "resource": "cpu", "state": "saturated"}, {"host": "vm2", "resource": "application", "state": "suspected"}]
        runs = scored(made("F0", 10), run)
        self.assertTrue(scorer.is_top2(run) and scorer.is_top1(run))
        run["report"]["ranking"].insert(1, {"host": "vm1", "resource": "disk", "state": "suspected"})
        self.assertFalse(scorer.is_top2(runs[1]))

    def test_a_blame_on_a_clean_run_is_a_false_alarm_even_if_only_suspected(self):
        m = scorer.measures(scored(made("F0", 10), made("F0", 10, "suspected", "vm1", "cpu"), made("D3", 10, "saturated", "vm2", "memory", started=1)))
        self.assertEqual((m["false_alarms"]["right"], m["false_alarms"]["n"]), (2, 3))

    def test_where_cores_are_shared_the_cpu_is_no_false_alarm_but_the_network_is(self):
        runs = scored(made("F0", 10, "suspected", "vm1", "cpu", own_cores=False), made("F0", 10, "suspected", "vm1", "net-egress", own_cores=False))
        self.assertEqual([scorer.is_scored(r) for r in runs], [False, True])
        self.assertEqual(scorer.measures(runs)["false_alarms"]["right"], 1)


class Scenarios(unittest.TestCase):
    def test_a_limit_is_asked_of_the_clean_run_as_it_was_set(self):
        asked = lambda fault, amount, **more: recordings.cap_words(dict(made(fault, 20, labels=[label()]), amount=amount, **more))
        self.assertEqual(asked("F2", 60), ["--quota", "vm2=60%"])
        self.assertEqual(asked("F3", 60, mbit={"send": 41.7}), ["--link", "vm2:egress=41700kbit,18000B", "--together"])
        self.assertEqual(asked("F5", 60, mbit={"send": 1, "receive": 7}), ["--link", "vm2:egress=1000kbit,18000B", "--link", "vm2:ingress=7000kbit,18000B", "--together"])
        self.assertIsNone(asked("F12", 20))

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


class Estimates(unittest.TestCase):
    def test_gain_against_the_true_slowdown(self):
        runs = scored(made("F0", 10), made("F1", 20, "saturated", "vm2", "cpu", [label()], gain_pct={"estimate": 50}),
                      made("F1", 20, "saturated", "vm2", "cpu", [label()], gain_pct={"estimate": 40}))
        self.assertAlmostEqual(scorer.slowdown_estimate(runs[1]), 2)
        self.assertAlmostEqual(scorer.excess_explained(runs[1]), 1)
        self.assertAlmostEqual(scorer.excess_explained(runs[2]), .8)
        self.assertAlmostEqual(scorer.measures(runs)["slowdown_error"]["worst"], 1 - 1 / .6 / 2)
        runs = scored(*runs, made("F1", 20, "saturated", "vm2", "cpu", [label()]))
        self.assertEqual((scorer.measures(runs)["gain_given"]["right"], scorer.measures(runs)["gain_given"]["n"]), (2, 3))

    def test_two_faults_have_no_twin_with_one_of_them(self):
        runs = scored(made("F0", 10), made("F16", 30, "saturated", "vm2", "cpu", [label(), label("vm1")], gain_pct={"estimate": 33}))
        self.assertEqual((scorer.slowdown_error(runs[1]), scorer.excess_explained(runs[1])), (None, None))

    def test_foreign_traffic_costs_more_than_the_link_where_it_has_the_job_s_cores(self):
        says = ("saturated", "vm2", "net-egress", [label(resource="net-egress")])
        runs = scored(made("F0", 10), *[made("F6", 20, *says, own_cores=own, gain_pct={"estimate": 50}) for own in (True, False)])
        self.assertEqual([scorer.slowdown_error(r) is None for r in runs[1:]], [False, True])

    def test_the_bias_has_the_sign_of_the_errors(self):
        self.assertEqual([scorer.errors([-.3, .1, -.2, None])[k] for k in ("n", "median", "worst", "bias")], [3, .2, .3, -.2])

    def test_a_perfect_prediction_is_off_by_what_clean_runs_differ_by(self):
        runs = scored(made("F0", 10, started=0), made("F0", 8, started=1), made("F1", 20, "saturated", "vm2", "cpu", [label()]))
        error = scorer.measures(runs)["twin_error"]
        self.assertEqual(error["n"], 2)
        self.assertAlmostEqual(error["worst"], .25)

    def test_start_up_beside_the_loop_is_part_of_the_truth_as_it_is_of_the_prediction(self):
        clean, slow = made("F0", 10), dict(made("F1", 8, "saturated", "vm2", "cpu", [label()], gain_pct={"estimate": 40}), scale=.4)
        clean["report"]["run"], slow["report"]["run"] = {"duration_s": 11}, {"duration_s": 10}
        runs = scored(clean, slow) # 2 s of start-up beside a loop of .4 of the work; 1 s and 4 s in the twin
        self.assertAlmostEqual(scorer.whole_slowdown(runs[1]), 2)
        self.assertAlmostEqual(scorer.slowdown_estimate(runs[1]), 1 / .6)
        self.assertAlmostEqual(scorer.excess_explained(runs[1]), .8)
        self.assertAlmostEqual(scorer.what_if_error(runs[1], .5, 10), 0)
        self.assertAlmostEqual(scorer.what_if_error(runs[1], .55, 8), .1) # of the loop alone

    def test_a_fault_of_the_loop_alone_in_a_run_no_longer_than_its_twin_has_nothing_to_explain(self):
        clean, slow = made("F0", 10), made("F1", 12, "saturated", "vm2", "cpu", [label()], gain_pct={"estimate": 20})
        clean["report"]["run"] = {"duration_s": 14}
        for whole in (14, 13):
            slow["report"]["run"] = {"duration_s": whole}
            runs = scored(clean, slow)
            self.assertEqual(runs[1]["right"], "find")
            self.assertIsNone(scorer.excess_explained(runs[1]))
            self.assertEqual(scorer.measures(runs)["excess_at_least_90"]["n"], 0)

    def test_the_start_is_held_against_the_label(self):
        late = dict(label(), start_s=2.0)
        runs = scored(made("F0", 10), made("F15", 20, "saturated", "vm2", "cpu", [late], start_s=2.5))
        self.assertAlmostEqual(scorer.measures(runs)["start_error_s"]["median"], .5)

    def test_short_rows_of_a_budget_are_not_held_against_it(self):
        run = made("F0", 10)
        run["report"]["budget"] = [{"wall_s": .1, "closure_pct": 50}, {"wall_s": 5, "closure_pct": 98.5}, {"wall_s": 5, "closure_pct": None}]
        self.assertAlmostEqual(scorer.closure_error(run), 1.5)


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


class Calibration(unittest.TestCase):
    def said(self, confidence, right, n):
        return [(confidence, 1, i < right, True) for i in range(n)]

    def test_what_is_said_too_low_is_said_higher_and_what_is_wrong_more_often_lower(self):
        low = calibration.fitted_table([self.said(.7, 97, 100) + self.said(.9, 99, 100)])
        self.assertTrue(.85 < calibration.between(low, .7) < .98)
        high = calibration.fitted_table([self.said(.7, 40, 100) + self.said(.9, 60, 100)])
        self.assertTrue(.3 < calibration.between(high, .7) < .5)

    def test_a_few_runs_bend_little_and_the_table_never_falls_nor_says_more_than_the_most(self):
        few = calibration.fitted_table([self.said(.7, 4, 4)])
        self.assertLess(abs(calibration.between(few, .7) - .7), .15)
        for table in few, calibration.fitted_table([self.said(.6, 100, 100) + self.said(.95, 50, 100)]):
            rights = [y for _, y in table]
            self.assertEqual(rights, sorted(rights))
            self.assertLessEqual(max(rights), calibration.MOST)

    def test_what_lowers_an_answer_stays_and_so_does_what_no_table_made(self):
        table = [(0, 0), (.5, .8), (1, .98)]
        self.assertAlmostEqual(calibration.error_with([(.9, 1, True, False)] * 9 + [(.9, 1, False, False)], table), 0)
        self.assertAlmostEqual(calibration.error_with([(.5, 1, True, True)] * 8 + [(.5, 1, False, True)] * 2, table), 0)
        self.assertAlmostEqual(calibration.error_with([(.5, .75, True, True)] * 6 + [(.5, .75, False, True)] * 4, table), 0)

    def test_the_table_of_the_source_is_read(self):
        table = calibration.table_now()
        self.assertEqual((table[0], table[-1]), ((0, 0), (1, calibration.MOST)))
        self.assertEqual(table, sorted(table))


class Confusion(unittest.TestCase):
    def test_a_right_resource_on_a_wrong_host_has_a_column_of_its_own(self):
        table = scorer.confusion(scored(made("F0", 10), made("F1", 20, "saturated", "vm1", "cpu", [label()]), made("F1", 20, "saturated", "vm2", "cpu", [label()])))
        self.assertEqual(table, {("F0", "balanced"): {"balanced": 1}, ("F1", "find"): {"cpu elsewhere": 1, "cpu": 1}})


class Statistics(unittest.TestCase):
    def test_wilson(self):
        low, high = stats.wilson(9, 10) # 0.596, 0.982: Brown, Cai, DasGupta (2001)
        self.assertAlmostEqual(low, .596, 3)
        self.assertAlmostEqual(high, .982, 3)
        self.assertEqual(stats.wilson(0, 0), (0, 1))
        self.assertEqual(stats.wilson(0, 20)[0], 0)

    def test_calibration(self):
        pairs = [(.95, True)] * 9 + [(.95, False)] + [(.55, True), (.55, False)]
        self.assertAlmostEqual(stats.calibration_error(pairs), .05)
        self.assertIsNone(stats.calibration_error([]))

    def test_the_map_never_falls(self):
        steps = stats.fitted_map([(.1, 0), (.2, 1), (.3, 0), (.9, 1)])
        self.assertEqual(steps, [(.1, 0), (.2, .5), (.9, 1)])
        self.assertEqual(stats.fitted_map([(.9, True)] * 3 + [(.9, False)]), [(.9, .75)]) # of one confidence: one step

    def test_quantiles(self):
        self.assertEqual(stats.quantile([3, 1, 2], .5), 2)
        self.assertEqual(stats.quantile([1, 2], .9), 1.9)
        self.assertIsNone(stats.median([]))


class Rules(unittest.TestCase):
    def report(self, **means):
        rows = [{"host": host, "phase": "all", "metric": metric, "mean": v, "ceiling": None}
                for metric, values in means.items() for host, v in zip(("vm1", "vm2"), values)]
        return {"resources": rows, "budget": [{"host": f"vm{r + 1}", "rank": r, "wall_s": 10, "peer_wait_s": w, "transfer_s": 0} for r, w in ((0, 6), (1, 0))]}

    def test_each_baseline_says_what_it_must(self):
        report = self.report(cpu_idle=(50, 5), psi_cpu=(0, 60), cpu_user=(50, 95))
        self.assertEqual(baselines.utilisation_80(report), ("vm2", "cpu"))
        self.assertEqual(baselines.busiest_cpu(report), ("vm2", "cpu"))
        self.assertEqual(baselines.pressure_alone(report), ("vm2", "cpu"))
        self.assertEqual(baselines.wall_ratio(report), ("vm2", "cpu"))
        self.assertEqual(baselines.efficiency_ratios(report), ("vm2", "imbalance"))
        self.assertEqual(baselines.metric_distance(report)[1], "cpu")
        self.assertIsNone(baselines.pressure_alone(self.report(psi_cpu=(0, 5))))

    def test_of_two_hosts_the_one_with_more_is_the_odd_one(self):
        self.assertEqual(baselines.metric_distance(self.report(net_send=(1, 9))), ("vm2", "net-egress"))
        self.assertEqual(baselines.metric_distance(self.report(net_send=(9, 1))), ("vm1", "net-egress"))

    def test_a_rule_that_knows_no_resource_is_held_to_the_host(self):
        m = scorer.measures(scored(made("F0", 10), made("F2", 20, "saturated", "vm2", "imbalance", [label()])))
        self.assertEqual((m["top1"]["right"], m["host"]["right"]), (0, 1))


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
        e = page.period_errors(runs, found)
        self.assertEqual((e["n"], e["tried"]), (3, 5))
        self.assertAlmostEqual(e["median"], .1)
        self.assertAlmostEqual(e["worst"], .2)
        self.assertIn("found of 3 of 5 ranks", page.error_text(e))

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
        rows = page.workload_table(scorer.by_workload(runs), {None: [.02], "w": [.02]})
        self.assertEqual(rows[2], "| w | 2 | 1 | 10.00 | - | 1 of 1 | 0 of 1 | 1 of 1 | 0 | +2.0 %, 1 |")

    def test_what_lies_beyond_the_picture_is_on_its_edge_and_marked(self):
        promises = lambda loop_s, percent, started: made("F1", loop_s, "saturated", "vm2", "cpu", [label()], gain_pct={"estimate": percent}, started=started)
        points = page.slowdown_points(scored(made("F0", 10), promises(20, 50, 1), promises(200, 50, 2), promises(20, 99, 3), promises(20, -9, 4)))
        self.assertEqual([[round(x, 6) for x in point] for point in points], [[2, 2, False], [10, 2, True], [2, 10, True], [2, 1, True]])

    def test_a_table_is_markdown_and_nothing_is_shown_as_a_dash(self):
        text = page.share_text({"right": 19, "n": 20, "share": .95, "low": .764, "high": .991})
        self.assertEqual(text, "95.0 % (76.4 to 99.1), 19 of 20")
        self.assertEqual(page.share_text({"right": 0, "n": 0, "share": None, "low": 0, "high": 1}), "-")


if __name__ == "__main__":
    unittest.main()
