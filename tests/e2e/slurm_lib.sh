# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Slurm on the emulated hosts of a test, to be sourced after run_lib.sh: munged with its own key, slurmctld on vm1, a slurmd on
# each host, no cgroups of Slurm's own. All of it lies in $work and runs inside the testbed, with which it ends.
for program in munged slurmctld slurmd srun; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
slurm=$work/slurm

node_line() { # HOST ADDRESS
    echo "NodeName=$1 NodeAddr=$2 CPUs=4 RealMemory=1000 State=UNKNOWN"
}
# One kernel and one file system: spool folders and process id files have the host in their names.
write_slurm_conf() {
    local i
    cat <<EOF
ClusterName=testbed
SlurmctldHost=vm1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
TmpFS=$slurm/tmp.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/${slurm_accounting:-none}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_min_interval=100000
KillWait=20
MinJobAge=${slurm_job_age:-2}
TCPTimeout=10
EOF
    for ((i = 1; i <= $1; i++)); do
        node_line vm$i "$(inside cat /etc/hosts | awk -v host=vm$i '$2 == host { print $1 }')"
    done
    echo "PartitionName=all Nodes=vm[1-$1] Default=YES MaxTime=10 State=UP OverSubscribe=NO"
}
# Commands in vm1, or on another host; a testbed removes the variables of a surrounding Slurm.
inside() { on vm1 "$@"; }
on() { # HOST COMMAND...
    local host=$1
    shift
    "$chokepoint" testbed --name "$name" exec "$host" -- env SLURM_CONF="$slurm/slurm.conf" "$@"
}
all_nodes_idle() { [ "$(inside sinfo -h -o '%T %D' 2>/dev/null)" = "idle $1" ]; }
slurm_down() { inside scontrol shutdown >/dev/null 2>&1; }
# need_slurm N: hosts vm1 to vmN of a testbed with Slurm; $slurmd_under: a command that starts each slurmd; $slurm_more: lines
# of slurm.conf; $slurm_job_age: seconds for which the controller knows jobs that have ended; $slurm_accounting: its accounts are
# in slurmdbd (slurm_accounts_lib.sh).
need_slurm() {
    local i
    need_testbed "$1"
    mkdir -m 0755 "$slurm" "$slurm/state"
    chmod 0755 "$work"
    (umask 077 && head -c 128 /dev/urandom >"$slurm/munge.key")
    inside munged --force --num-threads 1 --key-file "$slurm/munge.key" --socket "$slurm/munge.socket" \
        --pid-file "$slurm/munge.pid" --log-file "$slurm/munge.log" --seed-file "$slurm/munge.seed" ||
        fail "no munged: $(cat "$slurm/munge.log")"
    write_slurm_conf "$1" >"$slurm/slurm.conf"
    printf '%s' "${slurm_more:-}" >>"$slurm/slurm.conf"
    echo CgroupPlugin=autodetect >"$slurm/cgroup.conf"
    [ -z "${slurm_accounting:-}" ] || start_accounts
    inside slurmctld -f "$slurm/slurm.conf" || fail "no slurmctld"
    for ((i = 1; i <= $1; i++)); do
        mkdir "$slurm/spool.vm$i" "$slurm/tmp.vm$i"
        on vm$i ${slurmd_under:-} slurmd -f "$slurm/slurm.conf" || fail "no slurmd on vm$i: $(cat "$slurm/slurmd.vm$i.log")"
    done
    until_true all_nodes_idle "$1"
}
