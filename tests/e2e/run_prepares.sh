#!/bin/bash
# SPDX-License-Identifier: MIT
# run --warmup and --prepare, as in hyperfine: unrecorded runs first, a command before every run; a failure of either ends
# it. run --progress shows a line on a terminal when asked to, and nothing elsewhere.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

echo input >stdin
run --warmup 2 --prepare 'echo prepare >>order; echo prepared' -r 3 sh -c 'echo run >>order; echo out; cat' <stdin
[ $status -eq 0 ] || fail "exit status $status"
[ "$(tr '\n' ' ' <order)" = "prepare run prepare run prepare run prepare run prepare run " ] || fail "order: $(cat order)"
[ "$(grep -c '^out' out)" = 3 ] && [ "$(grep -c '^input' out)" = 1 ] || fail "the recorded runs' streams are not their own: $(cat out)"
[ "$(sql 'SELECT count(*) FROM run')" = 3 ] || fail "warm-ups are recorded"
said 'warm-up 2 of 2' && said '^prepared' || fail "says nothing of it"

# Also without repeats, and with a warm-up alone.
rm order
run --prepare 'echo prepare >>order' sh -c 'echo run >>order'
run --warmup 1 sh -c 'echo run >>order'
[ $status -eq 0 ] && [ "$(tr '\n' ' ' <order)" = "prepare run run run " ] || fail "one run: $(cat order)"
[ "$(sql 'SELECT count(*) FROM run')" = 5 ] || fail "not one each"

# Failures.
rm order
run --prepare 'exit 7' -r 2 sh -c 'echo run >>order'
[ $status -eq 7 ] && [ ! -e order ] && said 'prepare ended with exit status 7' || fail "goes on unprepared: $status"
run --warmup 3 sh -c 'echo run >>order; exit 4'
[ $status -eq 4 ] && [ "$(wc -l <order)" = 1 ] && said 'a warm-up ended with exit status 4' || fail "a warm-up that fails: $status"
[ "$(sql 'SELECT count(*) FROM run')" = 5 ] || fail "recorded what was not prepared"
run --warmup 2 --ignore-failure -r 2 sh -c 'exit 4'
[ $status -eq 4 ] && [ "$(sql 'SELECT count(*) FROM run')" = 7 ] || fail "--ignore-failure: $status"
for bad in -1 x 1001 1.5; do
    run --warmup $bad true
    [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || fail "--warmup $bad: $status"
done

# On a terminal, when asked for.
command -v script >/dev/null || { echo "no script(1): --progress is not looked at"; exit 0; }
on_terminal() { script -qec "'$chokepoint' run $slow_start --db '$db' $* sh -c 'i=0; while [ \$i -lt 2 ]; do sleep 1.1; i=\$((i + 1)); done'" typescript >shown </dev/null; }
on_terminal --progress --no-report
grep -q 'samples of 1 host, .* is [0-9]* % full' shown || fail "no progress: $(cat -v shown)"
on_terminal --no-report
! grep -q ' full' shown || fail "progress that nobody asked for"
on_terminal --progress -q
! grep -q ' full' shown || fail "progress in spite of -q"
run --progress --no-report sleep 2.2
! said ' full' || fail "progress where there is no terminal"
exit 0
