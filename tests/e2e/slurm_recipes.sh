#!/bin/bash
# SPDX-License-Identifier: MIT
# packaging/slurm: the epilog removes only old leftovers of the job's user, and the prolog sets what its head says; neither
# fails, as that would drain a node. The epilog of the controller keeps nobody waiting, refuses a directory of others and words
# that are none of Slurm's, loses no job when slurmdbd is away, a worker is killed or many jobs end at once, and complains of the rest.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
recipes=${CHOKEPOINT_SOURCE:?}/packaging/slurm

mkdir -p "$work/tmp/chokepoint-spool-oooold" "$work/tmp/chokepoint-spool-nnnnew" "$work/tmp/chokepoint-0123456789abcdef" "$work/tmp/chokepoint-notes" "$work/tmp/other" "$work/keep"
: >"$work/tmp/chokepoint-spool-oooold/spool"
: >"$work/keep/file"
ln -s "$work/keep" "$work/tmp/chokepoint-spool-a.link"
touch -h -d '10 days ago' "$work"/tmp/*old "$work"/tmp/*cdef "$work"/tmp/*notes "$work"/tmp/other "$work"/tmp/*link
left() { (cd "$work/tmp" && echo *); }
all=$(left)
CHOKEPOINT_PLACES=$work/tmp "$recipes/epilog.sh" || fail "the epilog fails without a user"
[ "$(left)" = "$all" ] || fail "it removes without a user: $(left)"
SLURM_JOB_UID=$(($(id -u) + 1)) CHOKEPOINT_PLACES=$work/tmp "$recipes/epilog.sh" || fail "the epilog fails for another user"
[ "$(left)" = "$all" ] || fail "it removes what is another user's: $(left)"
SLURM_JOB_UID=$(id -u) CHOKEPOINT_PLACES="$work/tmp $work/none" "$recipes/epilog.sh" || fail "the epilog fails"
[ "$(left)" = "chokepoint-notes chokepoint-spool-a.link chokepoint-spool-nnnnew other" ] || fail "left: $(left)"
[ -e "$work/keep/file" ] || fail "it follows a link"

mkdir -p "$work/proc/sys/kernel"
echo 0 >"$work/proc/sys/kernel/task_delayacct"
CHOKEPOINT_PROC=$work/proc "$recipes/prolog.sh" || fail "the prolog fails"
[ "$(cat "$work/proc/sys/kernel/task_delayacct")" = 1 ] || fail "waits for disks are not accounted"
CHOKEPOINT_PROC=$work/none "$recipes/prolog.sh" || fail "the prolog fails where nothing can be set"

# ---- the epilog of the controller, where Slurm and chokepoint are played by scripts
mkdir -m 700 "$work/summaries" "$work/bin"
mkfifo "$work/gate"
cat >"$work/bin/squeue" <<'END'
#!/bin/sh
now=$(date +%s)
for id in $(seq 1 40); do echo "$id $((now - 60)) $((now - 30))"; done
END
cat >"$work/bin/scontrol" <<'END'
#!/bin/sh
printf 'n1\nn2\n'
END
cat >"$work/bin/chokepoint" <<END
#!/bin/sh
[ ! -e $work/closed ] || [ \$1 != cut ] || read -r word <$work/gate
echo "\$* \${SLURM_JOB_NODELIST:-}" >>$work/calls
[ \$1 != report ] || [ -e $work/gone ] || echo '{"schema":"chokepoint.job/1","name":"x"}'
[ ! -e $work/gone ] || { echo 'chokepoint: n1 "\`cannot be reached' >&2; exit 1; }
END
cat >"$work/bin/sacctmgr" <<END
#!/bin/sh
[ ! -e $work/away ] || exit 1
echo "\$5 \$6 \$8" >>$work/stored
END
chmod +x "$work"/bin/*
cat >"$work/settings" <<END
PATH=$work/bin:\$PATH
dir=$work/summaries
pauses="0 0"
say() { echo "\$*" >>$work/said; }
END
ended() { # ID VARIABLES...
    env CHOKEPOINT_SUMMARIES="$work/settings" SLURM_JOB_ID="$1" SLURM_CLUSTER_NAME=c SLURM_JOB_NODELIST='n[1-2]' "${@:2}" \
        "$recipes/epilog-slurmctld.sh" || fail "the epilog of job $1 fails"
}
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/until_lib.sh" || exit 1
has_stored() { grep -qF -- "jobid=$1 " "$work/stored" 2>/dev/null; }
complains() { grep -q -- "$1" "$work/said" 2>/dev/null; }
: >"$work/closed"
ended 1 # although chokepoint hangs
echo go >"$work/gate"
rm "$work/closed"
until_true has_stored 1
[ "$(cat "$work/stored")" = 'jobid=1 cluster=c AdminComment={`schema`:`chokepoint.job/1`,`name`:`x`}' ] || fail "stored: $(cat "$work/stored")"
grep -q -- '-n 1 --slurm-job 1 --hosts n1,n2 --from @[0-9]* --to @[0-9]* $' "$work/calls" || fail "it takes itself to be in the job: $(cat "$work/calls")"

ended 2 SLURM_ARRAY_JOB_ID=2 SLURM_ARRAY_TASK_ID=7
ended 4 SLURM_HET_JOB_ID=3 SLURM_HET_JOB_OFFSET=1
until_true has_stored 2_7
until_true has_stored 3+1
for id in '../5' '5;x' ''; do ended "$id"; done
ended 5 SLURM_JOB_NODELIST='--nodes'
until_true complains 'job 5 has no summary'
ended 6 SLURM_JOB_NODELIST='n1 n2'
until_true complains 'job 6 has no summary'
ended 99
until_true complains 'job 99: Slurm does not tell when it began'

# nobody answers
: >"$work/gone"
ended 7
until_true has_stored 7
tail -n 1 "$work/stored" | sed 's/.*AdminComment=//' | tr '`' '"' | jq -e '.hosts == 0 and .name == "7" and (.note | startswith("n1 cannot be reached"))' >/dev/null ||
    fail "without agents: $(tail -n 1 "$work/stored")"
rm "$work/gone"

# slurmdbd is away
: >"$work/away"
ended 8
until_true test -e "$work/summaries/later/8"
rm "$work/away"
ended 9
until_true has_stored 8
until_true has_stored 9
[ ! -e "$work/summaries/later/8" ] || until_true test ! -e "$work/summaries/later/8"

# a worker was killed over a job, and two were over another
idle() { for slot in 1 2; do flock -n "$work/summaries/slot.$slot.lock" true || return; done; }
until_true idle
mkdir -p "$work/summaries/slot.1"
echo '10 10 100 130 c n1' >"$work/summaries/slot.1/job"
echo '11 11 100 130 c n1' >"$work/summaries/slot.1/again"
ended 12
until_true has_stored 12
until_true has_stored 10
complains 'job 11 has no summary' || fail "job 11 is lost, and that is not told"

# many at once, each of them once
for id in $(seq 13 40); do ended "$id" & done
wait
for id in $(seq 13 40); do until_true has_stored "$id"; done
until_true idle
[ -z "$(sort "$work/stored" | uniq -d)" ] || fail "stored twice: $(sort "$work/stored" | uniq -d)"
[ -z "$(find "$work/summaries" -type f ! -name '*.lock')" ] || fail "left: $(find "$work/summaries" -type f)"

# a directory of others
chmod 770 "$work/summaries"
ended 1
complains 'is not a directory of' || fail "a directory that others may write to is used"
exit 0
