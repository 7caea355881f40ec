#!/bin/bash
# SPDX-License-Identifier: MIT
# kills.sh [KILLS [PART...]]: KILLS (5) times each part of a recording is killed with SIGKILL while ranks call MPI and mark
# iterations; the next kill comes when samples of that host have come again. A row for each part: what is missing compared
# with the ranks' own counts, counted in the report and not counted; what is stored twice; and the longest time without a
# sample and without a call. PART is supervisor, sampler, both (supervisor first), both-back (sampler first), collector;
# and over hosts with nothing installed mpirun.X and ssh.X, where X is relay, supervisor, sampler or both. PAUSE_US (1000):
# between the rounds of two ranks.
: "${CHOKEPOINT_BIN:?}" "${CHOKEPOINT_SOURCE:?}"
export TMPDIR=/var/tmp
. "$CHOKEPOINT_SOURCE/tests/e2e/run_lib.sh" || exit 1
kills=${1:-5} hosts=
shift
parts=${*:-supervisor sampler both both-back collector mpirun.relay mpirun.supervisor mpirun.sampler mpirun.both ssh.relay ssh.supervisor ssh.sampler ssh.both}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export EXPECT=$work/expect STARTED=$work/started

children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
parent_of() { sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status" 2>/dev/null; }
# is PID PROGRAM: also if its file is gone
is() { local exe; exe=$(readlink "/proc/$1/exe") && exe=${exe% (deleted)} && [ "${exe##*/}" = "$2" ]; }
run_pid() { # the process of `chokepoint run` itself, behind the testbed's or not
    local p
    for p in $(pgrep -f -- "chokepoint run .*--db $db"); do is "$p" chokepoint && [ -n "$(children "$p")" ] && parent_is_no_run "$p" && echo "$p"; done | tail -n 1
}
parent_is_no_run() { ! tr '\0' ' ' <"/proc/$1/cmdline" | grep -q testbed; }
agents() { # of the host whose part is killed
    local p
    if [ -z "$hosts" ]; then
        for p in $(children "$run"); do is "$p" chokepoint-agent && { echo "$p"; children "$p"; }; done
    else
        for p in $(processes_of vm2); do is "$p" chokepoint-agent && echo "$p"; done
    fi
}
supervisor() { local p all; all=$(agents); for p in $all; do tr ' ' '\n' <<<"$all" | grep -qx "$(parent_of "$p")" || echo "$p"; done | head -n 1; }
sampler() { local p s; s=$(supervisor); for p in $(agents); do [ "$(parent_of "$p")" = "$s" ] && echo "$p"; done; }
child_named() { local p; for p in $(children "$run"); do tr '\0' ' ' <"/proc/$p/cmdline" | grep -q -- "$1" && echo "$p"; done; }
victims() {
    case ${1#*.} in
        supervisor) supervisor ;;
        sampler) sampler ;;
        both) echo "$(supervisor) $(sampler)" ;;
        both-back) echo "$(sampler) $(supervisor)" ;;
        collector) child_named "chokepoint collector\|chokepoint collect" ;;
        relay) child_named "chokepoint-relay --host vm2" ;;
    esac
}
hurt=$(hostname)
frames() { sql "SELECT count(*) FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = '$hurt' AND stream_id % 2 = 0"; }
came() { [ "$(frames)" -ge $((n + 8)) ]; }
is_there() { [ -n "$(victims "$1" | tr -d ' \n')" ]; }

start() { # PART
    rm -f "$db"* "$EXPECT".* "$STARTED" stop
    case $1 in
        mpirun.*) "$chokepoint" testbed --name "$name" exec -- unshare -m sh -c 'mount -t tmpfs none /tmp && exec "$@"' - \
            env OMPI_MCA_plm_rsh_agent="$rsh" CHOKEPOINT_RSH="$rsh" "$chokepoint" run $slow_start --no-report --db "$db" \
            mpirun --hostfile hostfile --wdir "$work" --bind-to none -N 1 -np 2 ./rank >out 2>err & ;;
        ssh.*) "$chokepoint" testbed --name "$name" exec -- unshare -m sh -c 'mount -t tmpfs none /tmp && exec "$@"' - \
            env CHOKEPOINT_RSH="$rsh" "$chokepoint" run $slow_start --no-report --db "$db" \
            mpirun.mpich -launcher ssh -launcher-exec "$rsh" -f hostfile -ppn 1 -n 2 -wdir "$work" ./rank >out 2>err & ;;
        *) "$chokepoint" run $slow_start --no-report --db "$db" mpirun --oversubscribe -np 2 "$CHOKEPOINT_BIN/calls_until" "$work/stop" "${PAUSE_US:-1000}" >out 2>err & ;;
    esac
    pid=$!
}
use_hosts() { # PART
    hosts=yes hurt=vm2
    if [ -z "$name" ]; then
        need_testbed 2
        . "$CHOKEPOINT_SOURCE/tests/e2e/deliver_lib.sh" || exit 1
        printf 'vm%d\n' 1 2 >hostfile
    fi
    case $1 in mpirun.*) cp "$CHOKEPOINT_BIN/calls_until" program ;; *) cp "$CHOKEPOINT_BIN/mpich/calls_until" program ;; esac
    printf '#!/bin/sh\nexec env EXPECT=%s STARTED=%s %s/program %s/stop %s\n' "$EXPECT" "$STARTED" "$work" "$work" "${PAUSE_US:-1000}" >rank
    chmod +x rank
}

