#!/bin/bash
# SPDX-License-Identifier: MIT
# Bash completes verbs and every option of a verb; zsh and fish, if installed, accept their files.
set -u
fail() { echo "FAILED: $*"; exit 1; }
chokepoint=$CHOKEPOINT_BIN/chokepoint
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$chokepoint" completion bash >"$work/bash" && bash -n "$work/bash" || fail "completion bash"
. "$work/bash" || exit 1
completed() { # WORDS..., of which the last is being typed
    COMP_WORDS=(chokepoint "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _chokepoint
    echo "${COMPREPLY[*]:-}"
}
[ "$(completed rep)" = report ] || fail "rep: $(completed rep)"
[ "$(completed help expo)" = export ] || fail "help expo"
[ "$(completed run --rep)" = --repeat ] || fail "run --rep: $(completed run --rep)"
[ "$(completed run -n x --rep)" = --repeat ] || fail "behind a value"
[ -z "$(completed run make --rep)" ] || fail "an option of the command"
[ -z "$(completed report --db ch)" ] || fail "a value"
[ "$(completed testbed up 3 --ra)" = --rate ] && [ -z "$(completed testbed up --rate 1)" ] || fail "testbed up"
[ -z "$(completed testbed exec -- ls --ra)" ] || fail "an option of another program"
[ "$(completed completion f)" = fish ] && [ "$(completed testbed d)" = down ] || fail "further words"
[ "$(completed report --format s)" = "screen svg" ] || fail "formats: $(completed report --format s)"
# Names of runs and hosts are those of the database; a name that a shell would expand is not offered.
cd "$work" || exit 1
printf '#!/bin/sh\ntouch harm\n' >chokepoint && chmod +x chokepoint # a program of that name here is not asked
export PATH=$CHOKEPOINT_BIN:$PATH
"$chokepoint" run -q --no-report -n first-one true && "$chokepoint" run -q --no-report -n 'x$(touch harm)' true || fail "no runs"
host=$(sqlite3 chokepoint.db "SELECT name FROM host LIMIT 1")
one() { COMP_WORDS=(chokepoint "$@") COMP_CWORD=$# COMPREPLY=(); _chokepoint; echo "${COMPREPLY[*]:-}"; }
[ "$(one report fi)" = first-one ] || fail "names: $(one report fi)"
[ "$(one rm '')" = "2 1 first-one last" ] || fail "all: $(one rm '')"
[ "$(one compare 1 --baseline fi)" = first-one ] || fail "--baseline"
[ "$(one run --hosts "${host:0:1}")" = "$host" ] || fail "hosts: $(one run --hosts "${host:0:1}")"
[ -z "$(one report --db nosuch.db fi)" ] || fail "names of no database"
mkdir elsewhere && cd elsewhere && [ "$(one report --db ../chokepoint.db fi)" = first-one ] || fail "--db"
[ ! -e harm ] && [ ! -e ../harm ] || fail "a name of a run was run"
cd / || exit 1
verbs=$("$chokepoint" --help | awk '/^  [a-z]/ { print $1 }')
all=" $(completed '') "
for verb in $verbs; do
    [[ $all == *" $verb "* ]] || fail "no $verb"
    taken=" $(completed "$verb" --) "
    for option in $("$chokepoint" "$verb" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        [[ $taken == *" $option "* ]] || fail "$verb: no $option among $taken"
    done
done
for shell in zsh fish; do
    "$chokepoint" completion $shell >"$work/$shell" || fail "completion $shell"
    for verb in $verbs; do grep -q -- "$verb" "$work/$shell" || fail "$shell: no $verb"; done
    grep -q -- 'record COMMAND N times' "$work/$shell" || fail "$shell: options are not explained"
    [ -z "$(command -v $shell)" ] || $shell -n "$work/$shell" || fail "$shell does not read its own"
done
said=$("$chokepoint" completion tcsh 2>&1)
[ $? -eq 2 ] && [[ $said == *"bash, zsh or fish"* ]] || fail "tcsh: $said"
