#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_subjects.sh [COMMIT]: each subject since the last tag, or since COMMIT, is "room: what", with at most 72
# characters.
set -euo pipefail
cd "$(dirname "$0")/../.."
before_the_rule=32524409f3c0 # subjects up to this commit may be longer

git rev-parse --git-dir >/dev/null 2>&1 || { echo "no history here: subjects not checked"; exit 0; }
since=${1:-$(git describe --tags --abbrev=0 2>/dev/null || echo "$before_the_rule")}
git cat-file -e "$since^{commit}" 2>/dev/null || { echo "the history here does not reach back to $since: subjects not checked"; exit 0; }
git log --no-merges --format='%h %s' "$since..HEAD" | LC_ALL=C.UTF-8 awk '
    { subject = substr($0, index($0, " ") + 1) }
    length(subject) > 72 { print $1 ": " length(subject) " characters: " subject; bad = 1 }
    subject !~ /^[a-z][a-z0-9_.\/, -]*: [^ ]/ { print $1 ": not \"room: what\": " subject; bad = 1 }
    END { exit bad }'
