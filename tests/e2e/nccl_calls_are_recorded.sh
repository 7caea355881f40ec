#!/bin/bash
# SPDX-License-Identifier: MIT
# Operations that a program starts on GPUs through NCCL, played, come into the recording by NCCL's plug-in interface, in each of its
# versions: every rank has the same collectives under the same communicator and number, ranks are torchrun's, and messages go to the rank
# they say where NCCL tells the communicator. Calls that NCCL would never make change nothing. A plug-in that the user has named gets all
# it would get without ours. --no-shim and NCCL_PROFILER_PLUGIN=none name no plug-in.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
player=$CHOKEPOINT_BIN/nccl-player cuda=$CHOKEPOINT_BIN/gpu/libcuda.so.1
unset NCCL_PROFILER_PLUGIN LD_PRELOAD
cat >ranks <<'DONE'
for r in 0 1 2; do RANK=$r WORLD_SIZE=3 LOCAL_RANK=$r "$2" "$1" step "$PWD/meet-$1" "$3" 40 300 300 & done
wait
"$2" "$1" storm 8 2000
"$2" "$1" hostile
DONE
for version in 1 2 3 4 5 6; do
    run --no-report -n "v$version" bash ranks "$version" "$player" "$cuda"
    [ "$(sort out | tr '\n' ' ')" = 'hostile done rank 0 steps 40 rank 1 steps 40 rank 2 steps 40 storm done ' ] || fail "version $version: the program"
    run=$(sql "SELECT max(run) FROM run")
    of="call JOIN instance USING (instance) JOIN host USING (host) WHERE run = $run AND rank IS NOT NULL"
    got=$(sql "SELECT count(*), count(DISTINCT comm), count(DISTINCT tag), count(DISTINCT pid), min(bytes), max(bytes)
        FROM $of AND instance.name = 'ncclAllReduce' AND bytes = 4194304")
    [ "$got" = '120|1|40|3|4194304|4194304' ] || fail "version $version: collectives: $got"
    got=$(sql "SELECT count(*) FROM (SELECT tag FROM $of AND instance.name = 'ncclAllReduce' AND bytes = 4194304 GROUP BY comm, tag
        HAVING count(DISTINCT rank) = 3 AND count(*) = 3)")
    [ "$got" = 40 ] || fail "version $version: $got of 40 collectives are of three ranks"
    peers=12
    [ "$version" -ge 4 ] || peers=0 # such a plug-in is not told how large the communicator is
    got=$(sql "SELECT count(*), sum(peer = (rank + 1) % 3) IS $peers OR $peers = 0 FROM $of AND instance.name = 'ncclSend' AND bytes = 4096")
    [ "$got" = '12|1' ] || fail "version $version: messages: $got"
done

# The totals of many threads are exact.
total=$(sql "SELECT max(calls) FROM (SELECT sum(calls) AS calls FROM mpi_function JOIN instance USING (instance) JOIN host USING (host)
    WHERE instance.name LIKE '%ncclAllReduce' GROUP BY run, instance)")
[ "${total:-0}" -ge 40 ] || fail "totals: $total"

# A user's plug-in, and an old one.
for other in new old; do
    rm -f other
    NCCL_PROFILER_PLUGIN=$CHOKEPOINT_BIN/gpu/nccl-other-$other.so NCCL_OTHER=$work/other run --no-report bash -c \
        "RANK=0 WORLD_SIZE=1 '$player' 5 step '$work/meet-$other' '$cuda' 20 100 100"
    cat other
    want='groups 20 colls 20 p2ps 0 stops 1 strangers 0'
    grep -qx "$want" other || fail "the $other plug-in of the user: $(cat other)"
    got=$(sql "SELECT count(*) FROM call JOIN instance USING (instance) JOIN host USING (host)
        WHERE run = (SELECT max(run) FROM run) AND instance.name = 'ncclAllReduce'")
    [ "$got" = 20 ] || fail "beside the $other plug-in: $got"
done

# Turned off, by us or by the user.
run --no-report --no-shim bash -c 'echo "[$NCCL_PROFILER_PLUGIN]"'
[ "$(cat out)" = '[]' ] || fail "--no-shim names one: $(cat out)"
NCCL_PROFILER_PLUGIN=none run --no-report bash -c 'echo "[$NCCL_PROFILER_PLUGIN]"'
[ "$(cat out)" = '[none]' ] || fail "against the user's word: $(cat out)"

# Without a listener it asks for no event.
NCCL_PLAYER_ANY_MASK=1 NCCL_PROFILER_PLUGIN=$CHOKEPOINT_BIN/libchokepoint-mpi.so "$player" 5 step meet-none "$cuda" 2 1 1 >out 2>err || fail "alone"
