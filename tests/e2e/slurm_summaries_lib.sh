# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Jobs of Slurm get their summaries, to be sourced after slurm_accounts_lib.sh and before need_slurm.
# The file $work/dead.HOST makes a host one that cannot be reached; $work/said has what the epilog complains about.
mkdir -m 700 "$work/summaries"
slurm_job_age=300
slurm_more+="EpilogSlurmctld=$work/epilog
"
cat >"$work/epilog" <<END
#!/bin/sh
export CHOKEPOINT_SUMMARIES=$work/settings
exec "$CHOKEPOINT_SOURCE/packaging/slurm/epilog-slurmctld.sh"
END
cat >"$work/reach" <<END
#!/bin/sh
for word in "\$@"; do
    [ ! -e "$work/dead.\$word" ] || { echo "ssh: connect to host \$word port 22: No route to host" >&2; exit 255; }
done
exec $chokepoint testbed ssh "\$@"
END
# A process of a job is in a control group as proctrack/cgroup names it; Slurm makes none here.
cat >"$work/job" <<'END'
#!/bin/sh
# job SECONDS [STATUS]
group=/sys/fs/cgroup/cpu$(sed -n 's/^[0-9]*:\(cpu\|cpu,cpuacct\):\(.*testbed.vm[0-9]*\).*/\2/p' /proc/self/cgroup)
[ "$group" != /sys/fs/cgroup/cpu ] || group=/sys/fs/cgroup$(sed -n 's/^0::\(.*testbed.vm[0-9]*\).*/\1/p' /proc/self/cgroup)
group=$group/job_$SLURM_JOB_ID/step_0
mkdir -p "$group" && echo $$ >"$group/cgroup.procs" || exit 9
timeout "$1" sh -c 'while :; do :; done'
exit "${2:-0}"
END
chmod +x "$work/epilog" "$work/reach" "$work/job"

# Agents that keep rings on these hosts.
keep_rings() { # HOST...
    local host
    mkdir -p "$work/rings"
    cat >"$work/settings" <<END
export CHOKEPOINT_RSH=$work/reach CHOKEPOINT_TESTBED=$name SLURM_CONF=$slurm/slurm.conf
PATH=$CHOKEPOINT_BIN:\$PATH
dir=$work/summaries
ring=$work/rings/%h
workers=4
say() { echo "\$*" >>$work/said; }
END
    for host in "$@"; do
        "$chokepoint" testbed --name "$name" exec "$host" -- \
            "$CHOKEPOINT_BIN/chokepoint-agent" --host "$host" --scope cgroup --ring "$work/rings/%h" 2>>"$work/agents" &
    done
    for host in "$@"; do until_true has_ring "$host"; done
}
has_ring() { ls "$work/rings/$1"/*.spool >/dev/null 2>&1; }
