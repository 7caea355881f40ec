#!/bin/bash
# SPDX-License-Identifier: MIT
# The token of a run is in no command line of any process and in no environment of the job, on any
# host; what the command's ranks are given is the public id.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh"
need_testbed 2

go() { [ "$(cat ids 2>/dev/null | wc -l)" -ge 2 ]; }
look() { # ROAD WORDS...: of `chokepoint run`, whose command writes ids and waits for `stop`
    local road=$1 id token tokens
    shift
    rm -f ids stop
    mkfifo stop
    setsid "$chokepoint" testbed --name "$name" exec -- "$chokepoint" run $slow_start --db "$db" "$@" >out 2>err &
    pid=$!
    until_true go
    id=$(sort -u ids)
    [[ $id =~ ^[0-9a-f]{16}$ ]] || fail "$road: the ranks have no common id: $id"
    # The collector's own environment says what the token is.
    token=$(cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | sed -n 's/^CHOKEPOINT_TOKEN=//p' | sort -u)
    tokens=$(wc -w <<<"$token")
    [ "$tokens" -ge 1 ] || fail "$road: no token was found, so this test sees nothing"
    for t in $token; do
        [[ $t =~ ^[0-9a-f]{32}$ ]] || fail "$road: a token of another form"
        ! grep -qsa "$t" /proc/[0-9]*/cmdline || fail "$road: the token is in a command line"
        for p in $(grep -lsa "CHOKEPOINT_RUN=$id" /proc/[0-9]*/environ); do
            ! grep -qsa "$t" "$p" || fail "$road: the token is in the job: $(tr '\0' ' ' <"${p%environ}cmdline")"
        done
    done
    # The id of the job is no secret, but what we started is not of the job.
    ! grep -lsa "CHOKEPOINT_RUN=$id" /proc/[0-9]*/environ | sed 's/environ/comm/' | xargs cat 2>/dev/null |
        grep -q '^chokepoint' || fail "$road: we count ourselves as the job"
    echo >stop
    wait $pid || fail "$road: exit status $?"
    no_traces_of "$id" || fail "$road: left $(traces_of "$id")"
}
printf '#!/bin/sh\necho ${CHOKEPOINT_RUN:-$OMPI_CHOKEPOINT_RUN} >>%s/ids\n[ "$1" = 0 ] || exec sleep 0.1\nread x <%s/stop\n' "$work" "$work" >rank
chmod +x rank
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)
look mpirun mpirun --hostfile "$hostfile" -x HOME -np 1 ./rank 0 : -np 1 ./rank 1
[ "$(hosts_recorded 1)" -eq 2 ] || fail "mpirun: $(hosts_recorded 1) hosts"
printf '#!/bin/sh\n%s/rank 1; exec %s/rank 0\n' "$work" "$work" >both
chmod +x both
look ssh --hosts vm1,vm2 ./both
[ "$(hosts_recorded 2)" -eq 2 ] || fail "ssh: $(hosts_recorded 2) hosts"
