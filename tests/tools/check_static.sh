#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_static.sh [BUILD]: clang-tidy, cppcheck and gcc -fanalyzer over all sources, as they are compiled in BUILD
# (build/release), on all cores; but not over tests, nor over files that the build makes: arrays of bytes, over which
# cppcheck takes minutes. Checks that are switched off stand with their reasons in .clang-tidy, tests/tools/cppcheck.txt
# and below. Versions find different things, so only those judge that the code was cleaned with (Debian 12).
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
[ -e "$build/compile_commands.json" ] || { echo "$build is not configured" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# have WHAT VERSION COMMAND...: whether this version of it is here.
have() {
    local what=$1 version=$2
    shift 2
    "$@" 2>/dev/null | grep -q "$version" || { echo "$what ($version) is not here: not run"; return 1; }
}

# of_program FILTER: what jq's filter says of each source that is no test, once.
of_program() {
    jq -r "[.[] | select(.file | startswith(\"$PWD/tests/\") or startswith(\"$PWD/build/\") | not)] | unique_by(.file)[] | $1" "$build/compile_commands.json"
}

# judged NAME: prints what a tool said and counts it, silent where it found nothing.
judged() {
    [ -s "$work/$1" ] || { echo "$1: nothing found in $((SECONDS - began)) s"; return; }
    cat "$work/$1"
    echo "$1: see above" >&2
    bad=1
}

began=$SECONDS
if have clang-tidy 'version 14\.' clang-tidy --version; then
    of_program .file | xargs -d '\n' -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet >"$work/clang-tidy" 2>"$work/log" || {
        [ -s "$work/clang-tidy" ] || cp "$work/log" "$work/clang-tidy"
    }
    judged clang-tidy
fi

began=$SECONDS
if have cppcheck 'Cppcheck 2\.10' cppcheck --version; then
    jq "[.[] | select(.file | startswith(\"$PWD/tests/\") or startswith(\"$PWD/build/\") | not)]" "$build/compile_commands.json" >"$work/compile_commands.json"
    cppcheck -j "$(nproc)" --project="$work/compile_commands.json" --enable=warning,performance,portability --inline-suppr --quiet \
        --suppressions-list=tests/tools/cppcheck.txt 2>"$work/cppcheck" >&2 || echo "cppcheck ended with $?" >>"$work/cppcheck"
    judged cppcheck
fi

# Other warnings of the compiler are the builds' business; -O1 keeps the analyzer's paths short. Off, as gcc 12 forgets
# across functions what went together (r == 0 and the pointer is there), and found nothing true:
#   malloc-leak: memory that an element of an array, or a struct handed up, owns; LeakSanitizer looks in every test.
#   null-dereference, null-argument, possible-null-dereference: a pointer that the loop's own condition tests.
#   use-of-uninitialized-value: arrays filled by a function that was called if and only if there was memory.
# On: use after free, double free and fclose, files left open, free of what is no heap, what signal handlers may not call.
analyzer='-fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-null-dereference -Wno-analyzer-null-argument
    -Wno-analyzer-possible-null-dereference -Wno-analyzer-use-of-uninitialized-value'
began=$SECONDS
if have 'gcc -fanalyzer' ' 12\.' gcc --version; then
    of_program '"cd \(.directory | @sh) && \(.command)"' |
        sed -E 's/ -(W[a-z=-]+|O[0-3]|g)\b//g; s/ -o [^ ]+/ -O1 $ANALYZER -o \/dev\/null/' |
        ANALYZER=$analyzer xargs -d '\n' -P "$(nproc)" -n 1 sh -c 'eval "$1"' analyze 2>"$work/gcc -fanalyzer" || bad=1
    judged 'gcc -fanalyzer'
fi
exit $bad
