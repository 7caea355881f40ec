#!/bin/bash
# SPDX-License-Identifier: MIT
# Each example of a manual page that reads runs is executed in a folder with the runs and files that it names, and
# works; and each option in any example, of the manual and of README.md, exists in its verb.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
PATH=$CHOKEPOINT_BIN:$PATH
host=$(hostname)
# examples PAGE: the commands in its EXAMPLES, one in each line
examples() {
    awk '/^\.Sh EXAMPLES/ { on = 1; next } /^\.Sh/ { on = 0 } on' "$CHOKEPOINT_SOURCE/man/$1" |
        sed -e ':join' -e '/\\e$/ { N; s/\\e\n\(\.Dl "\)\{0,1\}//; b join' -e '}' | sed -nE 's/^(\.Dl )?[$#] //p'
}

# --- examples that read, as they stand, except for names of hosts
cd "$work" || exit 1
db=chokepoint.db
run -q -r 10 -n some sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
[ $status -eq 0 ] || fail "ten runs: $status"
chokepoint rename 1 sync-dense && chokepoint rename 2 sync-sparse || fail "rename"
mkdir results && cp chokepoint.db results/ && cp chokepoint.db results.db || fail "copies"
n=0
for verb in report compare list note rename export rules verify whatif top rm; do
    while read -r line; do
        [[ $line != *"--hosts hostfile"* && $line != *smpi* ]] || continue # need other hosts, and MPI
        line=${line//vm[12]/$host}
        timeout 120 bash -o pipefail -c "$line" >out 2>err </dev/null || fail "chokepoint-$verb.1: $line"
        n=$((n + 1))
    done < <(examples "chokepoint-$verb.1")
done
[ $n -ge 15 ] || fail "only $n examples"

# --- options of all examples
for page in "$CHOKEPOINT_SOURCE"/man/*.1; do examples "${page##*/}"; done >lines
sed -n 's/^    //p' "$CHOKEPOINT_SOURCE/README.md" >>lines
n=0
while read -r verb options; do
    chokepoint "$verb" --help >help || fail "no verb '$verb' in: $verb $options"
    [[ $options != report* ]] || chokepoint "$verb" report --help >>help # of a sweep
    for option in $options; do
        [ "$option" != -- ] || break
        [[ $option == -[a-z-]* ]] || continue
        grep -qE -- "(^|[ ,[|(])${option%%=*}([] ,=|)]|\$)" help || fail "$verb has no '$option'"
        n=$((n + 1))
    done
done < <(grep -oE '(^|[ (])chokepoint [a-z]+( [^|>`)]*)?' lines | sed -E -e 's/^[ (]*chokepoint //' -e 's/ (mpirun|srun|sh -c|torchrun|make|\.\/|chokepoint) ?.*//' -e 's/  *#.*//')
[ $n -ge 30 ] || fail "only $n options"
