#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each law's check accepts a report that keeps it, and names a planted violation."""
import json
import os
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import law_checks
import laws
from law_checks import Facts

COMMAND = "chokepoint whatif --without vm2:contention"
TERMS = ("cpu", "runqueue", "quota", "steal", "disk", "memory", "idle", "peer_wait", "transfer", "mpi_overhead", "mpi_unsplit", "unknown", "other_threads_cpu")


def row(host, rank, process="program[7]", wall=10, **seconds):
    return {"host": host, "rank": rank, "phase": "all", "process": process, "wall_s": wall, "path_limited_pct": 0,
            **{f"{term}_s": seconds.get(term, 0) for term in TERMS}}


def answer(scenario, estimate=40, low=35, high=45, measured=10, **other):
    seconds = lambda percent: None if percent is None else measured * (1 - percent / 100)
    return {"scenario": scenario, "refused": None, "predicted_s": seconds(estimate), "interval_s": {"low": seconds(high), "high": seconds(low)},
            "bound_s": 5, "gain_pct": {"estimate": estimate, "low": low, "high": high}, "measured_s": measured, "phase": "all", **other}


def host(name, recorded=100, missed=0, missing=False):
    return {"name": name, "missing": missing, "samples": {"recorded": recorded, "missed": missed, "expected": 100}}


def report(**verdict):
    return {"run": {"duration_s": 10, "period_s": .1, "host_details": [host("vm1"), host("vm2")]},
            "verdict": {"state": "saturated", "subject": "host", "host": "vm2", "rank": None, "resource": "cpu", "cause_kind": "contention", "culprit": None,
                        "confidence": .95, "gain_pct": {"estimate": 40, "low": 35, "high": 45}, "summary": "The run waits for vm2's CPU. More.",
                        "ruled_out": ["memory: nearly all free"], "next": [f"see `{COMMAND}`"], **verdict},
            "budget": [row("vm1", 0, cpu=5, peer_wait=5), row("vm2", 1, cpu=5, runqueue=5)], "resources": [], "arithmetic": [],
            "critical_path": [{"phase": "all", "host": "vm2", "term": "runqueue", "share_pct": 50}, {"phase": "all", "host": "vm2", "term": "cpu", "share_pct": 50}]}


def saturated(**verdict):
    """A run that keeps all laws."""
    return Facts("made", report(**verdict), [(COMMAND, answer("--without vm2:contention"), None)], [answer("--cpu vm2=2x", 25, 20, 30)],
                 tables={"cpu", "memory", "rank", "connection"}, thresholds={"SURE_S": 5, "SURE_SAMPLES": 50})


def balanced():
    facts = saturated(state="balanced", subject=None, host=None, resource="none", gain_pct={"estimate": None, "low": None, "high": None}, next=[])
    facts.report["budget"] = [row(name, rank, cpu=5, transfer=3, peer_wait=2) for rank, name in enumerate(("vm1", "vm2"))]
    facts.report["critical_path"] = [{"phase": "all", "host": "vm2", "term": "transfer", "share_pct": 60}]
    facts.advised = []
    return facts


class Planted(unittest.TestCase):
    def broken(self, facts):
        return {law for law in laws.LAWS if list(laws.LAWS[law](facts))}

    def assert_breaks(self, facts, law, words):
        told = " | ".join(laws.LAWS[law](facts))
        self.assertIn(words, told)

    def test_runs_that_keep_all_laws_break_none(self):
        self.assertEqual((self.broken(saturated()), self.broken(balanced())), (set(), set()))


