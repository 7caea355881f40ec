#!/bin/bash
# SPDX-License-Identifier: MIT
# One imbalance (tests/mpi/planted_waits.c: rank 1 computes, rank 0 waits for it) through each of MPI's ways to wait: on
# cores twice as fast, the run is predicted to save half of rank 1's computing, within 10 %, or the answer is refused with
# the name of the call that is not followed. The budget counts the wait as one for rank 1. Usage: waits_are_followed.sh
# [MECHANISM...|all]; default: one of each kind; all: all that the program knows, in 4 minutes. MPI_OPTIONS in the
# environment are passed to mpirun: other transports wait in other calls.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
program=$programs/planted_waits
read -ra options <<<"${MPI_OPTIONS:-}"
[ "$library" != openmpi ] || [ ${#options[@]} -eq 0 ] || mpi=(mpirun --oversubscribe -x EXPECT)

# Calls that a replay does not follow, and the name that it must report.
not_followed='{"lock_all_flush": "MPI_Fetch_and_op", "spawn": "MPI_Comm_spawn"}'

judge() { # MECHANISM
    python3 - "$not_followed" "$1" <<'END'
import json, sys
not_followed, name = json.loads(sys.argv[1]), sys.argv[2]
planted = int(open("planted").read().split()[1]) / 1e9
told = json.load(open("whatif.json"))
answer = told["answers"][0]
rows = [b for b in json.load(open("report.json"))["budget"] if b["rank"] == 0 and b["phase"] == "work"]
waited, awaited = rows[0]["peer_wait_s"] or 0, rows[0]["awaited_rank"]
if name in not_followed or answer["predicted_s"] is None:
    good = name in not_followed and not_followed[name] in (answer["refused"] or "")
    said = f"refused: {answer['refused']}"
else:
    moved = (told["measured_s"] - answer["predicted_s"]) / (planted / 2)
    good = abs(moved - 1) <= 0.1 and waited >= 0.7 * planted and awaited == 1
    said = f"moves by {100 * moved:.1f} %, waits for rank {awaited} for {waited:.2f} s"
print(f"{name:20s} {planted:.2f} s planted; {said}{'' if good else '   FAILED'}")
sys.exit(not good)
END
}
# once MECHANISM
once() {
    run --no-report "${mpi[@]}" "${options[@]}" -np 2 "$program" "$1" 20 60
    [ $status -eq 0 ] || fail "$1: exits with $status"
    mv "$EXPECT.1" planted
    "$chokepoint" whatif --db "$db" --cpu all=2x --format json >whatif.json || fail "$1: no answer"
    "$chokepoint" report --db "$db" --format json >report.json || fail "$1: no report"
    judge "$1"
}

mechanisms=("$@")
[ $# -gt 0 ] || mechanisms=(recv_any probe_large improbe testsome waitany persistent iallreduce bcast neighbor_allgather
                            inter_bcast split fence lock_unlock lock_all_flush spawn)
# Debian's MPICH 4.0.2, with and without the shim: a window that a program made crashes it in MPI_Finalize, inside
# UCX.
[ $# -gt 0 ] || [ "$library" != mpich ] ||
    mechanisms=(recv_any probe_large improbe testsome waitany persistent iallreduce bcast neighbor_allgather inter_bcast split)
[ "$*" != all ] || mapfile -t mechanisms < <("$program")
[ ${#mechanisms[@]} -gt 0 ] || fail "the program knows no mechanism"
failed=0
# If the machine takes cores away between two calls, no replay reproduces the run: not three times in a
# row.
for mechanism in "${mechanisms[@]}"; do
    once "$mechanism" || once "$mechanism" || once "$mechanism" || failed=1
done
[ $failed -eq 0 ] || fail "see above"
exit 0
