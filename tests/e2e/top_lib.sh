# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For tests of `chokepoint top` on a screen, which tmux draws; to be sourced after run_lib.sh.
command -v tmux >/dev/null || { echo "no tmux here"; exit 77; }
n_screens=0
screen=top$$.0
tmux_here() { tmux -L "$screen" -f /dev/null "$@"; }
leave_screen() { # with the status that the test ends with
    local status=$?
    tmux_here kill-server 2>/dev/null
    (exit $status)
    leave
}
trap leave_screen EXIT
# open_screen COLUMNS ROWS WORDS...: chokepoint top WORDS on a screen of that size, on which its exit status stays
open_screen() {
    local columns=$1 rows=$2
    shift 2
    tmux_here kill-server 2>/dev/null
    n_screens=$((n_screens + 1))
    screen=top$$.$n_screens # a server that is just ending accepts no new session
    tmux_here new-session -d -x "$columns" -y "$rows" \
        "${screen_env:-} '$chokepoint' top $*; echo status \$?; cat" || fail "no screen"
}
seen() { tmux_here capture-pane -p -t 0; }
shows() { seen | grep -qE -- "$1"; }
shows_not() { ! shows "$1"; }
press() { tmux_here send-keys -t 0 "$@"; }
fail() {
    echo "FAILED: $*"
    seen 2>/dev/null
    tail -n 20 "$work"/out "$work"/err 2>/dev/null
    exit 1
}
