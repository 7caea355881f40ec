#!/bin/bash
# SPDX-License-Identifier: MIT
# The manual describes the programs: every page formats without a warning, --help and the page have the same options,
# unknown options are refused in one line with exit status 2, the example in C compiles and is recorded, and the SQL
# queries of the manual are those of docs/queries.sql and run on that recording, as do README.md's.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pages=$CHOKEPOINT_SOURCE/man chokepoint=$CHOKEPOINT_BIN/chokepoint
export LC_ALL=C.UTF-8 MANWIDTH=100 MAN_KEEP_FORMATTING='' GROFF_NO_SGR=1
command -v man >/dev/null || { echo "skipped: no man here (package man-db)"; exit 77; }
failures=0
fail() { echo "FAILED: $*"; failures=1; }

render() { man --warnings -E UTF-8 -l "$1" 2>"$work/warnings" | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g'; }
for page in "$pages"/*.[137]; do
    render "$page" >"$work/${page##*/}.txt"
    [ ! -s "$work/warnings" ] || fail "${page##*/}: $(head -3 "$work/warnings")"
    for section in NAME EXAMPLES 'SEE ALSO'; do
        grep -q "^$section" "$work/${page##*/}.txt" || fail "${page##*/} has no section $section"
    done
    # Our pages that it refers to exist.
    for name in $(sed -n 's/^\.Xr \(chokepoint[a-z-]*\) \([137]\).*/\1.\2/p' "$page"); do
        [ -e "$pages/$name" ] || fail "${page##*/} refers to $name, which is not there"
    done
done

# Options, except --help and --version, which all have: those that begin a line of --help or stand in its usage; and
# those that begin an item of the page.
options_of_help() {
    { sed -nE '/^ +(-[a-zA-Z], )?--/ { s/^ +//; s/  .*//; p }' <<<"$1"; sed '/^$/q' <<<"$1"; } |
        grep -oE -- '--[a-z][a-z-]*' | grep -vxE -- '--(help|version)' | sort -u
}
options_of_page() {
    grep -E '^\.It Fl ' "$1" | grep -oE -- 'Fl -[a-z-]+|, -[a-z-]+' | sed 's/^[^-]*/-/' |
        grep -vxE -- '--(help|version)' | sort -u
}
# same_options PAGE COMMAND...
same_options() {
    local page=$1 help status said
    shift
    help=$("$@" --help 2>&1)
    status=$?
    [ $status -eq 0 ] && grep -q '^usage: ' <<<"$help" || fail "$* --help: exit status $status, or no usage"
    if ! diff <(options_of_help "$help") <(options_of_page "$pages/$page") >"$work/diff"; then
        fail "options of $* --help (<) and of $page (>):"
        grep '^[<>]' "$work/diff"
    fi
    said=$(CHOKEPOINT_TOKEN=x "$@" --no-such-option 2>&1 >/dev/null </dev/null)
    status=$?
    [ $status -eq 2 ] && [ "$(wc -l <<<"$said")" -eq 1 ] || fail "$* --no-such-option: exit status $status, '$said'"
}
same_options chokepoint.1 "$chokepoint"
verbs=$("$chokepoint" --help | awk '/^  [a-z]/ { print $1 }')
[ -n "$verbs" ] || fail "chokepoint --help lists no verbs"
for verb in $verbs; do
    [ -e "$pages/chokepoint-$verb.1" ] || { fail "no page of the verb $verb"; continue; }
    same_options "chokepoint-$verb.1" "$chokepoint" "$verb"
