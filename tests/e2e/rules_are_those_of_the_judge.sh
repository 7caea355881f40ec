#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint rules` lists the rules, thresholds and sources that CHOKEPOINT_JUDGE leaves, in text as in JSON.
set -u
fail() { echo "FAILED: $*"; exit 1; }
rules() { CHOKEPOINT_JUDGE=$judge "$CHOKEPOINT_BIN/chokepoint" rules "$@" || fail "rules $*"; }
# sources: of those that there are, and not those that a rule needs
figures='import json, sys
listed = json.load(sys.stdin)
values = {t["name"]: round(t["value"], 6) for r in listed["rules"] + [listed] for t in r["thresholds"]}
print("quota" in [r["name"] for r in listed["rules"]], "QUOTA_MIN" in values, values["GAIN_MIN"], "calls" in listed["sources"])'
judge=
usual=$(rules --format json | python3 -c "$figures")
[ "$usual" = "True True 0.05 True" ] || fail "usual judge: $usual"
judge='-quota;GAIN_MIN=0.08;-source:calls'
changed=$(rules --format json | python3 -c "$figures")
[ "$changed" = "False False 0.08 False" ] || fail "changed judge: $changed"
rules | grep -q '^quota: ' && fail "quota is listed"
rules | grep -qE '^    GAIN_MIN +0\.08 ' || fail "GAIN_MIN is not 0.08"
