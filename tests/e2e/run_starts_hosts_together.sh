#!/bin/bash
# SPDX-License-Identifier: MIT
# One mpirun starts the agents of all other hosts, each with the key of its host alone. A host without an agent is sent
# one meanwhile. Agents are started again after this mpirun was killed, or the shell above one of them, and nothing that was
# sampled is lost. Two runs at once do not meet.
export TMPDIR=/var/tmp
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 4
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1
printf 'vm%d\n' 1 2 3 4 >hostfile
# Ranks wait for a file, so that a run lasts as long as its test.
printf '#!/bin/sh\necho "${OMPI_CHOKEPOINT_RUN}" >%s/id.$1\nwhile [ ! -e %s/go.$1 ]; do sleep .05; done\n' "$work" "$work" >rank
chmod +x rank

run_of() { # NAME OPTIONS... : a run in the background, in $pid
    local of=$1
    shift
    rm -f "id.$of" "go.$of" calls
    inside env OMPI_MCA_plm_rsh_agent="$rsh" "$chokepoint" run $slow_start --no-report --db "$db" "$@" \
        mpirun --hostfile hostfile --wdir "$work" -N 1 ./rank "$of" >"out.$of" 2>"err.$of" &
    pid=$!
}
begun() { [ -s "id.$1" ]; }
ends_well() { # NAME PID
    : >"go.$1"
    wait "$2" || { cat "err.$1"; fail "run $1: exit status"; }
    until_true no_traces_of "$(run_id "$1")"
}
launchers_of() { # ID : mpiruns of agents
    for pid in $(agents_of "$1"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != mpirun ] || echo "$pid"
    done
}
run_id() { sort -u "id.$1" | head -n 1; }
last_run() { sql 'SELECT max(run) FROM run'; }
count_of() { frames_of "$1" "$(last_run)"; }
goes_on() { [ "$(count_of "$1")" -gt $((n + 10)) ]; }
lost() { sql "SELECT coalesce(sum(lost_frames), 0) FROM stream JOIN host USING (host) WHERE run = $(last_run)"; }
restarted() { sql "SELECT count(*) FROM stream JOIN host USING (host) WHERE run = $(last_run) AND name = '$1' AND restarts > 0"; }

# Hosts with the agent: one launcher for three of them, or three if that is wanted.
: >"$work/hide"
run_of together
first=$pid
until_true begun together
[ "$(launchers_of "$(run_id together)" | wc -l)" -eq 1 ] || fail "$(launchers_of "$(run_id together)" | wc -l) launchers"
for host in vm2 vm3 vm4; do
    [ "$(connections_to $host)" -eq 2 ] || fail "$(connections_to $host) connections to $host: one is ours, one the ranks'"
done

# Another one beside it, with launchers apart.
run_of apart --separate-launchers
until_true begun apart
[ "$(launchers_of "$(run_id apart)" | wc -l)" -eq 3 ] || fail "$(launchers_of "$(run_id apart)" | wc -l) launchers apart"
ends_well apart $pid
ends_well together $first
[ "$(hosts_recorded 1)" -eq 4 ] && [ "$(hosts_recorded 2)" -eq 4 ] || fail "not all hosts were recorded"

# No key is in a command line, or in an environment of another process.
run_of killed
until_true begun killed
id=$(run_id killed)
for pid_of in $(agents_of "$id"); do
    tr '\0' '\n' <"/proc/$pid_of/cmdline" 2>/dev/null | grep -qE '(^| )[0-9a-f]{32}( |$)' && fail "a key is in a command line"
done

# The shell above the agent of vm2: that agent ends with it, and mpirun ends the others. All are started again.
shell_of() {
    local candidate
    for candidate in $(processes_of "$1"); do
        { tr '\0' ' ' <"/proc/$candidate/cmdline"; } 2>/dev/null | grep -q '^/bin/sh -c unset CHOKEPOINT_TOKEN' && echo "$candidate"
    done
}
kill -9 $(shell_of vm2)
n=$(count_of vm2)
until_true goes_on vm2
n=$(count_of vm4)
until_true goes_on vm4
ends_well killed $pid
grep -q 'the agent on vm2 has ended .* and is started again' err.killed || fail "nothing is said of vm2"
[ "$(lost)" -eq 0 ] || fail "$(lost) samples are lost"

# mpirun itself.
run_of launcher
until_true begun launcher
id=$(run_id launcher)
kill -9 $(launchers_of "$id")
for host in vm2 vm3 vm4; do
    n=$(count_of $host)
    until_true goes_on $host
done
ends_well launcher $pid
[ "$(lost)" -eq 0 ] || fail "$(lost) samples are lost"
[ "$(sql "SELECT count(*) - count(DISTINCT stream || '/' || seq) FROM frame")" = 0 ] || fail "samples are there twice"

# The run itself: its agents end on all hosts, and leave nothing.
run_of gone
until_true begun gone
id=$(run_id gone)
kill -9 "$(pgrep -P $pid)"
: >go.gone
no_agents() { [ -z "$(agents_of "$id")" ]; }
until_true no_agents
until_true no_traces_of "$id"
wait $pid

# Ctrl-C while hosts are asked: nothing of it stays.
printf '#!/bin/sh\n: >%s/asked\nexec sleep 60\n' "$work" >before
chmod +x before
rm -f calls
env --default-signal=INT setsid "$chokepoint" testbed --name "$name" exec -- env OMPI_MCA_plm_rsh_agent="$rsh" \
    "$chokepoint" run $slow_start --db "$db" mpirun --hostfile hostfile -N 1 touch started >out 2>err &
pid=$!
until_true test -e asked
kill -INT $pid
wait $pid
[ $? -eq 130 ] && [ ! -e started ] || fail "interrupted at the start"
rm before asked
hosts_empty() { [ -z "$(processes_of vm1)$(processes_of vm2)$(processes_of vm3)$(processes_of vm4)" ]; }
until_true hosts_empty

# vm3 alone has no agent: it is sent one, the others have theirs.
hide '[ "$(hostname)" = vm3 ] || umount "'"$CHOKEPOINT_SOURCE"'" "'"$CHOKEPOINT_BIN"'"'
run_of mixed
until_true begun mixed
[ "$(delivered_agents "$(run_id mixed)" | wc -l)" -gt 0 ] || fail "no agent was sent"
[ "$(connections_to vm3)" -eq 3 ] && [ "$(connections_to vm2)" -eq 2 ] || fail "connections: $(sort calls | uniq -c)"
ends_well mixed $pid
[ "$(hosts_recorded "$(last_run)")" -eq 4 ] || fail "not all hosts were recorded"

# An agent that cannot start is named, and the command does not begin.
: >"$work/hide"
echo '[ "$(hostname)" != vm3 ] || { mount -t tmpfs -o ro none /var/tmp; mount -t tmpfs -o ro none /tmp; mount -t tmpfs -o ro none /dev/shm; }' >"$work/hide"
run_of none
wait $pid && fail "the command was started without vm3"
grep -q 'vm3 did not answer: tried by mpirun, exit status' err.none || fail "not told: $(cat err.none)"
[ ! -e id.none ] || fail "the command was started"
! grep -q 'vm[24] did not' err.none || fail "blames those that answered"
