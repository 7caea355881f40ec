#!/bin/bash
# SPDX-License-Identifier: MIT
# `report --format job` is one line of at most 2,000 bytes, whatever the run is called; `chokepoint job` shows what Slurm stored of
# it, and refuses what is none. Slurm is played by two scripts.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
long=$(printf "ü\"\\\\'\`%.0s" $(seq 200))
run --no-report -n "JOB $long" sh -c 'timeout 3 sh -c "while :; do :; done"; true'
[ $status = 0 ] || fail "run: $status"
"$chokepoint" report --db "$db" --format job >summary || fail "no summary"
[ "$(wc -l <summary)" = 1 ] && [ "$(wc -c <summary)" -le 2001 ] || fail "$(wc -c <summary) bytes"
grep -q "['\`A-Z]" summary && fail "a mark that sacctmgr changes: $(cat summary)"
jq -e '.schema == "chokepoint.job/1" and .hosts == 1 and .cores > 0 and (.limit | length > 10)' summary >/dev/null || fail "$(cat summary)"

mkdir slurm
cat >slurm/scontrol <<'DONE'
#!/bin/sh
echo "$*" >>asked
[ "$3" != 12 ] || { printf 'JobId=12 JobName=x\n   AdminComment='; cat summary; echo '   Partition=all'; }
[ "$3" = 12 ] || { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
DONE
cat >slurm/sacct <<'DONE'
#!/bin/sh
[ "$7" != 13 ] || cat summary
[ "$7" != 16 ] || tr '"A-Z' '`a-z' <summary # as sacctmgr stores it
[ "$7" != 14 ] || printf 'a note \033[31m of the site\n'
DONE
chmod +x slurm/*
PATH=$work/slurm:$PATH
for id in 12 13 16; do
    "$chokepoint" job $id >out || fail "job $id: $?"
    head -n 1 out | grep -q "^chokepoint: job $id, .* on 1 host$" || fail "job $id: $(cat out)"
    for label in limit used; do grep -q "^$label " out || fail "no $label: $(cat out)"; done
    grep -q '^chokepoint: job .*, JOB ' out || fail "the name of job $id: $(cat out)"
    "$chokepoint" job $id --format json | cmp - summary || fail "job $id as JSON"
done
refused() { # STATUS WORDS...
    local want=$1
    shift
    "$chokepoint" job "$@" >out 2>&1
    [ $? = "$want" ] && [ "$(wc -l <out)" = 1 ] || fail "$*: $(cat out)"
    ! grep -q $'\033' out || fail "an escape passed"
}
refused 1 14
refused 1 15
: >asked
for words in "" "1 2" "x" "1_" "-1" '1;ls' "1_2_3"; do refused 2 $words; done
[ ! -s asked ] || fail "Slurm was asked: $(cat asked)"
PATH=/usr/bin:/bin refused 1 12
exit 0
