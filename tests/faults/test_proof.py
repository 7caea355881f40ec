#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies of a run, changes that keep the truth about it, and two verdicts compared, on a made-up recording."""
import contextlib
import os
import sqlite3
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import copies
import page_parts
import truth_keeping
import two_verdicts

S = 10**9
SAMPLES = 60 # of each host, one a second

# Two runs; of the first, two hosts with a core, an interface, a process each, and one with a clock of its waits.
SCHEMA = """
CREATE TABLE run(run INTEGER PRIMARY KEY, name TEXT, command TEXT, started_wall_ns INTEGER, started_mono_ns INTEGER, ended_wall_ns INTEGER, ended_mono_ns INTEGER,
                 period_ns INTEGER, hosts_expected INTEGER);
CREATE TABLE host(host INTEGER PRIMARY KEY, run INTEGER, name TEXT, UNIQUE(run, name));
CREATE TABLE stream(stream INTEGER PRIMARY KEY, host INTEGER, boot_id TEXT, period_ns INTEGER, first_mono_ns INTEGER, last_mono_ns INTEGER, last_seq INTEGER,
                    head_missed INTEGER, head_lost INTEGER, frames INTEGER, missed_slots INTEGER);
CREATE TABLE frame(frame INTEGER PRIMARY KEY, stream INTEGER, seq INTEGER, mono_ns INTEGER, wall_ns INTEGER, missed INTEGER, lost INTEGER);
CREATE TABLE table_info(table_id INTEGER PRIMARY KEY, name TEXT, kind TEXT);
CREATE TABLE column_info(table_id INTEGER, ordinal INTEGER, name TEXT, kind TEXT);
CREATE TABLE instance(instance INTEGER PRIMARY KEY, host INTEGER, table_id INTEGER, name TEXT, UNIQUE(host, table_id, name));
CREATE TABLE counter_reset(frame INTEGER, instance INTEGER, columns INTEGER, PRIMARY KEY(frame, instance));
CREATE TABLE budget(run INTEGER, wall_ns INTEGER);
CREATE TABLE cpu(frame INTEGER, instance INTEGER, interval_ns INTEGER, user_ns INTEGER, nice_ns INTEGER, idle_ns INTEGER, PRIMARY KEY(frame, instance));
CREATE TABLE net(frame INTEGER, instance INTEGER, interval_ns INTEGER, send_bytes INTEGER, receive_bytes INTEGER, speed_bytes_per_s INTEGER, PRIMARY KEY(frame, instance));
CREATE TABLE process(frame INTEGER, instance INTEGER, interval_ns INTEGER, pid INTEGER, rank INTEGER, job INTEGER, threads INTEGER, rss_bytes INTEGER, start_ns INTEGER,
                     user_ns INTEGER, system_ns INTEGER, run_queue_ns INTEGER, PRIMARY KEY(frame, instance));
CREATE TABLE wait(frame INTEGER, instance INTEGER, interval_ns INTEGER, pid INTEGER, rank INTEGER, threads INTEGER, pipe_ns INTEGER, poll_ns INTEGER,
                  process_pipe_ns INTEGER, process_poll_ns INTEGER, PRIMARY KEY(frame, instance));
"""
TABLES = {"cpu": ("user_ns", "nice_ns", "idle_ns"), "net": ("send_bytes", "receive_bytes"), "process": ("user_ns", "system_ns", "run_queue_ns"),
          "wait": ("pipe_ns", "poll_ns", "process_pipe_ns", "process_poll_ns")}


