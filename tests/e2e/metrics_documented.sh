#!/bin/bash
# SPDX-License-Identifier: MIT
# docs/metrics.md and man/chokepoint-metrics.7 equal the output of `chokepoint-agent --tables`. UPDATE_GOLDEN=1 makes them
# so.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "${CHOKEPOINT_SOURCE:?}" || exit 1
marker='<!-- chokepoint-agent --tables -->'
"$CHOKEPOINT_BIN/chokepoint-agent" --tables >"$work/tables" || { echo "FAILED: --tables"; exit 1; }
[ "$(grep -c '^## ' "$work/tables")" -ge 10 ] || { echo "FAILED: too few tables"; exit 1; }
grep -qxF "$marker" docs/metrics.md || { echo "FAILED: docs/metrics.md has lost the line $marker"; exit 1; }
{ sed "/^$marker\$/q" docs/metrics.md; cat "$work/tables"; } >"$work/metrics.md"
awk -f man/metrics.awk "$work/tables" >"$work/chokepoint-metrics.7"
failures=0
for file in docs/metrics.md man/chokepoint-metrics.7; do
    diff "$file" "$work/${file##*/}" && continue
    if [ "${UPDATE_GOLDEN:-0}" = 1 ]; then cp "$work/${file##*/}" "$file"
    else echo "FAILED: $file is not what the program prints; UPDATE_GOLDEN=1 ctest -R metrics_documented"; failures=1; fi
done
exit $failures
