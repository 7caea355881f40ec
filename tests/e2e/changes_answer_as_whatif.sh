#!/bin/bash
# SPDX-License-Identifier: MIT
# Each gain in the report's table of changes is the answer of `chokepoint whatif` to the scenario beside it: for
# single changes, for two together, and for one at several factors. The verdict's gain is that of the marked line.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v jq >/dev/null || { echo "skipped: no jq here"; exit 77; }
gzip -dc "$CHOKEPOINT_SOURCE/tests/golden/changes/quota.db.gz" >"$db" || fail "no recorded run"
"$chokepoint" report last --db "$db" --format json >report 2>err || fail "no report"
[ "$(jq '.changes | length' report)" -ge 2 ] || fail "no changes: $(jq -c .changes report)"
[ "$(jq '.changes_together | length' report)" -ge 1 ] || fail "no pair: $(jq -c .changes report)"
[ "$(jq '.changes_by_factor | length' report)" -ge 5 ] || fail "no factors"

# Both within the rounding of the JSON.
same() { # OURS ANSWERED SCENARIO
    jq -en --argjson a "$1" --argjson b "$2" '($a - $b) | fabs < 0.01' >/dev/null || fail "$3: the report says $1, whatif $2"
}
asked=0
while IFS=$'\t' read -r gain scenario; do
    # shellcheck disable=SC2086 # options
    "$chokepoint" whatif last $scenario --db "$db" --format json >answer 2>err || fail "whatif $scenario"
    same "$gain" "$(jq '.answers[0].run_gain_pct.estimate' answer)" "$scenario"
    asked=$((asked + 1))
done < <(jq -r '(.changes[] , .changes_together[], .changes_by_factor[]) | select(.scenario) | [.gain_pct.estimate, .scenario] | @tsv' report)
[ $asked -ge 8 ] || fail "only $asked scenarios"
verdict=$(jq '.verdict.gain_pct.estimate' report) advised=$(jq '[.changes[] | select(.advised)][0].gain_pct.estimate' report)
[ "$advised" != null ] || fail "no line has the verdict's gain"
same "$advised" "$verdict" "the verdict"
# Gains do not add up: two changes gain at least as much as either, and at most everything.
jq -e '.changes as $c | .changes_together[] | (.letters | split(" + ")) as $l | .gain_pct.estimate as $g |
    [$c[] | select(.letter | IN($l[])) | .gain_pct.estimate] | $g >= max - 1 and $g < 100' report >/dev/null ||
    fail "a pair gains less than one of it: $(jq -c '.changes_together' report)"
exit 0
