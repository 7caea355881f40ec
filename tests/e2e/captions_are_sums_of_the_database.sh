#!/bin/bash
# SPDX-License-Identifier: MIT
# Each figure in a caption of the page is recomputed from the database, by SQL and sums alone: of a run that is recorded here, of one
# under a quota on two hosts, and of one program alone.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
here=$CHOKEPOINT_SOURCE/tests
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot"; exit 77; }
python3 -c 'import sqlite3' 2>/dev/null || { echo "skipped: no python3 with sqlite3"; exit 77; }
holds() { # DATABASE FIGURES: at least so many figures, all of them right
    "$chokepoint" report last --db "$1" -o "$work/page.html" || fail "no page of $1"
    python3 "$here/e2e/captions.py" "$work/page.html" "$1" 1 >"$work/captions" || fail "captions of $1: $(cat "$work/captions")"
    [ "$(awk 'END { print $1 }' "$work/captions")" -ge "$2" ] || fail "few figures of $1: $(cat "$work/captions")"
}
for recorded in changes/quota everyday/gzip; do
    gzip -dc "$here/golden/$recorded.db.gz" >"$work/${recorded##*/}.db" || fail "no recording"
    holds "$work/${recorded##*/}.db" 8
done
# A machine that is too full loses samples, and single values of a page are then of other spans than those of the database.
for _ in 1 2 3; do
    rm -f "$db"*
    run -n captions "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/planted_causes" 40 --compute 30 --skew 3
    [ $status -eq 0 ] || fail "exits with $status"
    grep -q 'samples missing' err || break
done
holds "$db" 8
# A figure that is wrong is found.
sed -i 's/at most [0-9.]* of/at most 999 of/' "$work/page.html"
python3 "$here/e2e/captions.py" "$work/page.html" "$db" 1 >/dev/null && fail "a wrong figure passes"
exit 0
