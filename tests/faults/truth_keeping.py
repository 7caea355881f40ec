# SPDX-License-Identifier: MIT
"""Changes of a recording that keep the truth about it: what limits the run limits it as before, so the verdict has to
stay. Each takes the database of a copy (copies.py), changes it, and returns {new name: old name} of hosts, or None where
it means nothing for that recording.

Left out, as they would not keep the truth: a process that uses what the job wants; traffic on the job's own interface; a
half of a run that is not steady, and the last half of one with recorded MPI calls, whose early messages would have no
sender."""
import re

import recordings
from copies import Shape, instance_of, next_number, tables_of

HELPERS = 10
HELPER_PID = 4100000 # higher than the kernel gives
FIRST_NAME, LAST_NAME = "aa", "zz" # of hosts and interfaces that come before, or after, all others
MOMENTS = ("start_ns", "initialized_ns", "finalized_ns") # columns that are moments, other than those of frames
STEADY_PCT, STEADY_RATIO, STEADY_BYTES = 8, 1.25, 1e6 # two halves are alike within that; lower rates do not count
LEAST_HALF_S = 4
WAITING_PCT = 5 # less waiting for a core is of the scheduler's own
LEAST_SAMPLES = 25 # of each host, which have to be left; of fewer nothing is said


# ---- names ----

def hosts(db):
    """The names of hosts go to others of them: the first gets the last one's."""
    names = [name for name, in db.execute("SELECT name FROM host ORDER BY name")]
    if len(names) < 2:
        return None
    new = dict(zip(names, names[::-1]))
    for old, name in new.items():
        db.execute("UPDATE host SET name = ? WHERE name = ?", (f"\x01{name}", old))
    db.execute("UPDATE host SET name = substr(name, 2)")
    told, = db.execute("SELECT command FROM run").fetchone()
    db.execute("UPDATE run SET command = ?", (replaced(told, new),))
    for table, column in (("ceiling", "host"), ("ceiling", "peer"), ("run_usage", "host")):
        if table in tables_of(db):
            for number, name in db.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new.get(name, name), number))
    return {name: old for old, name in new.items()}


def replaced(text, names):
    """The text with whole words for others."""
    return re.sub("|".join(rf"\b{re.escape(name)}\b" for name in names), lambda match: names[match[0]], text)


def names(db):
    """Interfaces and programs have other names, in the opposite order of the alphabet."""
    rows = db.execute("SELECT instance.instance, table_info.name, instance.name FROM instance JOIN table_info USING(table_id)").fetchall()
    words = lambda tables, pattern: sorted({match for _, table, text in rows if table in tables for match in re.findall(pattern, text)})
    interfaces = {name: f"if{99 - n:02d}" for n, name in enumerate(words(("net",), r"^\S+$")) if name != "lo"}
    programs = {name: f"p{9999 - n}" for n, name in enumerate(words(("process", "wait", "wakeup"), PROGRAM))}
    for number, table, text in rows:
        if table in ("net", "qdisc", "flow"):
            text = " ".join(interfaces.get(word, word) if place == 0 else word for place, word in enumerate(text.split(" ")))
        elif table in ("process", "wait", "wakeup"):
            text = re.sub(PROGRAM, lambda match: programs[match[0]], text)
        db.execute("UPDATE instance SET name = ? WHERE instance = ?", (text, number))
    return {}


PROGRAM = r"(?:(?<=< )|^)[^\[<]+(?=\[)"


# ---- time ----

def slower(db):
    """Everything takes twice as long: times, their counters and the time between samples double, rates halve."""
    for table, columns in tables_of(db).items():
        for column in columns:
            value = twice_as_slow(table, column)
            if value:
                db.execute(f'UPDATE "{table}" SET "{column}" = {value} WHERE "{column}" NOT NULL')
    return {}


