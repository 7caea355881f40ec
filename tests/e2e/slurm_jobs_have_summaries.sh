#!/bin/bash
# SPDX-License-Identifier: MIT
# packaging/slurm/epilog-slurmctld.sh under a real Slurm with slurmdbd and MariaDB, on two emulated hosts whose agents keep rings:
# each job that ended has a summary in its AdminComment, which `chokepoint job` shows: tasks of an array, parts of heterogeneous
# jobs, jobs that fail, of both hosts, with names that mean harm, and those of a host that died.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/slurm_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/slurm_accounts_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/slurm_summaries_lib.sh" || exit 1
[ "$(id -u)" = 0 ] && command -v jq >/dev/null || { echo "SKIPPED: no root or jq"; exit 77; }
need_slurm 2
keep_rings vm1 vm2

submit() { inside sbatch --parsable -o /dev/null "$@"; }
long=$(submit -w vm1 -n1 -J long "$work/job" 26)
both=$(submit --no-requeue -N2 -n2 --wrap "srun $work/job 600")
lost=$(submit --no-requeue -w vm2 -n1 "$work/job" 600)
submit --array=1-20 -n1 "$work/job" 1 >/dev/null
for i in {1..8}; do submit -N1 -n1 "$work/job" 1 3; done >failed
for i in {1..8}; do submit -N2 -n2 --wrap "srun $work/job 1"; done >wide
for i in {1..5}; do submit -w vm1 -n1 : -w vm2 -n1 --wrap "srun --het-group=0,1 $work/job 1"; done >mixed
submit -n1 -J "\$(touch $work/harm); \`touch $work/harm\` \"{'" "$work/job" 1 >/dev/null
submit -n1 -J '--db=/harm' "$work/job" 1 >harmful
only_runs() { [ "$(inside squeue -h -o %A | sort -n | xargs)" = "$*" ]; }
# shellcheck disable=SC2046 # one word a job
until_true only_runs $(printf '%s\n' "$both" "$lost" | sort -n)

stored() { inside sacct -X -n -P -S now-1day -o jobid,state,admincomment >rows && [ "$(grep -vc '|$' rows)" = "$1" ]; }
until_true stored 49

# A host dies, with its agent and its jobs.
: >dead.vm2
# shellcheck disable=SC2046
kill -KILL $(processes_of vm2)
inside scontrol update nodename=vm2 state=down reason=test
until_true only_runs

until_true stored 51
[ "$(wc -l <rows)" = 51 ] || fail "$(wc -l <rows) jobs: $(cat rows)"
for state in 'COMPLETED 41' 'FAILED 8' 'NODE_FAIL 2'; do
    [ "$(cut -d '|' -f 2 rows | grep -cx "${state% *}")" = "${state#* }" ] || fail "not $state: $(cut -d '|' -f 1,2 rows)"
done
while IFS='|' read -r id _ comment; do
    [ ${#comment} -le 2000 ] || fail "job $id: ${#comment} bytes"
    echo "$comment" | tr '`' '"' | jq -e --arg id "$id" '.schema == "chokepoint.job/1" and .name == $id' >/dev/null || fail "job $id: $comment"
    inside "$chokepoint" job "$id" >out 2>err || fail "job $id: $(cat err)"
    head -n 1 out | grep -q "^chokepoint: job $id, .* on [0-2] hosts\?$" && grep -q '^limit ' out || fail "job $id: $(cat out)"
done <rows
[ ! -e harm ] || fail "the name of a job is a command"

summary_of() { inside "$chokepoint" job --format json "$1" | jq -c "$2"; }
[ "$(summary_of "$long" '.hosts == 1 and .state != "insufficient" and .cores_used > 0.1')" = true ] || fail "long: $(summary_of "$long" .)"
inside "$chokepoint" job "$long" >out
for label in limit used; do grep -q "^$label " out || fail "no $label: $(cat out)"; done
[ "$(summary_of "$(head -n 1 wide)" .hosts)" = 2 ] || fail "a job of both hosts: $(summary_of "$(head -n 1 wide)" .)"
[ "$(summary_of "$(head -n 1 mixed)+1" .hosts)" = 1 ] || fail "a part of a job: $(summary_of "$(head -n 1 mixed)+1" .)"
[ "$(summary_of "$both" '.hosts == 1 and (.note | startswith("vm2 did not answer"))')" = true ] || fail "both: $(summary_of "$both" .)"
[ "$(summary_of "$lost" '.hosts == 0 and (.note | startswith("vm2 did not answer"))')" = true ] || fail "lost: $(summary_of "$lost" .)"

left() { find summaries -mindepth 1 ! -name 'slot.*' ! -name queue ! -name later; }
is_done() { [ -z "$(left)" ] && flock -n summaries/slot.1.lock true && flock -n summaries/slot.2.lock true && flock -n summaries/slot.3.lock true && flock -n summaries/slot.4.lock true; }
until_true is_done
[ ! -e said ] || fail "the epilog complains: $(cat said)"
slurm_down
