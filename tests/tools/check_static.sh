#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_static.sh [BUILD]: clang-tidy and cppcheck over all sources, as compiled in BUILD (build/release), on all cores.
# Tests are left out, and so are generated files: arrays of bytes, over which cppcheck takes minutes. Disabled checks
# stand with their reasons in .clang-tidy and tests/tools/cppcheck.txt. Versions find different things, so only the
# version that the code was cleaned with judges (Debian 12). setup/analyze.cmake runs gcc's analyzer during a build.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
[ -e "$build/compile_commands.json" ] || { echo "$build is not configured" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# have WHAT VERSION COMMAND...: whether this version of it is installed.
have() {
    local what=$1 version=$2
    shift 2
    "$@" 2>/dev/null | grep -q "$version" || { echo "$what ($version) is not here: not run"; return 1; }
}

# The sources other than tests, each once, without gcc options that clang does not know.
jq "[unique_by(.file)[] | select(.file | startswith(\"$PWD/tests/\") or startswith(\"$PWD/build/\") | not)
    | .command |= gsub(\" -(f(no-)?analyzer|Wno-analyzer-[a-z-]+)\"; \"\")]" "$build/compile_commands.json" >"$work/compile_commands.json"

# judged NAME: prints a tool's output and counts it; silent if there is none.
judged() {
    [ -s "$work/$1" ] || { echo "$1: nothing found in $((SECONDS - began)) s"; return; }
    cat "$work/$1"
    echo "$1: see above" >&2
    bad=1
}

began=$SECONDS
if have clang-tidy 'version 14\.' clang-tidy --version; then
    jq -r 'map(.file) | unique[]' "$work/compile_commands.json" | xargs -d '\n' -P "$(nproc)" -n 8 clang-tidy -p "$work" --quiet >"$work/clang-tidy" 2>"$work/log" || {
        [ -s "$work/clang-tidy" ] || cp "$work/log" "$work/clang-tidy"
    }
    judged clang-tidy
fi

began=$SECONDS
if have cppcheck 'Cppcheck 2\.10' cppcheck --version; then
    cppcheck -j "$(nproc)" --project="$work/compile_commands.json" --enable=warning,performance,portability --inline-suppr --quiet \
        --suppressions-list=tests/tools/cppcheck.txt 2>"$work/cppcheck" >&2 || echo "cppcheck ended with $?" >>"$work/cppcheck"
    judged cppcheck
fi
exit $bad
