#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint jobs`: a run that sleeps on all cores stands above one that uses them; both go into a table of PostgreSQL, once,
# however often they are sent.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
cores=$(nproc)
run -n busy sh -c "for i in $(seq -s ' ' "$cores"); do timeout 3 sh -c 'while :; do :; done' & done; wait"
[ $status = 0 ] || fail "busy: $status"
run -n asleep sleep 3
run -n unknown --no-report sleep 1

"$chokepoint" jobs --db "$db" >jobs || fail "jobs: $?"
cat jobs
awk 'NR == 2 && $2 != "asleep" || NR == 3 && $2 != "busy" || NR == 4 && $2 != "unknown"' jobs | grep . && fail "not the worst first"
grep -q '^3 runs left cores unused for .*; not known of 1' jobs || fail "no sum"

# As much as the kernel says of the same run.
"$chokepoint" jobs --db "$db" --format json >jobs.json
claims jobs.json "$db" <<'DONE' || fail "see above"
import json, sqlite3, sys
runs = {run["name"]: run for run in json.load(open(sys.argv[1]))["runs"]}
db = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
for name in ("busy", "asleep"):
    run = runs[name]
    charged = db.execute("SELECT (user_ns + system_ns) / 1e9 FROM run_usage WHERE run = ?", (run["id"],)).fetchone()[0]
    used = run["cores_used"] * run["duration_s"]
    print(f"{name}: {used:.3f} core seconds of {run['cores'] * run['duration_s']:.3f}; charged: {charged:.3f}")
    assert abs(used - charged) < .1 * charged + .1, name
assert runs["unknown"]["cores_used"] is None
DONE

"$chokepoint" jobs --db "$db" --since 2000-01-01 --order start >out || fail "by start"
awk 'NR == 2 { print $2 }' out | grep -qx unknown || fail "the latest is not first"
"$chokepoint" jobs --db "$db" --since 0s 2>&1 | grep -q "no run since then" || fail "runs of the future"
cp "$db" other.db
"$chokepoint" jobs "$db" other.db | grep -c asleep | grep -qx 2 || fail "two files are not two jobs"
"$chokepoint" jobs --since soon >out 2>&1
[ $? = 2 ] && [ "$(wc -l <out)" = 1 ] || fail "bad time: $(cat out)"
PGHOST=$work "$chokepoint" jobs --db "$db" --postgres jobs >out 2>&1
[ $? = 1 ] && [ "$(wc -l <out)" = 1 ] || fail "no server: $(cat out)"

grep -q 'built without libpq' out && { echo "SKIPPED: built without libpq"; exit 77; }
postgres=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
{ [ -n "$postgres" ] && getent passwd postgres >/dev/null; } || { echo "SKIPPED: no postgresql"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "SKIPPED: needs root, to become postgres"; exit 77; }
mkdir place && chown postgres place && chmod 711 "$work"
as_postgres() { exec setpriv --reuid postgres --regid postgres --clear-groups env -i PATH="$PATH" HOME="$work/place" "$@"; }
(as_postgres "$postgres/initdb" -D "$work/place/data" -A trust) >/dev/null || fail "initdb"
as_postgres "$postgres/postgres" -D "$work/place/data" -k "$work/place" -c listen_addresses= >server.log 2>&1 &
server=$!
export PGHOST=$work/place PGUSER=postgres PGDATABASE=postgres
is_up() { psql -qAtc 'SELECT 1' >/dev/null 2>&1; }
until_true is_up
for _ in 1 2; do "$chokepoint" jobs --db "$db" --postgres "the jobs" || fail "not stored: $(tail -n 3 server.log)"; done
psql -qAtc "SELECT job->>'name' FROM \"the jobs\" WHERE (job->>'cores_used') IS NOT NULL ORDER BY (job->>'cores')::float - (job->>'cores_used')::float DESC" >rows
[ "$(tr '\n' ' ' <rows)" = "asleep busy " ] || fail "rows: $(cat rows)"
[ "$(psql -qAtc 'SELECT count(*) FROM "the jobs"')" = 3 ] || fail "not three rows"
kill -INT $server
wait $server
exit 0
