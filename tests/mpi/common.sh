# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts in this folder, which source it. Ranks run on this machine, more of them
# than cores. The program is chokepoint-$workload, or sgd if that is not set.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 77; }
sgd="$CHOKEPOINT_BIN/chokepoint-${workload:-sgd}"
program=$sgd
[ -x "$program" ] || { echo "skipped: ${program##*/} is not built"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# MPI leaves memory behind that is not ours to free, in libraries that are already unloaded, where no suppression finds
# it. So a sanitizer writes its findings to files, and only those that name our code count. It does not symbolize: it
# would look up all of MPI's places at the end of each rank, which takes as long as the rest of a short rank.
export ASAN_OPTIONS="log_path=$work/sanitizer:exitcode=0:symbolize=0"
# our_places: prints "FUNCTION" and "FILE:LINE" of findings within our programs.
our_places() {
    local module offset
    cat "$work"/sanitizer.* 2>/dev/null | sed -n 's/^ *#[0-9]* .*(\(.*\/bin\/[^/]*\)+\(0x[0-9a-f]*\)).*/\1 \2/p' | sort -u |
        while read -r module offset; do addr2line -f -e "$module" "$offset"; done
}
sanitizer_is_content() {
    ! grep -lE 'ERROR: AddressSanitizer|runtime error' "$work"/sanitizer.* 2>/dev/null && ! our_places | grep -E '/(workloads|agent)/'
}

# ranks N OPTIONS...: runs the program on N ranks; ends it after $patience or 120 s if it hangs.
ranks() {
    local n=$1
    shift
    timeout -k 5 "${patience:-120}" mpirun --oversubscribe -np "$n" "$program" "$@"
    local status=$?
    sanitizer_is_content >&2 || { { cat "$work"/sanitizer.*; our_places; } >&2; return 99; }
    return $status
}
# json FILE KEY: prints a number at the top of the summary
json() { sed -n "s/^  \"$2\": \([-0-9.e+]*\),*$/\1/p" "$1"; }
# true when the awk expression holds
holds() { awk "BEGIN { exit !($1) }"; }
# compare NAME NAME: prints the largest difference between the weights in two files, and the largest
# weight
compare() {
    paste <(od -An -v -w4 -tf4 "$work/$1") <(od -An -v -w4 -tf4 "$work/$2") |
        awk '{ d = $1 - $2; d = d < 0 ? -d : d; a = $1 < 0 ? -$1 : $1
               if (d > most) most = d
               if (a > large) large = a }
             END { printf "%.3g %.3g\n", most, large }'
}
# agree NAME NAME LEAST: weights in two files differ by at most 1e-5, and the largest is above LEAST
agree() {
    read -r difference weight < <(compare "$1" "$2")
    echo "$1 against $2: largest difference $difference, largest weight $weight"
    holds "$difference <= 1e-5 && $weight > $3" || fail "$1 and $2 differ by $difference"
}
# nearly NAME NAME: weights in two files differ by at most 1 % of the largest, which is not 0
nearly() {
    read -r difference weight < <(compare "$1" "$2")
    echo "$1 nearly $2: largest difference $difference, largest weight $weight"
    holds "$weight > 0 && $difference <= 0.01 * $weight" || fail "$1 and $2 differ by $difference of $weight"
}