class Gains(Planted):
    def test_a_gain_that_the_advised_scenario_contradicts(self):
        facts = saturated()
        facts.advised = [(COMMAND, answer("--without vm2:contention", 28), None)]
        self.assert_breaks(facts, 1, "the verdict's gain is 40.0 %, `chokepoint whatif --without vm2:contention` answers 28.0 %")

    def test_a_scenario_answers_for_a_phase_and_the_verdict_for_the_run(self):
        facts = saturated()
        facts.advised = [(COMMAND, answer("--without vm2:contention", 50, 45, 55, measured=8), None)]
        self.assertEqual(self.broken(facts), set())

    def test_advice_that_has_no_answer(self):
        facts = saturated()
        facts.advised = [(COMMAND, answer("--without vm2:contention", None, None, None, refused="no MPI calls"), None)]
        self.assert_breaks(facts, 1, "has no answer: no MPI calls")
        facts.advised = [(COMMAND, None, "unknown option")]
        self.assert_breaks(facts, 1, "has no answer: unknown option")

    def test_saturated_without_advice_or_without_a_gain(self):
        facts = saturated()
        facts.advised = []
        self.assert_breaks(facts, 1, "no `chokepoint whatif` under next")
        self.assert_breaks(saturated(gain_pct={"estimate": 4, "low": 3, "high": 5}), 1, "less than 5 %")
        self.assert_breaks(saturated(gain_pct={"estimate": None, "low": None, "high": 50}), 1, "no estimate")

    def test_a_gain_beyond_the_share_that_is_told(self):
        words = "The run waits for vm2 (db[7] sleeps): 15 % of the time (13 to 15 %). Without {} the run would take about 40 % less, by counters."
        counted = {"estimate": 40, "low": 35, "high": 45, "source": "counters"}
        self.assert_breaks(saturated(gain_pct=counted, summary=words.format("that")), 1, "its limit takes 15.0 % of the run")
        facts = saturated(gain_pct=counted, summary=words.format("any sleep on vm2, that of other processes there as well,"))
        self.assertEqual(list(law_checks.law_1(facts)), [])


class Supply(Planted):
    def test_saturated_cpu_of_a_host_where_no_rank_waited_for_a_core(self):
        facts = saturated()
        facts.report["budget"][1] = row("vm2", 1, cpu=10)
        self.assert_breaks(facts, 2, "nothing shows that cpu of vm2 was full")

    def test_an_interval_that_does_not_exclude_nothing(self):
        self.assert_breaks(saturated(gain_pct={"estimate": 6, "low": -1, "high": 20}), 2, "does not exclude 0")

    def network(self, resource="net-egress"):
        facts = saturated(resource=resource)
        facts.report["budget"][1] = row("vm2", 1, cpu=5, transfer=5)
        return facts

    def test_a_link_below_its_ceiling_is_not_full(self):
        facts = self.network()
        facts.report["resources"] = [{"host": "vm2", "metric": "net_send", "p95": 55, "ceiling": 100}]
        self.assert_breaks(facts, 2, "nothing shows that net-egress of vm2 was full")

    def test_a_ceiling_a_set_rate_a_limited_route_or_a_queue_shows_a_full_link(self):
        shown = [self.network() for _ in range(4)]
        shown[0].report["resources"] = [{"host": "vm2", "metric": "net_send", "p95": 85, "ceiling": 100}]
        shown[1].report["arithmetic"] = [{"host": "vm2", "direction": "send", "share_pct": 90}]
        shown[2].report["budget"][0]["path_limited_pct"] = 95
        shown[3].held_back = {"vm2"}
        self.assertEqual([list(law_checks.law_2(facts)) for facts in shown], [[]] * 4)
        other_way = self.network("net-ingress")
        other_way.held_back = {"vm2"}
        self.assert_breaks(other_way, 2, "net-ingress")


class Accused(Planted):
    def test_a_culprit_without_a_loss_of_the_job(self):
        facts = saturated(state="suspected", host="vm1", resource="disk", culprit={"process": "python3[9]", "pid": 9, "host": "vm1"})
        self.assert_breaks(facts, 3, "suspected disk of vm1, by python3[9]: the job lost 0.0 % of its time to it")

    def test_the_loss_of_another_host_accuses_nobody(self):
        self.assert_breaks(saturated(host="vm1"), 3, "cpu of vm1")

    def test_of_all_hosts_computing_is_the_loss_and_fills_most_of_it(self):
        facts = saturated(subject="all-hosts", host=None)
        self.assertEqual(list(law_checks.law_3(facts)), [])
        self.assert_breaks(facts, 2, "nothing shows that cpu of all-hosts was full")
        facts.report["budget"] = [row("vm1", 0, cpu=9, transfer=1), row("vm2", 1, cpu=6, runqueue=3, transfer=1), row("vm1", None, "sh[3]", idle=10)]
        self.assertEqual(list(law_checks.law_2(facts)), [])

    def test_who_works_alone_while_others_wait_loses_by_computing(self):
        facts = saturated(cause_kind="serial")
        facts.report["budget"][1] = row("vm2", 1, cpu=9, transfer=1)
        self.assertEqual(list(law_checks.law_2(facts)) + list(law_checks.law_3(facts)), [])
        facts.report["budget"][1] = row("vm2", 1, cpu=.1, idle=9.9)
        self.assert_breaks(facts, 3, "the job lost 1.0 % of its time to it")


