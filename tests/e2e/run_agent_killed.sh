#!/bin/bash
# SPDX-License-Identifier: MIT
# During a parallel run one host's agent is killed: first its sampling process (it continues, with a counted gap),
# then the whole agent (another one continues with the spooled frames). The other hosts and the program do not
# notice.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 3

mkfifo go
inside "$chokepoint" run $slow_start --db "$db" mpirun --hostfile "$(inside printenv CHOKEPOINT_HOSTFILE)" -N 1 \
    sh -c '[ "$OMPI_COMM_WORLD_RANK" != 0 ] || { echo $OMPI_CHOKEPOINT_RUN >id; : >started; read x <go; }' >out 2>err &
pid=$!
until_true test -e started
frames_of() { sql "SELECT coalesce(max(seq), 0) FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = '$1'"; }
agents() {
    for pid in $(processes_of vm2); do
        [ "/proc/$pid/exe" -ef "$CHOKEPOINT_BIN/chokepoint-agent" ] && echo "$pid"
    done
}
parent_of() { sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status"; }
# The supervisor is the agent on this host whose parent is no agent.
supervisor=$(for pid in $(agents); do agents | grep -qx "$(parent_of "$pid")" || echo "$pid"; done)
sampler() { for pid in $(agents); do [ "$(parent_of "$pid")" != "$supervisor" ] || echo "$pid"; done; }
first=$(sampler) || fail "no sampling process on vm2"

# The stopped supervisor restarts it only after another host has sent forty samples: a gap of at least eight,
# however late those come.
kill -STOP "$supervisor"
kill -9 "$first"
n=$(frames_of vm3)
passed() { [ "$(frames_of vm3)" -ge $((n + 40)) ]; }
until_true passed
n=$(frames_of vm2)
kill -CONT "$supervisor"
again() { [ "$(sampler)" != "$first" ] && [ "$(frames_of vm2)" -gt $((n + 15)) ]; }
until_true again

# Both at once: another agent is started, and continues.
kill -STOP "$supervisor"
kill -9 $(sampler) "$supervisor"
n=$(frames_of vm2)
grew() { [ "$(frames_of vm2)" -gt $((n + 15)) ]; }
until_true grew
said 'the agent on vm2 has ended .* and is started again' || fail "it does not say so"
# The supervisor alone: its sampling process ends with it, and another agent is started.
first=$supervisor
kill -9 "$first"
replaced() {
    supervisor=$(for pid in $(agents); do agents | grep -qx "$(parent_of "$pid")" || echo "$pid"; done)
    [ -n "$supervisor" ] && [ "$supervisor" != "$first" ]
}
until_true replaced
all_frames_of() { sql "SELECT count(*) FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = '$1'"; }
n=$(all_frames_of vm2)
grew_on() { [ "$(all_frames_of vm2)" -gt $((n + 15)) ]; }
until_true grew_on
echo >go
wait $pid || fail "exit status $?"
[ "$(state_of 1)" = done ] || fail "the run is $(state_of 1)"
counted() { sql "SELECT sum($1) FROM stream JOIN host USING (host) WHERE name = '$2'"; }
[ "$(counted missed_slots vm2)" -ge 8 ] || fail "only $(counted missed_slots vm2) samples of vm2 count as missed"
for host in vm1 vm3; do
    [ "$(counted 'gaps + restarts + lost_frames' $host)" -eq 0 ] || fail "$host was disturbed"
done
[ "$(counted 'lost_frames' vm2)" -eq 0 ] || fail "$(counted lost_frames vm2) samples of vm2 are lost"
[ "$(sql 'SELECT count(*) - count(DISTINCT stream || "/" || seq) FROM frame')" = 0 ] || fail "samples are there twice"
sql 'SELECT text FROM run_note' | grep -q 'vm2 has ended' || fail "it is not noted"
[ -z "$(traces_of "$(cat id)")" ] || fail "left: $(traces_of "$(cat id)")"

# The report shows the gap, of this host and of no other.
"$chokepoint" report --db "$db" --format text >report || fail "no report"
grep -q 'vm2: [1-9][0-9]* of [0-9]* samples missing' report && grep -q 'vm2: agent: started again' report || fail "the report does not show the gap: $(sed -n '/Quality/,$p' report)"
! grep -qE 'vm[13]: .* [1-9][0-9]* gap' report || fail "the report shows gaps of others: $(sed -n '/Quality/,$p' report)"
"$chokepoint" report --db "$db" --format json -o report.json || fail "no report"
python3 - <<'END' || fail "see above"
import json
run = json.load(open("report.json"))["run"]
hosts = {h["name"]: h for h in run["host_details"]}
missed = {name: h["samples"]["missed"] for name, h in hosts.items()} # a busy machine misses slots, too
bad = missed["vm2"] < 8 or missed["vm2"] < max(missed.values())
samples = run["samples"]
if len(hosts) != 3 or bad or samples["missed"] != sum(h["samples"]["missed"] for h in hosts.values()) or \
        samples["recorded"] + samples["missed"] != samples["expected"]:
    raise SystemExit(f"samples and gaps: {samples} {hosts}")
END