ORIGIN = "(SELECT started_mono_ns FROM run)"
WALL_ORIGIN = "(SELECT started_wall_ns FROM run)"
MOMENT_COLUMNS = {"frame": ("mono_ns",), "stream": ("first_mono_ns", "last_mono_ns"), "clock": ("mono_ns",), "clock_piece": ("from_ns", "until_ns", "at_ns"),
                  "run": ("ended_mono_ns",)}
STAYS = ("started_mono_ns", "started_wall_ns", "measured_wall_ns")


def twice_as_slow(table, column):
    """SQL of what the column becomes; None where it has nothing of time."""
    if column in STAYS or table == "budget":
        return None
    if column in ("wall_ns", "ended_wall_ns"):
        return f"2 * {column} - {WALL_ORIGIN}"
    if column in MOMENT_COLUMNS.get(table, ()) or column in MOMENTS:
        return f"max(0, 2 * {column} - {ORIGIN})"
    if column.endswith("_per_s"):
        return f"{column} / 2"
    return f"2 * {column}" if column.endswith("_ns") else None


def every_second(db):
    """Every second sample is left out; the next one has what was added meanwhile."""
    shape = Shape(db)
    fewest, = db.execute("SELECT min(n) FROM (SELECT count(*) n FROM frame JOIN stream USING(stream), run WHERE stream.period_ns <> 0 AND mono_ns > started_mono_ns "
                         "AND mono_ns < ended_mono_ns GROUP BY host)").fetchone()
    if (fewest or 0) < 2 * LEAST_SAMPLES:
        return None
    for stream, in db.execute("SELECT stream FROM stream WHERE period_ns <> 0").fetchall():
        frames = [frame for frame, in db.execute("SELECT frame FROM frame WHERE stream = ? ORDER BY seq", (stream,))]
        pairs = list(zip(frames[1::2], frames[2::2]))
        for left_out, kept in pairs:
            merge(db, shape, left_out, kept)
        left = [frame for frame in frames if frame not in dict(pairs)]
        for place, frame in enumerate(left):
            db.execute("UPDATE frame SET seq = ? WHERE frame = ?", (place + 1, frame))
        db.execute("UPDATE stream SET period_ns = 2 * period_ns, frames = ?, last_seq = ?, missed_slots = 0, head_missed = 0 WHERE stream = ?", (len(left), len(left), stream))
    db.execute("UPDATE run SET period_ns = 2 * period_ns")
    return {}


def merge(db, shape, left_out, kept):
    """Adds the rows of one frame to those of the next, which takes over those that it has none for."""
    for table in shape.samples:
        if not db.execute(f'SELECT 1 FROM "{table}" WHERE frame = ? LIMIT 1', (left_out,)).fetchone():
            continue
        sums = ", ".join(f'"{name}" = t."{name}" + o."{name}"' for name in ("interval_ns", *shape.counters[table]))
        db.execute(f'UPDATE "{table}" AS t SET {sums} FROM "{table}" AS o WHERE t.frame = ? AND o.frame = ? AND o.instance = t.instance', (kept, left_out))
        db.execute(f'DELETE FROM "{table}" WHERE frame = ? AND instance IN (SELECT instance FROM "{table}" WHERE frame = ?)', (left_out, kept))
        db.execute(f'UPDATE "{table}" SET frame = ? WHERE frame = ?', (kept, left_out))
    for table in shape.events:
        db.execute(f'UPDATE "{table}" SET frame = ?, n = n + 1000000 WHERE frame = ?', (kept, left_out))
    db.execute("UPDATE OR REPLACE counter_reset SET frame = ? WHERE frame = ?", (kept, left_out))
    db.execute("DELETE FROM frame WHERE frame = ?", (left_out,))


# ---- halves of a steady run ----

def middle(db):
    start, end = db.execute("SELECT started_mono_ns, coalesce(ended_mono_ns, (SELECT max(last_mono_ns) FROM stream)) FROM run").fetchone()
    return start, (start + end) // 2, end


