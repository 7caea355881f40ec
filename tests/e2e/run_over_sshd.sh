#!/bin/bash
# SPDX-License-Identifier: MIT
# Over a real sshd, as root and as a user, `run` reaches a host that has an agent and one that is sent it, over one connection
# each; exit status and streams are the command's; processes that the command starts by ssh belong to the job; hosts keep
# nothing.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/sshd_lib.sh" || exit 1
need_sshd 3
install vm2

# Programs of agents on a host: "delivered" if the file is gone, else their paths.
agents_on() {
    local pid
    for pid in $(processes_of "$1"); do
        tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | sed -n '1s,^.*/chokepoint-agent$,&,p'
    done | sort -u
}
connections_to() { grep -c "^Accepted publickey for $2 " "$ssh/$1.log"; }

# On vm2 a shell computes until the agent has reported it, and its parent waits.
cat >loop <<'END'
#!/bin/bash
: >"$1/started"
until [ -e "$1/seen" ]; do :; done
echo "streams of $(hostname)"
echo noise >&2
exit 7
END
chmod +x loop
for user in $users; do
    before=$(connections_to vm3 $user)
    run_as $user --no-report --hosts vm1,vm2,vm3 -- ssh vm2 "$work/loop" "$work/$user" &
    pid=$!
    db=$work/$user/runs.db
    until_true test -e $user/started
    agents_on vm2 >agents
    [ "$(cat agents)" = /mnt/bin/chokepoint-agent ] || fail "on vm2 there is $(cat agents)"
    agents_on vm3 >agents
    [ "$(wc -l <agents)" = 1 ] && ! grep -q /mnt/bin agents || fail "on vm3 there is $(cat agents)"
    loops="SELECT coalesce(sum(user_ns), 0) FROM process JOIN instance i USING (instance) JOIN host h USING (host)
           WHERE h.name = 'vm2' AND job = 1 AND (i.name LIKE '%loop%' OR i.name LIKE 'bash%')"
    computed() { [ "$(sql "$loops" 2>/dev/null || echo 0)" -ge 300000000 ]; }
    until_true computed
    : >$user/seen
    wait $pid
    [ $? -eq 0 ] || fail "the test's own shell" # run_as passed its status through another shell
    [ "$(cat out)" = "streams of vm2" ] && grep -qx noise err || fail "the command's streams"
    [ "$(hosts_recorded 1)" -eq 3 ] || fail "$(hosts_recorded 1) hosts were recorded"
    [ $(($(connections_to vm3 $user) - before)) -eq 1 ] || fail "$(connections_to vm3 $user) connections to vm3"
    for host in vm1 vm2 vm3; do
        [ "$(sql "SELECT sum(gaps + restarts + lost_frames) FROM stream JOIN host USING (host) WHERE name = '$host'")" = 0 ] ||
            fail "samples of $host are missing"
        kept() { keeps_nothing_new $host; }
        patience=30 until_true kept
    done
    [ "$(sql 'SELECT exit_status FROM run WHERE run = 1')" = 7 ] || fail "exit status"
done
