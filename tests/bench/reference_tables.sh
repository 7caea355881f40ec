#!/bin/bash
# SPDX-License-Identifier: MIT
# The figures of five published reports beside ours, in one command: five emulated hosts with links of 1.8 Gbit/s, what
# those hosts carry, `chokepoint sweep reference`, and one run in detail, as docs/reference.md below its table of outputs,
# with curves, timelines and the run's series as pictures in docs/reference. Resumes where it was interrupted; with names
# only those are made, with --show none, and the page is of all that DIR holds.
#   tests/bench/reference_tables.sh [--size short|full] [--bin DIR] [--work DIR] [--show] [NAME]...
set -u
cd "$(dirname "$0")/../.." || exit 1
size=short bin=$PWD/build/release/bin work=${TMPDIR:-/tmp}/chokepoint-reference show=no
while [ $# -gt 0 ]; do
    case $1 in
        --size) size=${2:?}; shift 2 ;;
        --bin) bin=$(cd "${2:?}" && pwd) || exit 2; shift 2 ;;
        --work) work=${2:?}; shift 2 ;;
        --show) show=yes; shift ;;
        -*) sed -n '3,7s/^# *//p' "$0" >&2; exit 2 ;;
        *) break ;;
    esac
done
mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 1
begun=$SECONDS
status=0
if [ $show = no ]; then
    name=reference$$
    "$bin/chokepoint" testbed --name $name up 5 --rate 1.8gbit || exit
    trap '"$bin/chokepoint" testbed --name $name down >/dev/null' EXIT
    inside() { "$bin/chokepoint" testbed --name $name exec -- "$@"; }
    [ -e "$work/sweeps.db" ] || inside "$bin/chokepoint" calibrate --quick --hosts vm1,vm2,vm3,vm4,vm5 \
        --db "$work/sweeps.db" >/dev/null || exit
    inside "$bin/chokepoint" sweep reference "$@" --size "$size" --db "$work/sweeps.db" --data-dir "$work/data" -o "$work/tables.md" \
        --pictures "$work/reference"
    status=$?
fi
# With names only those are made, and the page contains all that exist.
if [ $show = yes ] || [ $# -gt 0 ]; then
    "$bin/chokepoint" sweep reference --show --size "$size" --db "$work/sweeps.db" -o "$work/tables.md" \
        --pictures "$work/reference" || exit
fi
[ -e "$work/tables.md" ] && mkdir -p "$work/reference" || exit 1
{
    printf '\nOurs: `tests/bench/reference_tables.sh --size %s` on %s cores shared by five emulated hosts, links of 1.8 Gbit/s.\n\n' \
        "$size" "$(nproc)"
    # F1 and T8; pictures of measures repeat their tables. Paths of programs and data are cut.
    sed -e 's/^### /## /' -e '/^` /s#[^ ]*/\(chokepoint\)#\1#;/^` /s#[^ ]*/data/##' -e '/^!\[/{/-accuracy-[a-z]*\.svg)$/b;/-timeline-[^/]*\.svg)$/b;d}' "$work/tables.md"
    if grep -q '^## R4' "$work/tables.md"; then
        echo
        tests/bench/reference_run.py "$bin/chokepoint" "$work/sweeps.db" "r4-$size/mode=async" "$work/reference" || exit
    fi
} | cat -s >"$work/page.md"
[ "${PIPESTATUS[0]}" = 0 ] || exit 1
sed -i -e '/^<!-- tables -->$/,/^<!-- end of tables -->$/{//!d}' -e "/^<!-- tables -->$/r $work/page.md" docs/reference.md
rm -rf docs/reference && mkdir docs/reference || exit 1
for picture in $(sed -n 's/^!\[.*](reference\/\(.*\))$/\1/p' docs/reference.md); do
    cp "$work/reference/$picture" docs/reference/ || exit 1
done
echo "docs/reference.md is written; $((SECONDS - begun)) s; recordings: $work/sweeps.db" >&2
exit $status