class Balanced(Planted):
    def test_balanced_beside_much_that_is_unexplained(self):
        for term in ("idle", "unknown", "mpi_unsplit"):
            facts = balanced()
            facts.report["budget"] = [row("vm1", 0, cpu=7, **{term: 3}), row("vm2", 1, cpu=7, **{term: 3})]
            self.assert_breaks(facts, 4, "30 % of the ranks' time")

    def test_waits_for_others_need_a_path_that_says_for_what(self):
        facts = balanced()
        facts.report["budget"] = [row("vm1", 0, cpu=5, peer_wait=5), row("vm2", 1, cpu=5, peer_wait=5)]
        self.assertEqual(list(law_checks.law_4(facts)), [])
        facts.report["critical_path"] = []
        self.assert_breaks(facts, 4, "50 % of the ranks' time")

    def test_balanced_without_a_budget(self):
        facts = balanced()
        facts.report["budget"] = []
        self.assert_breaks(facts, 4, "no budget")

    def test_what_nobody_recorded_is_not_ruled_out(self):
        facts = balanced()
        facts.report["verdict"]["ruled_out"] = ["network: no connection was limited by its path"]
        facts.tables = {"cpu"}
        self.assert_breaks(facts, 4, "network is ruled out, and no connection or qdisc was recorded")
        facts.report["verdict"]["ruled_out"] = [{"resource": "memory"}]
        self.assert_breaks(facts, 4, "memory is ruled out")


class Subjects(Planted):
    def test_a_limit_needs_a_subject_and_a_host_only_where_it_is_one_s(self):
        self.assert_breaks(saturated(subject=None), 5, "without a subject")
        self.assert_breaks(saturated(subject="machine"), 5, "the subject is machine, the host vm2")
        self.assert_breaks(saturated(subject="host", host=None), 5, "the subject is host, the host None")
        self.assert_breaks(saturated(subject="core", host=None), 5, "the subject is core, the host None")
        self.assertEqual(list(law_checks.law_5(saturated(subject="core"))), [])

    def test_a_run_that_computes_all_the_time_is_not_balanced(self):
        facts = balanced()
        facts.report["budget"] = [row("vm1", 0, cpu=8.5, transfer=1.5), row("vm2", 1, cpu=7, runqueue=2, transfer=1)]
        facts.tables.add("mpi")
        self.assert_breaks(facts, 5, "compute, or wait for a core, 88 % of the time")
        facts.tables.remove("mpi") # they may spin
        self.assertEqual(list(law_checks.law_5(facts)), [])

    def test_a_run_that_one_change_shortens_is_not_balanced(self):
        facts = balanced()
        facts.asked = [answer("--without all:contention", 12, 6, 15)]
        self.assert_breaks(facts, 5, "--without all:contention would bring 12.0 % (6.0 to 15.0)")
        facts.asked = [answer("--without all:contention", 12, -1, 15)]
        self.assertEqual(list(law_checks.law_5(facts)), [])


