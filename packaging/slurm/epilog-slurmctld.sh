#!/bin/sh
# SPDX-License-Identifier: MIT
# EpilogSlurmctld of Slurm, as SlurmUser on the controller, once for each job that ends: what the agents of the job's nodes kept
# of it becomes a summary, which slurmdbd stores as the job's AdminComment. docs/slurm.md has the settings.
#
# Slurm waits for the first few milliseconds alone: a process of batch priority does the rest. Each job is a file in a queue, and
# `workers` processes at most take from it, so a thousand jobs that end together are no storm. A worker that is killed leaves its
# job to the next one. Nothing here fails a job: the status is 0, and words go to syslog. What users choose, such as a job's
# name, is never used; what Slurm chooses is checked before it becomes a word of a command.
# shellcheck disable=SC3043 # sh of all distributions has local variables
set -u
umask 077
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
dir=/var/lib/chokepoint-summaries # of SlurmUser, and of nobody else
ring=/var/lib/chokepoint-agent/ring
workers=2
queue_most=10000  # jobs
cut_most=120      # seconds
pauses='0 2 5 15' # seconds before each offer to slurmdbd
say() { logger -t chokepoint-summaries -- "$*"; }
settings=${CHOKEPOINT_SUMMARIES:-/etc/default/chokepoint-summaries}
# shellcheck source=/dev/null
[ ! -r "$settings" ] || . "$settings"

