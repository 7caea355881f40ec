#!/bin/bash
# SPDX-License-Identifier: MIT
# sshd is killed on hosts of a run: first the listener (without effect), then the agents' sessions as well, so that no login
# works until sshd is back, then sessions alone. Agents are restarted and continue. No sample is lost or stored twice, missed
# ones are counted, and hosts keep nothing.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/sshd_lib.sh" || exit 1
need_sshd 3
install vm2 # vm3 is sent its agent

mkfifo go
run_as tester --hosts vm1,vm2,vm3 -- sh -c ": >tester/started; read x <go" &
pid=$!
db=$work/tester/runs.db
until_true test -e tester/started
frames_of() { sql "SELECT count(*) FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = '$1'"; }
more_of() { [ "$(frames_of "$1")" -gt $((n + 15)) ]; }
go_on() { # HOSTS
    local host
    for host in "$@"; do n=$(frames_of "$host"); until_true more_of "$host"; done
}
end_sessions() { # HOST
    local pids
    pids=$(sessions_on "$1") && [ -n "$pids" ] || fail "no session on $1"
    kill -9 $pids
}
go_on vm2 vm3

# The listener alone: sessions continue.
stop_sshd vm2
stop_sshd vm3
go_on vm2 vm3
! said 'has ended' || fail "an agent ended with who listens"

# The session as well: no login works until sshd is back.
for host in vm2 vm3; do end_sessions $host; done
refused() { [ "$(grep -c "the agent on $1 has ended (exit status 255)" err)" -ge 2 ]; } # the agent itself, and a retry that could not log in
for host in vm2 vm3; do until_true refused $host; done
for host in vm2 vm3; do start_sshd $host; done
go_on vm2 vm3
said 'the agent on vm2 has ended .* and is started again' && said 'the agent on vm3 has ended .* and is started again' ||
    fail "it does not say so"

# The session alone.
n_said=$(grep -c 'the agent on vm[23] has ended' err)
for host in vm2 vm3; do
    before=$(sessions_on $host)
    end_sessions $host
    another() { [ -n "$(sessions_on $host)" ] && [ "$(sessions_on $host)" != "$before" ]; }
    until_true another
done
go_on vm2 vm3
[ "$(grep -c 'the agent on vm[23] has ended' err)" -eq $((n_said + 2)) ] || fail "it was started again more than once"

echo >go
wait $pid || fail "exit status $?"
[ "$(state_of 1)" = done ] || fail "the run is $(state_of 1)"
[ "$(sql 'SELECT count(*) - count(DISTINCT stream || "/" || seq) FROM frame')" = 0 ] || fail "samples are there twice"
for host in vm1 vm2 vm3; do
    lost=$(sql "SELECT sum(gaps + lost_frames) FROM stream JOIN host USING (host) WHERE name = '$host'")
    [ "$lost" = 0 ] || fail "samples of $host are lost: $lost"
    kept() { keeps_nothing_new $host; }
    patience=30 until_true kept
done

# The report counts the missed samples, for these two hosts.
"$chokepoint" report --db "$db" --format json >report.json || fail "no report"
claims <<'END' || fail "see above"
import json
run = json.load(open("report.json"))["run"]
samples = {h["name"]: h["samples"] for h in run["host_details"]}
uncounted = [n for n, s in samples.items() if s["recorded"] + s["missed"] != s["expected"]]
if uncounted or not samples["vm2"]["missed"] or not samples["vm3"]["missed"]:
    raise SystemExit(f"samples: {samples}")
END
"$chokepoint" report --db "$db" --format text >report || fail "no report"
for host in vm2 vm3; do
    grep -q "$host: [1-9][0-9]* of [0-9]* samples missing" report || fail "it does not say that samples of $host are missing"
done
is_alone() { [ "$(processes_of "$1" | wc -l)" -eq 2 ]; } # only the process that holds its places, and sshd
for host in vm2 vm3; do patience=30 until_true is_alone $host; done
