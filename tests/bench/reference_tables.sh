#!/bin/bash
# SPDX-License-Identifier: MIT
# The figures of five published reports beside ours, in one command: five emulated hosts with links of 1.8 Gbit/s, what
# those links carry, `chokepoint sweep reference`, and its tables as docs/reference.md with the curves and timelines as
# pictures in docs/reference; the tables of those reports also in the README, between its two comments. Resumes where it
# was interrupted; with names only those are made, with --show none, and the pages are of all that DIR holds.
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
    [ -e "$work/sweeps.db" ] || inside "$bin/chokepoint" calibrate --quick --only net --hosts vm1,vm2,vm3,vm4,vm5 \
        --db "$work/sweeps.db" >/dev/null || exit
    inside "$bin/chokepoint" sweep reference "$@" --size "$size" --db "$work/sweeps.db" --data-dir "$work/data" -o "$work/tables.md" \
        --pictures "$work/reference"
    status=$?
fi
# With names those are made, and the pages are of all there are.
if [ $show = yes ] || [ $# -gt 0 ]; then
    "$bin/chokepoint" sweep reference --show --size "$size" --db "$work/sweeps.db" -o "$work/tables.md" \
        --pictures "$work/reference" || exit
fi
[ -e "$work/tables.md" ] || exit 1
{
    printf '# The reference experiments, theirs and ours\n\n'
    printf 'Five published reports of small clusters that trained something; rows in italics are their figures. Ours: '
    printf '`tests/bench/reference_tables.sh --size %s` on %s cores shared by five emulated hosts, links of 1.8 Gbit/s.\n\n' \
        "$size" "$(nproc)"
    # F1 and T8; the pictures of measures say what their tables say
    sed -e 's/^### /## /' -e '/^!\[/{/-accuracy-[a-z]*\.svg)$/b;/-timeline-[^/]*\.svg)$/b;d}' "$work/tables.md" | cat -s
} >docs/reference.md
rm -rf docs/reference && mkdir docs/reference || exit 1
for picture in $(sed -n 's/^!\[.*](reference\/\(.*\))$/\1/p' docs/reference.md); do
    cp "$work/reference/$picture" docs/reference/ || exit 1
done
# By parameter first; what a report had beside it folded, so that a reader sees all experiments at a glance.
awk '
    function put(line) { if (folded) held = held line "\n"; else print line }
    function unfold() {
        if (folded) printf "\n<details><summary>%s</summary>\n%s\n</details>\n", label, held
        folded = 0; held = label = "" }
    function holds(what) { if (index(", " label ", ", ", " what ", ") == 0) label = label (label == "" ? "" : ", ") what }
    function kind() {
        if (/^!/) return /Timeline/ ? "timelines" : "curves"
        if (/ against /) return "differences"
        if (/^\*\*Averages/) return "hosts"
        if (/^\*\*The job/) return "the job"
        if (/^\*\*By arithmetic/) return "arithmetic"
        match($0, /[A-Z][a-z]*/)
        return tolower(substr($0, RSTART, RLENGTH)) }
    /^## / { unfold(); sub(/^## /, "### "); print "\n" $0; words = 1; shown = 0 }
    words && /^[A-Z]/ { print "\n" $0; words = 0 }
    /^\*\*/ || /^!\[/ { plain = /^\*\*(By [^a]|training time|accuracy \()/
        shown = plain || /^\*\*(Averages|Means|Peaks|The job|Roles|Operators|By arithmetic)/ || / against / || /^!.*Timeline/
        if (shown && !plain) folded = 1
        if (shown && folded) holds(plain ? "more" : kind())
        sub(/\(reference\//, "(docs/reference/")
        if (shown) put("\n" $0)
        if (shown && /^\*\*/) put("") }
    /^\|/ && shown { put($0) }
    END { unfold() }
' docs/reference.md >"$work/readme.md"
sed -i -e '/^<!-- reference tables -->$/,/^<!-- end of reference tables -->$/{//!d}' \
    -e "/^<!-- reference tables -->$/r $work/readme.md" README.md
echo "docs/reference.md is written; $((SECONDS - begun)) s; recordings: $work/sweeps.db" >&2
exit $status