class Replay(Planted):
    def test_an_interval_without_width(self):
        facts = saturated()
        facts.asked = [answer("--cpu vm2=2x", 25, 25, 25)]
        self.assert_breaks(facts, 6, "without width")

    def test_that_nothing_was_lost_is_known_exactly(self):
        facts = saturated()
        facts.asked = [answer("--without all:quota", 0, 0, 0)]
        self.assertEqual(list(law_checks.law_6(facts)), [])
        facts.report["budget"][0]["quota_s"] = 3
        self.assert_breaks(facts, 6, "--without all:quota")

    def test_a_replay_that_does_not_fit_the_run(self):
        facts = saturated()
        facts.asked = [answer("--cpu vm2=2x", 25, 20, 30, replayed=True, replay_s=9.3)]
        self.assert_breaks(facts, 6, "--cpu vm2=2x: predicted by a replay that is 7 % off")
        facts.asked = [answer("--cpu vm2=2x", 25, 20, 30, replayed=True, replay_s=9.8)]
        self.assertEqual(list(law_checks.law_6(facts)), [])

    def test_a_replay_that_passes_over_the_critical_path(self):
        facts = saturated()
        facts.asked = [answer("--cpu vm2=2x", .2, -.3, .4)]
        self.assert_breaks(facts, 6, "--cpu vm2=2x: 0.2 %, though 50 % of the critical path is cpu of vm2")
        facts.report["budget"][0] = row("vm1", 0, cpu=9.5, peer_wait=.5) # and takes its place on the path
        self.assertEqual(list(law_checks.law_6(facts)), [])
        facts.asked.append(answer("--without all:contention", .2, -.3, .4))
        self.assert_breaks(facts, 6, "--without all:contention: 0.2 %, though 50 % of the critical path is runqueue of all")

    def test_a_gain_beyond_what_the_path_spends(self):
        facts = saturated()
        facts.report["critical_path"][0]["source"] = "waits"
        facts.asked = [answer("--without vm2:contention", 60, 55, 65)]
        facts.advised = []
        self.assert_breaks(facts, 6, "--without vm2:contention: 60.0 %, though 50 % of the critical path is what it takes away")
        facts.asked = [answer("--without vm2:contention", 50, 45, 55)]
        self.assertEqual(list(law_checks.law_6(facts)), [])

    def test_who_is_refused_says_nothing_false(self):
        facts = saturated()
        facts.asked = [answer("--cpu vm2=2x", None, None, None, refused="it does not react")]
        self.assertEqual(list(law_checks.law_6(facts)), [])

    def test_a_bound_that_the_clean_run_beats(self):
        facts = saturated()
        facts.asked.append(answer("--without vm2:contention", bound_s=9))
        facts.fault_words, facts.clean_ratio, facts.clean_doubt = "--without vm2:contention", .6, .1
        facts.advised = []
        self.assert_breaks(facts, 6, "at least 90 % of the time, and the clean run took 60 %")
        facts.clean_ratio = .85
        self.assertEqual(list(law_checks.law_6(facts)), [])


class Blind(Planted):
    def test_a_missing_host_a_minute_without_samples_and_a_rank_without_a_record_are_loud(self):
        for details, absent, name in (([host("vm1"), host("vm2", missing=True)], [], "vm2"), ([host("vm1"), host("vm2", missed=700)], [], "vm2"),
                                      ([host("vm1"), host("vm2")], [3], "rank 3")):
            facts = saturated(summary="The run waits. More of vm2 and rank 3.")
            facts.report["run"]["host_details"], facts.absent_ranks = details, absent
            self.assert_breaks(facts, 7, f"confidence 0.95, though nothing is known of {name}")
            self.assert_breaks(facts, 7, f"the first sentence does not name {name}")
            facts.report["verdict"].update(confidence=.5, summary=f"Nothing is known of {name}. More.")
            self.assertEqual(list(law_checks.law_7(facts)), [])


class Threads(Planted):
    def test_a_launcher_with_a_budget(self):
        for process in ("orted[7]", "mpirun[7]"):
            facts = balanced()
            facts.report["budget"].append(row("vm2", None, process, cpu=9, transfer=1))
            self.assert_breaks(facts, 8, process)
            facts.parents = False
            self.assertEqual(list(law_checks.law_8(facts)), [])

    def test_a_shell_that_waits_launches_and_one_that_computes_does_not(self):
        facts = balanced()
        facts.report["budget"].append(row("vm2", None, "spread.sh[7]", idle=10))
        self.assert_breaks(facts, 8, "spread.sh[7]")
        self.assertEqual(list(law_checks.law_4(facts)), [])
        facts.report["budget"][-1] = row("vm2", None, "sh[7]", cpu=10)
        self.assertEqual(list(law_checks.law_8(facts)), [])

    def test_a_main_thread_that_sleeps_while_others_compute(self):
        facts = balanced()
        facts.report["budget"][0] = row("vm1", 0, idle=9, cpu=1, other_threads_cpu=8)
        self.assert_breaks(facts, 8, "asleep 90 % of the time, while its other threads computed for 80 %")


class Duration(Planted):
    def test_much_confidence_needs_the_seconds_and_samples_of_the_listing(self):
        for name in ("SURE_S", "SURE_SAMPLES"):
            facts = saturated()
            facts.thresholds[name] = 1000
            self.assert_breaks(facts, 9, "1000 are needed")
            facts.report["verdict"]["confidence"] = .9
            self.assertEqual(list(law_checks.law_9(facts)), [])

    def test_a_short_run_says_one_line(self):
        facts = saturated()
        facts.report["run"]["duration_s"], facts.thresholds = 1.5, {}
        self.assert_breaks(facts, 9, "confidence 0.95 of a run of 1.50 s")
        self.assert_breaks(facts, 9, "more than one line")
        facts.report["verdict"].update(confidence=.6, ruled_out=[], next=["record 10 s"])
        self.assertEqual(list(law_checks.law_9(facts)), [])


