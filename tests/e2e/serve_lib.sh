# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For tests of `chokepoint serve`; to be sourced after run_lib.sh. serve OPTIONS... : starts a server of
# $db in the background; its process in $server, its first address in $url
serve() {
    : >"$work/said" # output of a server before
    "$chokepoint" serve --db "$db" "$@" >"$work/said" 2>"$work/complaints" &
    server=$!
    until_true says_where
    url=$(grep -o 'https\?://[^ ]*' "$work/said" | head -1)
}
says_where() { grep -q 'https\?://' "$work/said" || ! kill -0 "$server" 2>/dev/null; }
# status_of PATH CURL-OPTIONS... : its HTTP status; the body in $work/body, the head in $work/head
status_of() {
    local path=$1
    shift
    curl -sS -o "$work/body" -D "$work/head" -w '%{http_code}' --path-as-is --max-time 300 "$@" "${url%/}$path"
}
# expect STATUS PATH CURL-OPTIONS...
expect() {
    local wanted=$1 status
    shift
    status=$(status_of "$@")
    [ "$status" = "$wanted" ] || fail "$*: status $status and not $wanted: $(head -c 300 "$work/body")"
}
has_head() { grep -qi -- "$1" "$work/head" || fail "no '$1' in: $(cat "$work/head")"; }
# ends: after a signal the server ends with status 0
ends() {
    kill "-$1" "$server"
    wait "$server"
    status=$?
    [ $status -eq 0 ] || fail "SIG$1 ends it with status $status: $(cat "$work/complaints")"
    [ ! -s "$work/complaints" ] || fail "it complained: $(cat "$work/complaints")"
}