def made(path, last_user_ns=S // 2):
    """The last half of the run computes last_user_ns of each second on both hosts."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.executescript(SCHEMA)
        for number, (table, counters) in enumerate(TABLES.items(), 1):
            db.execute("INSERT INTO table_info VALUES (?, ?, 'samples')", (number, table))
            db.executemany("INSERT INTO column_info VALUES (?, ?, ?, 'counter')", [(number, place, name) for place, name in enumerate(counters)])
        for run in (1, 2):
            db.execute("INSERT INTO run VALUES (?, 'made', 'run --hosts vm1,vm2 on vm10', 0, 0, ?, ?, ?, 2)", (run, SAMPLES * S, SAMPLES * S, S))
        for host in (1, 2, 3):
            made_host(db, host, 2 if host == 3 else 1, f"vm{host}" if host < 3 else "vm1", last_user_ns)


def made_host(db, host, run, name, last_user_ns):
    db.execute("INSERT INTO host VALUES (?, ?, ?)", (host, run, name))
    db.execute("INSERT INTO stream VALUES (?, ?, 'boot', ?, 0, ?, ?, 0, 0, ?, 0)", (host, host, S, SAMPLES * S, SAMPLES, SAMPLES))
    names = (("cpu", "cpu0"), ("net", "eth0"), ("process", f"prog a[{host}]"), ("wait", f"prog[{host}]"))
    own = {table: copies.instance_of(db, host, table, text) for table, text in names}
    for second in range(1, SAMPLES + 1):
        frame = copies.next_number(db, "frame")
        db.execute("INSERT INTO frame VALUES (?, ?, ?, ?, ?, 0, 0)", (frame, host, second, second * S, second * S))
        used, counted = S // 2 if second <= SAMPLES // 2 else last_user_ns, second > 1
        row = lambda *values: [value if counted else None for value in values]
        db.execute("INSERT INTO cpu VALUES (?, ?, ?, ?, ?, ?)", [frame, own["cpu"]] + row(S, used, 0, S - used))
        db.execute("INSERT INTO net VALUES (?, ?, ?, ?, ?, 1000)", [frame, own["net"]] + row(S, 100, 200))
        db.execute("INSERT INTO process VALUES (?, ?, ?, ?, 0, 1, 4, 900, 5, ?, ?, ?)", [frame, own["process"]] + row(S) + [host] + row(used, 0, S // 50))
        db.execute("INSERT INTO wait VALUES (?, ?, ?, ?, 0, 4, ?, ?, ?, ?)", [frame, own["wait"]] + row(S) + [host] + row(0, 1, 0, 1))


class Copy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/made.db"
        made(self.path)

    def copied(self, **words):
        self.n_copies = getattr(self, "n_copies", 0) + 1
        path = f"{self.path}.{self.n_copies}"
        copies.copy_run(self.path, 1, path, **words)
        db = sqlite3.connect(path)
        self.addCleanup(db.close)
        return db

    def changed(self, change):
        db = self.copied()
        return db, truth_keeping.CHANGES[change](db)

    def one(self, db, sql):
        return db.execute(sql).fetchone()[0]


class Copies(Copy):
    def test_a_copy_has_one_run(self):
        db = self.copied()
        self.assertEqual([self.one(db, f"SELECT count(*) FROM {name}") for name in ("run", "host", "frame", "cpu", "instance")], [1, 2, 2 * SAMPLES, 2 * SAMPLES, 8])

    def test_in_the_other_order_the_same_is_told_by_other_numbers(self):
        told = "SELECT host.name, seq, instance.name, user_ns FROM process JOIN instance USING(instance) JOIN host USING(host) JOIN frame USING(frame) ORDER BY 1, 2, 3"
        plain, other = self.copied(), self.copied(other_order=True)
        self.assertEqual(plain.execute(told).fetchall(), other.execute(told).fetchall())
        of_hosts = "SELECT group_concat(name) FROM (SELECT name FROM host ORDER BY host)"
        self.assertEqual([self.one(db, of_hosts) for db in (plain, other)], ["vm1,vm2", "vm2,vm1"])
        first = "SELECT host.name FROM frame JOIN stream USING(stream) JOIN host USING(host) ORDER BY frame LIMIT 1"
        self.assertEqual([self.one(db, first) for db in (plain, other)], ["vm1", "vm2"])


class Names(Copy):
    def test_hosts_take_each_other_s_names(self):
        db, names = self.changed("hosts")
        self.assertEqual(names, {"vm1": "vm2", "vm2": "vm1"})
        self.assertEqual(db.execute("SELECT name FROM host ORDER BY host").fetchall(), [("vm2",), ("vm1",)])
        self.assertEqual(self.one(db, "SELECT command FROM run"), "run --hosts vm2,vm1 on vm10")

    def test_programs_and_interfaces_are_renamed_alike_in_all_tables(self):
        db, _ = self.changed("names")
        names = dict(db.execute("SELECT table_info.name, instance.name FROM instance JOIN table_info USING(table_id) WHERE host = 1"))
        self.assertEqual((names["cpu"], names["net"], names["process"], names["wait"]), ("cpu0", "if99", "p9998[1]", "p9999[1]"))


class Time(Copy):
    def test_twice_as_slow_is_half_the_rate(self):
        db, _ = self.changed("slower")
        self.assertEqual(db.execute("SELECT interval_ns, send_bytes, speed_bytes_per_s FROM net WHERE frame = 5").fetchone(), (2 * S, 100, 500))
        self.assertEqual(db.execute("SELECT ended_mono_ns, period_ns FROM run").fetchone(), (2 * SAMPLES * S, 2 * S))
        self.assertEqual(db.execute("SELECT mono_ns, wall_ns FROM frame WHERE frame = 5").fetchone(), (10 * S, 10 * S))

    def test_of_every_second_sample_nothing_is_lost(self):
        sums = "SELECT sum(user_ns) + sum(idle_ns), sum(interval_ns), count(*) FROM cpu"
        plain, (db, _) = self.copied(), self.changed("every-second")
        before, after = plain.execute(sums).fetchone(), db.execute(sums).fetchone()
        self.assertEqual(after[:2], before[:2])
        self.assertEqual(after[2], SAMPLES + 2) # the first and the last stay
        self.assertEqual(self.one(db, "SELECT max(interval_ns) FROM cpu"), 2 * S)
        self.assertEqual(self.one(db, "SELECT max(seq) FROM frame"), SAMPLES // 2 + 1)

    def test_halves_are_of_steady_runs(self):
        db, names = self.changed("last-half")
        self.assertEqual((names, self.one(db, "SELECT min(seq) FROM frame"), self.one(db, "SELECT started_mono_ns FROM run")), ({}, SAMPLES // 2, SAMPLES // 2 * S))
        self.assertIsNone(self.one(db, f"SELECT user_ns FROM cpu WHERE frame = {SAMPLES // 2}"))
        db, names = self.changed("first-half")
        self.assertEqual((names, self.one(db, "SELECT max(seq) FROM frame")), ({}, SAMPLES // 2))
        os.remove(self.path)
        made(self.path, S // 4)
        self.assertEqual([self.changed(half)[1] for half in ("first-half", "last-half")], [None, None])


class More(Copy):
    def test_helpers_wait_for_ever(self):
        db, _ = self.changed("helpers")
        rows = "FROM {} WHERE pid >= 4100000"
        self.assertEqual(db.execute(f"SELECT count(DISTINCT pid), count(DISTINCT instance), sum(user_ns), max(rank) {rows.format('process')}").fetchone(), (10, 10, 0, None))
        self.assertEqual(db.execute(f"SELECT count(DISTINCT pid), sum(pipe_ns), sum(process_poll_ns), max(poll_ns) {rows.format('wait')}").fetchone(),
                         (10, 5 * (SAMPLES - 1) * S, 5 * (SAMPLES - 1) * S, S))

    def test_an_idle_host_has_samples_and_no_process(self):
        db, names = self.changed("idle-host")
        self.assertEqual((names, self.one(db, "SELECT hosts_expected FROM run")), ({"aa": "the idle host"}, 3))
        of_it = "JOIN instance USING(instance) JOIN host USING(host) WHERE host.name = 'aa'"
        self.assertEqual(db.execute(f"SELECT count(*), sum(user_ns), sum(idle_ns) FROM cpu {of_it}").fetchone(), (SAMPLES, 0, (SAMPLES - 1) * S))
        self.assertEqual(self.one(db, f"SELECT count(*) FROM process {of_it}"), 0)

    def test_a_foreign_process_is_none_of_the_job(self):
        db, _ = self.changed("foreign")
        self.assertEqual(db.execute("SELECT count(DISTINCT instance), sum(user_ns) FROM process WHERE job = 0").fetchone(), (1, (SAMPLES - 1) * S // 200))
        self.assertEqual(self.one(db, "SELECT sum(receive_bytes) FROM net JOIN instance USING(instance) WHERE name = 'zz0'"), (SAMPLES - 1) * S // 100)

    def test_a_hog_of_idle_time_takes_nothing_else(self):
        db, _ = self.changed("idle-hog")
        self.assertEqual(db.execute("SELECT sum(user_ns), sum(nice_ns), sum(idle_ns) FROM cpu").fetchone(),
                         tuple((SAMPLES - 1) * S * tenths // 10 for tenths in (10, 9, 1)))
        self.assertEqual(self.one(db, "SELECT sum(user_ns) FROM process WHERE job = 0"), (SAMPLES - 1) * S * 9 // 10)
        db = self.copied()
        db.execute("UPDATE process SET run_queue_ns = interval_ns / 10 WHERE pid = 2")
        self.assertIsNone(truth_keeping.idle_hog(db))


def verdict(host="vm1", resource="cpu", cause="contention", confidence=.9, state="saturated", subject="host"):
    return {"state": state, "subject": subject, "host": host, "rank": None, "resource": resource, "cause_kind": cause, "confidence": confidence}


class Verdicts(unittest.TestCase):
    def test_another_place_with_confidence_is_another_blame(self):
        for after, wrong in ((verdict(), False), (verdict(cause="serial"), False), (verdict(host="vm2"), True), (verdict(resource="disk"), True),
                             (verdict(host="vm2", confidence=.79), False), (verdict(state="insufficient"), False), (verdict(host=None, subject="all-hosts"), True)):
            self.assertEqual(two_verdicts.is_other_blame(verdict(), after), wrong, after)
        self.assertTrue(two_verdicts.is_other_blame(verdict(state="balanced"), verdict()))

    def test_renamed_hosts_are_who_they_were(self):
        self.assertEqual(two_verdicts.key(verdict(), {}), two_verdicts.key(verdict("vm2"), {"vm2": "vm1"}))
        self.assertFalse(two_verdicts.is_other_blame(verdict(), verdict("vm2"), {"vm2": "vm1"}))

    def test_bands_of_confidence(self):
        self.assertEqual([two_verdicts.band(verdict(confidence=c)) for c in (.95, .8, .79, .5, .49)], [2, 2, 1, 1, 0])


class Page(unittest.TestCase):
    def test_a_part_is_replaced_and_kept_and_leaves_the_others_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/page.md"
            with open(path, "w") as file:
                file.write("# Page\n")
            for name, line in (("one", "1"), ("two", "2"), ("one", "3")):
                page_parts.put(name, name.title(), "Words.", [line], path)
            with open(path) as file:
                text = file.read()
        self.assertEqual([part.split("\n")[7] for part in page_parts.kept(text)], ["3", "2"])
        self.assertTrue(text.startswith("# Page\n"))


if __name__ == "__main__":
    unittest.main()
