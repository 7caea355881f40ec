#!/bin/bash
# SPDX-License-Identifier: MIT
# The page has the list of runs, each run's report as the verb writes it, two runs compared, and its own style and
# scripts, all with headers that protect the browser. It ends when asked to.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/serve_lib.sh" || exit 1
run -q --no-report -n 'first <b>' sh -c 'sleep 0.5'
run -q --no-report -n second sh -c 'sleep 0.6; exit 3'
serve --port 0
[ "$(wc -l <"$work/said")" -eq 1 ] || fail "it says more than where it is: $(cat "$work/said")"
[[ $url == http://127.0.0.1:[0-9]*/ ]] || fail "its address is $url"

expect 200 /
for line in "Content-Security-Policy: default-src 'none'.*script-src 'self'.*frame-ancestors 'none'" \
    'X-Content-Type-Options: nosniff' 'Referrer-Policy: no-referrer' 'X-Frame-Options: DENY' \
    'Cross-Origin-Resource-Policy: same-origin' 'Cache-Control: no-store' 'Content-Type: text/html'; do
    has_head "$line"
done
for file in $(grep -o '/page/[a-z.]*' "$work/body") /live/1; do expect 200 "$file"; done
for file in $(grep -o '/page/[a-z.]*' "$work/body"); do expect 200 "$file"; done
has_head 'X-Content-Type-Options: nosniff'

expect 200 / -I
[ ! -s "$work/body" ] || [ "$(head -c 4 "$work/body")" = HTTP ] || fail "HEAD has a body"
expect 200 /run/1 -I
expect 200 /live/1/events -I

expect 200 /runs.json
has_head 'Content-Type: application/json'
[ "$(jq -r '[.runs[] | "\(.id) \(.name) \(.state)"] | join(",")' "$work/body")" = '1 first <b> done,2 second failed' ] ||
    fail "runs.json is $(head -c 600 "$work/body")"

expect 200 /run/1
has_head "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'.*frame-ancestors 'none'.*sandbox"
cp "$work/body" "$work/page.html"
"$chokepoint" report 1 --db "$db" -o "$work/own.html"
cmp -s "$work/page.html" "$work/own.html" || fail "/run/1 is not what the verb writes"
expect 200 /run/1
cmp -s "$work/body" "$work/own.html" || fail "/run/1 differs the second time"
expect 200 /run/last
grep -q second "$work/body" || fail "/run/last is not the last"
expect 200 '/compare?a=1&b=2'
"$chokepoint" compare 1 2 --db "$db" -o "$work/own.html"
cmp -s "$work/body" "$work/own.html" || fail "/compare is not what the verb writes"

# Many requests at once are all answered, each with its own run's report.
for i in 1 2 1 2 1 2 1 2; do
    curl -sS -o "$work/many$i$RANDOM" "${url}run/$i" &
    readers+=($!)
done
wait "${readers[@]}" || fail "a reader of many was not answered"
for file in "$work"/many*; do grep -q '</html>' "$file" || fail "$file is not whole"; done

# A run that is recorded while the server runs appears.
run -q --no-report -n third sh -c 'sleep 0.5'
expect 200 /runs.json
jq -e '.runs | length == 3' "$work/body" >"$work/out" || fail "the third run is not in the list"
expect 200 /run/3

# Another user of this host is refused.
if [ "$(id -u)" = 0 ]; then
    expect 200 /
    status=$(setpriv --reuid 65534 --clear-groups curl -sS -o /dev/null -w '%{http_code}' "$url")
    [ "$status" = 403 ] || fail "another user is answered with $status"
fi

# It ends at once, whether a report is being made or not.
curl -sS -o "$work/late" "${url}run/2" &
ends TERM
[ "$(curl -sS -o /dev/null -w '%{http_code}' "$url" 2>"$work/out")" = 000 ] || fail "somebody still answers"
serve --port 0
ends INT

# With a run's number it opens that run's live view; a port in use is refused.
serve 2 --port 0
[[ $url == */live/2 ]] || fail "serve 2 leads to $url"
port=${url##*1:}
"$chokepoint" serve --db "$db" --port "${port%%/*}" >"$work/out" 2>"$work/said"
[ $? -eq 1 ] && [ "$(wc -l <"$work/said")" -eq 1 ] || fail "a port that is taken: $(cat "$work/said")"
