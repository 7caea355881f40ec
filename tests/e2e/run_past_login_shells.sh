#!/bin/bash
# SPDX-License-Identifier: MIT
# Login shells and homes do no harm to recordings over sshd: a banner; start files that write to both streams and leave a line
# unfinished, or print our own words; a home where no program may run; a full home. Start files with endless output, and ones
# that read our input, are named in one line.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/sshd_lib.sh" || exit 1
need_sshd 3
install vm2
seq 30 | sed 's/^/Only those who may. Rule /' >banner
for host in vm2 vm3; do restart_sshd $host "Banner $work/banner"; done

each() { local host; for host in vm2 vm3; do on $host sh -c "$1" || fail "$host: $1"; done; }
start_file() { each "cp '$work/lines' /home/tester/$1"; }
recorded() { # WHAT
    local host
    for host in vm2 vm3; do kept_on $host >"$ssh/$host.kept"; done
    run_as tester --no-report --hosts vm1,vm2,vm3 -- sh -c 'echo own; exit 5'
    [ $status -eq 5 ] && [ "$(cat out)" = own ] || fail "$1: exit status $status"
    [ "$(hosts_recorded "(SELECT max(run) FROM run)")" -eq 3 ] || fail "$1: not three hosts"
    [ "$(wc -l <err)" -eq 1 ] || fail "$1: more than one line"
    kept() { keeps_nothing_new $host; }
    for host in vm2 vm3; do patience=30 until_true kept; done
}
refused() { # WHAT WORDS: the words of one line about each host
    run_as tester --no-report --hosts vm1,vm2,vm3 -- true
    [ $status -eq 1 ] || fail "$1: exit status $status"
    [ "$(wc -l <err)" -eq 3 ] && said "^chokepoint: vm2 did not answer: tried by ssh.*$2" &&
        said "^chokepoint: vm3 did not answer: tried by ssh.*$2" || fail "$1: it does not say $2"
}
recorded banner

printf '%s\n' 'echo noise; echo more >&2' 'echo chokepoint-agent installed today' 'printf "\033]0;title\007$ "' >lines
start_file .bashrc
recorded .bashrc

echo 'yes noise | head -c 300000' >lines
start_file .bashrc
refused 'endless .bashrc' 'vm[23] writes more than 256 KiB before it starts anything: see the start files'

slow_start='--start-timeout 5'
echo 'read line' >lines
start_file .bashrc
refused 'a .bashrc that reads' 'for 5 s'
slow_start='--start-timeout 240'
each 'rm /home/tester/.bashrc'

if command -v csh >/dev/null; then
    users_have "$(command -v csh)"
    recorded csh
    echo 'echo noise; sh -c "echo more >&2"; printf unfinished' >lines
    start_file .cshrc
    recorded .cshrc
    each 'rm /home/tester/.cshrc'
    users_have /bin/bash
fi

# Homes. The agent chooses where programs go, so that may be another place.
each 'mount -o remount,noexec /home'
recorded 'home without programs'
each 'mount -o remount,noexec /tmp; mount -o remount,noexec /var/tmp; mount -o remount,noexec /dev/shm; mount -o remount,exec /home'
recorded 'programs at home alone'
each 'for place in /tmp /var/tmp /dev/shm; do mount -o remount,exec $place; done
    mount -t tmpfs -o size=64k,mode=755 none /home/tester && cp -r /root/.ssh /home/tester && chown -R tester:tester /home/tester
    head -c 1000000 /dev/zero >/home/tester/full 2>/dev/null; [ -s /home/tester/full ]'
recorded 'a full home'
