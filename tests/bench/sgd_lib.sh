# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154
# Common parts of the benchmarks of chokepoint-sgd over emulated hosts; sourced, with $bin and $hosts
# set.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
testbed() { "$bin/chokepoint" testbed --name "sgd$$" "$@"; }
finish() { testbed down >/dev/null 2>&1; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
# over PROGRAM OPTIONS...: one rank on each host
over() {
    # shellcheck disable=SC2016 # for the shell inside the host
    testbed exec -- sh -c 'n=$1; shift; exec mpirun --hostfile $CHOKEPOINT_HOSTFILE -np $n "$@"' sh "$hosts" "$@"
}
# json FILE KEY: prints a number at the top of the summary
json() { sed -n "s/^  \"$2\": \([-0-9.e+]*\),*$/\1/p" "$1"; }
command -v mpicc >/dev/null || { echo "skipped: no mpicc"; exit 77; }
