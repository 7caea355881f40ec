#!/bin/bash
# SPDX-License-Identifier: MIT
# The secrets of a run are in no command line and no environment of any process on any host. Ranks get the public id, and
# the key of the directories of marks, which is in no command line either. The secrets to look for are taken from the
# agents' input.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 2

go() { [ "$(cat ids 2>/dev/null | wc -l)" -ge 2 ]; }
look() { # METHOD WORDS...: words of `chokepoint run`, whose command writes ids and waits for `stop`
    local method=$1 id keys
    shift
    rm -f ids stop
    mkfifo stop
    setsid "$chokepoint" testbed --name "$name" exec -- "$chokepoint" run $slow_start --db "$db" "$@" >out 2>err &
    pid=$!
    until_true go
    id=$(sort -u ids)
    [[ $id =~ ^[0-9a-f]{16}$ ]] || fail "$method: the ranks have no common id: $id"
    keys=$(cut -d' ' -f1 keys-* | sort -u) marks=$(cut -d' ' -f2 keys-* | sort -u)
    [ "$(wc -w <<<"$keys")" = 2 ] || fail "$method: not a key a host: $keys"
    [[ $marks =~ ^[0-9a-f]{32}$ ]] || fail "$method: the key of marks is $marks"
    grep -lsaF -- "$marks" /proc/[0-9]*/environ >found # grep's status also reflects processes that are gone
    [ -s found ] || fail "$method: ranks have no key of marks"
    grep -lsaF -- "$marks" /proc/[0-9]*/cmdline >found
    [ ! -s found ] || fail "$method: the key of marks is in $(cat found)"
    printf '%s\n' $keys CHOKEPOINT_TOKEN= CHOKEPOINT_KEY= 'PRIVATE KEY' >secrets
    grep -lsaF -f secrets /proc/[0-9]*/cmdline /proc/[0-9]*/environ >found
    [ ! -s found ] || fail "$method: secrets are in $(cat found)"
    rm -f keys-*
    # The job's id is no secret, but processes that we started do not belong to the job.
    ! grep -lsaz "^CHOKEPOINT_RUN=$id" /proc/[0-9]*/environ | sed 's/environ/comm/' | xargs cat 2>/dev/null |
        grep -q '^chokepoint' || fail "$method: we count ourselves as the job"
    echo >stop
    wait $pid || fail "$method: exit status $?"
    no_traces_of "$id" || fail "$method: left $(traces_of "$id")"
}
printf '#!/bin/sh\necho ${CHOKEPOINT_RUN:-$OMPI_CHOKEPOINT_RUN} >>%s/ids\n[ "$1" = 0 ] || exec sleep 0.1\nread x <%s/stop\n' "$work" "$work" >rank
chmod +x rank
# An agent that records its input, beside the command.
mkdir bin
cp "$CHOKEPOINT_BIN/chokepoint" bin/
printf '#!/bin/bash\nread -r key\necho "$key" >%s/keys-$$\nexec %s "$@" <<<"$key"\n' "$work" "$CHOKEPOINT_BIN/chokepoint-agent" >bin/chokepoint-agent
chmod +x bin/chokepoint-agent
chokepoint=$work/bin/chokepoint
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)
look mpirun mpirun --hostfile "$hostfile" -x HOME -np 1 ./rank 0 : -np 1 ./rank 1
[ "$(hosts_recorded 1)" -eq 2 ] || fail "mpirun: $(hosts_recorded 1) hosts"
printf '#!/bin/sh\n%s/rank 1; exec %s/rank 0\n' "$work" "$work" >both
chmod +x both
look ssh --hosts vm1,vm2 ./both
[ "$(hosts_recorded 2)" -eq 2 ] || fail "ssh: $(hosts_recorded 2) hosts"