def rates(db, from_ns, until_ns):
    """{(host, what): (seconds or bytes a second, whether seconds)} between two moments."""
    result, seconds = {}, (until_ns - from_ns) * 1e-9
    for table, column in (("process", "user_ns + system_ns"), ("net", "send_bytes"), ("net", "receive_bytes"), ("disk", "read_bytes"), ("disk", "write_bytes")):
        if table in tables_of(db):
            for host, total in db.execute(f'SELECT host.name, sum({column}) FROM "{table}" JOIN frame USING(frame) JOIN stream USING(stream) JOIN host USING(host) '
                                          f'WHERE mono_ns > ? AND mono_ns <= ? {"AND job = 1" if table == "process" else ""} GROUP BY host.name', (from_ns, until_ns)):
                result[host, column] = ((total or 0) * (1e-9 if column.endswith("ns") else 1) / seconds, column.endswith("ns"))
    return result


def is_steady(db):
    """Whether both halves of the run compute, send and write as much on each host."""
    start, half, end = middle(db)
    if (end - start) * 1e-9 < 2 * LEAST_HALF_S:
        return False
    first, last = rates(db, start, half), rates(db, half, end)
    return all(are_alike(*(part.get(what, (0, seconds))[0] for part in (first, last)), seconds) for what, (_, seconds) in (first | last).items())


def are_alike(one, other, seconds):
    if seconds:
        return abs(one - other) <= STEADY_PCT / 100
    return max(one, other) <= max(STEADY_BYTES, STEADY_RATIO * min(one, other))


def first_half(db):
    """A steady run ends at half of its time."""
    if not is_steady(db):
        return None
    start, half, _ = middle(db)
    recordings.remove_after(db, (half - start) * 1e-9)
    return {}


def last_half(db):
    """A steady run without recorded MPI calls begins at half of its time."""
    if not is_steady(db) or ("call" in tables_of(db) and db.execute("SELECT 1 FROM call LIMIT 1").fetchone()):
        return None
    start, half, _ = middle(db)
    early = f"SELECT frame FROM frame JOIN stream USING(stream) WHERE period_ns <> 0 AND mono_ns < {half}"
    first = f"SELECT min(frame) FROM frame JOIN stream USING(stream) WHERE period_ns <> 0 AND mono_ns >= {half} GROUP BY stream"
    shape = Shape(db)
    for table in shape.samples:
        db.execute(f'DELETE FROM "{table}" WHERE frame IN ({early})')
        cut = ", ".join(f'"{name}" = NULL' for name in ("interval_ns", *shape.counters[table]))
        db.execute(f'UPDATE "{table}" SET {cut} WHERE (SELECT mono_ns FROM frame f WHERE f.frame = "{table}".frame) - interval_ns < {half}')
    if "mark" in shape.columns:
        db.execute(f"DELETE FROM mark WHERE start_ns < {half}")
    db.execute(f"DELETE FROM counter_reset WHERE frame IN ({early})")
    db.execute(f"DELETE FROM frame WHERE frame IN ({early})")
    for frame, in db.execute(first).fetchall():
        db.execute("UPDATE frame SET missed = 0, lost = 0 WHERE frame = ?", (frame,))
    db.execute(f"UPDATE stream SET first_mono_ns = max(first_mono_ns, {half}), head_missed = 0, head_lost = 0, "
               "frames = (SELECT count(*) FROM frame WHERE frame.stream = stream.stream)")
    db.execute(f"UPDATE run SET started_mono_ns = {half}, started_wall_ns = started_wall_ns + {half - start}")
    return {}


# ---- more of what does not matter ----

def processes_of(db, job):
    """{host: the instance of its process that was there longest}."""
    result = {}
    for host, instance in db.execute("SELECT host, instance FROM process JOIN instance USING(instance) WHERE job = ? AND pid > 0 "
                                     "GROUP BY instance ORDER BY count(*) DESC, instance", (job,)):
        result.setdefault(host, instance)
    return result


