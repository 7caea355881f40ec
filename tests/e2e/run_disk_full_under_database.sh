#!/bin/bash
# SPDX-License-Identifier: MIT
# The disk under the database fills during a run: one line reports it, the command's status is kept,
# and committed data are intact and reported. If it is full from the start, or at the first samples,
# the command does not start.
if [ -z "${CHOKEPOINT_TEST_INSIDE:-}" ]; then
    unshare -m true 2>/dev/null || { echo "SKIPPED: no right to mount a small file system"; exit 77; }
    CHOKEPOINT_TEST_INSIDE=1 exec unshare -m --propagation private bash "$0"
fi
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
leave_disk() { local s=$?; umount -l "$work/small" 2>/dev/null; (exit $s); leave; }
trap leave_disk EXIT
mkdir small
mount -t tmpfs -o size=16m tmpfs small || { echo "SKIPPED: no tmpfs"; exit 77; }
db=$work/small/runs.db
fill() { dd if=/dev/zero of=small/ballast bs=4k 2>/dev/null; }

mkfifo go
TMPDIR=$work "$chokepoint" run $slow_start --db "$db" --rate 50 sh -c ': >started; read x <go; exit 7' >out 2>err &
pid=$!
until_true test -e started
frames() { sql 'SELECT count(*) FROM frame'; }
some() { [ "$(frames)" -gt 30 ]; }
until_true some
fill
full() { said 'collector: .*cannot be written.*[Nn]o space'; }
until_true full
n=$(frames)
echo >go
wait $pid
[ $? -eq 7 ] || fail "exit status"
[ "$(grep -c 'collector: .*cannot be written' err)" -eq 1 ] || fail "not said once"
said 'the end of run 1 could not be written: .*' || fail "not said that its end is not there"
said 'samples were not delivered to .*they are kept in' || fail "not said where the rest is"
! grep -v '^chokepoint: \|^  \|^\(insufficient\|balanced\|suspected\|saturated\)' err || fail "something else is said"

# Still full: the data can be read.
"$chokepoint" list --db "$db" >out 2>err || fail "list on a full disk"
grep -q unfinished out || fail "list: $(cat out)"
"$chokepoint" report --db "$db" 1 >out 2>err || fail "report on a full disk"
[ "$(sql 'PRAGMA integrity_check')" = ok ] || fail "damaged while full: $(sql 'PRAGMA integrity_check')"
[ "$(frames)" -ge "$n" ] || fail "what was committed is gone"
[ "$(sql 'SELECT max(seq) = count(*) AND min(seq) = 1 FROM frame')" = 1 ] || fail "not 1..N once"

# A full disk from the start: nothing begins, and nothing is damaged.
for file in small/runs.db small/new.db; do
    TMPDIR=$work "$chokepoint" run $slow_start --db "$work/$file" touch begun >out 2>err
    status=$?
    [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && said '[Nn]o space\|full' || fail "$file: status $status: $(cat err)"
    [ ! -e begun ] || fail "the command was started"
done
[ ! -e small/new.db ] || fail "a database was left that holds nothing: $(ls -la small)"

# With room again all goes on in the same file.
rm small/ballast
[ "$(sql 'PRAGMA integrity_check')" = ok ] || fail "damaged: $(sql 'PRAGMA integrity_check')"
run true
[ $status -eq 0 ] && [ "$(state_of 2)" = done ] || fail "the next run: $(cat err)"

# Full at the first samples: that is why the command does not start, and it is reported as soon as it is
# known.
mkdir bin
cp "$chokepoint" bin/
cat >bin/chokepoint-agent <<END
#!/bin/sh
dd if=/dev/zero of=$work/small/ballast bs=4k 2>/dev/null
exec $CHOKEPOINT_BIN/chokepoint-agent "\$@"
END
chmod +x bin/chokepoint-agent
TMPDIR=$work bin/chokepoint run $slow_start --db "$db" touch begun >out 2>err
status=$?
[ $status -eq 1 ] && [ ! -e begun ] || fail "status $status, or the command was started"
# The collector starts while agents do: by then it has opened the file, or cannot.
reasons='the command was not started: the database cannot be written: No space left|collector: [^:]*runs.db cannot be opened: No space left'
head -n 1 err | grep -qE "^chokepoint: ($reasons)" || fail "the reason is not the first word"
! said 'did not answer' || fail "a host is blamed for the disk"
