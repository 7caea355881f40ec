# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Engines that keep series, on loopback; to be sourced after run_lib.sh. They are ended by their ids.
[ -x "$CHOKEPOINT_BIN/chokepoint-remote-write" ] || { echo "skipped: built without protobuf-c, snappy or libcurl"; exit 77; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start_prometheus PORT, start_victoria PORT: the id in $prometheus, $victoria
start_prometheus() {
    [ -e prometheus.yml ] || printf 'storage: {tsdb: {out_of_order_time_window: 30d}}\n' >prometheus.yml
    prometheus --config.file=prometheus.yml --storage.tsdb.path=prometheus.data --web.listen-address="127.0.0.1:$1" \
        --web.enable-remote-write-receiver --log.level=warn >>prometheus.log 2>&1 &
    prometheus=$!
    until_true answers "http://127.0.0.1:$1/-/ready" $prometheus
}
start_victoria() {
    victoria-metrics -storageDataPath=victoria.data -httpListenAddr="127.0.0.1:$1" -dedup.minScrapeInterval=1ms \
        -search.latencyOffset=0s -search.disableCache -loggerLevel=WARN >>victoria.log 2>&1 &
    victoria=$!
    until_true answers "http://127.0.0.1:$1/health" $victoria
}
answers() {
    kill -0 "$2" 2>/dev/null || fail "the engine ended: $(tail -3 prometheus.log victoria.log 2>/dev/null)"
    curl -sf -o /dev/null --max-time 5 "$1"
}
# has_samples URL: of ours
has_samples() {
    curl -sf --max-time 5 "$1/api/v1/query" --data-urlencode 'query=count(last_over_time({__name__=~"chokepoint_.+"}[1h]))' |
        jq -e '.data.result | length > 0' >/dev/null
}