is_number() { case $1 in '' | *[!0-9]*) return 1 ;; esac; [ ${#1} -le 12 ]; }
# "4711", "4711_3", "4711+1": sacctmgr takes 4711 for all tasks of an array, and for all parts of a heterogeneous job.
label_of() {
    if is_number "${SLURM_ARRAY_JOB_ID:-}" && is_number "${SLURM_ARRAY_TASK_ID:-}"; then
        echo "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
    elif is_number "${SLURM_HET_JOB_ID:-}" && is_number "${SLURM_HET_JOB_OFFSET:-}"; then
        echo "$SLURM_HET_JOB_ID+$SLURM_HET_JOB_OFFSET"
    else
        echo "$SLURM_JOB_ID"
    fi
}
is_plain() { case $1 in '' | -* | *[!]A-Za-z0-9._,[-]*) return 1 ;; esac; }
is_ours() { [ -d "$dir" ] && [ ! -L "$dir" ] && [ -O "$dir" ] && [ -z "$(find "$dir" -maxdepth 0 -perm /022)" ]; }
first_in() { for entry in "$dir/$1"/*; do [ ! -e "$entry" ] || { echo "${entry##*/}"; return; }; done; }

# Tells when the job began and ended, in seconds since 1970. %A is a number of each task and part.
times_of() { # LABEL ID
    SLURM_TIME_FORMAT=%s timeout 20 squeue -h -t all -j "$1" -o '%A %S %e' 2>/dev/null | awk -v id="$2" '$1 == id { print $2, $3; exit }'
}
enqueue() { # LABEL ID CLUSTER NODES
    local times began ended
    times=$(times_of "$1" "$2")
    began=${times% *} ended=${times#* }
    is_number "$began" || { say "job $1: Slurm does not tell when it began"; return 1; }
    is_number "$ended" || ended=$(date +%s)
    [ "$(find "$dir/queue" -type f | wc -l)" -lt "$queue_most" ] || { say "job $1 has no summary: $queue_most jobs wait"; return 1; }
    echo "$1 $2 $began $ended $3 $4" >"$dir/new.$$" && mv "$dir/new.$$" "$dir/queue/$1"
}

# ---- storing ----

# sacctmgr makes a grave accent of each quotation mark; a summary has none elsewhere, so `chokepoint job` makes it JSON again.
store_once() { # LABEL CLUSTER TEXT
    timeout 30 sacctmgr -i modify job where "jobid=$1" "cluster=$2" set "AdminComment=$3" >/dev/null 2>&1
}
# The record of a short job may come after its end. What slurmdbd does not take now is offered again with later jobs.
store() { # LABEL CLUSTER SUMMARY
    local text pause
    text=$(printf '%s' "$3" | tr '"' '`')
    for pause in $pauses; do
        sleep "$pause"
        store_once "$1" "$2" "$text" && return
    done
    say "job $1: slurmdbd does not take its summary now"
    printf '%s\n' "$2" "$text" >"$dir/new.$$" && mv "$dir/new.$$" "$dir/later/$1"
}
store_later() {
    local entry cluster text
    find "$dir/later" "$dir"/new.* -type f -mtime +7 -delete 2>/dev/null
    for entry in "$dir"/later/*; do
        [ -e "$entry" ] || return
        { IFS= read -r cluster && IFS= read -r text; } <"$entry" || continue
        store_once "${entry##*/}" "$cluster" "$text" || return
        rm -f "$entry"
    done
}

# ---- making ----

# A summary that says why there is none: the words of `chokepoint cut`, without any byte that JSON or Slurm reads.
without() { # LABEL SECONDS WORDS-FILE
    local why
    why=$(sed 's/^chokepoint[a-z ]*: //' "$3" | head -n 8 | tr '\n' ';' | tr -cd 'A-Za-z0-9 .,:;()/_@%+=-' | cut -c 1-600)
    printf '{"schema":"chokepoint.job/1","run":0,"hosts":0,"name":"%s","duration_s":%s,"state":"insufficient","limit":"not known: no agent told of the job","note":"%s"}' \
        "$1" "$2" "${why%;}"
}
make() { # SLOT LABEL ID BEGAN ENDED CLUSTER NODES
    local hosts left from="$4" to="$(($5 + 1))"
    [ "$5" -gt "$4" ] || from=$(($4 - 1))
    left=$((to + 1 - $(date +%s))) # the last sample
    [ $left -le 0 ] || [ $left -gt 5 ] || sleep $left
    [ $((to - from)) -le 2592000 ] || from=$((to - 2592000))
    rm -rf "$1/run"
    mkdir "$1/run" || return
    hosts=$(timeout 20 scontrol show hostnames "$7" | paste -sd, -)
    TMPDIR=$1/run timeout -k 10 "$cut_most" chokepoint cut --no-report --start-timeout 15 --ring "$ring" --db "$1/run/db" \
        -n "$2" --slurm-job "$3" --hosts "$hosts" --from "@$from" --to "@$to" 2>"$1/run/words" >/dev/null ||
        echo "chokepoint: status $?" >>"$1/run/words"
    timeout "$cut_most" chokepoint report last --format job --db "$1/run/db" 2>/dev/null || without "$2" $((to - from)) "$1/run/words"
}
summarise() { # SLOT FILE
    local label id began ended cluster nodes summary
    read -r label id began ended cluster nodes <"$2" || return
    summary=$(make "$1" "$label" "$id" "$began" "$ended" "$cluster" "$nodes" 9>&-)
    store "$label" "$cluster" "$summary" 9>&-
    rm -rf "$1/run" "$2"
}

# ---- workers ----

# A job that its worker was killed over is tried once more.
finish_left() { # SLOT
    [ ! -e "$1/again" ] || { say "job $(cut -d ' ' -f 1 "$1/again") has no summary: two workers ended over it"; rm -f "$1/again"; }
    [ ! -e "$1/job" ] || { mv "$1/job" "$1/again" && summarise "$1" "$1/again"; }
}
work_in() { # SLOT
    local entry
    mkdir -p "$1"
    finish_left "$1"
    store_later 9>&-
    while entry=$(first_in queue) && [ -n "$entry" ]; do
        # another worker may have taken it
        mv "$dir/queue/$entry" "$1/job" 2>/dev/null && summarise "$1" "$1/job"
    done
}
# Who finds all slots taken leaves its job to their workers, which look again after they have let go of theirs.
work() {
    local i
    while [ -n "$(first_in queue)" ]; do
        i=1
        while [ $i -le "$workers" ]; do
            exec 9>"$dir/slot.$i.lock"
            flock -n 9 && break
            i=$((i + 1))
        done
        [ $i -le "$workers" ] || return
        work_in "$dir/slot.$i"
        exec 9>&-
    done
}

is_number "${SLURM_JOB_ID:-}" || exit 0
is_ours || { say "job $SLURM_JOB_ID has no summary: $dir is not a directory of $(id -un) alone"; exit 0; }
if [ "${1:-}" != --detached ]; then
    # Slurm kills the group of processes of its epilog: who goes on has left it before this ends, which setsid -f does not promise.
    setsid sh -c '"$0" --detached </dev/null >/dev/null 2>&1 &' "$0"
    exit 0
fi
cd "$dir" || exit 0
renice -n 19 $$ >/dev/null 2>&1
chrt -b -p 0 $$ >/dev/null 2>&1
ionice -c 3 -p $$ 2>/dev/null
id=$SLURM_JOB_ID label=$(label_of) cluster=${SLURM_CLUSTER_NAME:-} nodes=${SLURM_JOB_NODELIST:-}
# Commands of Slurm take options from such variables, and `chokepoint cut` would take itself to be in the job.
for name in $(env | sed -n 's/^\(SLURM_[A-Z0-9_]*\)=.*/\1/p'); do [ "$name" = SLURM_CONF ] || unset "$name"; done
mkdir -p "$dir/queue" "$dir/later"
is_plain "$cluster" && is_plain "$nodes" || { say "job $label has no summary: it had no nodes"; exit 0; }
enqueue "$label" "$id" "$cluster" "$nodes" && work
exit 0
