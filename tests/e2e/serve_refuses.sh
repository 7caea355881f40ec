#!/bin/bash
# SPDX-License-Identifier: MIT
# The page refuses foreign host names that lead here, other sites, other methods, bodies, long and odd requests, and
# readers without a token. It is not reachable from elsewhere without TLS and a token. Refusals do not delay other
# requests.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/serve_lib.sh" || exit 1

# ---- words ----
refuses() {
    timeout 60 "$chokepoint" serve --db "$db" "$@" >"$work/out" 2>"$work/said"
    local status=$?
    [ $status -eq 2 ] && [ "$(wc -l <"$work/said")" -eq 1 ] && [ ! -s "$work/out" ] ||
        fail "serve $*: exit status $status, '$(cat "$work/said")'"
}
echo 'a-token-of-24-characters' >token
chmod 600 token
refuses --listen 0.0.0.0
refuses --listen 0.0.0.0 --tls
refuses --listen 192.0.2.1 --token-file token
refuses --listen :: --token-file token
refuses --listen localhost
refuses --listen 127.0.0.1:80
refuses --port 65536
refuses --port -1
refuses --db ''
refuses 1 2
refuses first
refuses 0
refuses --token-file no-such-file
refuses --token-file /dev/zero
echo short >short && chmod 600 short
refuses --token-file short
printf 'with blanks in the token\n' >blanks && chmod 600 blanks
refuses --token-file blanks
chmod 644 token
refuses --token-file token
grep -q 'chmod 600' "$work/said" || fail "a token that others can read: $(cat "$work/said")"
chmod 600 token

# ---- requests ----
run -q --no-report true
serve --port 0
expect 421 / -H 'Host: evil.example'
expect 421 /run/1 -H 'Host: 127.0.0.1.evil.example:80'
expect 421 / -H 'Host: 192.0.2.1'
expect 200 / -H 'Host: localhost:8080'
expect 200 / -H 'Host: [::1]'
for method in POST PUT DELETE OPTIONS TRACE PATCH BREW; do
    expect 405 /run/1 -X "$method"
    has_head 'Allow: GET, HEAD'
done
expect 413 / -X GET --data-binary body
expect 413 / -X GET -H 'Transfer-Encoding: chunked' --data-binary body
expect 403 /run/1 -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors' -H 'Sec-Fetch-Dest: script'
expect 403 /live/1/events -H 'Sec-Fetch-Site: same-site' -H 'Sec-Fetch-Mode: cors' -H 'Sec-Fetch-Dest: empty'
expect 200 /run/1 -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: navigate' -H 'Sec-Fetch-Dest: document'
for path in /nothing /run/ /run/0 /run/-1 /run/1/x /run/../../etc/passwd /page/../serve.c /page/none.js /live/1/x \
    '/run/1%00' '/run/1%2f..' /enter/x '/run/--help' "/$(printf 'a%.0s' {1..4000})"; do
    expect 404 "$path"
