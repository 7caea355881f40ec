#!/bin/bash
# SPDX-License-Identifier: MIT
# Resource limits end neither the command nor its recording: a file size that the database or the spool outgrows, few
# open files, little memory, an empty environment, a command line of a megabyte. The command has the limits and
# signals that it would have alone.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
frames() { sql 'SELECT count(*) FROM frame'; }

# Files may not grow over 500 KiB: the database fills, the command goes on, and gets the signal that it would get alone.
(
    ulimit -f 500
    "$chokepoint" run $slow_start --no-report --db "$db" sh -c '
        ulimit -f
        head -c 200000 /dev/zero >small || exit 50
        (head -c 1000000 /dev/zero >large) 2>/dev/null
        echo $?
        i=0
        while [ ! -e full ]; do sleep 0.1; i=$((i + 1)); [ $i -lt 2400 ] || exit 51; done
        exit 7' >out 2>err
    echo $? >status
) &
job=$!
until_true said 'limit of file sizes (ulimit -f); agents keep their frames'
touch full
wait $job
[ "$(cat status)" = 7 ] || fail "exit status $(cat status)"
[ "$(tr '\n' ' ' <out)" = "$(bash -c 'ulimit -f 500; sh -c "ulimit -f"') 153 " ] || fail "the command sees: $(cat out)"
! said 'killed by SIGXFSZ' || fail "something of ours was killed"
said 'chokepoint import ' || fail "it does not say how to bring in what is left"
id=$(sed -n 's/.*kept in [^ ]*chokepoint-\([0-9a-f]*\)-.*/\1/p' err)
[ -n "$id" ] && rm -rf "${TMPDIR:-/tmp}/chokepoint-$id"-*
rm -f "$db"*

# `run` raises soft limits for itself, and restores them for the command. A sanitizer takes more memory than any
# limit allows.
memory=400000
! grep -q __asan_init "$chokepoint" || memory=unlimited
(
    ulimit -S -n 16
    ulimit -S -v $memory
    run --no-report sh -c 'echo $(ulimit -S -n) $(ulimit -S -v); exit 8'
    [ $status -eq 8 ] && [ "$(cat out)" = "16 $memory" ] || fail "exit status $status, limits $(cat out)"
) || exit 1
[ "$(hosts_recorded 1)" = 1 ] && [ "$(frames)" -gt 0 ] || fail "few open files and little memory: nothing recorded"

# A signal ignored before is ignored in the command, and only then.
(trap '' XFSZ; run --no-report sh -c 'ulimit -f 1; head -c 100000 /dev/zero >f 2>/dev/null; exit $?')
[ "$(sql 'SELECT exit_status FROM run WHERE run = 2')" = 1 ] || fail "SIGXFSZ is not ignored any more"
run --no-report sh -c 'ulimit -f 1; head -c 100000 /dev/zero >f; exit $?'
[ $status -eq 153 ] || fail "SIGXFSZ is ignored: exit status $status"

# Without any environment it still belongs to the job.
run --no-report --process-rate 5 env -i "$(command -v sleep)" 1.5
[ $status -eq 0 ] || fail "without an environment: exit status $status"
[ "$(sql "SELECT max(job) FROM process JOIN instance USING (instance) JOIN host USING (host) WHERE run = 4 AND instance.name LIKE 'sleep[%'")" = 1 ] ||
    fail "without an environment it is not of the job"

# The begin of a command line of a megabyte is kept, with a mark.
words=()
for i in 1 2 3 4 5 6 7 8 9 10; do words+=("$(printf "%0100000d" "$i")"); done
run --no-report sh -c 'n=0; for w; do n=$((n + ${#w})); done; echo $n; exit 9' sh "${words[@]}"
[ $status -eq 9 ] && [ "$(cat out)" = 1000000 ] || fail "a long command line: exit status $status, $(cat out)"
sql "SELECT command FROM run WHERE run = 5" | grep -q ' \[\.\.\. cut: it has 1000[0-9]* bytes\]$' || fail "the cut is not marked"
exit 0