printf '%-18s %5s | %-17s | %-17s | %-17s | %s\n' "" "" "samples lost" "calls lost" "marks lost" "longest gap, s"
printf '%-18s %5s | %5s %5s %5s | %5s %5s %5s | %5s %5s %5s | %6s %6s %6s\n' part kills uncnt cnt twice uncnt cnt twice uncnt cnt twice sample calls marks
for part in $parts; do
    case $part in *.*) use_hosts "$part" ;; *) hosts= hurt=$(hostname) ;; esac
    start "$part"
    until_true test -e "$STARTED"
    run=$(run_pid)
    [ -n "$run" ] || fail "no chokepoint run"
    done=0
    while [ $done -lt "$kills" ]; do
        until_true is_there "$part"
        n=$(frames)
        kill -9 $(victims "$part") 2>/dev/null || continue
        done=$((done + 1))
        until_true came
    done
    : >stop
    wait $pid || fail "$part: exit status $?"
    "$chokepoint" report --db "$db" --format json -o report.json 2>err || fail "$part: no report"
    cat "$EXPECT".* >truth
    python3 - "$db" "$part" "$kills" "$(dirname "$chokepoint")" <<'END' || fail "$part"
import json, subprocess, sys
db, part, kills, binaries = sys.argv[1:]
def ask(sql): # single calls are packed: the extension shows them as rows
    said = subprocess.run(["sqlite3", "-readonly", "-json", "-cmd", f".load {binaries}/libchokepoint-sql.so", db, sql], check=True, capture_output=True).stdout
    return [tuple(row.values()) for row in json.loads(said or "[]")]
truth = [tuple(map(int, line.split())) for line in open("truth")]
run = json.load(open("report.json"))["run"]
counted = {what: sum(h[what] or 0 for h in run["host_details"]) for what in ("calls_missing", "marks_missing")}
own = "frame JOIN stream USING (stream) WHERE frame NOT IN (SELECT frame FROM call)" # frames of single calls have their own numbers
streams = ask(f"SELECT stream, max(seq) - min(seq) + 1 - count(*), gaps + lost_frames FROM {own} GROUP BY stream")
samples = sum(max(0, holes - told) for _, holes, told in streams)
twice = ask(f"SELECT count(*) - count(DISTINCT stream || '/' || seq) FROM {own}")[0][0]
calls, calls_once = ask("SELECT count(*), count(DISTINCT pid || '/' || sequence) FROM call")[0]
marks, marks_once = ask("SELECT count(*), count(DISTINCT pid || '/' || number) FROM mark WHERE kind = 2")[0]
did_calls, did_marks = sum(c for _, c, _ in truth), sum(m for _, _, m in truth)
gap = lambda sql: (ask(f"SELECT max(t - before) FROM (SELECT t, lag(t) OVER (PARTITION BY k ORDER BY t) AS before FROM ({sql}))")[0][0] or 0) / 1e9
sample_gap = gap(f"SELECT host AS k, mono_ns AS t FROM {own}")
call_gap = gap("SELECT pid AS k, start_ns + duration_ns AS t FROM call WHERE NOT flags & 12")
mark_gap = gap("SELECT pid AS k, start_ns AS t FROM mark WHERE kind = 2")
print(f"{part:18} {kills:>5} | {samples:5} {run['samples']['missed']:5} {twice:5} | {did_calls - calls_once - counted['calls_missing']:5} {counted['calls_missing']:5} {calls - calls_once:5} | "
      f"{did_marks - marks_once - counted['marks_missing']:5} {counted['marks_missing']:5} {marks - marks_once:5} | {sample_gap:6.2f} {call_gap:6.2f} {mark_gap:6.2f}   of {did_calls} calls, {did_marks} marks", flush=True)
END
done
exit 0
