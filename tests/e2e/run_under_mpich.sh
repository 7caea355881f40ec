#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint run mpirun.mpich -f hosts ./program` records all hosts, and every rank's MPI calls with the program's own byte
# counts; -genvnone keeps the shim out, and a note says so; hosts that cannot be read are always reported.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
program=$CHOKEPOINT_BIN/mpich/calls_simple
command -v mpirun.mpich >/dev/null && [ -x "$program" ] || { echo "skipped: no mpich"; exit 77; }
need_testbed 3
printf 'vm%d:1\n' 1 2 3 >"$work/hosts"
export EXPECT=$work/expect
job=(mpirun.mpich -f "$work/hosts" -ppn 1)

names=$(inside "${job[@]}" -n 3 hostname | sort | xargs)
[ "$names" = "vm1 vm2 vm3" ] || fail "ranks ran on '$names'"

recorded() { # RUN
    sql "SELECT h.name, r.rank, substr(i.name, instr(i.name, 'MPI_')), sum(m.calls), sum(m.sent_bytes), sum(m.received_bytes)
         FROM mpi_function m JOIN instance i USING (instance) JOIN host h USING (host)
         JOIN (SELECT DISTINCT instance, rank FROM mpi_function) r USING (instance)
         WHERE h.run = $1 GROUP BY h.name, i.name ORDER BY 1, 2" 2>/dev/null | tr '|' ' '
}

run_inside --no-report --hosts vm1,vm2,vm3 true # the hosts can be reached at all
[ $status -eq 0 ] || fail "--hosts exits with $status"
run_inside --no-report mpirun.mpich -hosts vm1:1,vm2:1 -n 2 "$program"
[ $status -eq 0 ] || fail "-hosts exits with $status"
run_inside --no-report "${job[@]}" -n 2 "$program"
[ $status -eq 0 ] || fail "exits with $status"
[ "$(hosts_recorded 3)" = 3 ] || fail "$(hosts_recorded 3) of 3 hosts were recorded"
recorded 3 >"$work/recorded"
cat "$EXPECT".[01] | sed -n 's/^total //p' | sort >"$work/want"
cut -d' ' -f2- "$work/recorded" | sort >"$work/got"
diff "$work/want" "$work/got" || fail "totals (<: what the program knows, >: what was recorded)"
grep -q '^vm1 0 MPI_Send 20 16000 0$' "$work/recorded" && grep -q '^vm2 1 MPI_Recv 20 0 16000$' "$work/recorded" ||
    fail "ranks are not on their hosts: $(cat "$work/recorded")"

run_inside --no-report "${job[@]}" -genvlist EXPECT,PATH -n 2 "$program"
[ $status -eq 0 ] || fail "-genvlist exits with $status"
said 'MPI calls are not recorded: -genvlist' || fail "it does not say why there are no calls"

printf -- '-n 1 true\n' >"$work/config"
run_inside --no-report mpirun.mpich -configfile "$work/config"
said 'this host alone is recorded: -configfile of mpirun.mpich' || fail "nothing is said of -configfile"
