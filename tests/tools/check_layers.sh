#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Knowledge flows one way. Reads every #include "..." and fails when an arrow turns round, and when an outside
# library is named in more than its one file.
set -euo pipefail
cd "$(dirname "$0")/../.."

# layer FILE: the room a file lives in. The store, with the arithmetic of clocks, is a library of its own inside collector/.
layer() {
    case "$1" in
        collector/store*|collector/clock*) echo store ;;
        agent/mark/chokepoint.h) echo mark ;;
        *) echo "${1%%/*}" ;;
    esac
}

# allowed LAYER: the layers it may include.
allowed() {
    case "$1" in
        common) echo "common" ;;
        mark) echo "mark" ;;
        agent) echo "agent mark common" ;;
        store) echo "store common" ;;
        collector) echo "collector store common" ;;
        analysis) echo "analysis common" ;;
        reports) echo "reports analysis store common" ;;
        workloads) echo "workloads mark" ;;
        cli) echo "cli reports collector store common" ;;
        *) echo "" ;;
    esac
}

bad=0
while IFS=: read -r file line include; do
    target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
    [ -e "$target" ] || target="$(dirname "$file")/$target"
    [ -e "$target" ] || continue
    from=$(layer "$file") to=$(layer "${target#./}")
    case " $(allowed "$from") " in
        *" $to "*) ;;
        *) echo "$file:$line: $from must not know $to ($target)"; bad=1 ;;
    esac
done < <(grep -nE '^#include "' --include='*.[ch]' -r common agent collector analysis reports workloads cli || true)

# only HEADER FILES...: the header may be included by these files alone.
only() {
    local header=$1 pattern=$2 file
    while read -r file; do
        [ -n "$file" ] || continue
        grep -qE "$pattern" <<<"$file" || { echo "$file: $header belongs behind $pattern"; bad=1; }
    done < <(grep -lE "^#include <$header" --include='*.[ch]' -r common agent collector analysis reports workloads cli || true)
}
only 'curl/curl.h' '^agent/push_http\.c$|^workloads/data/http\.c$'
only 'zlib.h' '^workloads/data/bytes\.c$'
only 'pcap/' '^agent/capture_pcap\.c$'
only 'libmnl/' '^agent/netlink\.c$'
only 'microhttpd.h' '^collector/server\.c$'
only 'sqlite3.h' '^collector/store[a-z_]*\.[ch]$'
only 'jansson.h' '^reports/json/[a-z_]*\.[ch]$|^cli/(list|calibrate/line)\.c$|^workloads/[a-z]*/summary_json\.c$'
only 'cblas.h' '^workloads/matmul/blas\.c$'
only '(oneapi/)?dnnl' '^workloads/network/net[a-z_]*\.[ch]$'
only 'mpi.h' '^workloads/|^agent/shim/[a-z]*\.[ch]$'
exit $bad
