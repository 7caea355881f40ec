#!/bin/sh
# SPDX-License-Identifier: MIT
# gate.sh OLD NEW [PERCENT=5%]: records both commands in turn, five runs each, and exits with status 3 if NEW is
# established to be slower than OLD by more than PERCENT. Leaves gate.db, change.html and change.json.
set -eu
old=${1:?usage: gate.sh OLD NEW [PERCENT]} new=${2:?usage: gate.sh OLD NEW [PERCENT]} percent=${3:-5%}
rm -f gate.db gate.db-wal gate.db-shm # runs of an earlier build would count
for _ in 1 2 3 4 5; do
    chokepoint run --quiet --no-report --db gate.db -n main "$old"
    chokepoint run --quiet --no-report --db gate.db -n change "$new"
done
chokepoint compare main change --db gate.db -o change.html
chokepoint compare main change --db gate.db -o change.json
chokepoint compare main change --db gate.db --gate "$percent"
