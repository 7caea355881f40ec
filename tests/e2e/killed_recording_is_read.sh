#!/bin/bash
# SPDX-License-Identifier: MIT
# The database of a killed writer (a hot journal, a log that was never folded in) can be read by any user who may read
# the file, even on a read-only file system; there nothing is changed, and nothing is left behind.
set -u
if [ -z "${CHOKEPOINT_TEST_INSIDE:-}" ]; then
    unshare -m true 2>/dev/null || { echo "SKIPPED: no right to mount a read-only file system"; exit 77; }
    CHOKEPOINT_TEST_INSIDE=1 exec unshare -m --propagation private bash "$0"
fi
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
trap 'umount "$work/ro" 2>/dev/null; leave' EXIT

# killed FILE SQL: sqlite3 is killed after that, without a COMMIT or closing its connection.
killed() {
    cp first.db "$1"
    rm -f in && mkfifo in
    sqlite3 "$1" <in >/dev/null & # exec keeps the shell's process id
    local pid=$!
    exec 8>in
    echo "$2 SELECT 1;
.shell touch done" >&8
    until_true test -e done
    kill -9 $pid
    wait $pid 2>/dev/null
    exec 8>&-
    rm done
}
"$CHOKEPOINT_BIN/new-run" first.db >/dev/null || fail "no database"
mkdir files ro tmp
killed files/journal.db "PRAGMA cache_size=1; BEGIN; UPDATE run SET name='never';
    CREATE TABLE x AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT randomblob(2000) FROM n;"
killed files/log.db "PRAGMA journal_mode=WAL; UPDATE run SET name='committed';"
killed files/index.db "PRAGMA journal_mode=WAL; UPDATE run SET name='committed';"
rm files/index.db-shm
cp first.db files/plain.db
sqlite3 files/plain.db "PRAGMA journal_mode=WAL" >/dev/null # the log is gone, but the header still asks for one
[ -s files/journal.db-journal ] && [ -s files/log.db-wal ] && [ -s files/index.db-wal ] || fail "not killed as planned: $(ls -l files)"

# reads FILE NAME
reads() {
    TMPDIR=$work/tmp "$chokepoint" list --db "$1" >out 2>err || fail "list --db $1 exits with $?"
    grep -q " $2 " out && [ ! -s err ] || fail "list --db $1"
    TMPDIR=$work/tmp "$chokepoint" export --format csv --db "$1" 1 >out 2>err
    ! grep -q 'cannot be opened\|Read-only' err || fail "export --db $1"
    [ -z "$(ls tmp)" ] || fail "left behind: $(ls -R tmp)"
}
mount --bind files ro && mount -o remount,bind,ro ro || { echo "SKIPPED: no read-only mount"; exit 77; }
before=$(cd files && sha256sum *)
for file in journal:new-run log:committed index:committed plain:new-run; do
    reads "ro/${file%%:*}.db" "${file#*:}"
done
[ "$before" = "$(cd files && sha256sum *)" ] || fail "a file was changed where nothing may be"
reads files/journal.db new-run
[ ! -e files/journal.db-journal ] || fail "a journal that could be taken in is still there"
reads files/log.db committed
reads files/index.db committed
