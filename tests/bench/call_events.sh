#!/bin/bash
# SPDX-License-Identifier: MIT
# Single MPI calls, from the rings of two ranks on this machine to the database: how many per second an agent can take,
# the CPU time, the size of a call in the spool (which is the wire's form) and in SQLite, the time of delivery after
# the command; beside the same run without the shim. Usage: call_events.sh [BIN]; ROUNDS, PAUSE_US in the environment.
set -u
bin=$(readlink -f "${1:-${CHOKEPOINT_BIN:?usage: call_events.sh BIN}}")
rounds=${ROUNDS:-60000}
pause=${PAUSE_US:-1}
work=$(mktemp -d)
agent=
finish() { [ -z "$agent" ] || kill "$agent" 2>/dev/null; wait; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$bin/calls_paced" ] || { echo "skipped: no MPI"; exit 77; }
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 EXPECT=$work/expect
job=(mpirun --oversubscribe -np 2 -x EXPECT "$bin/calls_paced" "$rounds" "$pause")
sql() { sqlite3 "$work/db" "$1"; }
ms() { echo $(($(date +%s%N) / 1000000)); }
number() { awk "BEGIN { printf \"%.$2f\", $1 }"; }

# run OPTIONS...: sets after_ms, from the command's end to the end of `run`.
run() {
    "$bin/chokepoint" run --no-report --quiet --db db "$@" "${job[@]}" || fail "exit status $?"
    after_ms=$(($(ms) - $(sql "SELECT ended_wall_ns / 1000000 FROM run ORDER BY run DESC LIMIT 1")))
}
run --no-shim
without_ms=$after_ms without_s=$(sql "SELECT (ended_mono_ns - started_mono_ns) / 1e9 FROM run WHERE run = 1")
run
with_s=$(sql "SELECT (ended_mono_ns - started_mono_ns) / 1e9 FROM run WHERE run = 2")
calls=$(sql "SELECT sum(n) FROM block JOIN table_info USING (table_id) WHERE name = 'call'") lost=$(sql "SELECT sum(lost_events) FROM mpi")
events=$(sql "SELECT sum(events) FROM mpi")
[ "$events" -eq $((4 * rounds + 4)) ] || fail "$events events instead of $((4 * rounds + 4))"
probe_ns=$(sql "SELECT sum(cpu_ns) FROM self JOIN instance USING (instance) JOIN host USING (host) WHERE host.run = 2 AND instance.name = 'call'")
stored=$(sql "SELECT sum(pgsize) FROM dbstat WHERE name = 'block'")

# The same into a spool that is never emptied.
CHOKEPOINT_MARKS=$work/marks CHOKEPOINT_RUN=0123456789abcdef "$bin/chokepoint-agent" --no-push --no-supervise --spool spool 2>/dev/null &
agent=$!
while [ ! -d "$work/marks.$(hostname)" ]; do kill -0 $agent || fail "no agent"; read -rt 0.05 <> <(:); done
OMPI_CHOKEPOINT_MARKS=$work/marks LD_PRELOAD= mpirun --oversubscribe -np 2 -x EXPECT -x LD_PRELOAD="$bin/libchokepoint-mpi.so" \
    "$bin/calls_paced" "$rounds" "$pause" || fail "exit status $?"
kill $agent
wait $agent
agent=
stream=$(ls spool | sed 's/-.*//' | sort | uniq -c | sort -n | tail -1 | awk '{ print $2 }')
spooled=$(cat spool/"$stream"-* | wc -c) samples=$(cat spool/* | wc -c)
samples=$((samples - spooled))

echo "events         $events written in $(number "$with_s" 2) s ($(number "$events/$with_s" 0) a second; without the shim $(number "$without_s" 2) s), $lost lost, $calls stored"
echo "agent          $(number "$probe_ns/1e6/($calls/1e5)" 1) ms of CPU for 100,000 events: $(number "$calls/($probe_ns/1e9)" 0) a second of CPU"
if [ "$lost" -eq 0 ]; then
    echo "spool, wire    $(number "$spooled/$calls" 1) bytes an event, 256 MiB hold $(number "268435456/($spooled/$calls)/1e6" 1) million (another run of the same program)"
else
    echo "spool, wire    unknown: with events lost, two runs cannot be compared; use a larger PAUSE_US"
fi
echo "meanwhile      $(number "$samples/$with_s/1000" 1) kB/s of samples, all probes on, 2 ranks"
echo "SQLite         $(number "$stored/$calls" 1) bytes an event"
echo "after the end  $after_ms ms with all events, $without_ms ms without the shim: $(number "$calls/($after_ms-$without_ms)" 0) events a ms delivered"
