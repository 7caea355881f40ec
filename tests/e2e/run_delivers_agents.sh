#!/bin/bash
# SPDX-License-Identifier: MIT
# Hosts on which nothing is installed get their agent from `run`, over the one connection, and keep nothing of it; a
# host with an agent of this version uses that one. The connection may break: no sample is stored twice, and only those
# of the pause are lost.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 3
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1

cat >command <<'END'
#!/bin/bash
echo $CHOKEPOINT_RUN >id
grep -lsaz -- "^CHOKEPOINT_AGENT=$CHOKEPOINT_RUN" /proc/[0-9]*/environ | sed s/environ/cmdline/ | xargs grep -lsa -- "chokepoint-agent.--delivered" | wc -l >agents
for pid in $(grep -lsaz -- "^CHOKEPOINT_AGENT=$CHOKEPOINT_RUN" /proc/[0-9]*/environ | cut -d/ -f3); do
    program=$(readlink /proc/$pid/exe); [[ $program != */chokepoint-????????/* ]] || [ ! -e "$program" ] || echo "$program"
done >directories
exit 7
END
chmod +x command
deliver --hosts vm1,vm2,vm3 ./command
[ $status -eq 7 ] || fail "exit status $status"
[ "$(hosts_recorded 1)" -eq 3 ] || fail "$(hosts_recorded 1) hosts were recorded"
[ "$(cat agents)" -ge 2 ] || fail "no agent was delivered to vm2 and vm3: $(cat agents)"
[ ! -s directories ] || fail "the program is still there during the run: $(cat directories)"
for host in vm2 vm3; do
    [ "$(connections_to $host)" -eq 1 ] || fail "$(connections_to $host) connections to $host"
    [ "$(frames_of $host 1)" -ge 1 ] || fail "no samples of $host"
done
no_id() { no_traces_of "$(cat id)"; }
patience=30 until_true no_id

# Such an agent captures no packets, and a note says so; its load is the same as elsewhere.
deliver --flows --hosts vm1,vm2,vm3 ./command
[ $status -eq 7 ] && said '^chokepoint: packets of vm2, vm3 are not captured: .*--flows needs the package' || fail "nothing is said of --flows: $status"
[ "$(sql "SELECT count(DISTINCT h.name) FROM load JOIN frame USING (frame) JOIN stream USING (stream) JOIN host h USING (host) WHERE run = 2")" = 3 ] ||
    fail "no load of a host that has nothing"
until_true no_id

# If one is installed, it is used: nothing is sent.
: >hide
deliver --hosts vm1,vm2 ./command
[ $status -eq 7 ] && [ "$(hosts_recorded 3)" -eq 2 ] || fail "exit status $status"
[ "$(cat agents)" -eq 0 ] || fail "an agent was delivered to a host that has one"
[ "$(connections_to vm2)" -eq 1 ] || fail "$(connections_to vm2) connections to vm2"

# One of another version in the PATH is not used.
mkdir other
printf '#!/bin/sh\necho chokepoint-agent 0.0.1\n' >other/chokepoint-agent
chmod +x other/chokepoint-agent
hide "PATH=$work/other:\$PATH"
deliver --hosts vm1,vm2 ./command
[ $status -eq 7 ] && [ "$(cat agents)" -ge 1 ] || fail "one of another version was taken"

# ssh is killed in the middle: another one is started, and continues with what its agent had kept.
hide :
cat >command <<END
#!/bin/bash
echo \$CHOKEPOINT_RUN >id
: >started
read x <"$work/go"
END
mkfifo go
deliver --hosts vm1,vm2 ./command &
pid=$!
until_true test -e started
id=$(cat id)
frames() { frames_of vm2 5; }
some() { [ "$(frames)" -gt 10 ]; }
until_true some
for round in 1 2; do
    near=$(cat near.vm2)
    n=$(frames)
    kill -9 "$near" || fail "no process stands for ssh"
    another() { [ "$(cat near.vm2)" != "$near" ] && [ "$(frames)" -gt $((n + 15)) ]; }
    until_true another
done
echo >go
wait $pid || fail "exit status $?"
[ "$(connections_to vm2)" -ge 3 ] || fail "no other connection was made"
said 'the agent on vm2 has ended .* and is started again' || fail "it does not say so"
[ "$(sql 'SELECT count(*) - count(DISTINCT stream || "/" || seq) FROM frame')" = 0 ] || fail "samples are there twice"
counted() { sql "SELECT sum($1) FROM stream JOIN host USING (host) WHERE name = '$2' AND run = 5"; }
[ "$(counted 'gaps + lost_frames' vm2)" -eq 0 ] || fail "samples of vm2 are lost: $(counted lost_frames vm2)"
[ "$(sql "SELECT count(*) FROM stream JOIN host USING (host) WHERE name = 'vm2' AND run = 5 AND stream_id % 2 = 0")" -eq 1 ] ||
    fail "another agent did not go on with the stream"
no_traces() { [ -z "$(delivered_agents "$id")" ] && no_traces_of "$id"; }
patience=60 until_true no_traces

# A place that others may write to is not used: they could put another program there.
mkdir -m 777 open
chmod 777 open
printf '#!/bin/sh\ncat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" | grep -A1 -x -e --delivered >%s/places\ntrue\n' "$work" >where
chmod +x where
hide "export TMPDIR=$work/open"
deliver --hosts vm1,vm2 ./where
[ $status -eq 0 ] || fail "exit status $status"
grep -q "^/[a-z/]*tmp/chokepoint-\|^/dev/shm/chokepoint-" places || fail "no agent was delivered: $(cat places)"
! grep -q "^$work/open" places || fail "an agent lies where others may write: $(cat places)"