done
expect 404 /run/77
grep -q "no run '77'" "$work/body" || fail "a run that is not there: $(cat "$work/body")"
expect 404 '/compare?a=1&b=77'
for arguments in '' '?a=1' '?a=1&b=' '?a=--db&b=1' '?a=1&b=x'; do expect 400 "/compare$arguments"; done
[[ $(status_of / -H "X: $(printf 'a%.0s' {1..60000})") == 4?? ]] || fail "60 kB of headers are taken"
# requests that curl would not send: no Host, two, no HTTP
port=${url##*:}
say() {
    exec 3<>"/dev/tcp/127.0.0.1/${port%/}"
    printf '%b' "$1" >&3
    timeout 60 cat <&3 2>"$work/out" | head -1
    exec 3>&-
}
[[ $(say 'GET / HTTP/1.0\r\n\r\n') == *" 421 "* ]] || fail "a request without Host is answered"
[[ $(say 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n') == *" 421 "* ]] || fail "two Hosts are taken"
[[ $(say 'GET / HTTP/1.1\r\n\r\n') == *" 4"??" "* ]] || fail "HTTP/1.1 without Host is taken"
[[ $(say '\x16\x03\x01\x00\x01\x00\r\n\r\n') != *" 200 "* ]] || fail "no HTTP at all is answered"

# ---- crowds: who says nothing keeps nobody out ----
for ((i = 0; i < 300; i++)); do
    exec {fd}<>"/dev/tcp/127.0.0.1/${port%/}" || fail "connection $i"
    [ $((i % 2)) -eq 0 ] || printf 'GET / HTTP/1.1\r\nHost:' >&$fd
    crowd+=("$fd")
done
expect 200 /
expect 200 /run/1
for fd in "${crowd[@]}"; do exec {fd}>&-; done

# ---- another user, however often connected, pushes no connection of ours out, though it has not said a word yet ----
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    exec 5<>"/dev/tcp/127.0.0.1/${port%/}" || fail "no connection"
    expect 200 / # our request is answered by then
    timeout 60 setpriv --reuid 1234 --clear-groups bash -c "exec 6<>/dev/tcp/127.0.0.1/${port%/}
        for ((i = 0; i < 100; i++)); do exec {fd}<>/dev/tcp/127.0.0.1/${port%/}; done
        cat <&6" >"$work/theirs" || fail "another user's first connection was not ended"
    printf 'GET /page/serve.css HTTP/1.1\r\nHost: localhost\r\n\r\n' >&5
    read -r -t 20 first <&5
    [[ $first == *" 200 "* ]] || fail "another user pushed ours out: '$first'"
    exec 5>&-
fi

# ---- the database is damaged, and gone ----
cp "$db" "$work/kept"
printf 'not a database at all, but long enough to be looked at' >"$db"
[[ $(status_of /run/1) == [45]?? ]] || fail "a damaged database is reported on"
grep -q . "$work/body" || fail "a damaged database: not a word"
rm -f "$db" "$db"-*
expect 503 /run/1
expect 503 /runs.json
expect 200 /
cp "$work/kept" "$db"
expect 200 /run/1
ends TERM

# ---- with a token ----
serve --port 0 --listen 127.0.0.1 --tls --token-file token
grep -q 'SHA-256.*[0-9A-F][0-9A-F]:' "$work/said" || fail "no fingerprint of its certificate: $(cat "$work/said")"
way_in=$url
url=${url%%/enter/*}
[[ $url == https://127.0.0.1:* ]] || fail "its address is $way_in"
grep -q characters "$work/said" "/proc/$server/cmdline" && fail "the token is on a command line or printed"
expect 401 / -k
expect 401 /runs.json -k -H 'Authorization: Bearer a-token-of-24-characterS'
expect 200 / -k -H 'Authorization: Bearer a-token-of-24-characters'
expect 421 / -k -H 'Authorization: Bearer a-token-of-24-characters' -H 'Host: evil.example'
expect 404 /enter/00000000000000000000000000000000 -k
expect 303 "${way_in#"$url"}" -k -c jar
has_head 'Set-Cookie: chokepoint-[0-9]*=[0-9a-f]*; Path=/; HttpOnly; SameSite=Strict; Secure'
expect 200 / -k -b jar
expect 200 /run/1 -k -b jar
expect 404 "${way_in#"$url"}" -k
expect 401 / -k -b "chokepoint-${url##*:}=00112233445566778899aabbccddeeff"
said_again() { [ "$(grep -c '/enter/' "$work/said")" -eq 2 ]; }
until_true said_again
[ "$(grep -o 'https://[^ ]*' "$work/said" | sort -u | wc -l)" -eq 2 ] || fail "the way in is the same again"
curl -sS -o "$work/out" --max-time 20 "http://${url#https://}/" 2>"$work/out" && grep -q Runs "$work/out" && fail "it speaks plainly"
ends TERM
