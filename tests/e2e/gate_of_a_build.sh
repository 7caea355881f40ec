#!/bin/bash
# SPDX-License-Identifier: MIT
# The recipe of a build server: a program that became slower fails with status 3, the same one passes, and both leave
# a page and a JSON. The recipes for two servers are valid YAML and call it.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
recipes=$CHOKEPOINT_SOURCE/packaging/ci
mkdir bin && ln -s "$chokepoint" bin/chokepoint || fail "no link"
export PATH=$PWD/bin:$PATH
printf '#!/bin/sh\nsleep .1\n' >quick
printf '#!/bin/sh\nsleep .4\n' >slow
cp quick same
chmod +x quick slow same
"$recipes/gate.sh" ./quick ./slow 50% >out 2>err
status=$?
[ $status -eq 3 ] || fail "a slower program ends with status $status: $(cat out err)"
grep -q '^gate  *change: failed, ' out || fail "it does not say so: $(cat out)"
[ "$(jq -r '.summary[0].groups[1].finding' change.json)" = slower ] || fail "not established: $(jq -c '.summary[0]' change.json)"
[ -s change.html ] || fail "no page"
"$recipes/gate.sh" ./quick ./same 100% >out 2>err || fail "the same program ends with status $?: $(cat out err)"
"$recipes/gate.sh" ./quick >out 2>err && fail "one command is taken"
for file in github gitlab; do
    grep -q 'packaging/ci/gate.sh ' "$recipes/$file.yml" || fail "$file.yml does not call it"
    ! python3 -c 'import yaml' 2>/dev/null || python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' "$recipes/$file.yml" || fail "$file.yml is no YAML"
done
exit 0
