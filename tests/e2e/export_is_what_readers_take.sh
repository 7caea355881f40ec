#!/bin/bash
# SPDX-License-Identifier: MIT
# A training on two ranks is exported: the timeline has every iteration with the program's own duration, the files
# obey the rules of their formats, and agree with the database. A refusal is one line.
. "$(dirname "$0")/run_lib.sh" || exit 1
tools=$CHOKEPOINT_SOURCE/tests/tools
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 "$tools/check_trace.py" "$CHOKEPOINT_SOURCE/tests/golden/export-perfetto.json" >"$work/out" || fail "golden timeline"
python3 "$tools/check_openmetrics.py" "$CHOKEPOINT_SOURCE/tests/golden/export-openmetrics.txt" >"$work/out" ||
    fail "golden metrics"

# refuses WORDS... -- TEXT: exit status 2 and one line on standard error that contains TEXT
refuses() {
    local words=()
    while [ "$1" != -- ]; do words+=("$1"); shift; done
    "$chokepoint" export "${words[@]}" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "export ${words[*]}: not refused"
    [ ! -s "$work/out" ] || fail "export ${words[*]}: says something on standard output"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "export ${words[*]}: not one line"
    grep -q -- "$2" "$work/err" || fail "export ${words[*]}: does not say '$2'"
}
refuses --format perfetto --db "$work/none.db" -- "no database"
[ ! -e "$work/none.db" ] || fail "export makes a database"
refuses --db "$work/none.db" -- "--format is missing"
refuses --format pdf -- "unknown format 'pdf'; there are perfetto, csv, openmetrics and smpi"
refuses --format perfetto --table net -- "--table goes with csv"
refuses --format perfetto 1 2 -- "one run"
refuses --format smpi -- "-o is missing"
refuses --no-such-option -- "option"
refuses --format -- "missing"

# ---- a training, or, without MPI, a command
export ASAN_OPTIONS=detect_leaks=0 # MPI leaves memory behind that is not ours to free
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
sgd=$CHOKEPOINT_BIN/chokepoint-sgd
mpi=false
command -v mpirun >/dev/null && [ -x "$sgd" ] && mpi=true
if $mpi; then
    "$sgd" generate --features 20000 --examples 20000 --files 3 --out data --test-examples 2000 >out || fail "generate"
    # Processes are scanned once a second, and a scan names their track: ranks that live between two scans have no
    # name.
    run -q mpirun --oversubscribe -np 2 "$sgd" --mode sync --transfer dense --features 2000000 --data data \
        --iterations 600 --test-every 250 --json summary.json
else
    run -q sh -c 'sleep 1'
fi
[ $status -eq 0 ] || fail "run"
unset ASAN_OPTIONS

"$chokepoint" export --db "$db" --format perfetto -o trace.json 2>err || fail "export perfetto: $(cat err)"
python3 -m json.tool trace.json >json || fail "the timeline is no JSON"
python3 "$tools/check_trace.py" trace.json >out || fail "the timeline"
cat out
if $mpi; then
    python3 "$tools/check_trace.py" trace.json iteration >iterations || fail "iterations"
    python3 - <<'END' || fail "iterations differ from the program's own"
import json, re, statistics
summary = json.load(open("summary.json"))
rows = [line.rstrip("\n").split("\t") for line in open("iterations")]
for rank in summary["by_rank"]:
    mine = [row for row in rows if re.fullmatch(rf"rank {rank['rank']} chokepoint-sgd\[\d+\]", row[3])]
    numbers = [json.loads(row[5])["number"] for row in mine]
    first = numbers[0]
    assert numbers == list(range(first, first + rank["iterations"])), (rank["rank"], numbers)
    median = statistics.median(int(row[1]) for row in mine) / 1e9
    assert abs(median - rank["iteration_s"]) < 0.005 * median + 5e-6, (median, rank["iteration_s"])
assert len(rows) == sum(rank["iterations"] for rank in summary["by_rank"])
print("medians:", [rank["iteration_s"] for rank in summary["by_rank"]])
END
    python3 "$tools/check_trace.py" trace.json phase >phases || fail "phases"
    [ "$(grep -c training phases)" -ge 2 ] || fail "phases of the training"
    python3 "$tools/check_trace.py" trace.json operator >operators || fail "operators"
    [ "$(wc -l <operators)" -eq "$(sql "SELECT count(*) FROM mark WHERE kind = 3 AND duration_ns IS NOT NULL")" ] ||
        fail "operators are missing"
    ! grep -q '(2)' operators || fail "what nests is not on the rank's own track"
fi
if [ "$(sql "SELECT count(*) FROM sqlite_master WHERE name = 'call'")" -gt 0 ]; then
    python3 "$tools/check_trace.py" trace.json mpi >calls || fail "calls of MPI"
    # messages of a call and lives of requests are no calls of their own
    # a row of polls is one slice, which says of how many events
    told=$(awk -F'\t' '{ n += match($6, /"events": [0-9]+/) ? substr($6, RSTART + 10, RLENGTH - 10) : 1 } END { print n }' calls)
    [ "$told" -eq "$(sql "SELECT count(*) FROM call WHERE flags & 12 = 0")" ] ||
        fail "$told calls of $(sql "SELECT count(*) FROM call")"
    grep -q ' [1-9][0-9]* arrows$' out || fail "no arrow from a send to its receive: $(cat out)"
    ! grep -q 'rank rank' trace.json || fail "a rank is named twice"
    echo "$(wc -l <calls) calls of MPI"
fi