class Bytes(Planted):
    def test_another_report_the_second_time(self):
        facts = saturated()
        facts.differing = ["text"]
        self.assert_breaks(facts, 10, "text is another the second time")


class Denied(Planted):
    def test_balanced_though_a_resource_is_worth_more(self):
        facts = balanced()
        facts.sweep = [answer("--link vm2=1000x", 36, 30, 40)]
        self.assert_breaks(facts, 12, "balanced 0.95, though --link vm2=1000x would bring 36 % (30 to 40)")
        facts.sweep = [answer("--link vm2=1000x", 4, 3, 5), answer("--without vm1:disk", 9, -1, 12)]
        self.assertEqual(self.broken(facts), set())

    def test_a_short_run_that_leans_denies_nothing(self):
        facts = balanced()
        facts.sweep = [answer("--without vm2:sleep", 20, 15, 25)]
        facts.report["verdict"].update(state="insufficient", gain_pct={"estimate": None, "low": None, "high": None})
        self.assert_breaks(facts, 12, "though --without vm2:sleep would bring 20 %")
        facts.report["verdict"].update(gain_pct={"estimate": 20, "low": 15, "high": 25})
        self.assertEqual(list(laws.LAWS[12](facts)), [])

    def test_a_refused_answer_excludes_nothing(self):
        facts = balanced()
        facts.sweep = [answer("--link vm2=1000x", None, None, None, gain_max_pct=42)]
        self.assert_breaks(facts, 12, "is refused and may bring up to 42 %")
        facts.sweep = [answer("--cpu vm2=1000x", None, None, None, gain_max_pct=90), answer("--link vm1=1000x", None, None, None, gain_max_pct=2)]
        self.assertEqual(self.broken(facts), set())

    def test_every_resource_of_every_host_is_asked_for(self):
        asked = laws.law_truth.sweep_questions(balanced().report)
        self.assertLessEqual({"--link vm1=1000x", "--link vm2=1000x", "--without vm1:quota", "--cpu vm2=1000x"}, set(asked))
        computes = saturated(cause_kind="compute-bound")
        self.assertFalse([words for words in laws.law_truth.sweep_questions(computes.report) if "--cpu" in words])
        computes.sweep = [answer("--without vm2:quota", 20, 15, 25)]
        self.assert_breaks(computes, 12, "compute-bound 0.95, though --without vm2:quota would bring 20 %")


class Ends(Planted):
    def test_what_ended_it_stands_in_the_first_line(self):
        for ended, first in (({"exit_status": 137, "oom_kills": 1}, "killed: no memory"), ({"exit_status": 139}, "it crashed: signal 11"),
                             ({"exit_status": 1, "full": ["/data"]}, "/data is full"), ({"exit_status": 127}, "prog was not found")):
            facts = saturated(limit="not known. Nothing ran out")
            facts.ended = ended
            self.assert_breaks(facts, 13, "and the first line is: not known")
            facts.report["verdict"]["limit"] = first
            self.assertEqual(list(laws.LAWS[13](facts)), [])

    def test_a_run_that_ended_well_was_ended_by_nothing(self):
        facts = saturated(limit="CPU")
        facts.ended = {"exit_status": 0, "oom_kills": 1, "full": ["/data"]}
        self.assertEqual(list(laws.LAWS[13](facts)), [])


class Idle(Planted):
    def idle(self, limit, state="insufficient"):
        facts = balanced()
        facts.report["budget"] = [row("vm1", None, idle=9.8, cpu=.2), row("vm2", None, idle=4, peer_wait=6)]
        facts.report["verdict"].update(state=state, limit=limit)
        return facts

    def test_a_job_of_which_nothing_is_asked(self):
        self.assert_breaks(self.idle("not known. The cause of 100 % of the time is not known, most of it asleep"), 14, "all its processes sleep, and it says: not known")
        self.assertEqual(list(laws.LAWS[14](self.idle("waits for nothing on these hosts: asleep 100 %"))), [])

    def test_one_that_works_is_not_idle(self):
        facts = self.idle("not known")
        facts.report["budget"][1] = row("vm2", None, idle=4, cpu=6)
        self.assertEqual(list(laws.LAWS[14](facts)), [])

    def test_what_would_be_gained_without_sleep_is_no_denial_of_idle(self):
        facts = self.idle("waits for nothing: asleep")
        facts.sweep = [answer("--without vm1:sleep", 98, 97, 99)]
        self.assertEqual(list(laws.LAWS[12](facts)), [])


