# SPDX-License-Identifier: MIT
# For tests of `chokepoint run`; to be sourced. Works in $work; with `need_testbed N` inside its own
# testbed ($name), which is removed with it.
set -u
. "${BASH_SOURCE[0]%/*}/until_lib.sh" || exit 1
work=$(mktemp -d)
db=$work/runs.db
chokepoint=$CHOKEPOINT_BIN/chokepoint
slow_start='--start-timeout 240' # a busy machine starts agents slowly
name=
leave() {
    local status=$?
    for pid in $(jobs -p); do kill "$pid" 2>/dev/null; done
    wait
    [ -z "$name" ] || "$chokepoint" testbed --name "$name" down >/dev/null
    rm -rf "$work"
    exit $status
}
trap leave EXIT
cd "$work" || exit 1

fail() {
    echo "FAILED: $*"
    tail -n 20 "$work"/out "$work"/err 2>/dev/null
    exit 1
}
# run OPTIONS... : its output in out and err, its exit status in $status
run() {
    "$chokepoint" run $slow_start --db "$db" "$@" >"$work/out" 2>"$work/err"
    status=$?
}
said() { # at least one of these
    local words
    for words in "$@"; do
        grep -q -- "$words" "$work/err" && return
    done
    return 1
}
# claims FILES... : runs a Python program from standard input, which may import claims.py; returns
# its status
claims() { PYTHONPATH=$CHOKEPOINT_SOURCE/tests/e2e PYTHONDONTWRITEBYTECODE=1 python3 - "$@"; }
sql() { sqlite3 -cmd ".timeout 5000" -cmd ".load $CHOKEPOINT_BIN/libchokepoint-sql.so" "file:$db?mode=ro" "$1"; }
# The same inside vm1 of the testbed.
inside() { "$chokepoint" testbed --name "$name" exec -- "$@"; }
run_inside() {
    inside "$chokepoint" run $slow_start --db "$db" "$@" >"$work/out" 2>"$work/err"
    status=$?
}
need_testbed() {
    name=run$$
    "$chokepoint" testbed --name "$name" up "$@" >"$work/up" 2>&1 && return
    local status=$?
    [ $status -ne 3 ] || { cat "$work/up"; name=; exit 77; }
    fail "no testbed: $(cat "$work/up")"
}
# Ids of the processes on a host of this testbed, by its cgroup.
processes_of() {
    cat /sys/fs/cgroup/*/"$name-testbed/$1"/cgroup.procs /sys/fs/cgroup/"$name-testbed/$1"/cgroup.procs \
        2>/dev/null | sort -un
}
# Directories of the run: a link in each leads to its id. $1: the id; then other places to search.
directories_of() { find /tmp /var/tmp /dev/shm "${TMPDIR:-/tmp}" "${@:2}" -maxdepth 2 -name run -lname "$1" -printf '%h\n' 2>/dev/null | sort -u; }
# Agents of the run on all hosts, and the processes that start them.
agents_of() { grep -lsaz -- "^CHOKEPOINT_AGENT=$1" /proc/[0-9]*/environ | cut -d/ -f3; }
# Processes, directories and files with the run's id: on all hosts, which are this machine.
traces_of() {
    grep -lsa -- "$1" /proc/[0-9]*/environ /proc/[0-9]*/cmdline
    find /tmp /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name "*$1*" 2>/dev/null
    directories_of "$1"
}
no_traces_of() { [ -z "$(traces_of "$1")" ]; }
state_of() { sql "SELECT state FROM run WHERE run = $1"; }
hosts_recorded() { sql "SELECT count(*) FROM host WHERE run = $1"; }
