#!/bin/bash
# SPDX-License-Identifier: MIT
# In odd circumstances a run behaves like the command alone, or reports in few lines what is
# missing: its output is not read, all streams are closed, nothing can be written, the command
# leaves a daemon behind.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

# A command whose output has no reader dies of SIGPIPE, as it would alone.
"$chokepoint" run $slow_start --db "$db" sh -c 'while echo y; do :; done' 2>err | head -n 1 >out
statuses=("${PIPESTATUS[@]}")
[ "${statuses[0]}" -eq 141 ] && [ "$(cat out)" = y ] || fail "exit status ${statuses[0]}"
[ "$(state_of 1)" = killed ] || fail "run 1 is $(state_of 1)"

# Our own messages have no reader.
{ "$chokepoint" run $slow_start --db "$db" sh -c 'sleep 0.2; exit 3' 2>&1 >/dev/null; echo $? >status; } | true
until_true test -s status
[ "$(cat status)" = 3 ] && [ "$(state_of 2)" = failed ] || fail "exit status $(cat status), run 2 is $(state_of 2)"
"$chokepoint" report --db "$db" 2>err | true
[ ! -s err ] || [ "$(wc -l <err)" -eq 1 ] || fail "report into a closed pipe says: $(cat err)"

# No streams at all.
"$chokepoint" run $slow_start --db "$db" sh -c 'exit 4' <&- >&- 2>&-
[ $? -eq 4 ] && [ "$(state_of 3)" = failed ] || fail "without streams: run 3 is $(state_of 3)"
[ "$(sql 'SELECT count(*) > 0 FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE run = 3')" = 1 ] || fail "nothing was recorded"

# Nothing can be written.
refused() { # TEXT, COMMAND...
    local text=$1 status
    shift
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status -ne 0 ] && [ ! -e "$work/begun" ] || fail "$*: exit status $status"
    [ "$(grep -c . "$work/err")" -le 3 ] && said "$text" || fail "$*: not said in a line or three: $(cat "$work/err")"
}
(cd /proc && refused 'chokepoint.db cannot be opened' env "$chokepoint" run touch "$work/begun") || exit 1
TMPDIR=$work/none run -q --no-report touch "$work/begun" # samples wait in /tmp
[ $status -eq 0 ] && [ -e begun ] || fail "without a TMPDIR: exit status $status"
rm begun
if command -v setpriv >/dev/null && chmod 755 "$work" && setpriv --reuid=65534 --clear-groups test -x "$chokepoint"; then
    mkdir -m 755 "$work/root_only"
    (cd root_only && refused 'chokepoint.db cannot be opened: Permission denied' setpriv --reuid=65534 --clear-groups "$chokepoint" run touch "$work/begun") || exit 1
    [ -z "$(ls root_only)" ] || fail "left $(ls root_only)"
    cp "$db" secret.db && chmod 600 secret.db
    for verb in "list" "report last" "compare 1 2" "run true"; do
        # shellcheck disable=SC2086
        set -- $verb
        refused 'secret.db.*Permission denied' setpriv --reuid=65534 --clear-groups "$chokepoint" "$1" --db "$work/secret.db" "${@:2}"
    done
    cmp -s "$db" secret.db || fail "a database that may not be read was changed"
fi

# A process that the command leaves behind lives on, and the run does not wait for it.
run sh -c 'setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $! >daemon'
daemon=$(cat daemon)
[ $status -eq 0 ] || fail "exit status $status: $(cat err)"
lives() { [ "$(cat "/proc/$daemon/comm" 2>/dev/null)" = sleep ]; }
lives || fail "the daemon was ended"
id=$(tr '\0' '\n' <"/proc/$daemon/environ" | sed -n 's/^CHOKEPOINT_RUN=//p')
[ -n "$id" ] || fail "the daemon is of no run"
[ "$(traces_of "$id")" = "/proc/$daemon/environ" ] || fail "left: $(traces_of "$id")"
kill "$daemon"
