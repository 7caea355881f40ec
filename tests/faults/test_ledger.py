#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A ledger finds planted losses: a lost frame that is counted, a lost one that is not, and one stored twice."""
import os
import sqlite3
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ledger

STREAM = 0xfedcba9876543210  # above 2^63: SQLite stores it as a negative number


def database(path, stored, lost):
    db = sqlite3.connect(path)
    db.executescript("CREATE TABLE run(run INTEGER PRIMARY KEY, period_ns INTEGER); INSERT INTO run VALUES(1, 100);"
                     "CREATE TABLE stream(stream INTEGER PRIMARY KEY, stream_id INTEGER, period_ns INTEGER, lost_frames INTEGER, head_lost INTEGER);"
                     "CREATE TABLE frame(stream INTEGER, seq INTEGER);"
                     "CREATE VIEW run_host AS SELECT 'vm1' host, 0 samples, 0 missed, 0 lost, 0 gaps, 0 restarts, 0 duplicates, 0 first_s, 0 last_s;")
    db.execute("INSERT INTO stream VALUES(1, ?, 100, ?, 0), (2, 5, 0, 0, 0)", (STREAM - (1 << 64), lost))
    db.executemany("INSERT INTO frame VALUES(?, ?)", [(1, seq) for seq in stored] + [(2, 1)])
    db.commit()
    db.close()


class Compared(unittest.TestCase):
    def compare(self, taken, stored, lost=0):
        with tempfile.TemporaryDirectory() as folder:
            database(f"{folder}/db", stored, lost)
            book = ledger.Ledger(folder, "true")
            book.taken = {(STREAM, seq): ("vm1", 0) for seq in taken}
            return ledger.compare(book, ledger.Stored(f"{folder}/db"))

    def test_each_once_is_right(self):
        rows, wrong = self.compare((1, 2, 3), (1, 2, 3))
        self.assertEqual(wrong, [])
        self.assertEqual((rows["taken"], rows["stored"]), (3, 3))

    def test_a_loss_that_is_counted_is_told_and_not_wrong(self):
        rows, wrong = self.compare((1, 2, 3), (1, 3), lost=1)
        self.assertEqual(wrong, [])
        self.assertEqual(rows["taken, not stored"], 1)

    def test_a_loss_that_is_not_counted_is_wrong(self):
        rows, wrong = self.compare((1, 2, 3, 4), (1, 4), lost=1)
        self.assertEqual(rows["of these not counted as lost"], 1)
        self.assertEqual(wrong, ["of these not counted as lost"])

    def test_a_frame_that_is_stored_twice_is_wrong(self):
        self.assertEqual(self.compare((1, 2), (1, 2, 2))[1], ["stored twice"])


class Held(unittest.TestCase):
    def test_a_segment_that_was_removed_is_still_read(self):
        with tempfile.TemporaryDirectory() as folder:
            dump = f"{folder}/dump"
            with open(dump, "w") as file:
                file.write("#!/bin/sh\ncat \"$1\"\n")
            os.chmod(dump, 0o755)
            segment = f"{folder}/a-00000001.spool"
            with open(segment, "w") as file:
                file.write("stream host=vm1 boot_id=b stream_id=0000000000000007 period_ns=100\nframe seq=9 wall_ns=1 mono_ns=2 slot_ns=300 late_ns=0\n")
            book = ledger.Ledger(folder, dump)
            book.look()
            os.unlink(segment)
            book.look()
            self.assertEqual(book.taken, {(7, 9): ("vm1", 300)})
            self.assertEqual(book.open, {})


if __name__ == "__main__":
    unittest.main()
