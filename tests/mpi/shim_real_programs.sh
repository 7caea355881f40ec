#!/bin/bash
# SPDX-License-Identifier: MIT
# LAMMPS and HPC Challenge from Debian give the same results with the shim as without it. The records add up: all bytes
# sent are received, nothing is malformed, and the sum of events equals the totals if no event was lost.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
export OMP_NUM_THREADS=1
ran=0

# Point-to-point bytes sent and received by all ranks must balance.
balanced() {
    awk '$1 == "total" && $3 ~ /^MPI_(Send|Bsend|Ssend|Rsend|Isend|Issend|Irsend|Ibsend|Sendrecv|Sendrecv_replace|Send_init)$/ { sent += $8 }
         $1 == "total" && $3 ~ /^MPI_(Recv|Irecv|Sendrecv|Sendrecv_replace|Mrecv|Imrecv|Recv_init)$/ { received += $9; unsized += $10 }
         $1 == "rank" { if ($7 || $8 || $9 || !$10) { print; bad = 1 } }
         END { printf "sent %d bytes, received %d (%d receives without a size)\n", sent, received, unsized
               exit bad || sent == 0 || (unsized ? received < sent : received != sent) }' "$work/dump" ||
        fail "what was sent was not received"
}

lammps() {
    local melt=(lmp -in "$CHOKEPOINT_SOURCE/tests/faults/in.lj" -var size 12 -var steps 200 -var every 10 -log none)
    timeout 300 "${mpi[@]}" -np 2 "${melt[@]}" >"$work/alone" || fail "lmp alone"
    watched 2 "${melt[@]}" >"$work/under" || fail "lmp under the shim"
    for f in alone under; do awk 'NF == 6 && $1 ~ /^[0-9]+$/' "$work/$f" >"$work/$f.thermo"; done
    [ "$(wc -l <"$work/alone.thermo")" -eq 21 ] || fail "LAMMPS says other things than this test knows"
    diff "$work/alone.thermo" "$work/under.thermo" || fail "LAMMPS gives other results under the shim"
    balanced
    events_agree
}

hpcc_once() { # NAME COMMAND...
    local name=$1
    shift
    rm -f hpccoutf.txt
    "$@" hpcc >/dev/null || return
    # Keeps passes, errors and success, but not speed or repeats, since transpositions are repeated while there is time.
    grep -oE 'PASSED|FAILED|Found [0-9]+ errors in [0-9]+ locations \([a-z]+\)|[0-9]+ tests completed and .*|^(Success|.*_ErrorsFraction|.*_Errors|HPL_N|PTRANS_n|.*_N)=.*' hpccoutf.txt | uniq >"$work/$name"
}
hpcc_alone() { timeout 300 "${mpi[@]}" -np 2 "$@"; }

challenge() {
    cd "$work" || fail "$work"
    sed -e 's/^1000  *Ns/200 Ns/; s/^2  *Ps/1 Ps/' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
    hpcc_once alone hpcc_alone || fail "hpcc alone"
    hpcc_once under watched 2 || fail "hpcc under the shim"
    grep -qx 'Success=1' "$work/alone" || fail "hpcc says other things than this test knows"
    diff "$work/alone" "$work/under" || fail "hpcc gives other results under the shim"
    echo "$(wc -l <"$work/under") statements of hpcc agree"
    balanced
}

if command -v lmp >/dev/null; then
    echo "-- LAMMPS"
    lammps
    ran=1
fi
if command -v hpcc >/dev/null; then
    echo "-- HPC Challenge"
    challenge
    ran=1
fi
[ $ran = 1 ] || { echo "skipped: neither lammps nor hpcc is installed"; exit 77; }
