#!/bin/bash
# SPDX-License-Identifier: MIT
# A host that accepts no agent is named in one line with the reason and the remedy; with --allow-missing the command
# runs without it.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 2
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1

refused() { # WORDS that one line about vm2 contains
    rm -f started
    deliver --hosts vm1,vm2 touch started
    [ $status -eq 1 ] && [ ! -e started ] || fail "$1: exit status $status"
    said "^chokepoint: vm2 did not answer: tried by ssh, .*$1" || fail "it does not say: $1"
    [ "$(grep -c 'vm2' err)" -eq 1 ] || fail "$1: more than one line: $(cat err)"
    deliver --allow-missing --hosts vm1,vm2 touch started
    [ $status -eq 0 ] && [ -e started ] || fail "$1: --allow-missing: exit status $status"
    [ -z "$(find /tmp /var/tmp /dev/shm -maxdepth 1 -name "chokepoint-$(sql 'SELECT max(run) FROM run')-????????")" ] || fail "left"
}

all='for d in /tmp /var/tmp /dev/shm /root; do mount -t tmpfs -o'
hide "mkdir -p /tmp/x; HOME=/root; export HOME; $all noexec none \$d; done"
refused 'no directory of vm2 takes a program (tried /tmp /var/tmp /dev/shm /root: .*noexec); install the package'
hide "HOME=/root; export HOME; $all ro none \$d; done"
refused 'no directory of vm2 takes a program'
hide "HOME=/root; export HOME; $all size=512k none \$d; done"
refused 'the agent did not arrive whole in /tmp/.* of vm2; is there room for [0-9]* bytes'

mkdir machine
printf '#!/bin/sh\necho sparc64\n' >machine/uname
chmod +x machine/uname
hide "PATH=$work/machine:\$PATH"
refused 'vm2 has no chokepoint-agent .*none for sparc64 here; install the package chokepoint-agent on vm2'
# An architecture name that leads elsewhere is refused.
printf '#!/bin/sh\necho ../x86_64\n' >machine/uname
refused 'no word on what machine vm2 is'

# noexec only in /tmp: the next place is used.
hide "mount -t tmpfs -o noexec none /tmp"
deliver --hosts vm1,vm2 true
[ $status -eq 0 ] && [ "$(connections_to vm2)" -eq 1 ] || fail "only /tmp was tried: exit status $status"

# ssh would ask for a password, for which the run must not wait.
hide :
printf '#!/bin/sh\necho "root@$1: Permission denied (publickey,password)." >&2\nexit 255\n' >before
chmod +x before
refused 'Permission denied (publickey,password).*; vm2 lets nobody in without a password: ssh-copy-id vm2'

# A host that writes into the stream before and after, and one that is slow.
printf '#!/bin/sh\necho "Welcome to $1"; printf "no end of line"; echo; [ $1 != vm2 ] || read x <%s/late\n' "$work" >before
mkfifo late
deliver --hosts vm1,vm2 true &
pid=$!
(until_true pgrep -f "$work/before vm2" >/dev/null; echo go >late)
wait $pid || fail "exit status $?"
