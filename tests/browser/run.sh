#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh TEST.js...: makes pages of recordings and looks at them in Debian's chromium. playwright-core and axe-core come from
# npm, as the lock file has them, into the build folder; without them, node or chromium the test is skipped.
set -u
here=${CHOKEPOINT_SOURCE:?}/tests/browser
modules=${CHOKEPOINT_BIN:?}/../browser-tests
chokepoint=$CHOKEPOINT_BIN/chokepoint
skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
command -v node >/dev/null || skip "no node"
command -v npm >/dev/null || skip "no npm"
command -v gnuplot >/dev/null || skip "no gnuplot"
command -v zstd >/dev/null || skip "no zstd"
command -v sqlite3 >/dev/null || skip "no sqlite3"
CHROMIUM=$(command -v chromium || command -v chromium-browser) || skip "no chromium"
export CHROMIUM
mkdir -p "$modules" || fail "cannot make $modules"
if ! cmp -s "$here/package-lock.json" "$modules/installed"; then
    # npm itself asks for a minute before it gives up.
    first=$(node -p 'Object.entries(require(process.argv[1]).dependencies)[0].join("@")' "$here/package.json")
    npm view "$first" version --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=20000 >"$modules/npm.log" 2>&1 ||
        skip "npm cannot get $first: $(head -n 1 "$modules/npm.log")"
    cp "$here/package.json" "$here/package-lock.json" "$modules/"
    (cd "$modules" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
        skip "npm cannot get playwright-core and axe-core: $(head -n 1 "$modules/npm.log")"
    cp "$here/package-lock.json" "$modules/installed"
fi
export NODE_PATH=$modules/node_modules

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Three hosts, two runs; then one of them under names that mean harm.
for seconds in 20 30; do
    "$CHOKEPOINT_BIN/bench_analysis_speed" make runs.db 3 2 $seconds 1 2 star || fail "no recording"
done
export RUN_PAGE=$work/run.html HOSTILE_PAGE=$work/hostile.html COMPARE_PAGE=$work/compare.html
"$chokepoint" report 2 --db runs.db -o run.html || fail "no page"
# A recorded run that several changes would shorten.
gzip -dc "$here/../golden/changes/quota.db.gz" >changes.db || fail "no recorded run"
export CHANGES_PAGE=$work/changes.html
"$chokepoint" report --db changes.db -o changes.html || fail "no page of changes"
# A recorded GPU, whose program copied to it.
zstd -dqc "$here/../gpu/recorded/h200.db.zst" >gpu.db || fail "no recorded GPU"
export GPU_PAGE=$work/gpu.html
"$chokepoint" report h2d_pageable --db gpu.db -o gpu.html || fail "no page of a GPU"
"$chokepoint" compare 1 2 --db runs.db -o compare.html || fail "no page of a comparison"
sqlite3 runs.db "UPDATE host SET name = '=1+1<img src=x onerror=\"window.harm=1\">' WHERE name = 'vm1';
    UPDATE host SET name = '</script><script>window.harm=2</script>' WHERE name = 'vm2';
    UPDATE run SET name = '<!--<script>\`x\`' || char(27) || '[31m';" || fail "no hostile names"
"$chokepoint" report 2 --db runs.db -o hostile.html 2>/dev/null || fail "no page of hostile names"
"$chokepoint" sweep --db sweep.db -n harm -L value $'<script>window.harm=3</script>,=1+1' -L second '1,<b>' -q --no-report true '{value}' '{second}' ||
    fail "no sweep"
export SWEEP_PAGE=$work/sweep.html
"$chokepoint" sweep report harm --db sweep.db -o sweep.html || fail "no page of a sweep"
for test in "$@"; do
    timeout 500 node --test "$here/$test" || exit 1
done
