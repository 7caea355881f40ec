#!/bin/bash
# SPDX-License-Identifier: MIT
# Stored recordings of everyday commands, of services and of MPI programs (tests/golden/everyday, services, mpi): the five lines
# of each are those that were read and found right. UPDATE_GOLDEN=1 writes them anew; read the difference.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
golden=$CHOKEPOINT_SOURCE/tests/golden
n=0
for packed in "$golden"/{everyday,services,mpi}/*.db.gz; do
    name=$(basename "$packed" .db.gz) folder=$(dirname "$packed")
    gzip -dc "$packed" >"$work/$name.db" || fail "$name cannot be unpacked"
    PATH=$CHOKEPOINT_BIN:$PATH COLUMNS=120 chokepoint report --db "$name.db" --format summary >"$name.txt" 2>&1
    rm "$name.db"
    # The word of doubt and the confidence beside it are one.
    said=$(sed -n '/^limit/,/^worth/p' "$name.txt" | tr -s ' \n' ' ')
    confidence=$(sed -n 's/.*confidence \([0-9]*\) %.*/\1/p' <<<"$said")
    case $said in
    *probably\ *) [ "$confidence" -ge 50 ] && [ "$confidence" -lt 80 ] ;;
    *possibly\ *) [ "$confidence" -lt 50 ] ;;
    *) [ "${confidence:-100}" -ge 80 ] ;;
    esac || fail "$name: $said"
    if [ -n "${UPDATE_GOLDEN:-}" ]; then
        cp "$name.txt" "$folder/$name.txt"
    elif ! diff -u "$folder/$name.txt" "$name.txt"; then
        fail "$name is judged otherwise"
    fi
    n=$((n + 1))
done
[ $n -ge 38 ] || fail "only $n recordings are there"
