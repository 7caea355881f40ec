#!/bin/bash
# SPDX-License-Identifier: MIT
# One srun starts the agents of all nodes but this one, each with the key of its host alone. A node without an agent is sent one
# by a step of its own. Agents are started again after this srun was killed, or the shell above one of them, and nothing that was
# sampled is lost.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/slurm_lib.sh" || exit 1
cat >bare <<END
#!/bin/sh
[ "\$(hostname)" = vm1 ] || . "$work/hide" || exit
exec "\$@"
END
chmod +x bare
slurmd_under="unshare -m $work/bare"
name=none
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1
hide '[ "$(hostname)" = vm4 ] || umount "'"$CHOKEPOINT_SOURCE"'" "'"$CHOKEPOINT_BIN"'"'
need_slurm 4
allocate() { # NODES : an allocation that stays, $job
    nodes=$1
    inside salloc --quiet --no-shell -J "$1" -w "$1" --ntasks-per-node=1 || fail "no allocation of $1"
    job=$(inside squeue --noheader --name "$1" --format %A)
}

# Ranks wait for a file, so that a run lasts as long as its test.
cat >rank <<END
#!/bin/sh
echo "\${CHOKEPOINT_RUN:-\$SLURM_CHOKEPOINT_RUN}" >"$work/id.\$1"
while [ ! -e "$work/go.\$1" ]; do sleep .05; done
END
chmod +x rank
run_of() { # NAME OPTIONS... : a run in the background, in $pid
    local of=$1
    shift
    rm -f "id.$of" "go.$of"
    inside env TMPDIR="$work" SLURM_JOB_ID="$job" SLURM_JOB_NODELIST="$nodes" "$chokepoint" run $slow_start --no-report \
        --db "$db" "$@" srun --ntasks-per-node=1 ./rank "$of" >"out.$of" 2>"err.$of" &
    pid=$!
}
begun() { [ -s "id.$1" ]; }
run_id() { head -n 1 "id.$1"; }
ends_well() { # NAME PID
    : >"go.$1"
    wait "$2" || { cat "err.$1"; fail "run $1: exit status"; }
    until_true no_agents_of "$(run_id "$1")"
}
no_agents_of() { [ -z "$(agents_of "$1")" ]; }
# Removes what agents leave that Slurm has killed, as it does when their srun is gone.
forget() { # NAME
    # shellcheck disable=SC2046
    rm -rf $(directories_of "$(run_id "$1")")
}
agent_steps() { inside squeue --steps --noheader --format %j | grep -cx chokepoint-agent; }
launchers_of() { # ID : sruns of agents
    for pid_of in $(agents_of "$1"); do
        [ "$(cat "/proc/$pid_of/comm" 2>/dev/null)" != srun ] || echo "$pid_of"
    done
}
last_run() { sql 'SELECT max(run) FROM run'; }
count_of() { frames_of "$1" "$(last_run)"; }
goes_on() { [ "$(count_of "$1")" -gt $((n + 10)) ]; }
lost() { sql "SELECT coalesce(sum(lost_frames), 0) FROM stream JOIN host USING (host) WHERE run = $(last_run)"; }

# Nodes with the agent: one step for both, or two if that is wanted.
allocate 'vm[1-3]'
run_of together
until_true begun together
[ "$(agent_steps)" -eq 1 ] || fail "$(agent_steps) steps of agents"
ends_well together $pid
until_true no_traces_of "$(run_id together)"
[ "$(hosts_recorded 1)" -eq 3 ] || fail "$(hosts_recorded 1) hosts were recorded"
run_of apart --separate-launchers
until_true begun apart
[ "$(agent_steps)" -eq 2 ] || fail "$(agent_steps) steps of agents apart"
ends_well apart $pid

# No key is in a command line.
run_of killed
until_true begun killed
for pid_of in $(agents_of "$(run_id killed)"); do
    tr '\0' '\n' <"/proc/$pid_of/cmdline" 2>/dev/null | grep -qE '(^| )[0-9a-f]{32}( |$)' && fail "a key is in a command line"
done

# The shell above the agent of vm2: that agent ends with it, and srun ends the other one. Both are started again.
shell_of() {
    local candidate
    for candidate in $(processes_of "$1"); do
        { tr '\0' ' ' <"/proc/$candidate/cmdline"; } 2>/dev/null | grep -q '^/bin/sh -c unset CHOKEPOINT_TOKEN' && echo "$candidate"
    done
}
kill -9 $(shell_of vm2)
n=$(count_of vm2)
until_true goes_on vm2
n=$(count_of vm3)
until_true goes_on vm3
ends_well killed $pid
forget killed
grep -q 'the agent on vm2 has ended .* and is started again' err.killed || fail "nothing is said of vm2"
[ "$(lost)" -eq 0 ] || fail "$(lost) samples are lost"

# srun itself.
run_of launcher
until_true begun launcher
kill -9 $(launchers_of "$(run_id launcher)")
for host in vm2 vm3; do
    n=$(count_of $host)
    until_true goes_on $host
done
ends_well launcher $pid
forget launcher
[ "$(lost)" -eq 0 ] || fail "$(lost) samples are lost"
[ "$(sql "SELECT count(*) - count(DISTINCT stream || '/' || seq) FROM frame")" = 0 ] || fail "samples are there twice"

# vm4 alone has no agent: it is sent one, the others have theirs. The next run knows that.
allocate 'vm[1-4]'
run_of mixed
until_true begun mixed
[ "$(agent_steps)" -eq 2 ] || fail "$(agent_steps) steps of agents of which one was sent"
[ "$(delivered_agents "$(run_id mixed)" | wc -l)" -gt 0 ] || fail "no agent was sent"
ends_well mixed $pid
until_true no_traces_of "$(run_id mixed)"
[ "$(hosts_recorded "$(last_run)")" -eq 4 ] || fail "not all hosts were recorded"
grep -qx vm4 "$HOME"/.cache/chokepoint/hosts-without-agent-* || fail "vm4 is not remembered"

# The run itself, in an allocation that goes on: its agents end on all nodes. Slurm kills them with their srun, so their folders stay.
run_of gone
until_true begun gone
kill -9 "$(pgrep -P $pid)"
: >go.gone
until_true no_agents_of "$(run_id gone)"
wait $pid
forget gone
exit 0
