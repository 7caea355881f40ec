# SPDX-License-Identifier: MIT
"""Compares the samples that agents took, read at their source, with those in the database.

Each segment of a spool is opened as soon as it appears, so that it can be read even after its removal. A sample counts as taken
if its frame is complete in a segment. A taken sample that is not in the database must be counted there as lost, or come by
`chokepoint import`."""
import os
import re
import sqlite3
import subprocess


class Ledger:
    """The samples in all spools below a folder."""

    def __init__(self, folder, dump):
        self.folder, self.dump = folder, dump
        self.open = {}   # (device, inode): descriptor
        self.taken = {}  # (stream id, sequence number): (host, slot in ns)
        self.segments = 0

    def look(self):
        """Opens new segments, and reads removed ones."""
        for where, _, names in os.walk(self.folder):
            for name in names:
                if name.endswith(".spool"):
                    self._hold(os.path.join(where, name))
        for key, descriptor in list(self.open.items()):
            if os.fstat(descriptor).st_nlink == 0:
                self._read(descriptor)
                os.close(self.open.pop(key))

    def close(self):
        """Reads the remaining segments, too."""
        self.look()
        for descriptor in self.open.values():
            self._read(descriptor)
            os.close(descriptor)
        self.open = {}

    def _hold(self, path):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return
        status = os.fstat(descriptor)
        key = status.st_dev, status.st_ino
        if key in self.open:
            os.close(descriptor)
        else:
            self.open[key] = descriptor
            self.segments += 1

    def _read(self, descriptor):
        """A cut tail ends the dump, but not the frames before it."""
        done = subprocess.run([self.dump, f"/proc/self/fd/{descriptor}"], pass_fds=[descriptor], capture_output=True, text=True,
                              errors="replace")
        stream = host = None
        for line in done.stdout.splitlines():
            if line.startswith("stream "):
                host, stream = re.search(r"host=(\S+).* stream_id=(\w+)", line).groups()
            elif line.startswith("frame "):
                seq, slot = re.search(r"seq=(\d+).* slot_ns=(-?\d+)", line).groups()
                self.taken[int(stream, 16), int(seq)] = host, int(slot)


class Stored:
    """The samples in a database, without streams of single events, whose period is 0."""

    def __init__(self, database):
        # Read-only, so that nothing is healed that another reader would meet.
        db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=20)
        query = lambda words: db.execute(words).fetchall()
        unsigned = lambda number: number & (1 << 64) - 1
        self.frames = [(unsigned(stream), seq) for stream, seq in query(
            "SELECT stream_id, seq FROM frame JOIN stream USING (stream) WHERE period_ns <> 0")]
        self.lost = {}  # stream id: number counted as lost
        for stream, lost in query("SELECT stream_id, lost_frames + head_lost FROM stream WHERE period_ns <> 0"):
            self.lost[unsigned(stream)] = self.lost.get(unsigned(stream), 0) + lost
        self.hosts = query("SELECT host, samples, missed, lost, gaps, restarts, duplicates,"
                           " round((last_s - first_s) * 1e9 / (SELECT period_ns FROM run LIMIT 1)) + 1 FROM run_host")
        self.whole = query("PRAGMA integrity_check")[0][0]
        db.close()


def compare(ledger, stored):
    """{kind: number}, and the names of wrong samples."""
    kept = set(stored.frames)
    missing = [key for key in ledger.taken if key not in kept]
    by_stream = {}
    for stream, _ in missing:
        by_stream[stream] = by_stream.get(stream, 0) + 1
    uncounted = sum(max(0, n - stored.lost.get(stream, 0)) for stream, n in by_stream.items())
    rows = {"taken": len(ledger.taken), "stored": len(stored.frames), "stored twice": len(stored.frames) - len(kept),
            "stored, never seen in a spool": len(kept - ledger.taken.keys()), "taken, not stored": len(missing),
            "of these not counted as lost": uncounted}
    wrong = [name for name in ("stored twice", "of these not counted as lost") if rows[name]]
    if stored.whole != "ok":
        wrong.append(f"the database: {stored.whole}")
    return rows, wrong