# ---- the last values are the sums of the database
"$chokepoint" export --db "$db" --format openmetrics >metrics || fail "export openmetrics"
python3 "$tools/check_openmetrics.py" metrics >out || fail "the metrics"
cat out
python3 "$tools/check_openmetrics.py" metrics chokepoint_net_receive_bytes_total | grep 'interface=lo ' >lo
[ "$(awk '{ print $NF }' lo)" -eq "$(sql "SELECT sum(receive_bytes) FROM net JOIN instance USING(instance) WHERE name = 'lo'")" ] ||
    fail "bytes of lo: $(cat lo)"
python3 "$tools/check_openmetrics.py" metrics chokepoint_memory_total_bytes | grep -q " $(sql "SELECT max(total_bytes) FROM memory")$" ||
    fail "memory"

# ---- a table is its view
"$chokepoint" export --db "$db" --format csv --table cpu -o cpu.csv || fail "export csv"
python3 - "$db" <<'END' || fail "csv and view differ"
import csv, sqlite3, sys
rows = list(csv.reader(open("cpu.csv", newline="")))
cursor = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT * FROM cpu_rate ORDER BY 2, 4, 3, 5")
assert rows[0] == [column[0] for column in cursor.description]
planned = list(cursor)
assert len(rows) - 1 == len(planned) > 4
for row, plan in zip(rows[1:], planned):
    for text, value in zip(row, plan):
        assert (text == "") if value is None else text == value if isinstance(value, str) else \
            abs(float(text) - value) <= 1e-9 * abs(value), (text, value)
END

# ---- a simulator replays the calls; the training polls, more on full cores, and traces do not know polls
messages=$CHOKEPOINT_BIN/chokepoint-messages
if $mpi && [ "$(sql "SELECT count(*) FROM sqlite_master WHERE name = 'call'")" -gt 0 ]; then
    "$chokepoint" export --format smpi --db "$db" -o smpi >out 2>err || grep -q "which traces do not know" err || fail "smpi: $(cat err)"
    rm -rf smpi
    ASAN_OPTIONS=detect_leaks=0 "$chokepoint" run -q --db messages.db mpirun --oversubscribe -np 2 --mca btl self,tcp "$messages" --bytes 100000 --seconds 1 >out 2>&1 ||
        fail "messages: $(cat out)"
    "$chokepoint" export --db messages.db --format smpi -o smpi 2>err || fail "export smpi: $(cat err)"
    [ "$(paste -sd' ' smpi/traces)" = "rank0 rank1" ] && [ "$(wc -l <smpi/hosts)" -eq 2 ] || fail "smpi: $(cat smpi/traces smpi/hosts)"
    [ "$(grep -c '^1 ' smpi/rank1)" -eq "$(wc -l <smpi/rank1)" ] || fail "smpi: not all actions are of rank 1"
    grep -q '<host id="[^"]*" speed="[1-9][0-9]*f"' smpi/platform.xml || fail "smpi: no host: $(cat smpi/platform.xml)"
    if command -v smpirun >/dev/null; then
        took=$(sed -n 's/.*the run took \([0-9.]*\) s.*/\1/p' smpi/platform.xml)
        (cd smpi && smpirun -np 2 -platform platform.xml -hostfile hosts -replay traces) >replayed 2>&1 || fail "smpirun: $(tail -n 3 replayed)"
        simulated=$(sed -n 's/.*Simulation time \([0-9.]*\).*/\1/p' replayed | tail -n 1)
        # others have the cores meanwhile, which the simulated machine does not know
        awk -v took="$took" -v simulated="$simulated" 'BEGIN { exit !(simulated > 0 && simulated < 1.5 * took) }' ||
            fail "smpirun takes '$simulated' s for a run of $took s"
        echo "smpirun takes $simulated s for a run of $took s"
    fi
    refuses --format smpi --db messages.db -o smpi -- "not empty"
    rm -rf smpi replayed messages.db*
else
    refuses --format smpi --db "$db" -o smpi -- "no MPI calls"
    [ ! -e smpi ] || fail "a refused run leaves a folder"
fi

refuses 7 --format perfetto --db "$db" -- "no run '7'"
refuses --format csv --db "$db" -- "--table is missing; there are .*cpu"
refuses --format csv --table 'x" --' --db "$db" -- "no table 'x\" --' in run 'last'; there are .*cpu"
refuses --format csv --table run --db "$db" -- "no table 'run'"
refuses --format perfetto --db "$db" -o "$work/no/such/directory/x" -- "cannot write"
refuses --format perfetto --db "$db" -o "$work" -- "cannot write"
echo precious >keep.json
before=$(ls)
"$chokepoint" export --db "$db" --format perfetto >/dev/full 2>err && fail "a full standard output is not noticed"
if mkdir small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
    echo precious >small/keep.json
    "$chokepoint" export --db "$db" --format perfetto -o small/keep.json 2>err
    status=$? kept=$(cat small/keep.json) there=$(ls small)
    umount small
    [ $status -eq 2 ] && grep -q "No space" err || fail "a full disk: exit status $status"
    [ "$kept" = precious ] && [ "$there" = keep.json ] || fail "a full disk: '$kept', $there"
fi
rmdir small
ln -s keep.json link
(umask 027 && "$chokepoint" export --db "$db" --format csv --table mark -o link && [ -L link ] && [ ! -L keep.json ] &&
    grep -q ^run keep.json) || fail "behind a link"
rm link
[ "$(ls)" = "$before" ] || fail "something is left: $(ls)"
