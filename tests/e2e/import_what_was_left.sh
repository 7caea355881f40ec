#!/bin/bash
# SPDX-License-Identifier: MIT
# `run` and its collector are killed: undelivered frames are in the agent's directory, and import brings them into
# the run, only once however often it is called; damaged and other files are refused in one line.
. "$(dirname "$0")/run_lib.sh" || exit 1

mkdir tmp
mkfifo go
TMPDIR=$work/tmp "$chokepoint" run $slow_start --db "$db" sh -c 'echo $CHOKEPOINT_RUN >id; : >started; read x <go' >out 2>err &
pid=$!
until_true test -e started
frames() { sql 'SELECT count(*) FROM frame'; }
some() { [ "$(frames)" -gt 5 ]; }
until_true some
left=$(echo tmp/chokepoint-spool-*)
# The collector is stopped, the spool grows, and both are killed.
collector=$(pgrep -P $pid -f 'chokepoint collector') || fail "no collector"
kill -STOP "$collector"
spooled() { cat "$left"/*.spool 2>/dev/null | wc -c; }
size=$(spooled)
grew() { [ "$(spooled)" -gt $((size + 4000)) ]; }
until_true grew
kill -9 $pid "$collector"
wait $pid 2>/dev/null
echo >go
until_true flock -n "$left" true # the agent holds the lock while it tries
ls "$left"/*.spool >/dev/null 2>&1 || fail "nothing is left: $(ls -R tmp)"
[ "$(state_of 1)" = running ] || fail "the run is $(state_of 1)"

before=$(frames)
chmod -R a-w "$left"
"$chokepoint" import "$left" --db "$db" >out 2>err || fail "import"
after=$(frames)
[ "$after" -gt "$before" ] || fail "import adds nothing: $before, $after"
[ "$(sql 'SELECT min(seq) = 1 AND max(seq) = count(*) AND count(DISTINCT seq) = count(*) FROM frame')" = 1 ] ||
    fail "not 1..N once: $(sql 'SELECT min(seq), max(seq), count(*), count(DISTINCT seq) FROM frame')"
[[ $(cat out) == "run 1: $((after - before)) samples from "* ]] || fail "it says: $(cat out)"
contents() { sql "SELECT count(*), sum(user_ns), sum(idle_ns) FROM cpu; SELECT count(*) FROM process"; }
contents >first
"$chokepoint" import "$left/" --db "$db" >out 2>err || fail "import again"
[[ $(cat out) == "run 1: 0 samples from "* ]] || fail "again: $(cat out)"
[ "$(frames)" -eq "$after" ] && contents | diff first - || fail "again it adds something"
"$chokepoint" report 1 --db "$db" --store-budget >out 2>err || fail "report"

# It is found without being named, listed, and removed once it is old enough; not so a spool in use, a link, or another
# user's.
run_left() { "$chokepoint" import "$@" >out 2>err; }
TMPDIR=$work/tmp run_left --db "$db" || fail "import of what is found"
grep -q "^run 1: 0 samples from [1-9]" out || fail "nothing is found: $(cat out)"
run_left --list "$work/tmp" && grep -q "^$work/$left  [1-9][0-9]* files, [1-9][0-9]* bytes, last written 20..-" out || fail "not listed: $(cat out)"
chmod -R u+w "$left"
cp -r "$left" copy
ln -s "$work/copy" "tmp/chokepoint-spool-a.link"
run_left --list "$work/tmp" && ! grep -q 'a\.link' out || fail "a link is listed"
run_left --remove "$work/tmp" && grep -q '^nothing older' out && [ -e "$left" ] || fail "removed before its time: $(cat out)"
exec 8<"$left"
flock -s 8
run_left --list "$work/tmp" && grep -q "^$work/$left .*, in use$" out || fail "not in use: $(cat out)"
run_left --remove --days 0 "$work/tmp" && [ -e "$left" ] || fail "removed although it is held"
exec 8<&-
sh -c ': >lives; read x <go' sh --spool "$work/$left" &
until_true test -e lives
run_left --remove --days 0 "$work/tmp" && [ -e "$left" ] || fail "removed although a process has it"
echo >go
wait $!
touch -h -d '8 days ago' "$left"/* "$left"
run_left --remove "$work/tmp" && grep -q "^removed $work/$left " out && [ ! -e "$left" ] || fail "not removed: $(cat out err)"
[ -e copy ] && [ -L tmp/chokepoint-spool-a.link ] || fail "a link was followed"
mv copy "$left"

# Another user's spool is listed with its owner, but neither read nor removed; a hostile name does no harm to
# the terminal.
if [ "$(id -u)" -eq 0 ]; then
    theirs=tmp/chokepoint-spool-theirs
    cp -r "$left" "$theirs"
    mkdir "$(printf 'tmp/chokepoint-spool-t\033[31m')"
    chown -R 1234 "$theirs"
    touch -d '8 days ago' "$theirs"
    run_left --list "$work/tmp" && grep -q "^$work/$theirs  of user 1234, for whom it is left$" out || fail "not told whose: $(cat out)"
    grep -q 'spool-t?\[31m' out || fail "a raw name: $(cat -v out)"
    run_left --remove "$work/tmp" && [ -e "$theirs" ] || fail "that of another user is removed"
    TMPDIR=$work/tmp run_left --db "$db" && ! grep -q theirs out err || fail "that of another user is read: $(cat out err)"
    run_left "$theirs" --db "$db" && fail "that of another user is imported"
    grep -q "$theirs is of user 1234" err && [ "$(wc -l <err)" -eq 1 ] || fail "not refused: $(cat err)"
    rm -r tmp/chokepoint-spool-t*
fi

# Files that cannot be imported are refused in one line.
refused() { # TEXT, WORDS...
    local text=$1
    shift
    "$chokepoint" import "$@" >out 2>err
    [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$text" err || fail "import $*: $(cat err)"
}
mkdir empty other
refused "--list and --remove" --list --remove
refused "no number of days" --remove --days x
refused "name the directory" --run 1 --db "$db"
refused 'no files' empty --db "$db"
refused 'No such file' none --db "$db"
refused 'no database' --db none.db
refused 'no database' "$left" --run 1 --db none.db
[ ! -e none.db ] || fail "import makes a database"
refused "no run 'nobody'" "$left" --db "$db" --run nobody
"$chokepoint" run $slow_start -q --no-report --db other.db true || fail "another run"
refused 'name one with --run' "$left" --db other.db
segment=$(ls "$left"/*.spool | head -1)
ln -s "$PWD/$segment" other/link.spool
refused 'link.spool' other --db "$db"
rm other/link.spool
echo "this is something else" >other/text.spool
refused 'text.spool' other --db "$db"
rm other/text.spool
# A damaged head: the whole file is refused with the reason. Cut short: the whole frames are
# imported.
size=$(stat -c %s "$segment")
cp "$segment" other/a.spool && chmod u+w other/a.spool
printf '\377\377\377' | dd of=other/a.spool bs=1 seek=16 conv=notrunc 2>/dev/null
refused 'a.spool' other --db other.db --run 1
[ "$(sqlite3 other.db 'SELECT count(DISTINCT host) FROM instance')" -eq 1 ] || fail "half of a damaged file was taken"
head -c $((size - 7)) "$segment" >other/a.spool
"$chokepoint" import other --db other.db --run 1 >out 2>err || fail "a file that was cut short"
[[ $(cat out) == "run 1: "[1-9]* ]] || fail "of a file that was cut short: $(cat out)"

# Only MPI calls were left: the samples of the same agent, delivered before, show the run.
[ -x "$CHOKEPOINT_BIN/calls_alone" ] || exit 0
mkdir calls
TMPDIR=$work/calls "$chokepoint" run $slow_start -q --no-report --db calls.db "$CHOKEPOINT_BIN/calls_alone" 2000 >out 2>err &
pid=$!
has_calls() { ls calls/chokepoint-spool-*/*[13579bdf]-*.spool >/dev/null 2>&1; }
until_true has_calls
collector=$(pgrep -P $pid -f 'chokepoint collector') && program=$(pgrep -P $pid -x calls_alone) || fail "no collector, no program"
kill -9 $pid "$collector"
kill "$program"
wait $pid 2>/dev/null
left=$(echo calls/chokepoint-spool-*)
until_true flock -n "$left" true
rm -f "$left"/*[02468ace]-*.spool
TMPDIR=$work/calls "$chokepoint" import --db calls.db >out 2>err && grep -q '^run 1: [1-9][0-9]* samples' out || fail "calls alone: $(cat out)"
[ "$("$chokepoint" sql --db calls.db --format csv 'SELECT count(*) > 0 FROM call' | tail -n 1 | tr -d '\r')" = 1 ] || fail "no calls in the database: $(sqlite3 calls.db .tables)"
exit 0
