# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts in this folder; sourced. Ranks run on this machine, more of them than cores.
# The program is chokepoint-$workload, sgd if that is not set.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 77; }
sgd="$CHOKEPOINT_BIN/chokepoint-${workload:-sgd}"
program=$sgd
[ -x "$program" ] || { echo "skipped: ${program##*/} is not built"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# MPI leaves memory behind that is not ours to free, in libraries already unloaded, where no suppression
# finds it: so a sanitizer writes its findings to files, and those with our code in them count.
export ASAN_OPTIONS="log_path=$work/sanitizer:exitcode=0"
sanitizer_is_content() {
    ! grep -lE 'ERROR: AddressSanitizer|runtime error|/(workloads|agent)/' "$work"/sanitizer.* 2>/dev/null
}

# ranks N OPTIONS...: the program on N ranks; ended if it hangs, after 120 s or $patience.
ranks() {
    local n=$1
    shift
    timeout -k 5 "${patience:-120}" mpirun --oversubscribe -np "$n" "$program" "$@"
    local status=$?
    sanitizer_is_content >&2 || { cat "$work"/sanitizer.* >&2; return 99; }
    return $status
}
# json FILE KEY: a number at the top of the summary
json() { sed -n "s/^  \"$2\": \([-0-9.e+]*\),*$/\1/p" "$1"; }
# true when the awk expression holds
holds() { awk "BEGIN { exit !($1) }"; }
# compare NAME NAME: the largest difference between weights in two files, and the largest weight
compare() {
    paste <(od -An -v -w4 -tf4 "$work/$1") <(od -An -v -w4 -tf4 "$work/$2") |
        awk '{ d = $1 - $2; d = d < 0 ? -d : d; a = $1 < 0 ? -$1 : $1
               if (d > most) most = d
               if (a > large) large = a }
             END { printf "%.3g %.3g\n", most, large }'
}
# agree NAME NAME LEAST: weights in two files differ by 1e-5 at most, and the largest is above LEAST
agree() {
    read -r difference weight < <(compare "$1" "$2")
    echo "$1 against $2: largest difference $difference, largest weight $weight"
    holds "$difference <= 1e-5 && $weight > $3" || fail "$1 and $2 differ by $difference"
}
# nearly NAME NAME: weights in two files differ by 1 % of the largest at most, which is not 0
nearly() {
    read -r difference weight < <(compare "$1" "$2")
    echo "$1 nearly $2: largest difference $difference, largest weight $weight"
    holds "$weight > 0 && $difference <= 0.01 * $weight" || fail "$1 and $2 differ by $difference of $weight"
}