done
# Each page is in a package.
for page in "$pages"/*.[137]; do
    grep -q "/$(basename "$page")\$" "$CHOKEPOINT_SOURCE"/packaging/debian/*.install || fail "no package has $(basename "$page")"
done
cmp -s <("$chokepoint" --help | awk -f "$pages/verbs.awk" - "$pages/chokepoint.1") "$pages/chokepoint.1" ||
    fail "chokepoint.1 does not list the verbs as --help does: man/verbs.awk makes the list"
same_options chokepoint-agent.1 "$CHOKEPOINT_BIN/chokepoint-agent"
for program in sgd matmul data lenet cifar messages; do # each program exists if its library does
    [ -x "$CHOKEPOINT_BIN/chokepoint-$program" ] || continue
    same_options "chokepoint-$program.1" "$CHOKEPOINT_BIN/chokepoint-$program"
done

# The example of chokepoint.h, and a recording of it.
cd "$work" || exit 1
sed -n '/^EXAMPLES/,$p' chokepoint-marks.3.txt | sed -n '/^ *#include /,$p' |
    awk '{ sub(/^ +/, ""); print; n += gsub(/{/, "{") - gsub(/}/, "}"); if (n == 0 && /}/) exit }' >train.c
${CC:-cc} -Wall -Wextra -Werror -I "$CHOKEPOINT_SOURCE/agent/mark" -o train train.c || fail "the example does not compile"
if command -v c++ >/dev/null; then
    c++ -std=c++17 -Wall -Wextra -Werror -I "$CHOKEPOINT_SOURCE/agent/mark" -x c++ -o train++ train.c ||
        fail "the example does not compile as C++"
fi
"$chokepoint" run -q ./train || fail "the example cannot be recorded"

# The example in Python, recorded in another database.
if command -v python3 >/dev/null; then
    sed -n '/^ *import ctypes/,/chokepoint_phase(None)/p' chokepoint-marks.3.txt | sed 's/^ \{0,12\}//' >indented.py
    indent=$(sed -n '1s/[^ ].*//p' indented.py)
    sed "s/^$indent//" indented.py >train.py
    LD_LIBRARY_PATH=$CHOKEPOINT_BIN "$chokepoint" run -q --db python.db python3 train.py || fail "the example in Python"
    # 1 phase, 2 iteration, 3 operator, 4 value
    found=$(sqlite3 python.db "SELECT kind, name, count(*) FROM mark_rate GROUP BY kind, name ORDER BY kind" | tr '\n' ' ')
    [[ $found == "1|training|"*"2|iteration|150 3|squares|150 4|loss|150 " ]] || fail "marks from Python: $found"
fi

# queries FILE: the statements in it, one in each line, with equal spaces.
queries() {
    sed 's/^ *--.*//' "$1" | awk '
        /^ *SELECT / { on = 1 }
        on { text = text " " $0 }
        on && /;$/ { gsub(/[ \t]+/, " ", text); gsub(/\( /, "(", text); print text; text = ""; on = 0 }'
}
queries "$CHOKEPOINT_SOURCE/docs/queries.sql" >queries.file
queries chokepoint.1.txt >queries.page
[ "$(wc -l <queries.file)" -eq 7 ] || fail "docs/queries.sql has $(wc -l <queries.file) queries"
diff queries.file queries.page || fail "queries of docs/queries.sql (<) and of chokepoint.1 (>) differ"
n=0
while read -r query; do
    n=$((n + 1))
    sqlite3 -bail chokepoint.db "$query" >rows 2>errors || fail "query $n: $(head -1 errors)"
    # 3 needs an interface other than lo; 6 and 7 need a process that a kernel tick saw on a CPU.
    [ -s rows ] || [[ $n = [367] ]] || fail "query $n has no rows"
done <queries.page
[ "$(sed -n 5p queries.page | sqlite3 chokepoint.db | grep -c 'training\|iteration')" -ge 2 ] ||
    fail "query 5 does not know the marks of the example"
sed -n '/^ *SELECT /,/; *$/p' chokepoint-metrics.7.txt | sqlite3 -bail chokepoint.db >rows 2>errors ||
    fail "query of chokepoint-metrics.7: $(head -1 errors)"

# README.md: its example compiles, its queries run.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/ { /^\`\`\`/d; p }" "$CHOKEPOINT_SOURCE/README.md"; }
block c >readme.c
${CC:-cc} -Wall -Wextra -Werror -I "$CHOKEPOINT_SOURCE/agent/mark" -o readme readme.c || fail "README's example does not compile"
block sql | sqlite3 -bail chokepoint.db >rows 2>errors || fail "README's queries: $(head -1 errors)"
[ -s rows ] || fail "README's queries have no rows"
for file in $(grep -o '](\(docs\|agent\|setup\)/[^)]*)' "$CHOKEPOINT_SOURCE/README.md" | tr -d ']()'); do
    [ -e "$CHOKEPOINT_SOURCE/$file" ] || fail "README.md refers to $file, which is not there"
done
exit $failures
