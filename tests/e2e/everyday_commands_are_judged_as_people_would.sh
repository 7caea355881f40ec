#!/bin/bash
# SPDX-License-Identifier: MIT
# Stored recordings of everyday commands (tests/golden/everyday): the five lines of each are those that were read and
# found right. UPDATE_GOLDEN=1 writes them anew; read the difference.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
golden=$CHOKEPOINT_SOURCE/tests/golden/everyday
n=0
for packed in "$golden"/*.db.gz; do
    name=$(basename "$packed" .db.gz)
    gzip -dc "$packed" >"$work/$name.db" || fail "$name cannot be unpacked"
    PATH=$CHOKEPOINT_BIN:$PATH COLUMNS=120 chokepoint report --db "$name.db" --format summary >"$name.txt" 2>&1
    if [ -n "${UPDATE_GOLDEN:-}" ]; then
        cp "$name.txt" "$golden/$name.txt"
    elif ! diff -u "$golden/$name.txt" "$name.txt"; then
        fail "$name is judged otherwise"
    fi
    n=$((n + 1))
done
[ $n -ge 10 ] || fail "only $n recordings are there"
