#!/bin/bash
# SPDX-License-Identifier: MIT
# A database whose pages lead to each other endlessly blocks no verb for ever: each gives up after its own time, says
# in one line that the database cannot be read, and exits with 2.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }

"$chokepoint" sweep --db "$db" -n one -L mode a,b --no-report sh -c 'sleep 0.3; true {mode}' >out 2>err || fail "no runs"

# knot FILE TREE [TIMES]: all cells of the root of an index or table lead to a copy of it, those of the copy to the
# next, twelve times, and the last to a leaf.
knot() {
    python3 - "$1" "$2" "${3:-12}" <<'END'
import sqlite3, struct, sys
path, index, times = sys.argv[1:]
with sqlite3.connect(path) as db:
    root, = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
    size, = db.execute("PRAGMA page_size").fetchone()
db.close()
with open(path, "rb") as file:
    data = bytearray(file.read())
page = lambda number: data[(number - 1) * size:number * size]
links = lambda page: [struct.unpack_from(">H", page, 12 + 2 * i)[0] for i in range(struct.unpack_from(">H", page, 3)[0])]
led_to = lambda page, i: struct.unpack_from(">I", page, links(page)[i])[0]
top = page(root)
copies = int(times) - 1
assert top[0] in (2, 5) and len(links(top)) >= 2 * copies + 2, (top[0], len(links(top)))
leaf = led_to(top, len(links(top)) // 2)
chain = [root, *(led_to(top, i) for i in range(copies)), leaf]
for number, following in zip(chain, chain[1:]):
    for at in [8, *links(top)]:
        struct.pack_into(">I", top, at, following)
    data[(number - 1) * size:number * size] = top
with open(path, "wb") as file:
    file.write(data)
END
}
# given_up FILE TEXT WORDS...
given_up() {
    local file=$1 text=$2 status
    shift 2
    "$chokepoint" "$@" --db "$file" >out 2>err </dev/null
    status=$?
    [ $status -eq 2 ] || fail "chokepoint $* exits with $status"
    [ "$(wc -l <err)" -eq 1 ] && grep -q "$text" err || fail "chokepoint $*: not one line with '$text'"
}

# Instances of a table are kept while they are read, up to a bound.
numbers='WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 1000)'
sqlite3 "$db" '.backup instances.db' && sqlite3 instances.db "$numbers INSERT INTO instance(host, table_id, name)
    SELECT 1, table_id, printf('%0100d', i) FROM x, table_info WHERE name = 'cpu'" || fail "instances"
knot instances.db sqlite_autoindex_instance_1 || fail "see above"
for words in "report 1" "whatif 1 --cpu $(hostname)=2x" "compare 1 2" "export --format perfetto 1" "sweep report"; do
    given_up instances.db 'holds more than is read: more than a million instances\|is damaged' $words
done
# Hosts: a run may have any number.
sqlite3 "$db" '.backup hosts.db' && sqlite3 hosts.db "$numbers INSERT INTO host(run, name) SELECT 1, printf('%0100d', i) FROM x" || fail "hosts"
knot hosts.db sqlite_autoindex_host_1 || fail "see above"
given_up hosts.db 'is damaged\|holds more than is read' list
# Runs that share their texts: a file of a few MiB would take hundreds in memory, or never end.
sqlite3 "$db" '.backup texts.db' && sqlite3 texts.db 'WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 64)
    INSERT INTO run(name, command, state, started_wall_ns, started_mono_ns, period_ns, hosts_expected, version)
    SELECT name, hex(zeroblob(32000)), state, started_wall_ns, started_mono_ns, period_ns, hosts_expected, version FROM x, run WHERE run = 1' || fail "runs"
"$chokepoint" list --db texts.db >out 2>err && [ "$(wc -l <out)" -gt 60 ] || fail "64 honest runs are not listed: $(cat err)"
knot texts.db run 3 || fail "see above"
given_up texts.db 'is damaged' list
