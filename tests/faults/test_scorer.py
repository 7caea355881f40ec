#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scores of made-up runs are the known ones."""
import os
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import against
import baselines
import calibration
import page
import scorer
import stats
import tables
from made_up import label, made, scored


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


class Subjects(unittest.TestCase):
    def test_a_limit_of_all_hosts_blames_none_and_is_counted_apart_on_clean_runs(self):
        said = lambda subject, **kw: made("F0", 10, "saturated", None, "cpu", subject=subject, **kw)
        runs = scored(said("all-hosts"), said("all-hosts", started=1), said("machine", started=2), made("F0", 10, "suspected", "vm1", "cpu", subject="host", started=3))
        m = scorer.measures(runs)
        self.assertEqual((m["false_alarms"]["right"], m["false_alarms"]["n"]), (1, 4))
        self.assertEqual(scorer.said_of_clean(runs), {("all-hosts", "cpu"): 2, ("machine", "cpu"): 1})
        self.assertEqual(scorer.confusion(runs)["F0", "balanced"], {"cpu of all-hosts": 2, "cpu of machine": 1, "cpu": 1})
        self.assertIn("cpu of all-hosts 2, cpu of machine 1", "\n".join(page.clean_lines(runs)))

    def test_a_host_beside_a_subject_that_is_none_is_no_answer(self):
        runs = scored(made("F0", 10), *[made("F1", 20, "saturated", "vm2", "cpu", [label()], subject=subject, started=i)
                                        for i, subject in enumerate(("host", "rank", "process", "all-hosts", "machine", "core", "messages", "outside"))])
        self.assertEqual([scorer.is_top1(r) for r in runs[1:]], [True] * 3 + [False] * 5)
        runs[1]["report"]["ranking"] = [{"subject": "machine", "host": "vm2", "resource": "disk", "state": "suspected"}]
        self.assertEqual(scorer.first_two(runs[1]), [("vm2", "cpu")])

    def test_balanced_though_slower_is_counted_from_a_fifth_on(self):
        runs = scored(made("F0", 10), made("F1", 11.5, labels=[label()]), made("F1", 12.5, labels=[label()]), made("F1", 20, "insufficient", labels=[label()]))
        self.assertEqual([scorer.measures(runs)["slowed_but_balanced"][k] for k in ("right", "n")], [1, 2])


class Groups(unittest.TestCase):
    def test_programs_are_told_apart_by_how_well_they_are_known(self):
        runs = scored(made("F0", 10), made("F1", 20, "saturated", "vm2", "cpu", [label()]),
                      *[dict(run, workload="new") for run in (made("F0", 10), made("F1", 20, labels=[label()]))])
        with unittest.mock.patch.dict(scorer.group_of.__globals__["WORKLOADS"], new=unittest.mock.Mock(group="strange")):
            found = scorer.by_group(runs)
            text = "\n".join(page.group_lines(runs))
        self.assertEqual({group: (m["top1"]["right"], m["top1"]["n"]) for group, m in found.items()}, {"tuned": (1, 1), "strange": (0, 1)})
        self.assertLess(text.index("strange programs"), text.index("tuned programs"))
        self.assertIn("watched programs   no run", text)
        self.assertEqual(len(tables.group_table(found)), 4)


class Against(unittest.TestCase):
    def runs(self, host, cause="contention"):
        return scored(made("F0", 10), made("F1", 20, "saturated", host, "cpu", [label()], cause_kind=cause, culprit=None))

    def lines(self, old, new):
        with tempfile.TemporaryDirectory() as folder:
            against.save(against.score_of(old, "old"), f"{folder}/score.json")
            return "\n".join(against.lines_of(against.read(f"{folder}/score.json"), against.score_of(new, "new")))

    def test_both_scores_and_each_case_whose_rightness_changed(self):
        text = self.lines(self.runs("vm2"), self.runs("vm1"))
        self.assertRegex(text, r"top-1: host and resource +100.0 % .*1 of 1 +0.0 % .*0 of 1")
        self.assertIn("1 cases are right in one and not in the other", text)
        self.assertRegex(text, r"F1-0 +right -> wrong: saturated vm2 cpu contention at 0.90 -> saturated vm1 cpu")

    def test_a_cause_that_changes_is_told_and_a_confidence_is_not(self):
        self.assertIn("right -> right, cause wrong", self.lines(self.runs("vm2"), self.runs("vm2", "serial")))
        surer = self.runs("vm2")
        surer[1]["report"]["verdict"]["confidence"] = .5
        self.assertIn("0 cases", self.lines(self.runs("vm2"), surer))

    def test_runs_of_one_score_alone_are_counted(self):
        self.assertIn("1 cases are in one alone", self.lines(self.runs("vm2"), self.runs("vm2") + scored(made("F0", 10, started=9))))

    def test_another_file_is_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("{}")
            file.flush()
            self.assertRaises(ValueError, against.read, file.name)


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

    def test_an_estimate_is_as_good_as_its_truth_where_it_is_off_by_no_more_than_that_is_in_doubt_by(self):
        slow = lambda gain, started: made("F1", 20, "saturated", "vm2", "cpu", [label()], started=started, gain_pct={"estimate": gain})
        clean = [made("F0", s, started=t) for t, s in enumerate((10, 10.4, 9.6, 10, 10.3, 9.7))]
        runs = scored(*clean, slow(50, 6), slow(52, 7), slow(30, 8)) # 0, 4 and 29 % off a truth with a doubt of 5 %
        measures = scorer.measures(runs)["slowdown_within_doubt"]
        self.assertEqual((measures["right"], measures["n"]), (2, 3))

    def test_the_start_is_held_against_the_label(self):
        late = dict(label(), start_s=2.0)
        runs = scored(made("F0", 10), made("F15", 20, "saturated", "vm2", "cpu", [late], start_s=2.5))
        self.assertAlmostEqual(scorer.measures(runs)["start_error_s"]["median"], .5)

    def test_short_rows_of_a_budget_are_not_held_against_it(self):
        run = made("F0", 10)
        run["report"]["budget"] = [{"wall_s": .1, "closure_pct": 50}, {"wall_s": 5, "closure_pct": 98.5}, {"wall_s": 5, "closure_pct": None}]
        self.assertAlmostEqual(scorer.closure_error(run), 1.5)


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
        self.assertEqual(stats.fitted_map([(.9, True)] * 3 + [(.9, False)]), [(.9, .75)]) # equal confidence: one step

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


if __name__ == "__main__":
    unittest.main()