class Advice(Planted):
    def advised(self, line, tables=("process",), **facts):
        made = saturated(next=[line])
        made.tables = set(tables)
        made.report["budget"] = [dict(one, rank=None) for one in made.report["budget"]]
        for name, value in facts.items():
            setattr(made, name, value)
        return " | ".join(laws.LAWS[15](made))

    def test_what_was_on_or_refused_is_not_advised(self):
        clocks, delays = "record it again with --wait-clocks", "set kernel.task_delayacct=1"
        self.assertEqual((self.advised(clocks), self.advised(delays)), ("", ""))
        self.assertIn("they were on", self.advised(clocks, ["wait"]))
        self.assertIn("they were refused", self.advised(clocks, notes=["wait clocks: no rights"]))
        self.assertIn("are known", self.advised(delays, ["wait"]))
        self.assertIn("are known", self.advised(delays, disk_counted=True))

    def test_a_database_reads_nothing_of_ranks(self):
        for line in ("run no more ranks than cores", "set OMP_NUM_THREADS", "use MPI_Isend", "mpirun -N 2"):
            self.assertIn("it is no MPI program", self.advised(line))
            self.assertEqual(self.advised(line, ["mpi"]), "")
        self.assertEqual(self.advised("the gain is computed by: `chokepoint whatif --without-straggler rank`"), "")


# A stand-in for the program: it answers from files beside it, and its text report differs each time if asked to.
PROGRAM = """#!/bin/sh
here=$(dirname "$0")
case "$*" in
    report*json) cat "$here/report.json" ;;
    report*) cat "$here/text"; [ ! -e "$here/restless" ] || echo again >>"$here/text" ;;
    whatif*) echo "$*" >>"$here/asked"; cat "$here/whatif.json" ;;
    rules*) cat "$here/rules.json" ;;
esac
"""