def helpers(db):
    """Ten processes of the job wait for ever: every second one reads a pipe, the others poll."""
    donors, shape = processes_of(db, 1), Shape(db)
    for number in range(HELPERS if donors else 0):
        host = sorted(donors)[number % len(donors)]
        pid, program = HELPER_PID + number, f"helper{number % 3}"
        asleep = {"pid": pid, "rank": None, "threads": 1, "rss_bytes": 2 << 20, "instance": instance_of(db, host, "process", f"{program} wait[{pid}]")}
        shape.add(db, "process", [shape.zeroed("process", row, **asleep) for row in shape.rows(db, "process", "instance = ?", donors[host])])
        if "wait" in shape.columns:
            add_waits(db, shape, host, pid, program, "pipe" if number % 2 else "poll")
    return {} if donors else None


def add_waits(db, shape, host, pid, program, state):
    longest = db.execute("SELECT instance FROM wait JOIN instance USING(instance) WHERE host = ? AND pid > 0 AND pid < ? "
                         "GROUP BY instance ORDER BY count(*) DESC, instance LIMIT 1", (host, HELPER_PID)).fetchone()
    if longest:
        new = {"pid": pid, "rank": None, "threads": 1, "instance": instance_of(db, host, "wait", f"{program}[{pid}]")}
        shape.add(db, "wait", [shape.zeroed("wait", row, **new, **{f"{state}_ns": row["interval_ns"], f"process_{state}_ns": row["interval_ns"]})
                               for row in shape.rows(db, "wait", "instance = ?", longest[0])])


IDLE_TABLES = ("cpu", "memory", "vmstat", "disk", "net", "psi", "qdisc", "load", "filesystem", "self")


def idle_host(db):
    """One more host, whose name comes first, of which nothing is asked."""
    donor, = db.execute("SELECT host FROM stream WHERE period_ns <> 0 ORDER BY frames DESC, stream LIMIT 1").fetchone()
    host, shape = next_number(db, "host"), Shape(db)
    db.execute("INSERT INTO host(host, run, name) SELECT ?, run, ? FROM run", (host, FIRST_NAME))
    copied = copied_frames(db, shape, donor, host)
    for table in [table for table in IDLE_TABLES if table in shape.columns]:
        copy_idle(db, shape, table, donor, host, copied)
    db.execute("UPDATE run SET hosts_expected = hosts_expected + 1")
    return {FIRST_NAME: "the idle host"}


def copied_frames(db, shape, donor, host):
    """{frame: its copy} of the host's samples, in a stream of its own."""
    copied = {}
    for stream, in db.execute("SELECT stream FROM stream WHERE host = ? AND period_ns <> 0", (donor,)).fetchall():
        new = {"stream": next_number(db, "stream")}
        for table, others in (("stream", {"host": host, "boot_id": "an idle host"}), ("clock_piece", {})):
            if table in shape.columns:
                shape.add(db, table, [row | new | others for row in shape.rows(db, table, "stream = ?", stream)])
        frames = shape.rows(db, "frame", "stream = ? ORDER BY seq", stream)
        own = {row["frame"]: next_number(db, "frame") + place for place, row in enumerate(frames)}
        shape.add(db, "frame", [row | new | {"frame": own[row["frame"]]} for row in frames])
        copied |= own
    return copied


def copy_idle(db, shape, table, donor, host, copied):
    for instance, name in db.execute("SELECT instance.instance, instance.name FROM instance JOIN table_info USING(table_id) "
                                     "WHERE host = ? AND table_info.name = ?", (donor, table)).fetchall():
        new = {"instance": instance_of(db, host, table, name)}
        rows = [row | new for row in shape.rows(db, table, "instance = ?", instance) if row["frame"] in copied]
        if table != "self":
            rows = [shape.zeroed(table, row, **({"idle_ns": row["interval_ns"]} if table == "cpu" else {})) for row in rows]
        shape.add(db, table, [row | {"frame": copied[row["frame"]]} for row in rows])


