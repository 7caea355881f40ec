#!/bin/bash
# SPDX-License-Identifier: MIT
# The command finds its verbs, and reports in one line what is wrong with another word.
set -u
fail() { echo "FAILED: $*"; exit 1; }
refuses() {
    local said
    said=$("$CHOKEPOINT_BIN/chokepoint" "$@" 2>&1 >/dev/null)
    [ $? -eq 2 ] || fail "chokepoint $* does not exit with 2"
    [ "$(wc -l <<<"$said")" -eq 1 ] && [[ $said == *--help* ]] || fail "chokepoint $* says: $said"
}
refuses
refuses no-such-verb
refuses --no-such-option

version=$(sed -n 's/^project(chokepoint VERSION \([0-9.]*\) .*/\1/p' "$CHOKEPOINT_SOURCE/CMakeLists.txt")
for program in chokepoint chokepoint-agent; do
    [ "$("$CHOKEPOINT_BIN/$program" --version)" = "$program ${version:?}" ] || fail "$program --version is not $version"
done
verbs=$("$CHOKEPOINT_BIN/chokepoint" --help | awk '/^  [a-z]/ { print $1 }')
[[ $verbs == *testbed* ]] || fail "--help lists: $verbs"
for verb in $verbs; do
    "$CHOKEPOINT_BIN/chokepoint" "$verb" --help | grep -q "^usage: chokepoint $verb" ||
        fail "$verb has no --help"
    cmp -s <("$CHOKEPOINT_BIN/chokepoint" "$verb" --help) <("$CHOKEPOINT_BIN/chokepoint" help "$verb") ||
        fail "help $verb is not $verb --help"
done

# A word that resembles a verb.
refuses help no-such-verb
near() { [[ $("$CHOKEPOINT_BIN/chokepoint" "${@:2}" 2>&1) == *"did you mean '$1'?"* ]] || fail "${*:2}: no $1"; }
near report reprot
near report help reprot
near --format report --fromat json
near --format report --fromat=json
near --repeat run --repaet 3 true
[[ $("$CHOKEPOINT_BIN/chokepoint" xyzzy 2>&1) != *'did you mean'* ]] || fail "xyzzy is near nothing"