class Gathering(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.bin = self.folder.name
        self.put("chokepoint", PROGRAM)
        os.chmod(f"{self.bin}/chokepoint", 0o755)
        self.put("text", "one\n")
        self.put("rules.json", json.dumps({"rules": [{"name": "r", "thresholds": [{"name": "SURE_S", "value": 10}]}]}))
        self.put("whatif.json", json.dumps({"phase": "all", "measured_s": 10, "answers": [
            {key: value for key, value in answer("--without vm2:contention").items() if key not in ("measured_s", "phase")}]}))
        made = report()
        made["critical_path"] = []
        self.put("report.json", json.dumps(made))
        self.results = f"{self.bin}/results"
        os.mkdir(self.results)
        with laws.contextlib.closing(laws.sqlite3.connect(f"{self.results}/one.db")) as db, db:
            db.executescript("CREATE TABLE run(run, exit_status); CREATE TABLE run_note(run, text); CREATE TABLE host(host, run, name);"
                             "CREATE TABLE stream(stream, host); CREATE TABLE frame(frame, stream); CREATE TABLE instance(instance, name);"
                             "INSERT INTO run VALUES (1, 0); INSERT INTO host VALUES (1, 1, 'vm1'); INSERT INTO stream VALUES (1, 1);"
                             "INSERT INTO frame VALUES (1, 1); INSERT INTO instance VALUES (7, 'wait clocks: no rights'); CREATE TABLE table_info(name TEXT)")
            for name, columns in (("cpu", ""), ("memory", ""), ("rank", ""), ("empty", ""), ("mpi", ", rank, world_size")):
                db.execute(f"CREATE TABLE {name}(frame, instance{columns})")
                db.execute("INSERT INTO table_info VALUES (?)", (name,))
            db.executescript("INSERT INTO cpu VALUES (1, 1); INSERT INTO memory VALUES (1, 1); INSERT INTO rank VALUES (1, 1); INSERT INTO mpi VALUES (1, 1, 0, 3)")

    def change(self, script):
        with laws.contextlib.closing(laws.sqlite3.connect(f"{self.results}/one.db")) as db, db:
            db.executescript(script)

    def put(self, name, text):
        with open(f"{self.bin}/{name}", "w") as file:
            file.write(text)

    def check(self):
        return laws.check(self.results, self.bin)

    def test_what_is_recorded_and_which_rank_is_not(self):
        content = laws.content(f"{self.results}/one.db", 1)
        self.assertEqual((content["tables"], content["held_back"], content["absent_ranks"], content["parents"]), ({"cpu", "memory", "rank", "mpi"}, set(), [1, 2], True))
        self.assertEqual(laws.content(f"{self.results}/one.db", 1)["ended"], {"exit_status": 0, "oom_kills": 0, "full": []})

    def test_how_it_ended_and_what_was_refused_is_read(self):
        self.change("UPDATE run SET exit_status = 137; CREATE TABLE cgroup(frame, instance, oom_kills); INSERT INTO cgroup VALUES (1, 1, 2);"
                    "CREATE TABLE filesystem(frame, instance, available_bytes, size_bytes); INSERT INTO filesystem VALUES (1, 7, 0, 9);"
                    "CREATE TABLE note(frame, instance); INSERT INTO note VALUES (1, 7); INSERT INTO run_note VALUES (1, 'late'), (2, 'of another run')")
        content = laws.content(f"{self.results}/one.db", 1)
        self.assertEqual(content["ended"], {"exit_status": 137, "oom_kills": 2, "full": ["wait clocks: no rights"]})
        self.assertEqual(content["notes"], ["late", "wait clocks: no rights"])

    def test_each_run_of_a_database_is_a_recording(self):
        self.change("INSERT INTO run VALUES (2, 0)")
        self.assertEqual([(name, number) for name, _, number, _ in laws.databases(self.results)], [("one 1", 1), ("one 2", 2)])
        self.assertEqual(laws.content(f"{self.results}/one.db", 2)["tables"], set())

    def test_without_parents_of_processes_launchers_are_not_decided_and_that_is_said(self):
        self.change("CREATE TABLE process(pid, job)")
        self.assertFalse(laws.content(f"{self.results}/one.db", 1)["parents"])
        self.assertIn("law 8: launchers of 1 recordings, whose agents kept no parents of processes", self.check()[3])

    def test_violations_have_the_recording_s_name_and_the_printed_command_is_run(self):
        found, count, lost, notes = self.check()
        self.assertEqual((count, lost, notes), (1, [], ["law 9: `chokepoint rules` names no SURE_SAMPLES"]))
        self.assertIn((7, "one", "the first sentence does not name rank 1, of which nothing is known"), found)
        self.assertEqual({law for law, *_ in found}, {7})
        with open(f"{self.bin}/asked") as file:
            self.assertIn(f"whatif --db {self.results}/one.db 1 --without vm2:contention --format json", file.read())

    def test_the_second_report_is_compared_byte_for_byte(self):
        self.put("restless", "")
        self.assertIn((10, "one", "text is another the second time"), self.check()[0])

    def test_a_printed_command_is_put_to_this_recording(self):
        for command in ("--without vm2:contention", "last --without vm2:contention", "--db my.db 7 --without vm2:contention --format text"):
            self.assertEqual(laws.advised_words(command), ["--without", "vm2:contention"])

    def test_questions_are_of_every_host_every_cause_and_what_lies_on_the_path(self):
        made = report()
        made["critical_path"].append({"phase": "all", "host": "vm1", "term": "idle", "share_pct": 3})
        asked = laws.questions_of(made)
        self.assertEqual(asked[:2] + asked[-1:], ["--cpu vm1=2x", "--cpu vm2=2x", "--without vm2:contention"])
        self.assertIn("--without all:sleep", asked)

    def test_a_recording_that_cannot_be_reported_is_told(self):
        self.put("report.json", "")
        found, count, lost, _ = self.check()
        self.assertEqual((found, count), ([], 0))
        self.assertIn("one: ", lost[0])
        with unittest.mock.patch("builtins.print"):
            self.assertEqual(laws.main([self.results, "--bin", self.bin, "--laws", "10"]), 1)

    def test_any_violation_is_a_failure(self):
        with unittest.mock.patch("builtins.print") as said:
            self.assertEqual(laws.main([self.results, "--bin", self.bin]), 1)
            self.assertEqual(laws.main([self.results, "--bin", self.bin, "--laws", "1,2,3"]), 0)
            self.assertEqual(laws.main([self.results, "--bin", self.bin, "--only", "other"]), 1)
        self.assertIn("law  7: broken by 1 of 1", said.call_args_list[1].args[0])


if __name__ == "__main__":
    unittest.main()
