# SPDX-License-Identifier: MIT
"""A copy of one run of a database, as a database of its own, and what is asked of its tables."""
import contextlib
import os
import sqlite3
import subprocess

# Columns that number rows of other tables. In another order all of them count from the other end.
NUMBERED = ("host", "stream", "instance")


def tables_of(db, schema="main"):
    """{table: [column, ...]} of a database."""
    names = [row[0] for row in db.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    return {name: [row[1] for row in db.execute(f'PRAGMA {schema}.table_info("{name}")')] for name in names}


def unpack_blocks(database, binaries):
    """Turns the blocks of events in a copy of a recording into rows, which are easier to change."""
    with contextlib.closing(sqlite3.connect(database)) as db:
        if "block" not in tables_of(db) or not db.execute("SELECT 1 FROM block LIMIT 1").fetchone():
            return
        tables = [name for name, in db.execute("SELECT DISTINCT name FROM block JOIN table_info USING (table_id)")]
    # The view has the rows of the table, too: sorted, all are read before the first is written.
    words = [f'INSERT INTO main."{name}" SELECT * FROM temp."{name}" WHERE frame IN (SELECT frame FROM frame) ORDER BY +frame, +instance, +n;'
             for name in tables]
    subprocess.run(["sqlite3", "-bail", "-cmd", f".load {os.path.abspath(binaries)}/libchokepoint-sql.so", database,
                    "BEGIN;" + "".join(words) + "DELETE FROM main.block; COMMIT;"], check=True)


def copy_run(source, number, target, other_order=False):
    """Writes the rows of one run, and what all runs share, into a new database. In the other order hosts, streams and
    instances are numbered from the other end, and the frames of a stream follow those of another."""
    with contextlib.closing(sqlite3.connect(f"file:{target}", uri=True)) as db, db:
        db.execute("ATTACH ? AS source", (f"file:{source}?mode=ro",))
        for sql, in db.execute("SELECT sql FROM source.sqlite_master WHERE type = 'table' AND sql NOT NULL AND name NOT LIKE 'sqlite_%'").fetchall():
            db.execute(sql)
        set_frames(db, number, other_order)
        for name, columns in tables_of(db).items():
            copy_table(db, name, columns, number, other_order)
        for kind in ("index", "view", "trigger"):
            for sql, in db.execute("SELECT sql FROM source.sqlite_master WHERE type = ? AND sql NOT NULL", (kind,)).fetchall():
                db.execute(sql)
        version, = db.execute("PRAGMA source.user_version").fetchone()
        application, = db.execute("PRAGMA source.application_id").fetchone()
        db.execute(f"PRAGMA user_version = {version}")
        db.execute(f"PRAGMA application_id = {application}")


def set_frames(db, number, other_order):
    """temp.chosen: the frames of the run, with their numbers in the copy."""
    order = "stream.stream DESC, frame.seq" if other_order else "frame.frame"
    db.execute("CREATE TEMP TABLE chosen(frame INTEGER PRIMARY KEY, copied INTEGER)")
    db.execute(f"INSERT INTO chosen SELECT frame.frame, row_number() OVER (ORDER BY {order}) FROM source.frame JOIN source.stream USING(stream) "
               f"JOIN source.host USING(host) WHERE host.run = ?", (number,))


def copy_table(db, name, columns, number, other_order):
    limits = {column: db.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM source.{column}").fetchone()[0] for column in NUMBERED} if other_order else {}
    values = [f"{limits[column]} - t.{column}" if column in limits and is_number(db, name, column) else "chosen.copied" if column == "frame" else f't."{column}"'
              for column in columns]
    words = f'INSERT INTO main."{name}"({", ".join(f"{chr(34)}{column}{chr(34)}" for column in columns)}) SELECT {", ".join(values)} FROM '
    of_host = f"SELECT host FROM source.host WHERE run = {number}"
    if name in ("joined", "counter_state"): # what the collector needs to go on, and no report
        return
    if "frame" in columns:
        db.execute(f'{words} chosen CROSS JOIN source."{name}" t ON t.frame = chosen.frame')
    elif "run" in columns:
        db.execute(f'{words} source."{name}" t WHERE t.run = {number}')
    elif "stream" in columns and name != "stream":
        db.execute(f'{words} source."{name}" t WHERE t.stream IN (SELECT stream FROM source.stream WHERE host IN ({of_host}))')
    elif "host" in columns and is_number(db, name, "host"):
        db.execute(f'{words} source."{name}" t WHERE t.host IN ({of_host})')
    else:
        db.execute(f'{words} source."{name}" t')


def is_number(db, table, column):
    """Whether the column holds the number of a row; `host` is a name in some tables."""
    return any(row[1] == column and row[2] == "INTEGER" for row in db.execute(f'PRAGMA main.table_info("{table}")'))


# ---- what is asked of a copy ----

class Shape:
    """The tables of a database: their columns, those that count (each row has what was added since the one before), and
    which tables are samples, which events."""
    def __init__(self, db):
        self.columns = tables_of(db)
        self.counters = {name: [] for name in self.columns}
        for table, column in db.execute("SELECT t.name, c.name FROM column_info c JOIN table_info t USING(table_id) WHERE c.kind = 'counter' ORDER BY c.ordinal"):
            if table in self.columns:
                self.counters[table].append(column)
        kinds = [(name, kind) for name, kind in db.execute("SELECT name, kind FROM table_info") if name in self.columns]
        self.samples = [name for name, kind in kinds if kind == "samples"]
        self.events = [name for name, kind in kinds if kind != "samples"]

    def rows(self, db, table, where, *values):
        """[{column: value}, ...] in the order of frames."""
        return [dict(zip(self.columns[table], row)) for row in db.execute(f'SELECT * FROM "{table}" WHERE {where}', values)]

    def zeroed(self, table, row, **others):
        """The row with nothing added since the one before."""
        return row | {name: 0 for name in self.counters[table] if row[name] is not None} | others

    def add(self, db, table, rows):
        columns = self.columns[table]
        db.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(columns))})', [[row.get(name) for name in columns] for row in rows])


def next_number(db, table):
    return db.execute(f"SELECT coalesce(max({table}), 0) + 1 FROM {table}").fetchone()[0]


def instance_of(db, host, table, name):
    """A new instance; the existing one of that name."""
    number, = db.execute("SELECT table_id FROM table_info WHERE name = ?", (table,)).fetchone()
    db.execute("INSERT OR IGNORE INTO instance(host, table_id, name) VALUES (?, ?, ?)", (host, number, name))
    return db.execute("SELECT instance FROM instance WHERE host = ? AND table_id = ? AND name = ?", (host, number, name)).fetchone()[0]