def add_foreign(db, shape, host, donor, name, rss_bytes, used):
    """A process that is not the job's, with the CPU time that used(row) tells of each of its rows."""
    new = {"pid": HELPER_PID, "parent": 1, "rank": None, "job": 0, "threads": 1, "rss_bytes": rss_bytes, "run_queue_ns": None, "block_io_ns": None,
           "instance": instance_of(db, host, "process", f"{name}[{HELPER_PID}]")}
    shape.add(db, "process", [shape.zeroed("process", row, **new, user_ns=row["interval_ns"] and used(row)) for row in shape.rows(db, "process", "instance = ?", donor)])


def foreign(db):
    """A program that is not the job's holds memory, hardly computes, and loads down through an interface of its own."""
    donors, shape = processes_of(db, 1), Shape(db)
    if not donors:
        return None
    host = min(donors)
    add_foreign(db, shape, host, donors[host], "downloader", 300 << 20, lambda row: row["interval_ns"] // 200)
    own = db.execute("SELECT instance.instance FROM instance JOIN table_info USING(table_id) WHERE host = ? AND table_info.name = 'net' "
                     "AND instance.name <> 'lo' LIMIT 1", (host,)).fetchone()
    if own:
        new = {"instance": instance_of(db, host, "net", f"{LAST_NAME}0"), "speed_bytes_per_s": 125000000, "network": None}
        shape.add(db, "net", [shape.zeroed("net", row, **new, **traffic(row["interval_ns"])) for row in shape.rows(db, "net", "instance = ?", own[0])])
    return {}


def traffic(interval_ns):
    """10 MB/s received."""
    loaded = interval_ns and interval_ns // 100
    return {"receive_bytes": loaded, "receive_packets": loaded and loaded // 1400, "send_bytes": loaded and loaded // 50, "send_packets": loaded and loaded // 2800}


def waits_for_cores(db):
    """Whether a process of the job does that more than now and then: somebody held its core."""
    shares = db.execute("SELECT 1.0 * sum(run_queue_ns) / sum(interval_ns) FROM process WHERE job = 1 AND run_queue_ns NOT NULL GROUP BY instance").fetchall()
    return max((share for share, in shares if share), default=0) > WAITING_PCT / 100


def idle_hog(db):
    """A program of another user takes most of the time that cores were idle, and yields at once to any other (SCHED_IDLE):
    nobody waits for a core longer than before. Where the job waited for cores, the hog would be suspected with reason."""
    if waits_for_cores(db):
        return None
    donors, shape = processes_of(db, 1), Shape(db)
    for host, donor in donors.items():
        add_foreign(db, shape, host, donor, "miner", 2 << 20, lambda row: idle_ns(db, host, row) * 9 // 10)
    of_hosts = f"SELECT instance FROM instance WHERE host IN ({','.join(map(str, donors))})"
    db.execute(f"UPDATE cpu SET nice_ns = coalesce(nice_ns, 0) + idle_ns * 9 / 10, idle_ns = idle_ns - idle_ns * 9 / 10 WHERE instance IN ({of_hosts})")
    return {} if donors else None


def idle_ns(db, host, row):
    """Idle time of the host's cores within the interval of a row."""
    until, = db.execute("SELECT mono_ns FROM frame WHERE frame = ?", (row["frame"],)).fetchone()
    idle, = db.execute("SELECT sum(cpu.idle_ns) FROM instance JOIN stream USING(host) JOIN frame USING(stream) JOIN cpu USING(frame, instance) "
                       "WHERE host = ? AND mono_ns > ? AND mono_ns <= ?", (host, until - row["interval_ns"], until)).fetchone()
    return idle or 0


CHANGES = {"hosts": hosts, "order": None, "names": names, "slower": slower, "helpers": helpers, "idle-host": idle_host, "foreign": foreign, "idle-hog": idle_hog,
           "every-second": every_second, "first-half": first_half, "last-half": last_half} # order: another copy (copies.copy_run)
LESS_DATA = ("every-second", "first-half", "last-half", "slower") # these may be less, or more, sure of the same
