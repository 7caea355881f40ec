#!/bin/bash
# SPDX-License-Identifier: MIT
# A run goes to Prometheus and VictoriaMetrics while it is recorded: in the middle both engines end and come back, and both
# senders are killed again and again. In the end each engine has each sample once. Host names with quotes arrive as they are.
. "$(dirname "$0")/run_lib.sh" || exit 1
for tool in prometheus victoria-metrics curl jq python3 sqlite3; do
    command -v $tool >/dev/null || { echo "skipped: no $tool here (packages prometheus, victoria-metrics)"; exit 77; }
done
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/engines_lib.sh" || exit 1

prometheus_port=$(free_port) victoria_port=$(free_port)
prometheus_url=http://127.0.0.1:$prometheus_port victoria_url=http://127.0.0.1:$victoria_port
start_prometheus "$prometheus_port"
start_victoria "$victoria_port"

"$CHOKEPOINT_BIN/bench_remote_write_hosts" "$db" 3 20 5 --live >recorder.out 2>&1 &
recorder=$!
frames() { sql 'SELECT count(*) FROM frame' 2>/dev/null || echo 0; }
has_frames() { [ "$(frames)" -ge "$1" ]; }
until_true has_frames 15

# send ENGINE URL: the id in ${sender[ENGINE]}
declare -A sender address
address=([prometheus]=$prometheus_url [victoria]=$victoria_url)
send() {
    "$chokepoint" export --db "$db" --remote-write "${address[$1]}/api/v1/write" >>"$1.out" 2>&1 &
    sender[$1]=$!
}
send prometheus
send victoria
until_true has_samples $prometheus_url
until_true has_samples $victoria_url

# Prometheus keeps what it answered for even then; VictoriaMetrics when it is asked to end.
kill -9 $prometheus
kill -TERM $victoria
wait $prometheus $victoria 2>/dev/null
away=$(frames)
until_true has_frames $((away + 30))
start_prometheus "$prometheus_port"
start_victoria "$victoria_port"

# A sender is killed as soon as it has done another step.
step_of() { stat -c %y "$db-remote"/1-*[0-9a-f] 2>/dev/null | md5sum; }
has_stepped() { [ "$(step_of)" != "$step" ]; }
for _ in 1 2 3 4 5 6; do
    step=$(step_of)
    kill -0 $recorder 2>/dev/null && until_true has_stepped
    for engine in prometheus victoria; do
        kill -9 ${sender[$engine]} 2>/dev/null
        wait ${sender[$engine]} 2>/dev/null
        send $engine
    done
done
wait $recorder || fail "no recording: $(cat recorder.out)"
for engine in prometheus victoria; do
    wait ${sender[$engine]} || fail "the sender to $engine: $? $(cat $engine.out)"
done
grep -h refuses prometheus.out victoria.out && fail "an engine refuses samples"

# VictoriaMetrics shows new samples after a second.
agree() { python3 "$CHOKEPOINT_SOURCE/tests/e2e/engine_series.py" "$db" "$1" "$2" >"out.$1" 2>&1; }
all_shown() { curl -sf "$victoria_url/internal/force_flush" >/dev/null; agree victoria-metrics $victoria_url; }
agree prometheus $prometheus_url || fail "prometheus: $(cat out.prometheus)"
patience=20 until_true all_shown || fail "victoria-metrics: $(cat out.victoria-metrics)"
# A run is not sent again.
cat "$db-remote"/*[0-9a-f] >before
"$chokepoint" export --db "$db" --remote-write $prometheus_url/api/v1/write || fail "a second time"
cat "$db-remote"/*[0-9a-f] | cmp - before || fail "a run that was sent is sent again"

# Names that mean something to an engine's language.
"$CHOKEPOINT_BIN/bench_remote_write_hosts" hostile.db 1 3 5 >out 2>&1 || fail "no recording"
sqlite3 hostile.db "UPDATE host SET name = 'a\"b\\c{x=\"1\"}é'; UPDATE run SET command = 'train \"x\" {}', name = '\\\"'" || fail "sqlite3"
curl -sf "$victoria_url/api/v1/admin/tsdb/delete_series" --data-urlencode 'match[]={__name__=~"chokepoint_.+"}'
for url in $prometheus_url $victoria_url; do
    "$chokepoint" export --db hostile.db --remote-write $url/api/v1/write || fail "hostile names: $url"
done
curl -sf "$victoria_url/internal/force_flush"
db=hostile.db
agree_hostile() { curl -sf "$victoria_url/internal/force_flush"; agree victoria-metrics $victoria_url; }
patience=20 until_true agree_hostile
hosts=$(curl -sf "$prometheus_url/api/v1/label/host/values" | jq -r '.data[]')
[ "$(echo "$hosts" | head -1)" = 'a"b\c{x="1"}é' ] || fail "hosts of prometheus: $hosts"
exit 0
