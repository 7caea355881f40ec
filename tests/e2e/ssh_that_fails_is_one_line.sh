#!/bin/bash
# SPDX-License-Identifier: MIT
# A host whose sshd refuses us gets one line with ssh's reason and the remedy, even behind a banner: an unknown key, a
# changed one, a password prompt, no listener, an account without a shell, a forced command. Shared connections
# (ControlMaster) and MaxSessions do no harm.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/sshd_lib.sh" || exit 1
need_sshd 2
seq 30 | sed 's/^/Only those who may. Rule /' >banner

refused() { # WORDS that the one line about vm2 ends with
    run_as tester --hosts vm1,vm2 -- touch tester/started
    [ $status -eq 1 ] && [ ! -e tester/started ] || fail "$1: exit status $status"
    [ "$(wc -l <err)" -eq 2 ] && said "^chokepoint: vm2 did not answer: tried by ssh, .*$1\$" || fail "it does not say: $1"
}
recorded() {
    run_as tester --no-report --hosts vm1,vm2 -- sh -c 'for i in 1 2; do ssh -n vm2 echo there || exit; done'
    [ $status -eq 0 ] && [ "$(cat out)" = "$(printf 'there\nthere')" ] || fail "$1: exit status $status"
    [ "$(hosts_recorded "(SELECT max(run) FROM run)")" -eq 2 ] || fail "$1: not two hosts"
    [ "$(sql "SELECT sum(gaps + lost_frames) FROM stream JOIN host USING (host) WHERE run = (SELECT max(run) FROM run)")" = 0 ] ||
        fail "$1: samples are missing"
}

restart_sshd vm2 "Banner $work/banner"
on vm2 mv /home/tester/.ssh/authorized_keys /home/tester/away
refused 'it said: tester@vm2: Permission denied (publickey).; vm2 lets nobody in without a password: ssh-copy-id vm2'
restart_sshd vm2 "PasswordAuthentication yes"
refused 'it said: tester@vm2: Permission denied (publickey,password).; vm2 lets nobody in without a password: ssh-copy-id vm2'
on vm2 mv /home/tester/away /home/tester/.ssh/authorized_keys

# Another key than the known one, and an unknown one.
ssh-keygen -q -t ed25519 -N '' -C other -f "$ssh/other.key"
sed -i "s,^HostKey .*,HostKey $ssh/other.key," "$ssh/vm2.conf"
stop_sshd vm2
start_sshd vm2
refused 'it said: WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!; vm2 has another key .*: ssh-keygen -R vm2'
as tester ssh-keygen -R vm2 2>/dev/null >&2 || fail "the command that is told does not run"
as tester ssh-keygen -R "$(address_of vm2)" 2>/dev/null >&2
refused 'it said: Host key verification failed.; vm2 has a key that is not known here: ssh vm2'
on vm1 cp /root/.ssh/known_hosts /home/tester/.ssh/known_hosts

stop_sshd vm2
refused 'it said: ssh: connect to host vm2 port 22: Connection refused'
write_sshd_config vm2
start_sshd vm2
restart_sshd vm2 'ForceCommand echo no commands here'
refused 'exit status 0; it said: no commands here'
restart_sshd vm2
users_have /usr/sbin/nologin
refused 'it said: This account is currently not available.'
users_have /bin/bash
recorded 'all is well again'

# Shared connections: made by the first client, kept, used by us; each host allows one session in a connection, or more.
mux() { on vm1 sh -c 'cat >>/home/tester/.ssh/config' <<<"$1"; }
end_master() { as tester ssh -O exit vm2 2>/dev/null; }
mux $'ControlMaster auto\nControlPath ~/.ssh/%C'
recorded ControlMaster
restart_sshd vm2 'MaxSessions 1'
recorded 'ControlMaster, MaxSessions 1'
! said mux_client || fail "our connection is shared, and was full for the command's own ssh"
as tester ssh -o ControlMaster=yes -fN vm2 || fail "no shared connection"
recorded 'a shared connection, MaxSessions 1'
end_master
restart_sshd vm2
as tester ssh -o ControlMaster=yes -fN vm2 || fail "no shared connection"
recorded 'a shared connection'
end_master
mux 'ControlPersist 60'
recorded ControlPersist
end_master
exit 0
